// Lays out the graph of a JSON file with elkjs; prints seconds and the polyline of each link.
const { readFileSync } = require("node:fs");
const ELK = require("elkjs");

const { widths, heights, links } = JSON.parse(readFileSync(process.argv[2]));
const graph = {
  id: "graph",
  layoutOptions: { "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.edgeRouting": "POLYLINE" },
  children: widths.map((width, at) => ({ id: `${at}`, width, height: heights[at] })),
  edges: links.map(([from, to], at) => ({ id: `e${at}`, sources: [`${from}`], targets: [`${to}`] })),
};
const start = performance.now();
new ELK().layout(graph).then((placed) => {
  const seconds = (performance.now() - start) / 1000;
  const lines = placed.edges.map(({ sections: [{ startPoint, bendPoints = [], endPoint }] }) =>
    [startPoint, ...bendPoints, endPoint].map(({ x, y }) => [x, y]),
  );
  console.log(JSON.stringify({ seconds, lines }));
});
