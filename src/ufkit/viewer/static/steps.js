// Where an arrow key leads from a box.

/** The box above (what it takes), below (what takes it), to the left or right; the same if none. */
export function neighbour(scene, at, way) {
  if (!scene.boxes.length) return -1;
  if (at < 0) return topmost(scene);
  const from = scene.boxes[at];
  if (way === "up" || way === "down") {
    const ends = scene.links.filter((link) => (way === "down" ? link.from : link.to) === at).map((link) => (way === "down" ? link.to : link.from));
    return nearest(scene, from, ends.filter((end) => end !== at), (box) => Math.abs(middle(box) - middle(from))) ?? at;
  }
  const beside = scene.boxes.flatMap((box, index) => {
    const right = middle(box) > middle(from);
    const level = Math.abs(box.y + box.h / 2 - from.y - from.h / 2) < Math.max(box.h, from.h);
    return index !== at && level && right === (way === "right") ? [index] : [];
  });
  return nearest(scene, from, beside, (box) => Math.abs(middle(box) - middle(from))) ?? at;
}

function middle(box) {
  return box.x + box.w / 2;
}

function topmost(scene) {
  return scene.boxes.reduce((best, box, at) => (box.y < scene.boxes[best].y ? at : best), 0);
}

function nearest(scene, from, candidates, distance) {
  let best;
  for (const at of candidates) if (best === undefined || distance(scene.boxes[at]) < distance(scene.boxes[best])) best = at;
  return best;
}
