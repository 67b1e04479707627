// The whole picture in a corner, with the window that is seen: for finding one's way in large ones.

import { html, useEffect, useRef } from "./vendor/htm-preact.js";

const [LONG, SHORT] = [300, 150]; // pixels that its sides may have
const SHARE = 3; // and no more than such a part of the window

export function Overview({ scene, camera, size, colours, move }) {
  const place = useRef(null);
  const wide = scene.width > scene.height;
  const most = [wide ? LONG : SHORT, wide ? SHORT : LONG];
  const scale = Math.min(Math.min(most[0], size.width / SHARE) / scene.width, Math.min(most[1], size.height / SHARE) / scene.height);
  const width = Math.max(8, scene.width * scale);
  const height = Math.max(8, scene.height * scale);
  const hidden = size.width / camera.scale >= scene.width && size.height / camera.scale >= scene.height;
  useEffect(() => {
    const canvas = place.current;
    if (!canvas) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.scale(scale * ratio, scale * ratio);
    for (const box of scene.boxes) {
      context.fillStyle = (colours.categories[box.category] ?? colours.categories.other).head;
      context.fillRect(box.x, box.y, Math.max(box.w, 1 / scale), Math.max(box.h, 1 / scale));
    }
  }, [scene, colours, hidden]);
  if (hidden) return null;
  const go = (event) => {
    if (!event.buttons) return;
    const at = place.current.getBoundingClientRect();
    move((event.clientX - at.left) / scale, (event.clientY - at.top) / scale);
  };
  const window = {
    left: `${Math.max(0, camera.x * scale)}px`,
    top: `${Math.max(0, camera.y * scale)}px`,
    width: `${Math.min(width, (size.width / camera.scale) * scale)}px`,
    height: `${Math.min(height, (size.height / camera.scale) * scale)}px`,
  };
  return html`<div class="overview" style=${{ width: `${width}px`, height: `${height}px` }} onPointerDown=${go} onPointerMove=${go} aria-hidden="true">
    <canvas ref=${place} style=${{ width: `${width}px`, height: `${height}px` }}></canvas>
    <div class="window" style=${window}></div>
  </div>`;
}
