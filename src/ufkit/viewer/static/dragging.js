// Moving what a camera sees with the pointer, and telling that from pointing and pressing.

import { useRef } from "./vendor/htm-preact.js";
import { moved } from "./camera.js";

const NEAR = 4; // pixels that a pointer may move and still press, not drag

/**
 * Handlers for a canvas. `hover` is told where the pointer is while nothing is dragged, `press` where
 * it was pressed; both in the scene's own coordinates, and only once there is a camera.
 */
export function useDragging(canvas, camera, setCamera, { hover, press }) {
  const drag = useRef(null);
  return {
    onPointerDown: (event) => {
      if (event.button > 1) return;
      drag.current = { x: event.clientX, y: event.clientY, far: false };
      canvas.current.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => {
      const from = drag.current;
      if (!camera) return;
      if (!from) {
        hover(...spot(canvas, camera, event));
        return;
      }
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.far && Math.hypot(dx, dy) < NEAR) return;
      drag.current = { x: event.clientX, y: event.clientY, far: true };
      setCamera((old) => moved(old, dx, dy));
    },
    onPointerUp: (event) => {
      const from = drag.current;
      drag.current = null;
      if (camera && from && !from.far) press(...spot(canvas, camera, event));
    },
    onPointerCancel: () => {
      drag.current = null;
    },
  };
}

/** Where an event is in the scene. */
export function spot(canvas, camera, event) {
  const at = canvas.current.getBoundingClientRect();
  return [camera.x + (event.clientX - at.left) / camera.scale, camera.y + (event.clientY - at.top) / camera.scale];
}
