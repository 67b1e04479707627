// Which part of the picture is seen: a scale, and the point at the top left corner.

export const LEAST = 0.02;
export const MOST = 4;

/** The whole picture in the middle; a small one is not enlarged to more than `most`. */
export function fitted(scene, width, height, margin = 24, most = 1) {
  const scale = Math.min(most, (width - 2 * margin) / scene.width, (height - 2 * margin) / scene.height);
  return centred(scene, Math.max(LEAST, scale), scene.width / 2, scene.height / 2, width, height);
}

/** How a picture opens: whole where it can be read then, else its beginning at a readable size. */
export function opening(scene, width, height, readable) {
  const whole = fitted(scene, width, height);
  if (whole.scale >= readable) return whole;
  const along = scene.across ? "x" : "y";
  const first = scene.boxes.reduce((best, box) => (box[along] < best[along] ? box : best), scene.boxes[0]);
  const middle = centred(scene, readable, first.x + first.w / 2, first.y + first.h / 2, width, height);
  return { ...middle, [along]: -24 / readable };
}

export function centred(scene, scale, x, y, width, height) {
  return { scale, x: x - width / 2 / scale, y: y - height / 2 / scale };
}

/** Zoom by a factor about a point of the window, to `most` at the most. */
export function zoomed(camera, factor, px, py, most = MOST) {
  const scale = Math.max(LEAST, Math.min(most, camera.scale * factor));
  return { scale, x: camera.x + px / camera.scale - px / scale, y: camera.y + py / camera.scale - py / scale };
}

export function moved(camera, dx, dy) {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale };
}

/** The camera that shows a box: as it is where the box is seen already, else with it in the middle. */
export function showing(camera, box, width, height, readable) {
  const scale = Math.max(camera.scale, readable);
  const left = (box.x - camera.x) * camera.scale;
  const top = (box.y - camera.y) * camera.scale;
  const seen = left >= 0 && top >= 0 && left + box.w * camera.scale <= width && top + box.h * camera.scale <= height;
  if (seen && camera.scale >= readable) return camera;
  return centred(null, scale, box.x + box.w / 2, box.y + box.h / 2, width, height);
}
