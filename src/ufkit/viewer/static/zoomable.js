// A picture that can be moved and zoomed down to its pixels, with boxes over it.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { centred, fitted, zoomed } from "./camera.js";
import { useDragging } from "./dragging.js";
import { classOf, colourOf } from "./thumb.js";

const MOST = 96; // screen pixels of a pixel
const OPENING = 16; // of a small picture, when it opens
const GRID = 20; // from which pixels have edges

/**
 * The picture behind `url`, of `width` x `height` pixels (it may come smaller). `boxes` are drawn, the
 * one of index `chosen` bright; `point` is told the pixel under the pointer, or null, and `pixel` is
 * marked. `wish` is a number that changes with `zoom`: a factor, 0 to fit, 1 for full size.
 */
export function Zoomable({ url, width, height, boxes, chosen, choose, pixel, point, wish, theme, label }) {
  const canvas = useRef(null);
  const [view, setView] = useState({ width: 0, height: 0 });
  const [image, setImage] = useState(null);
  const [camera, setCamera] = useState(null);

  useLayoutEffect(() => {
    const measure = () => setView({ width: canvas.current.clientWidth, height: canvas.current.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(canvas.current);
    measure();
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    if (!url) return undefined;
    let wanted = true;
    const loaded = new Image();
    loaded.onload = () => wanted && setImage(loaded);
    loaded.src = url;
    return () => {
      wanted = false;
    };
  }, [url]);

  const fit = () => fitted({ width, height }, view.width, view.height, 24, OPENING);
  useLayoutEffect(() => {
    if (view.width) setCamera(fit());
  }, [width, height, view.width > 0]);

  useEffect(() => {
    if (!camera || !wish.at) return;
    const middle = [view.width / 2, view.height / 2];
    if (wish.zoom === 0) setCamera(fit());
    else if (wish.zoom === 1) setCamera(centred(null, 1, width / 2, height / 2, view.width, view.height));
    else setCamera(zoomed(camera, wish.zoom, ...middle, MOST));
  }, [wish.at]);

  useLayoutEffect(() => {
    if (camera) paint(canvas.current, { image, camera, width, height, boxes, chosen, pixel });
  }, [image, camera, view, boxes, chosen, pixel, theme, width, height]);

  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      const at = canvas.current.getBoundingClientRect();
      const factor = Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) / 300);
      setCamera((now) => now && zoomed(now, factor, event.clientX - at.left, event.clientY - at.top, MOST));
    };
    const target = canvas.current;
    target.addEventListener("wheel", wheel, { passive: false });
    return () => target.removeEventListener("wheel", wheel);
  }, []);

  const dragging = useDragging(canvas, camera, setCamera, {
    hover: (...at) => {
      const [x, y] = at.map(Math.floor);
      point(x >= 0 && y >= 0 && x < width && y < height ? [x, y] : null);
    },
    press: (x, y) => choose(boxAt(boxes, x, y, width, height)),
  });
  const pointers = {
    ...dragging,
    onPointerLeave: () => point(null),
  };
  return html`<canvas class="zoomable" ref=${canvas} role="img" aria-label=${label} ...${pointers}></canvas>`;
}

/** The smallest box at a point, -1 without any. */
function boxAt(boxes, x, y, width, height) {
  let best = -1;
  let least = Infinity;
  boxes.forEach(({ corners }, at) => {
    if (!corners) return;
    const [left, top, right, bottom] = [corners[0] * width, corners[1] * height, corners[2] * width, corners[3] * height];
    const size = (right - left) * (bottom - top);
    if (x >= left && x <= right && y >= top && y <= bottom && size < least) [best, least] = [at, size];
  });
  return best;
}

function paint(canvas, { image, camera, width, height, boxes, chosen, pixel }) {
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = style.getPropertyValue("--raised");
  context.fillRect(0, 0, wide, high);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const { scale } = camera;
  const [left, top] = [-camera.x * scale, -camera.y * scale];
  if (image) {
    context.imageSmoothingEnabled = scale < 1;
    context.drawImage(image, left, top, width * scale, height * scale);
  }
  if (scale >= GRID) paintGrid(context, canvas, camera, width, height);
  const order = [...boxes.keys()].filter((at) => boxes[at].corners);
  for (const at of order) if (at !== chosen) paintBox(context, boxes[at], camera, width, height, chosen >= 0 ? 0.5 : 1, false);
  if (chosen >= 0 && boxes[chosen]?.corners) paintBox(context, boxes[chosen], camera, width, height, 1, true);
  if (pixel) {
    context.lineWidth = 1;
    for (const [colour, grow] of [["#000", 0.5], ["#fff", 1.5]]) {
      context.strokeStyle = colour;
      context.strokeRect(left + pixel[0] * scale - grow, top + pixel[1] * scale - grow, scale + 2 * grow, scale + 2 * grow);
    }
  }
}

function paintGrid(context, canvas, camera, width, height) {
  const { scale } = camera;
  const [firstX, firstY] = [Math.max(0, Math.floor(camera.x)), Math.max(0, Math.floor(camera.y))];
  const lastX = Math.min(width, Math.ceil(camera.x + canvas.clientWidth / scale));
  const lastY = Math.min(height, Math.ceil(camera.y + canvas.clientHeight / scale));
  context.strokeStyle = "rgb(128 128 128 / 0.35)";
  context.lineWidth = 1;
  context.beginPath();
  for (let x = firstX; x <= lastX; x += 1) {
    context.moveTo((x - camera.x) * scale, (firstY - camera.y) * scale);
    context.lineTo((x - camera.x) * scale, (lastY - camera.y) * scale);
  }
  for (let y = firstY; y <= lastY; y += 1) {
    context.moveTo((firstX - camera.x) * scale, (y - camera.y) * scale);
    context.lineTo((lastX - camera.x) * scale, (y - camera.y) * scale);
  }
  context.stroke();
}

function paintBox(context, box, camera, width, height, alpha, bright) {
  const { scale } = camera;
  const [x0, y0, x1, y1] = box.corners;
  const [x, y] = [(x0 * width - camera.x) * scale, (y0 * height - camera.y) * scale];
  context.globalAlpha = alpha;
  context.strokeStyle = colourOf(box.label);
  context.lineWidth = (box.difficult ? 1 : 2) + (bright ? 2 : 0);
  context.strokeRect(x, y, (x1 - x0) * width * scale, (y1 - y0) * height * scale);
  const text = classOf(box) + (box.score ? ` ${box.score}` : "");
  context.font = "12px system-ui, sans-serif";
  const wide = context.measureText(text.slice(0, 60)).width + 8;
  context.fillStyle = colourOf(box.label);
  context.fillRect(x - 1, y < 18 ? y : y - 17, wide, 17);
  context.fillStyle = "#fff";
  context.fillText(text.slice(0, 60), x + 3, y < 18 ? y + 13 : y - 4);
  context.globalAlpha = 1;
}
