"""Vertices in ranks, and bends in each rank that a link only passes."""

from __future__ import annotations

from collections.abc import Sequence


class Layers:
    """A graph whose links lead from each rank to the next.

    Vertices 0 to `count` - 1 are those given; the others are bends.

    layers   vertices of each rank, from left to right
    above    of each vertex, those it is joined to in the rank above; below likewise
    paths    of each link, its vertices from top to bottom: both ends and the bends between
    place    where each vertex is in its rank, 0 for the first
    """

    def __init__(self, ranks: Sequence[int], links: Sequence[tuple[int, int]]) -> None:
        """`ranks` of the vertices, and links between different ranks, in either direction."""
        self.count = len(ranks)
        self.rank = list(ranks)
        self.layers: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
        self.above: list[list[int]] = [[] for _ in ranks]
        self.below: list[list[int]] = [[] for _ in ranks]
        self.paths: list[list[int]] = []
        for v, value in enumerate(ranks):
            self.layers[value].append(v)
        above, below = self.above, self.below
        for u, v in links:
            if ranks[u] > ranks[v]:
                u, v = v, u
            first, span = len(self.rank), range(ranks[u] + 1, ranks[v])
            path = [u, *range(first, first + len(span)), v]
            self.rank += span
            for value, bend in zip(span, path[1:-1], strict=True):
                self.layers[value].append(bend)
            above += [[bend] for bend in path[:-2]]
            below += [[bend] for bend in path[2:]]
            below[u].append(path[1])
            above[v].append(path[-2])
            self.paths.append(path)
        self.place = [0] * len(self.rank)
        for layer in self.layers:
            self.put(layer)

    @property
    def size(self) -> int:
        """Vertices and pieces of links."""
        return len(self.rank) + sum(map(len, self.below))

    def put(self, layer: Sequence[int]) -> None:
        """Make `place` agree with the order of this rank."""
        place = self.place
        for at, v in enumerate(layer):
            place[v] = at
