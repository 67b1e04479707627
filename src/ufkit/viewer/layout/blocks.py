"""Blocks: strands between the same neighbours, set in rows where one rank would be too wide."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from ufkit.viewer.layout.diagram import Diagram, Point, Spacing
from ufkit.viewer.layout.levels import Level
from ufkit.viewer.layout.parts import turning

_WIDEST = 2_000.0  # pixels that strands with the same neighbours may take in one rank
_FEWEST = 4  # of them
_SHAPE = 1.6  # width to height that is aimed at

Way = tuple[int, list[Point]]  # of a link


@dataclass(slots=True)
class Strand:
    """Boxes one below the other, joined to one box above, to one below, or to both; often a single
    one.

    links        between them
    above        the link to the box above the first, or -1
    below        the link to the box below the last, or -1
    """

    boxes: list[int]
    links: list[int]
    above: int
    below: int


class Block:
    """Strands in rows, all joined to the same box above, the same one below, or both.

    Their links are one line outside of the block. At its border it parts into lanes, one left of
    each column for links from above, one right of it for those that lead on.

    strands   in the order of rows, from left to right
    corners   of each of their boxes, from the corner of the block
    """

    def __init__(
        self, strands: Sequence[Strand], rows: int, diagram: Diagram, spacing: Spacing
    ) -> None:
        self.strands = strands
        self.above = strands[0].above  # the link that stands for all, or -1
        self.below = strands[0].below
        self.corners: dict[int, Point] = {}
        self._diagram, self._spacing = diagram, spacing
        self._columns(ceil(len(strands) / rows))
        self._fan = turning(spacing.ranks, self.width / 2)
        self._fill()

    def _columns(self, count: int) -> None:
        """Place the columns, and the lanes beside them."""
        side, x = self._spacing.beside / 2, 0.0
        widths = [_width(strand, self._diagram) for strand in self.strands]
        self._into: list[float] = []  # x of the lane of each column
        self._middles: list[float] = []
        self._onward: list[float] = []
        for at in range(count):
            wide = max(widths[at::count])
            self._into.append(x)
            self._middles.append(x + side + wide / 2)
            self._onward.append(x + wide + 2 * side)
            x = self._onward[-1]
            if self.above >= 0 and self.below >= 0:
                x += self._spacing.lines
        self.width = self._onward[-1]

    def _fill(self) -> None:
        """Place the rows, and in them the boxes."""
        gap, step, heights = self._spacing.beside, self._spacing.ranks, self._diagram.heights
        self._rows: list[tuple[float, float]] = []  # top and bottom of each
        y = self._fan + gap if self.above >= 0 else 0.0
        for start in range(0, len(self.strands), len(self._middles)):
            row = self.strands[start : start + len(self._middles)]
            high = [_height(strand, self._diagram, self._spacing) for strand in row]
            bottom = y + max(high)
            self._rows.append((y, bottom))
            for strand, height, middle in zip(row, high, self._middles, strict=False):
                top = (y + bottom - height) / 2
                for box in strand.boxes:
                    self.corners[box] = middle - self._diagram.widths[box] / 2, top
                    top += heights[box] + step
            y = bottom + gap
        self.height = y + self._fan if self.below >= 0 else y - gap

    def ways(self, before: Sequence[Point], after: Sequence[Point]) -> Iterator[Way]:
        """Each link and its way from top to bottom, from the corner of the block.

        `before` and `after` lead to the middle of the upper border, and on from that of the lower.
        """
        heights = self._diagram.heights
        end = self.height - self._fan
        for at, strand in enumerate(self.strands):
            row, column = divmod(at, len(self._middles))
            x, (start, stop) = self._middles[column], self._rows[row]
            tops = [self.corners[box][1] for box in strand.boxes]
            feet = [top + heights[box] for top, box in zip(tops, strand.boxes, strict=True)]
            if strand.above >= 0:
                lane, turn = self._into[column], self._rows[row - 1][1] if row else self._fan
                inside = [(lane, self._fan), (lane, turn), (x, start), (x, tops[0])]
                yield strand.above, [*before, *inside]
            for link, foot, top in zip(strand.links, feet, tops[1:], strict=False):
                yield link, [(x, foot), (x, top)]
            if strand.below >= 0:
                lane, last = self._onward[column], row + 1 == len(self._rows)
                turn = end if last else self._rows[row + 1][0]
                inside = [(x, feet[-1]), (x, stop), (lane, turn), (lane, end)]
                yield strand.below, [*inside, *after]


def _width(strand: Strand, diagram: Diagram) -> float:
    return max([diagram.widths[box] for box in strand.boxes])


def _height(strand: Strand, diagram: Diagram, spacing: Spacing) -> float:
    high = sum([diagram.heights[box] for box in strand.boxes])
    return high + spacing.ranks * len(strand.links)


def _rows(strands: Sequence[Strand], diagram: Diagram, spacing: Spacing) -> int:
    """In how many rows they should stand: 1 where that is not too wide."""
    gap = spacing.beside
    wide = [_width(strand, diagram) + gap for strand in strands]
    if len(strands) < _FEWEST or sum(wide) <= _WIDEST:
        return 1
    high = [_height(strand, diagram, spacing) + gap for strand in strands]
    area = sum([w * h for w, h in zip(wide, high, strict=True)])
    return max(1, min(round(sum(wide) / sqrt(area * _SHAPE)), len(strands)))


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
            for strands in _alike(level, fixed, diagram):
                if (rows := _rows(strands, diagram, spacing)) > 1:
                    number = first + len(self)
                    self[number] = block = Block(strands, rows, diagram, spacing)
                    for strand in strands:
                        home |= dict.fromkeys(strand.boxes, number)
                        self.stands |= {strand.above: block.above, strand.below: block.below}
                    level.ranks[number] = level.ranks[strands[0].boxes[0]]
            if home:
                _move(level, home)
        left_out = {link for link, other in self.stands.items() if link != other}
        for level in levels if left_out else ():
            level.links = [item for item in level.links if item[2] not in left_out]
            level.upward = [item for item in level.upward if item[0] not in left_out]
            level.downward = [item for item in level.downward if item[0] not in left_out]


def _alike(level: Level, fixed: Collection[int], diagram: Diagram) -> list[list[Strand]]:
    """The strands of a level that are joined to the same boxes, of the same ranks, together."""
    alike: dict[tuple[int, int, int, int], list[Strand]] = {}
    for strand in _strands(level, fixed, diagram):
        first, last = strand.boxes[0], strand.boxes[-1]
        up = sum(diagram.links[strand.above]) - first if strand.above >= 0 else -1
        down = sum(diagram.links[strand.below]) - last if strand.below >= 0 else -1
        if max(up, down) >= 0:
            key = level.ranks[first], level.ranks[last], up, down
            alike.setdefault(key, []).append(strand)
    return list(alike.values())


def _strands(level: Level, fixed: Collection[int], diagram: Diagram) -> Iterator[Strand]:
    """All of a level, as long as they can be; none has a box of `fixed`."""
    uppers: dict[int, int] = {}  # the only link above each item; lowers likewise
    lowers: dict[int, int] = {}
    several = set(fixed)
    above = [*((b, link) for _, b, link in level.links), *((b, link) for link, b in level.upward)]
    below = [*((a, link) for a, _, link in level.links), *((a, link) for link, a in level.downward)]
    for links, only in ((above, uppers), (below, lowers)):
        for item, link in links:
            if item in only:
                several.add(item)
            only[item] = link
    count = len(diagram.widths)
    single = dict.fromkeys(item for item in level.items if item < count and item not in several)
    inner = {link: b for a, b, link in level.links if a in single and b in single}
    for box in single:
        if uppers.get(box, -1) in inner:
            continue
        strand = Strand([box], [], uppers.get(box, -1), lowers.get(box, -1))
        while strand.below in inner:
            strand.links.append(strand.below)
            strand.boxes.append(inner[strand.below])
            strand.below = lowers.get(strand.boxes[-1], -1)
        yield strand


def _move(level: Level, home: Mapping[int, int]) -> None:
    """Put blocks in the place of their boxes."""
    kept = [item for item in level.items if item not in home]
    level.items = [*kept, *dict.fromkeys(home.values())]
    ends = [(home.get(a, a), home.get(b, b), link) for a, b, link in level.links]
    level.links = [(a, b, link) for a, b, link in ends if a != b]
    level.upward = [(link, home.get(item, item)) for link, item in level.upward]
    level.downward = [(link, home.get(item, item)) for link, item in level.downward]
    near = dict.fromkeys((home.get(a, a), home.get(b, b)) for a, b in level.near)
    level.near = [(a, b) for a, b in near if a != b]
