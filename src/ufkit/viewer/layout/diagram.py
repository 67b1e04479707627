"""What is laid out, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes and the links between them, to be laid out top to bottom. Units are CSS pixels.

    widths, heights   of each box
    links             from box, to box; parallel links, cycles and loops may occur
    parents           group of each box, -1 for none; empty when there are no groups
    group_parents     group of each group, -1 for none, without cycles; each group becomes a frame
                      around its members. A group shown as one box is a box here.
    frame_sizes       least width and height of what is within each frame; empty for none
    """

    widths: Sequence[float]
    heights: Sequence[float]
    links: Sequence[tuple[int, int]]
    parents: Sequence[int] = ()
    group_parents: Sequence[int] = ()
    frame_sizes: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances in CSS pixels, and how long a link may be.

    beside    between boxes of a rank
    lines     between links that pass each other, and where they end at a box
    ranks     least height of the room between two ranks, where links turn
    padding   between a frame and its members
    title     room for the title of a frame: left of its members, and above them
    apart     between parts that no link joins
    stub      length of each end of a jump
    jump      room beside it, for what is written there
    longest   ranks that a link may span; a longer one becomes a jump
    """

    beside: float = 24.0
    lines: float = 14.0
    ranks: float = 40.0
    padding: float = 14.0
    title: tuple[float, float] = (0.0, 26.0)
    apart: float = 48.0
    stub: float = 14.0
    jump: float = 96.0
    longest: int = 30


@dataclass(frozen=True, slots=True)
class Route:
    """The way of a link, from the border of its first box to the border of its second.

    Between two points that share x or y the line is straight; between others it is an S that leaves
    and arrives vertically (a cubic curve with both handles at half the height). A link against the
    flow goes up: it leaves a box at the top and arrives at a bottom.

    points    of the whole way; of a jump, those of the end at the first box
    landing   of a jump, the points of the end at the second box; else empty
    """

    points: list[Point]
    landing: list[Point]

    @property
    def jump(self) -> bool:
        """Whether only the two ends are drawn."""
        return bool(self.landing)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where everything is, in CSS pixels from the top left corner.

    x, y     top left corner of each box
    frames   x, y, width and height of each group
    routes   one for each link, in their order
    """

    width: float
    height: float
    x: list[float]
    y: list[float]
    frames: list[tuple[float, float, float, float]]
    routes: list[Route]
