"""Vertices in ranks, and bends in each rank that a link only passes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence


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
            path = [u]
            for value in range(ranks[u] + 1, ranks[v]):
                bend = len(self.rank)
                self.rank.append(value)
                self.layers[value].append(bend)
                below[path[-1]].append(bend)
                above.append([path[-1]])
                below.append([])
                path.append(bend)
            below[path[-1]].append(v)
            above[v].append(path[-1])
            path.append(v)
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

    def segments(self) -> Iterator[tuple[int, int, int]]:
        """Upper vertex, lower vertex and link of each piece between two ranks."""
        for link, path in enumerate(self.paths):
            for u, v in itertools.pairwise(path):
                yield u, v, link
