"""What is drawn: boxes, links and frames in their places, for the canvas, SVG and PNG alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ufkit.viewer.graph.direction import Direction
from ufkit.viewer.layout.diagram import Route

# CSS pixels. A box is its title, and below it the lines with room above and below them.
TITLE = 24.0
LINE = 16.0
PAD = 5.0
SIDE = 8.0  # left and right of a line
CORNER = 5.0
FRAME_TITLE = 26.0  # height of the strip at the top of a frame
TITLE_SIZE, LINE_SIZE, LABEL_SIZE, FRAME_SIZE = 12.0, 11.0, 10.5, 12.0  # of letters
HEAD = 7.0  # length of an arrow head
ASIDE = 5.0  # from a line to the text beside it
JUMP_TEXT = 88.0  # the most that is written at the end of a jump
LABEL_TEXT = 120.0  # the most that there is room for between boxes side by side
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
    direction: Direction = Direction.DOWN


def box_height(lines: int) -> float:
    """Height of a box with so many lines below its title."""
    return TITLE + (lines * LINE + 2 * PAD if lines else 0)
