"""What is drawn: boxes, links and frames in their places, for the canvas, SVG and PNG alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ufkit.viewer.drawing.measure import shortened, text_width
from ufkit.viewer.layout.diagram import Point, Route

# CSS pixels. A box is its title, and below it the lines with room above and below them.
TITLE = 24.0
LINE = 16.0
PAD = 5.0
SIDE = 8.0  # left and right of a line
CORNER = 5.0
FRAME_TITLE = 26.0  # as Spacing.title
TITLE_SIZE, LINE_SIZE, LABEL_SIZE, FRAME_SIZE = 12.0, 11.0, 10.5, 12.0  # of letters
ASIDE = 5.0  # from a line to the text beside it
JUMP_TEXT = 88.0  # the most that is written at the end of a jump; Spacing.jump has room for it
_ROOM = 20.0  # from a box to the middle of a text between ranks
STACK = 4.0  # how far the second sheet of a closed scope stands out to the right and below

_FONT = "system-ui, 'Liberation Sans', Arial, sans-serif"
METRICS = {
    "title": TITLE,
    "line": LINE,
    "pad": PAD,
    "side": SIDE,
    "corner": CORNER,
    "stack": STACK,
    "frameTitle": FRAME_TITLE,
    "titleFont": f"600 {TITLE_SIZE:g}px {_FONT}",
    "lineFont": f"{LINE_SIZE:g}px {_FONT}",
    "labelFont": f"{LABEL_SIZE:g}px {_FONT}",
    "frameFont": f"600 {FRAME_SIZE:g}px {_FONT}",
}  # as a canvas takes them


@dataclass(frozen=True, slots=True)
class SceneBox:
    """A box.

    lines    below the title; without any, the title fills the box
    closed   whether it stands for a scope with boxes of its own; it is drawn as a stack
    mark     severity of the worst finding about it, or ""
    change   "added", "removed" or "changed" where two graphs are compared, or ""
    """

    x: float
    y: float
    width: float
    height: float
    title: str
    lines: Sequence[str]
    category: str
    closed: bool = False
    mark: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True)
class SceneFrame:
    """The frame around an open scope."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class SceneLink:
    """A link; `label` is written at its middle, of a jump at both ends with where it leads."""

    start: int
    end: int
    route: Route
    label: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is drawn of a graph, from the back to the front: frames, links, boxes."""

    width: float
    height: float
    boxes: list[SceneBox] = field(default_factory=list)
    links: list[SceneLink] = field(default_factory=list)
    frames: list[SceneFrame] = field(default_factory=list)


def box_height(lines: int) -> float:
    """Height of a box with so many lines below its title."""
    return TITLE + (lines * LINE + 2 * PAD if lines else 0)


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
    found: list[list[Label]] = [[] for _ in scene.links]
    said: dict[tuple[int, str], int] = {}
    for at, link in sorted(enumerate(scene.links), key=lambda item: not _straight(item[1])):
        if (
            link.label
            and not link.route.jump
            and said.setdefault((link.start, link.label), at) == at
        ):
            found[at].append((*_beside(link.route.points), link.label))
    for ends, word, leaving in ((there, "to", True), (back, "from", False)):
        for point, jumps in ends.items():
            link = scene.links[jumps[0]]
            near, far = (link.start, link.end) if leaving else (link.end, link.start)
            name = scene.boxes[far].title if len(jumps) == 1 else f"{len(jumps)} boxes"
            found[jumps[0]].append(_at_jump(scene.boxes[near], point, f"{word} {name}"))
    return found


def _straight(link: SceneLink) -> bool:
    (x, _), (to_x, _) = link.route.points[:2]
    return x == to_x


def _at_jump(box: SceneBox, end: Point, text: str) -> Label:
    """Beside the free end of a jump, on the side where it is at its box."""
    x, y = end
    text = shortened(text, JUMP_TEXT, LABEL_SIZE)
    if x < box.x + box.width / 2 - 1:
        return x - ASIDE - text_width(text, LABEL_SIZE), y, text
    return x + ASIDE, y, text


def _beside(points: Sequence[Point]) -> Point:
    """Right of a way, near its beginning: between two ranks, where no boxes are."""
    (x, y), (to_x, to_y) = next(
        (piece for piece in pairwise(points) if abs(piece[1][1] - piece[0][1]) >= _ROOM),
        (points[0], points[1]),
    )
    half = (to_y - y) / 2
    if x == to_x:
        half = max(min(half, _ROOM), -_ROOM)
    return (x + to_x) / 2 + ASIDE, y + half
