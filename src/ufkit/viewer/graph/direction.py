"""Which way a graph runs: down the page, or across it.

Layouts know only down. What runs across is laid out with its boxes turned over the diagonal of the
page, and turned back: whoever has to know about it turns points, and thinks of down.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from ufkit.viewer.layout.diagram import Diagram, Placement, Point, Route, Spacing

_USUAL = Spacing()


class Direction(Enum):
    """Where links lead to."""

    DOWN = "down"
    ACROSS = "across"

    def turned(self, point: Point) -> Point:
        """A point of a layout in the picture that runs this way, and the other way round; of a
        size likewise."""
        return point if self is Direction.DOWN else (point[1], point[0])

    def spacing(self, title: float, label: Point, jump: Point) -> Spacing:
        """Distances with room for what is written: the height of the strip for the title of
        a frame, and the sizes of texts at a link and at the end of a jump."""
        return replace(
            _USUAL,
            title=self.turned((0.0, title)),
            ranks=max(_USUAL.ranks, self.turned(label)[1]),
            jump=self.turned(jump)[0],
        )

    def turned_diagram(self, diagram: Diagram) -> Diagram:
        """What is to be laid out, for a diagram of what is drawn."""
        sizes = map(self.turned, zip(diagram.widths, diagram.heights, strict=True))
        widths, heights = zip(*sizes, strict=True) if diagram.widths else ((), ())
        frames = [self.turned(size) for size in diagram.frame_sizes]
        return replace(diagram, widths=[*widths], heights=[*heights], frame_sizes=frames)

    def turned_placement(self, placed: Placement) -> Placement:
        """What is drawn, from what came of the layout."""
        turned = self.turned
        corners = [turned(corner) for corner in zip(placed.x, placed.y, strict=True)]
        return Placement(
            *turned((placed.width, placed.height)),
            [x for x, _ in corners],
            [y for _, y in corners],
            [(*turned((x, y)), *turned((w, h))) for x, y, w, h in placed.frames],
            [
                Route([*map(turned, route.points)], [*map(turned, route.landing)])
                for route in placed.routes
            ],
        )
