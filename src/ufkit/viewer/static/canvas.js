// Draws a scene on a canvas: only what is in the window, as much of it as can be read at its scale.

import { head, trace, turning } from "./ways.js";

const READABLE = 0.3; // scale from which text is drawn
export const ROUGH = 0.12; // scale below which boxes are bare rectangles and frames have no titles

/** What is drawn over and over of one scene: paths and heads of its links, made once. */
export class Prepared {
  constructor(scene) {
    this.scene = scene;
    const turn = turning(scene);
    this.links = scene.links.map((link) => {
      const paths = [link.points, link.landing].filter((points) => points.length > 1);
      const path = new Path2D();
      for (const points of paths) trace(path, points, turn);
      return { link, path, head: head(paths[paths.length - 1], turn), bounds: bounds(paths.flat()) };
    });
    this.pen = document.createElement("canvas").getContext("2d"); // tells what a line covers
  }

  /** The link within `near` of a point, the one drawn last where several are, or -1. */
  linkAt(x, y, near) {
    this.pen.lineWidth = 2 * near;
    return this.links.findLastIndex(({ path, bounds: [left, top, right, bottom] }) =>
      x >= left - near && x <= right + near && y >= top - near && y <= bottom + near && this.pen.isPointInStroke(path, x, y));
  }
}

function bounds(points) {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return [Math.min(...xs) - 8, Math.min(...ys) - 8, Math.max(...xs) + 8, Math.max(...ys) + 8];
}

/**
 * Paint a scene. `state` says what stands out: `chosen` and `over`, each { box, link } with indices
 * or -1; `lit`, a Set of boxes that stay bright while the others fade, or null; and `marked`,
 * severities by box.
 */
export function paint(canvas, prepared, camera, colours, state) {
  const context = canvas.getContext("2d");
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const { scale } = camera;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale * ratio, 0, 0, scale * ratio, -camera.x * scale * ratio, -camera.y * scale * ratio);
  const seen = [camera.x, camera.y, camera.x + width / scale, camera.y + height / scale];
  const { scene } = prepared;
  for (const frame of scene.frames) if (meets(frame, seen)) paintFrame(context, frame, colours);
  paintLinks(context, prepared, seen, colours, state, scale);
  if (scale >= ROUGH) for (const frame of scene.frames) if (meets(frame, seen)) paintTitle(context, frame, scene.metrics, colours);
  scene.boxes.forEach((box, at) => {
    if (!meets(box, seen)) return;
    context.globalAlpha = state.lit && !state.lit.has(at) ? 0.25 : 1;
    paintBox(context, box, scene.metrics, colours, scale, at === state.chosen.box, at === state.over.box, state.marked[at]);
  });
  context.globalAlpha = 1;
}

function meets({ x, y, w, h }, [left, top, right, bottom]) {
  return x <= right && x + w >= left && y <= bottom && y + h >= top;
}

function paintFrame(context, frame, colours) {
  context.beginPath();
  context.roundRect(frame.x, frame.y, frame.w, frame.h, 8);
  context.fillStyle = colours.frame;
  context.fill();
  context.strokeStyle = colours.frameEdge;
  context.lineWidth = 1;
  context.stroke();
}

function paintTitle(context, frame, metrics, colours) {
  context.font = metrics.frameFont;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const title = clipped(context, frame.title, frame.w - 24);
  haloed(context, title, frame.x + 12, frame.y + metrics.frameTitle / 2, colours.frameText, colours.frame);
}

