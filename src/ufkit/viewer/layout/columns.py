"""Columns: what stands exactly below each other, and what lies left and right of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from ufkit.viewer.layout.layers import Layers

Distances = Mapping[tuple[int, int], float]

_ROUNDS = 12  # of cutting columns
_WORK = 60_000  # vertices looked at in all of them
_GENEROUS = 1.25  # times the width of the widest rank, for columns to be straight
_SPARE = 400.0  # pixels more
_DRIFT = 48.0  # pixels that the line of a column may leave that of its beginning


class Columns:
    """Vertices that move as one, numbered from 0.

    head     column of each vertex
    offset   of each vertex from the place of its column, so that the ends of aligned pieces meet
    loose    the other pieces: upper vertex, lower vertex, and how far right of the middle of the
             upper one that of the lower one is when the piece is vertical
    left     of each column, those left of it and the least distance; right likewise
    order    all columns, each after those left of it
    lowest   the farthest left that each can be, with the leftmost at 0
    """

    def __init__(
        self,
        graph: Layers,
        under: Sequence[int],
        starts: Sequence[float],
        stops: Sequence[float],
        apart: Distances,
    ) -> None:
        """
        under           of each vertex the one aligned with it in the next rank, or -1
        starts, stops   of each link, how far right of its vertex' middle it is fixed
        apart           least distance of the middles of neighbours in a rank
        """
        self.graph, self.under = graph, under
        self.head = [-1] * len(graph.rank)
        self.offset = [0.0] * len(graph.rank)
        self.members: list[list[int]] = []
        fixed: dict[int, tuple[float, float]] = {}
        ends: list[tuple[int, int, float]] = []
        for u, v, link in graph.segments():
            start = starts[link] if u < graph.count else 0.0
            stop = stops[link] if v < graph.count else 0.0
            if under[u] == v and u not in fixed:
                fixed[u] = start, stop
            else:
                ends.append((u, v, start - stop))
        for layer in graph.layers:
            for v in layer:
                if self.head[v] < 0:
                    self._descend(v, fixed)
        self.loose = [(u, v, right) for u, v, right in ends if self.head[u] != self.head[v]]
        self._neighbours(apart)
        self._pack()

    def _descend(self, v: int, fixed: Mapping[int, tuple[float, float]]) -> None:
        """Make a column from `v` down. Where links leave frames far from below where they came in,
        the line would run away to one side; it bends back instead."""
        column, offset = len(self.members), 0.0
        self.members.append([])
        while v >= 0:
            self.head[v], self.offset[v] = column, offset
            self.members[column].append(v)
            start, stop = fixed.get(v, (0.0, 0.0))
            line = offset + start
            offset = (line if abs(line) <= _DRIFT else 0.0) - stop
            v = self.under[v]

    def _neighbours(self, apart: Distances) -> None:
        head, offset = self.head, self.offset
        self._touch: dict[tuple[int, int], tuple[float, int, int]] = {}
        for (u, v), distance in apart.items():
            pair = head[u], head[v]
            gap = distance + offset[u] - offset[v]
            if pair not in self._touch or self._touch[pair][0] < gap:
                self._touch[pair] = gap, u, v
        count = len(self.members)
        self.left: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        self.right: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        for (a, b), (gap, _, _) in self._touch.items():
            self.left[b].append((a, gap))
            self.right[a].append((b, gap))
        waiting = [len(item) for item in self.left]
        self.order = [column for column in range(count) if not waiting[column]]
        for a in self.order:  # grows while it is walked
            for b, _ in self.right[a]:
                waiting[b] -= 1
                if not waiting[b]:
                    self.order.append(b)

    def _pack(self) -> None:
        lowest = self.lowest = [0.0] * len(self.members)
        self._bound = [-1] * len(self.members)  # the column that keeps each from going left
        for b in self.order:
            for a, gap in self.left[b]:
                if lowest[a] + gap > lowest[b]:
                    lowest[b] = lowest[a] + gap
                    self._bound[b] = a

    @property
    def width(self) -> float:
        """The least width: of middles, from the first to the last."""
        return max(self.lowest, default=0.0)

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
                    leaving = self.graph.rank[self._touch[a, b][1]]
                    arriving = self.graph.rank[self._touch[self._bound[a], a][2]]
                    if leaving != arriving:
                        cuts.append(self._weakest(a, *sorted((leaving, arriving))))
                b = a
        return cuts

    def _weakest(self, column: int, first: int, last: int) -> int:
        """The vertex to cut below, of ranks `first` to `last` - 1: no bend, near the middle."""
        members, count = self.members[column], self.graph.count
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
    apart: Distances,
) -> Columns:
    """The columns of an alignment, as far as the drawing does not get much wider by them."""
    widest = 0.0
    for layer in graph.layers:
        widest = max(widest, sum([apart[pair] for pair in itertools.pairwise(layer)]))
    limit = widest * _GENEROUS + _SPARE
    under = list(under)
    columns = Columns(graph, under, starts, stops, apart)
    for _ in range(max(1, min(_ROUNDS, _WORK // (len(under) + 1)))):
        if columns.width <= limit or not (cuts := columns.strained(limit)):
            break
        for v in cuts:
            under[v] = -1
        columns = Columns(graph, under, starts, stops, apart)
    return columns
