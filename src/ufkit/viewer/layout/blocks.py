"""Blocks: boxes with the same neighbours, set in rows where one rank would be too wide."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import ceil, sqrt

from ufkit.viewer.layout.diagram import Diagram, Point, Spacing
from ufkit.viewer.layout.levels import Level
from ufkit.viewer.layout.parts import turning

_WIDEST = 2_000.0  # pixels that boxes with the same neighbours may take in one rank
_SHAPE = 1.6  # width to height that is aimed at


class Block:
    """Boxes that stand in rows, each joined to one box above all, to one below all, or to both.

    Their links are one line outside of the block. At its border it parts into lanes, one left of
    each column for links from above, one right of it for those that lead on.

    boxes         in the order of rows, from left to right
    above, below  the link of each box to the one above all of them, and below; empty for none
    corners       of each box, from the corner of the block
    """

    def __init__(
        self,
        boxes: Sequence[int],
        above: Sequence[int],
        below: Sequence[int],
        diagram: Diagram,
        spacing: Spacing,
    ) -> None:
        self.boxes, self.above, self.below = boxes, above, below
        widths = [diagram.widths[box] for box in boxes]
        heights = [diagram.heights[box] for box in boxes]
        aside, gap = spacing.beside / 2, spacing.beside
        area = sum([(w + gap) * (h + gap) for w, h in zip(widths, heights, strict=True)])
        count = len(boxes)
        fitting = sqrt(area * _SHAPE) / (sum(widths) / count + gap)
        columns = ceil(count / ceil(count / max(1, int(fitting))))
        x = 0.0
        self._into: list[float] = []  # x of the lane of each column
        self._middles: list[float] = []
        self._onward: list[float] = []
        for at in range(columns):
            wide = max(widths[at::columns])
            self._into.append(x)
            self._middles.append(x + aside + wide / 2)
            self._onward.append(x + wide + 2 * aside)
            x += wide + 2 * aside + (spacing.lines if above and below else 0.0)
        self.width = self._onward[-1]
        fan = turning(spacing.ranks, self.width / 2)
        y = fan if above else 0.0
        self._rows: list[tuple[float, float]] = []  # top and bottom of each
        self.corners: list[Point] = []
        for start in range(0, count, columns):
            y += gap if above or start else 0.0
            high = max(heights[start : start + columns])
            self._rows.append((y, y + high))
            for at in range(start, min(start + columns, count)):
                left = self._middles[at - start] - widths[at] / 2
                self.corners.append((left, y + (high - heights[at]) / 2))
            y += high
        self._heights = heights
        self._fan = fan
        self.height = y + (gap + fan if below else 0.0)

    def entering(self) -> Iterator[tuple[int, list[Point]]]:
        """Of each link from above its way from the middle of the upper border to the box."""
        for at, link in enumerate(self.above):
            row, column = divmod(at, len(self._middles))
            x, lane = self._middles[column], self._into[column]
            turn = self._rows[row - 1][1] if row else self._fan
            way = [(self.width / 2, 0.0), (lane, self._fan), (lane, turn)]
            yield link, [*way, (x, self._rows[row][0]), (x, self.corners[at][1])]

    def leaving(self) -> Iterator[tuple[int, list[Point]]]:
        """Of each link that leads on its way from the box to the middle of the lower border."""
        end = self.height - self._fan
        for at, link in enumerate(self.below):
            row, column = divmod(at, len(self._middles))
            x, lane = self._middles[column], self._onward[column]
            turn = self._rows[row + 1][0] if row + 1 < len(self._rows) else end
            way = [(x, self.corners[at][1] + self._heights[at]), (x, self._rows[row][1])]
            yield link, [*way, (lane, turn), (lane, end), (self.width / 2, self.height)]


def set_in_blocks(
    level: Level, first: int, fixed: Collection[int], diagram: Diagram, spacing: Spacing
) -> dict[int, Block]:
    """Make items of a level, from number `first` on, of boxes that would make a rank too wide.

    The level has each block in place of its boxes, and one of their links in place of all. Boxes of
    `fixed` stay what they are, and so does what is joined to groups or to something outside.
    """
    alike = _alike(level, {*fixed, *(item for _, item in (*level.upward, *level.downward))})
    boxes = len(diagram.widths)
    blocks: dict[int, Block] = {}
    home: dict[int, int] = {}  # the block of each box
    left_out: set[int] = set()  # links that another one stands for
    for (rank, up, down), found in alike.items():
        items = [item for item, _, _ in found]
        if max(up, down, *items) >= boxes:
            continue
        if sum([diagram.widths[item] + spacing.beside for item in items]) > _WIDEST:
            number = first + len(blocks)
            above = [link for _, link, _ in found if link >= 0]
            below = [link for _, _, link in found if link >= 0]
            blocks[number] = Block(items, above, below, diagram, spacing)
            home |= dict.fromkeys(items, number)
            left_out.update(above[1:], below[1:])
            level.ranks[number] = rank
    if blocks:
        level.items = [*(item for item in level.items if item not in home), *blocks]
        level.links = [
            (home.get(a, a), home.get(b, b), link)
            for a, b, link in level.links
            if link not in left_out
        ]
        joined = [(home.get(a, a), home.get(b, b)) for a, b in level.near]
        level.near = list(dict.fromkeys(joined))
    return blocks


def _alike(
    level: Level, fixed: Collection[int]
) -> dict[tuple[int, int, int], list[tuple[int, int, int]]]:
    """By rank and the only neighbours above and below, -1 for none: the items that have these, each
    with its links to them. None of `fixed`, and none without links."""
    ends: dict[int, list[tuple[int, int]]] = {item: [(-1, -1), (-1, -1)] for item in level.items}
    several = set(fixed)
    for a, b, link in level.links:
        for item, side, other in ((a, 1, b), (b, 0, a)):
            if ends[item][side][1] >= 0:
                several.add(item)
            ends[item][side] = other, link
    alike: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
    for item, ((up, upper), (down, lower)) in ends.items():
        if item not in several and max(upper, lower) >= 0:
            alike.setdefault((level.ranks[item], up, down), []).append((item, upper, lower))
    return alike