/** Text that can be read over lines: they end a little before its letters. */
function haloed(context, text, x, y, colour, around) {
  context.strokeStyle = around;
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

function paintLinks(context, prepared, seen, colours, state, scale) {
  const near = [...prepared.links.entries()].filter(([, { bounds: around }]) =>
    around[0] <= seen[2] && around[2] >= seen[0] && around[1] <= seen[3] && around[3] >= seen[1]);
  const clear = ({ from, to }) => !state.lit || (state.lit.has(from) && state.lit.has(to));
  for (const [at, { link, path, head: corners }] of near) {
    const chosen = at === state.chosen.link || link.from === state.chosen.box || link.to === state.chosen.box;
    const colour = chosen ? colours.accent : at === state.over.link ? colours.text : colours.link;
    context.globalAlpha = clear(link) ? 1 : 0.15;
    context.strokeStyle = colour;
    context.lineWidth = Math.max(colour === colours.link ? 1 : 2, (at === state.chosen.link ? 2 : 0.7) / scale);
    context.stroke(path);
    if (scale >= ROUGH) paintHead(context, corners, colour);
  }
  for (const [, { link }] of scale >= READABLE ? near : []) { // over all lines
    context.globalAlpha = clear(link) ? 1 : 0.15;
    if (link.label) paintLabel(context, link, prepared.scene.metrics, colours);
  }
  context.globalAlpha = 1;
}

function paintHead(context, corners, colour) {
  context.beginPath();
  for (const corner of corners) context.lineTo(...corner);
  context.closePath();
  context.fillStyle = colour;
  context.fill();
}

function paintLabel(context, link, metrics, colours) {
  context.font = metrics.labelFont;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const [x, y, text] of link.label) haloed(context, text, x, y, colours.linkText, colours.page);
}

function paintBox(context, box, metrics, colours, scale, chosen, over, mark) {
  const { x, y, w, h } = box;
  const fill = colours.categories[box.category] ?? colours.categories.other;
  if (scale < ROUGH) {
    context.fillStyle = chosen ? colours.accent : fill.head;
    context.fillRect(x, y, w, h);
    return;
  }
  if (box.scope !== null) {
    context.beginPath();
    context.roundRect(x + 4, y + 4, w, h, 5);
    context.fillStyle = colours.box;
    context.strokeStyle = colours.boxEdge;
    context.lineWidth = 1;
    context.fill();
    context.stroke();
  }
  context.beginPath();
  context.roundRect(x, y, w, h, 5);
  context.fillStyle = box.lines.length ? colours.box : fill.head;
  context.fill();
  if (box.lines.length) {
    context.save();
    context.beginPath();
    context.roundRect(x, y, w, metrics.title, [5, 5, 0, 0]);
    context.fillStyle = fill.head;
    context.fill();
    context.restore();
  }
  context.beginPath();
  context.roundRect(x, y, w, h, 5);
  context.strokeStyle = chosen ? colours.accent : over ? colours.text : box.change ? colours[box.change] : colours.boxEdge;
  context.lineWidth = chosen || box.change ? 3 : 1;
  context.stroke();
  if (mark) paintMark(context, box, colours[mark]);
  if (scale < READABLE) return;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.font = metrics.titleFont;
  context.fillStyle = fill.text;
  context.fillText(clipped(context, box.title, w - 12), x + w / 2, y + (box.lines.length ? metrics.title : h) / 2 + 0.5);
  context.textAlign = "left";
  context.font = metrics.lineFont;
  context.fillStyle = colours.text;
  box.lines.forEach((line, at) => {
    const middle = y + metrics.title + metrics.pad + metrics.line * (at + 0.5);
    context.fillText(clipped(context, line, w - 14), x + 8, middle);
  });
}

function paintMark(context, box, colour) {
  context.beginPath();
  context.arc(box.x + box.w, box.y, 6, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
}

/** A text that fits a width, cut in the middle of nowhere but with an ellipsis. */
function clipped(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

/** The box at a point of the scene, or -1; the one drawn last where several are. */
export function hit(scene, x, y) {
  for (let at = scene.boxes.length - 1; at >= 0; at -= 1) {
    const box = scene.boxes[at];
    if (x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h) return at;
  }
  return -1;
}

/** The innermost frame whose title strip is at a point, or -1. */
export function hitFrame(scene, x, y) {
  for (let at = scene.frames.length - 1; at >= 0; at -= 1) {
    const frame = scene.frames[at];
    if (x >= frame.x && x <= frame.x + frame.w && y >= frame.y && y <= frame.y + scene.metrics.frameTitle) return at;
  }
  return -1;
}
