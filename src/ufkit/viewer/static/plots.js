// Plots, drawn by uPlot in the colours of the page.

import { html, useEffect, useRef } from "./vendor/htm-preact.js";
import { later } from "./later.js";

const HEIGHT = 130; // pixels

const Space = ({ height = HEIGHT }) => html`<div class="plot" style=${{ height: `${height}px` }}></div>`;

/** A plot that fills the width it is given. `make` gives uPlot's options and data. */
export const Plot = later(async () => {
  const { default: uPlot } = await import("./vendor/uplot.js");
  return (props) => html`<${Drawn} uPlot=${uPlot} ...${props} />`;
}, Space);

function Drawn({ uPlot, make, height = HEIGHT, label, theme }) {
  const place = useRef(null);
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const { data, ...options } = make(colour, uPlot);
    const axis = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const axes = [{ ...axis, size: 26, ...options.axes?.[0] }, { ...axis, size: 46, ...options.axes?.[1] }];
    const plot = new uPlot(
      { width: place.current.clientWidth || 320, height, cursor: { drag: { x: false, y: false } }, legend: { show: false }, ...options, axes },
      data,
      place.current,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: place.current.clientWidth, height }));
    watch.observe(place.current);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [uPlot, make, height, theme]);
  return html`<div class="plot" ref=${place} role="img" aria-label=${label}></div>`;
}

/** Bars between edges: counts[k] from edges[k] to edges[k + 1]; `lines` mark values. */
export function histogram(edges, counts, { lines = [], logarithmic = false } = {}) {
  return (colour, uPlot) => {
    const middle = counts.map((_, k) => (edges[k] + edges[k + 1]) / 2);
    return {
      data: [middle, logarithmic ? counts.map((n) => n || null) : counts],
      scales: { x: { time: false, range: [edges[0], edges[edges.length - 1]] }, y: logarithmic ? { distr: 3 } : { range: (_, low, high) => [0, high || 1] } },
      series: [{}, { fill: colour("accent"), stroke: colour("accent"), width: 0, paths: uPlot.paths.bars({ size: [1, Infinity], gap: 1 }), points: { show: false } }],
      hooks: { draw: [marking(lines, colour)] },
    };
  };
}

/** Draws lines across a plot, where values lie. */
function marking(lines, colour) {
  return (plot) => {
    for (const line of lines) {
      const x = Math.round(plot.valToPos(line.at, "x", true));
      if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
      plot.ctx.save();
      plot.ctx.strokeStyle = colour(line.colour ?? "warning");
      plot.ctx.lineWidth = devicePixelRatio;
      plot.ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      plot.ctx.beginPath();
      plot.ctx.moveTo(x, plot.bbox.top);
      plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
      plot.ctx.stroke();
      plot.ctx.restore();
    }
  };
}

/** The range of each channel, from the least to the greatest element. */
export function ranges(lows, highs) {
  return (colour, uPlot) => ({
    data: [lows.map((_, k) => k), highs, lows],
    scales: { x: { time: false } },
    series: [
      {},
      { stroke: colour("accent"), width: 1, points: { show: lows.length < 64, size: 3 } },
      { stroke: colour("accent"), width: 1, points: { show: lows.length < 64, size: 3 } },
    ],
    bands: [{ series: [1, 2], fill: `${colour("accent")}44` }],
  });
}

/** Two histograms on the same edges, as steps one over the other; `lines` mark values. */
export function overlaid(edges, [first, second], { lines = [], logarithmic = false } = {}) {
  const shown = (counts) => (logarithmic ? counts.map((n) => n || null) : counts);
  return (colour, uPlot) => ({
    data: [first.map((_, k) => (edges[k] + edges[k + 1]) / 2), shown(first), shown(second)],
    scales: { x: { time: false, range: [edges[0], edges[edges.length - 1]] }, y: logarithmic ? { distr: 3, range: (_, low, high) => [0.5, Math.max(10, high * 2)] } : { range: (_, low, high) => [0, high * 1.05 || 1] } },
    hooks: { draw: [marking(lines, colour)] },
    series: [
      {},
      { stroke: colour("accent"), fill: `${colour("accent")}33`, width: 1.5, paths: uPlot.paths.stepped({ align: 0 }), points: { show: false } },
      { stroke: colour("warning"), width: 1.5, paths: uPlot.paths.stepped({ align: 0 }), points: { show: false } },
    ],
  });
}

/** A bar for each number. */
export function bars(values) {
  return (colour, uPlot) => ({
    data: [values.map((_, k) => k), values],
    scales: { x: { time: false, range: [-0.6, values.length - 0.4] }, y: { range: (_, low, high) => [0, high || 1] } },
    series: [{}, { fill: colour("accent"), width: 0, paths: uPlot.paths.bars({ size: [0.9, 40] }), points: { show: false } }],
  });
}
