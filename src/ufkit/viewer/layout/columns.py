"""Columns: what stands exactly below each other, and what lies left and right of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ufkit.viewer.layout.layers import Layers

_ROUNDS = 12  # of cutting columns
_WORK = 60_000  # vertices looked at in all of them
_GENEROUS = 1.25  # times the width of the widest rank, for columns to be straight
_SPARE = 400.0  # pixels more
_DRIFT = 48.0  # pixels that the line of a column may leave that of its beginning


class Columns:
    """Vertices that move as one, numbered from 0.

    head     column of each vertex
    offset   of each vertex from the place of its column, so that the ends of aligned pieces meet
    count    of columns
    gaps     two columns that are neighbours in a rank, left and right, and their least distance;
             those left of a column come before those right of it
    lowest   the farthest left that each can be, with the leftmost at 0
    """

    def __init__(
        self,
        graph: Layers,
        under: Sequence[int],
        starts: Sequence[float],
        stops: Sequence[float],
        apart: Sequence[Sequence[float]],
    ) -> None:
        """
        under           of each vertex the one aligned with it in the next rank, or -1
        starts, stops   of each link, how far right of its vertex' middle it is fixed
        apart           least distance of the middles of neighbours, in each rank
        """
        self.graph, self.under = graph, list(under)
        self._starts, self._stops, self._apart = starts, stops, apart
        self._fixed: dict[int, tuple[float, float]] = {}  # both ends of the piece below a vertex
        for path, start, stop in zip(graph.paths, starts, stops, strict=True):
            if len(path) == 2:
                if under[path[0]] == path[1]:
                    self._fixed.setdefault(path[0], (start, stop))
            else:
                if start and under[path[0]] == path[1]:
                    self._fixed.setdefault(path[0], (start, 0.0))
                if stop and under[path[-2]] == path[-1]:
                    self._fixed[path[-2]] = 0.0, stop
        self._make()

    def cut(self, vertices: Iterable[int]) -> None:
        """End columns at these vertices; what was below is a column of its own."""
        for v in vertices:
            self.under[v] = -1
        self._make()

    def _make(self) -> None:
        self.head = [-1] * len(self.under)
        self.offset = [0.0] * len(self.under)
        self._members: list[list[int]] = []
        for layer in self.graph.layers:
            for v in layer:
                if self.head[v] < 0:
                    self._descend(v)
        self.count = len(self._members)
        self._pack(self._neighbours())

    def _descend(self, v: int) -> None:
        """Make a column from `v` down. Where links leave frames far from below where they came in,
        the line would run away to one side; it bends back instead."""
        head, offsets, under, fixed = self.head, self.offset, self.under, self._fixed
        column, offset = len(self._members), 0.0
        members: list[int] = []
        self._members.append(members)
        while v >= 0:
            head[v] = column
            members.append(v)
            if offset:
                offsets[v] = offset
            if v in fixed:
                start, stop = fixed[v]
                line = offset + start
                offset = (line if abs(line) <= _DRIFT else 0.0) - stop
            elif abs(offset) > _DRIFT:
                offset = 0.0
            v = under[v]

    def _neighbours(self) -> list[list[tuple[int, float]]]:
        """Of each column those right of it, and the least distance."""
        head, offset = self.head, self.offset
        gaps: dict[tuple[int, int], float] = {}
        self._touch: dict[tuple[int, int], int] = {}  # the rank where they are as near as that
        for r, (layer, row) in enumerate(zip(self.graph.layers, self._apart, strict=True)):
            for at, distance in enumerate(row):
                u, v = layer[at], layer[at + 1]
                pair = head[u], head[v]
                gap = distance + offset[u] - offset[v]
                if pair not in gaps or gaps[pair] < gap:
                    gaps[pair] = gap
                    self._touch[pair] = r
        right: list[list[tuple[int, float]]] = [[] for _ in range(self.count)]
        for (a, b), gap in gaps.items():
            right[a].append((b, gap))
        return right

    def _pack(self, right: list[list[tuple[int, float]]]) -> None:
        waiting = [0] * self.count
        for near in right:
            for b, _ in near:
                waiting[b] += 1
        lowest = self.lowest = [0.0] * self.count
        self._bound = [-1] * self.count  # the column that keeps each from going left
        self.gaps: list[tuple[int, int, float]] = []
        order = [column for column in range(self.count) if not waiting[column]]
        for a in order:  # grows while it is walked
            place = lowest[a]
            for b, gap in right[a]:
                self.gaps.append((a, b, gap))
                if place + gap > lowest[b]:
                    lowest[b] = place + gap
                    self._bound[b] = a
                waiting[b] -= 1
                if not waiting[b]:
                    order.append(b)

    @property
    def width(self) -> float:
        """The least width: of middles, from the first to the last."""
        return max(self.lowest, default=0.0)

    def loose(self) -> list[tuple[int, int, float, int]]:
        """The pieces that may lean: upper column, lower column, how far right of the upper one the
        lower one is when the piece is vertical, and how many ends of the piece are bends."""
        head, offset = self.head, self.offset
        found = []
        for path, start, stop in zip(self.graph.paths, self._starts, self._stops, strict=True):
            a, end, bends = head[path[0]], offset[path[0]] + start, 0
            if len(path) > 2:
                bends = 1
                for v in path[1:-1]:
                    b = head[v]
                    if a != b:
                        found.append((a, b, end - offset[v], bends))
                    a, end, bends = b, offset[v], 2
                bends = 1
            b = head[path[-1]]
            if a != b:
                found.append((a, b, end - stop - offset[path[-1]], bends))
        return found

    def strained(self, limit: float) -> list[int]:
        """Vertices below which columns should be cut so that they need less width than this.

        Two columns that overlap in a rank, the second and a third in another, and so on, make a
        staircase as wide as all of them. Each is cut between the ranks where it is a step.
        """
        cuts: list[int] = []
        seen: set[int] = set()
        for b, place in enumerate(self.lowest):
            if place <= limit:
                continue
            while b not in seen and (a := self._bound[b]) >= 0:
                seen.add(b)
                if self._bound[a] >= 0 and a not in seen:
                    leaving, arriving = self._touch[a, b], self._touch[self._bound[a], a]
                    if leaving != arriving:
                        cuts.append(self._weakest(a, *sorted((leaving, arriving))))
                b = a
        return cuts

    def _weakest(self, column: int, first: int, last: int) -> int:
        """The vertex to cut below, of ranks `first` to `last` - 1: no bend, near the middle."""
        members, count = self._members[column], self.graph.count
        top = self.graph.rank[members[0]]
        middle = (first + last - 1) / 2

        def cost(v: int) -> tuple[int, float]:
            return (v >= count) + (self.under[v] >= count), abs(self.graph.rank[v] - middle)

        return min(members[first - top : last - top], key=cost)


def columns_of(
    graph: Layers,
    under: Sequence[int],
    starts: Sequence[float],
    stops: Sequence[float],
    apart: Sequence[Sequence[float]],
) -> Columns:
    """The columns of an alignment, as far as the drawing does not get much wider by them."""
    limit = max(map(sum, apart), default=0.0) * _GENEROUS + _SPARE
    columns = Columns(graph, under, starts, stops, apart)
    for _ in range(max(1, min(_ROUNDS, _WORK // (len(under) + 1)))):
        if columns.width <= limit or not (cuts := columns.strained(limit)):
            break
        columns.cut(cuts)
    return columns
