"""What is written beside links, and where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ufkit.viewer.drawing.measure import shortened, text_width
from ufkit.viewer.graph.direction import Direction
from ufkit.viewer.graph.scene import ASIDE, JUMP_TEXT, LABEL_SIZE, Scene, SceneBox, SceneLink
from ufkit.viewer.layout.diagram import Point

_ROOM = 20.0  # CSS pixels from a box to the middle of a text between ranks
_OFF = 7.5  # from a line that runs across to the middle of a text above or below it

Label = tuple[float, float, str]


def labels(scene: Scene) -> list[list[Label]]:
    """The texts of each link: where the line of text begins, the middle of its height, the text.

    What the links of a box have in common is written once, at a straight one if there is one. A
    jump says at each end which box is at the other; what several jumps share says how many.
    """
    there: dict[Point, list[int]] = {}
    back: dict[Point, list[int]] = {}
    for at, link in enumerate(scene.links):
        if link.route.jump:
            there.setdefault(link.route.points[-1], []).append(at)
            back.setdefault(link.route.landing[0], []).append(at)
    beside, at_jump = _PLACES[scene.direction]
    found: list[list[Label]] = [[] for _ in scene.links]
    said: dict[tuple[int, str], int] = {}
    for at, link in sorted(enumerate(scene.links), key=lambda item: not _straight(scene, item[1])):
        if (
            link.label
            and not link.route.jump
            and said.setdefault((link.start, link.label), at) == at
        ):
            found[at].append(beside(link.route.points, link.label))
    for ends, word, leaving in ((there, "to", True), (back, "from", False)):
        for point, jumps in ends.items():
            link = scene.links[jumps[0]]
            near, far = (link.start, link.end) if leaving else (link.end, link.start)
            name = scene.boxes[far].title if len(jumps) == 1 else f"{len(jumps)} boxes"
            text = shortened(f"{word} {name}", JUMP_TEXT, LABEL_SIZE)
            found[jumps[0]].append(at_jump(scene.boxes[near], point, text))
    return found


def width_of(scene: Scene, written: Sequence[Sequence[Label]]) -> float:
    """The width of a scene together with what is written at its right edge."""
    ends = [x + text_width(text, LABEL_SIZE) for label in written for x, _, text in label]
    return max([scene.width, *(end + ASIDE for end in ends)])


def _straight(scene: Scene, link: SceneLink) -> bool:
    (x, _), (to_x, _) = map(scene.direction.turned, link.route.points[:2])
    return x == to_x


def _at_upright_jump(box: SceneBox, end: Point, text: str) -> Label:
    """Beside the free end of a jump, on the side where it is at its box."""
    x, y = end
    if x < box.x + box.width / 2 - 1:
        return x - ASIDE - text_width(text, LABEL_SIZE), y, text
    return x + ASIDE, y, text


def _beside(points: Sequence[Point], text: str) -> Label:
    """Right of a way, near its beginning: between two ranks, where no boxes are."""
    (x, y), (to_x, to_y) = next(
        (piece for piece in pairwise(points) if abs(piece[1][1] - piece[0][1]) >= _ROOM),
        (points[0], points[1]),
    )
    half = (to_y - y) / 2
    if x == to_x:
        half = max(min(half, _ROOM), -_ROOM)
    return (x + to_x) / 2 + ASIDE, y + half, text


def _at_level_jump(box: SceneBox, end: Point, text: str) -> Label:
    """From the box on, above or below a jump, on the side where it is at its box; where one arrives
    a line further out, as one may leave the box before."""
    x, y = end
    out = -1 if y < box.y + box.height / 2 - 1 else 1
    if x > box.x:
        return box.x + box.width + ASIDE, y + out * _OFF, text
    left = box.x - ASIDE - text_width(text, LABEL_SIZE)
    return left, y + out * (_OFF + LABEL_SIZE), text


def _above(points: Sequence[Point], text: str) -> Label:
    """Above a way, near its beginning; below one that goes up from there, or back."""
    room = text_width(text, LABEL_SIZE) + 2 * ASIDE
    pieces = [*pairwise(points)]
    long = (piece for piece in pieces if abs(piece[1][0] - piece[0][0]) >= room)
    longest = max(pieces, key=lambda piece: abs(piece[1][0] - piece[0][0]))
    (x, y), (to_x, to_y) = next(long, longest)
    text = shortened(text, abs(to_x - x) - 2 * ASIDE, LABEL_SIZE)
    below = to_y < y or to_x < x
    left = x + ASIDE if to_x >= x else x - ASIDE - text_width(text, LABEL_SIZE)
    return left, y + (_OFF if below else -_OFF), text


_PLACES = {
    Direction.DOWN: (_beside, _at_upright_jump),
    Direction.ACROSS: (_above, _at_level_jump),
}
