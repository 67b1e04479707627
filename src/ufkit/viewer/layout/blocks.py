"""Blocks: boxes with the same neighbours, set in rows where one rank would be too wide."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import ceil, sqrt

from ufkit.viewer.layout.diagram import Diagram, Point, Spacing
from ufkit.viewer.layout.levels import Level
from ufkit.viewer.layout.parts import turning

_WIDEST = 2_000.0  # pixels that boxes with the same neighbours may take in one rank
_FEWEST = 4  # of them
_SHAPE = 1.6  # width to height that is aimed at


class Block:
    """Boxes that stand in rows, all joined to the same box above, the same one below, or both.

    Their links are one line outside of the block. At its border it parts into lanes, one left of
    each column for links from above, one right of it for those that lead on.

    boxes         in the order of rows, from left to right
    above, below  the link of each box to the one above, and to the one below; empty for none
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


class Blocks(dict[int, Block]):
    """The blocks of all levels by the number of their item, which follow those of groups.

    stands   of each link of a block that is left out of all levels, the one that stands for it
    """

    def __init__(
        self, levels: Sequence[Level], fixed: Collection[int], diagram: Diagram, spacing: Spacing
    ) -> None:
        """Set in blocks what would make a rank of a level too wide, but for boxes of `fixed`.

        The level has each block in place of its boxes. All levels that their links pass have the
        first of them in place of all.
        """
        super().__init__()
        self.stands: dict[int, int] = {}
        first = len(diagram.widths) + len(diagram.group_parents)
        for level in levels:
            home: dict[int, int] = {}  # the block of each box
            for (rank, _, _), found in _alike(level, fixed, diagram).items():
                boxes = [box for box, _, _ in found]
                wide = sum([diagram.widths[box] + spacing.beside for box in boxes])
                if wide > _WIDEST and len(boxes) >= _FEWEST:
                    number = first + len(self)
                    above = [link for _, link, _ in found if link >= 0]
                    below = [link for _, _, link in found if link >= 0]
                    self[number] = Block(boxes, above, below, diagram, spacing)
                    home |= dict.fromkeys(boxes, number)
                    for links in (above, below):
                        self.stands |= dict.fromkeys(links[1:], *links[:1])
                    level.ranks[number] = rank
            if home:
                _move(level, home)
        if self.stands:
            for level in levels:
                level.links = [item for item in level.links if item[2] not in self.stands]
                level.upward = [item for item in level.upward if item[0] not in self.stands]
                level.downward = [item for item in level.downward if item[0] not in self.stands]


def _alike(
    level: Level, fixed: Collection[int], diagram: Diagram
) -> dict[tuple[int, int, int], list[tuple[int, int, int]]]:
    """By rank and the only boxes above and below, -1 for none: the boxes of a level that are joined
    to these, with their links to them. None of `fixed`, and none without links."""
    count = len(diagram.widths)
    uppers: dict[int, int] = {}
    lowers: dict[int, int] = {}
    several = set(fixed)
    above = [*((b, link) for _, b, link in level.links), *((b, link) for link, b in level.upward)]
    below = [*((a, link) for a, _, link in level.links), *((a, link) for link, a in level.downward)]
    for links, only in ((above, uppers), (below, lowers)):
        for item, link in links:
            if item in only:
                several.add(item)
            only[item] = link
    alike: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
    for box in level.items:
        if box < count and box not in several and (box in uppers or box in lowers):
            up, down = uppers.get(box, -1), lowers.get(box, -1)
            far = [sum(diagram.links[link]) - box if link >= 0 else -1 for link in (up, down)]
            alike.setdefault((level.ranks[box], far[0], far[1]), []).append((box, up, down))
    return alike


def _move(level: Level, home: Mapping[int, int]) -> None:
    """Put blocks in the place of their boxes."""
    level.items = [
        *(item for item in level.items if item not in home),
        *dict.fromkeys(home.values()),
    ]
    level.links = [(home.get(a, a), home.get(b, b), link) for a, b, link in level.links]
    level.upward = [(link, home.get(item, item)) for link, item in level.upward]
    level.downward = [(link, home.get(item, item)) for link, item in level.downward]
    level.near = list(dict.fromkeys((home.get(a, a), home.get(b, b)) for a, b in level.near))
