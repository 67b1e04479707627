// Ways of links: curves and arrow heads, whichever way a scene runs.
//
// What runs across is what runs down, turned over the diagonal of the page: `turn` does that to a point.

const HALF = 3.5; // of the width of a head
const LENGTH = 7;

/** What turns points of a scene so that it runs down, and back. */
export function turning(scene) {
  return scene.across ? ([x, y]) => [y, x] : (point) => point;
}

/** The pieces of a way: [end] of a straight one, [handle, handle, end] of an S, which leaves and arrives along the flow. */
function pieces(points, turn) {
  return points.slice(1).map((end, at) => {
    const [x, y] = turn(points[at]);
    const [toX, toY] = turn(end);
    if (x === toX || y === toY) return [end];
    const middle = (y + toY) / 2;
    return [turn([x, middle]), turn([toX, middle]), end];
  });
}

/** Add a way to a path. */
export function trace(path, points, turn) {
  path.moveTo(...points[0]);
  for (const piece of pieces(points, turn)) {
    if (piece.length === 1) path.lineTo(...piece[0]);
    else path.bezierCurveTo(...piece.flat());
  }
}

/** The corners of the head at the end of a way. */
export function head(points, turn) {
  const [x, y] = turn(points[points.length - 1]);
  const [, before] = turn(points[points.length - 2]);
  const back = y >= before ? y - LENGTH : y + LENGTH;
  return [[x, y], [x - HALF, back], [x + HALF, back]].map(turn);
}
