// Where an arrow key leads from a box.

// In a scene that runs across, keys are turned as its boxes are: what is right of a box is below it.
const TURNED = { left: "up", right: "down", up: "left", down: "right" };

/** The box before (what it takes), behind (what takes it), or beside it; the same if none. */
export function neighbour(scene, at, arrow) {
  if (!scene.boxes.length) return -1;
  const boxes = scene.across ? scene.boxes.map(({ x, y, w, h }) => ({ x: y, y: x, w: h, h: w })) : scene.boxes;
  const way = scene.across ? TURNED[arrow] : arrow;
  if (at < 0) return topmost(boxes);
  const from = boxes[at];
  const aside = (other) => Math.abs(middle(boxes[other]) - middle(from));
  if (way === "up" || way === "down") {
    const ends = scene.links.filter((link) => (way === "down" ? link.from : link.to) === at).map((link) => (way === "down" ? link.to : link.from));
    return least(ends.filter((end) => end !== at), aside) ?? at;
  }
  const beside = boxes.flatMap((box, index) => {
    const right = middle(box) > middle(from);
    const level = Math.abs(box.y + box.h / 2 - from.y - from.h / 2) < Math.max(box.h, from.h);
    return index !== at && level && right === (way === "right") ? [index] : [];
  });
  return least(beside, aside) ?? at;
}

function middle(box) {
  return box.x + box.w / 2;
}

function topmost(boxes) {
  return boxes.reduce((best, box, at) => (box.y < boxes[best].y ? at : best), 0);
}

/** The candidate of the least amount. */
function least(candidates, amount) {
  let best;
  for (const at of candidates) if (best === undefined || amount(at) < amount(best)) best = at;
  return best;
}
