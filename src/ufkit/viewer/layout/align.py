"""Which vertices stand exactly below each other."""

from __future__ import annotations

from bisect import bisect

from ufkit.viewer.layout.layers import Layers


def align(graph: Layers, ports: range) -> list[int]:
    """Of each vertex the one of the next rank that stands below it, -1 for none.

    Of the pieces between two ranks some become vertical, no two of which cross: first those between
    bends, so that long links are straight; then those between vertices, the middle one of several
    first, and of several as good the one that goes on with the longest column; then the ends of
    long links. What comes in at one of `ports` is a column before all others.
    """
    count = graph.count
    under = [-1] * len(graph.rank)
    over = [-1] * len(graph.rank)
    column = [1] * count + [0] * (len(graph.rank) - count)  # vertices in it so far
    for port in ports:
        column[port] = len(column)
    place, below = graph.place, graph.below
    far_above = [_from_middle(graph, graph.above[v]) for v in range(count)]
    for layer in graph.layers[:-1]:
        inner: list[tuple[int, int]] = []
        outer: list[tuple[float, int, int, int]] = []
        mixed: list[tuple[int, int]] = []
        for at, u in enumerate(layer):
            if u >= count:
                v = below[u][0]
                (mixed if v < count else inner).append((at, v))
                continue
            far_below = _from_middle(graph, below[u])
            for v in below[u]:
                if v >= count:
                    mixed.append((at, v))
                else:
                    far = far_below.get(v, 0.0) + far_above[v].get(u, 0.0)
                    outer.append((far, -column[u], at, v))
        outer.sort()
        uppers: list[int] = []  # places of what is aligned so far, in order
        lowers: list[int] = []
        for at, v in (*inner, *[(at, v) for _, _, at, v in outer], *mixed):
            u, to = layer[at], place[v]
            if under[u] >= 0 or over[v] >= 0:
                continue
            i = bisect(uppers, at)
            if (i and lowers[i - 1] > to) or (i < len(uppers) and lowers[i] < to):
                continue
            uppers.insert(i, at)
            lowers.insert(i, to)
            under[u], over[v] = v, u
            column[v] += column[u]
    return under


_ALONE: dict[int, float] = {}


def _from_middle(graph: Layers, near: list[int]) -> dict[int, float]:
    """How far each of these is from the middle of those that are no bends, where it is not 0."""
    if len(near) < 2:
        return _ALONE
    real = [v for v in near if v < graph.count]
    real.sort(key=graph.place.__getitem__)
    middle = (len(real) - 1) / 2
    return {v: abs(at - middle) for at, v in enumerate(real)}
