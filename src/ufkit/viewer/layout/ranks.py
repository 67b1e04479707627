"""A rank for each vertex, so that links lead down and are short."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

Links = Sequence[tuple[int, int]]

_SWEEPS = 8


def rank(count: int, links: Links) -> list[int]:
    """The rank of each of `count` vertices, from 0 down; the two ends of a link never share one.

    Links of cycles are taken the other way round, few of them: these lead up. Loops do not count.
    Longest paths from the top first; then vertices go where their links are shorter in sum, until
    no single one gains.
    """
    order, upright = _sequence(count, [link for link in links if link[0] != link[1]])
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for u, v in upright:
        below[u].append(v)
        above[v].append(u)
    ranks = [0] * count
    for v in order:
        if above[v]:
            ranks[v] = 1 + max([ranks[u] for u in above[v]])
    for _ in range(_SWEEPS):
        if not _tighten(order, above, below, ranks):
            break
    least = min(ranks, default=0)
    return [value - least for value in ranks]


def _tighten(
    order: list[int], above: list[list[int]], below: list[list[int]], ranks: list[int]
) -> bool:
    """Move each vertex to the side where it has more links; those with as many go down.

    From the bottom up, so that whatever hangs on a vertex follows it, then from the top down.
    """
    moved = False
    for v in reversed(order):
        if below[v] and len(below[v]) >= len(above[v]):
            low = min([ranks[w] for w in below[v]]) - 1
            if low != ranks[v]:
                moved = moved or len(below[v]) > len(above[v])
                ranks[v] = low
    for v in order:
        if len(above[v]) > len(below[v]):
            high = max([ranks[u] for u in above[v]]) + 1
            if high != ranks[v]:
                moved = True
                ranks[v] = high
    return moved


def _sequence(count: int, links: Links) -> tuple[list[int], list[tuple[int, int]]]:
    """The vertices in an order that links follow, and the links, those against it turned round.

    Without cycles nothing is turned. Otherwise, after Eades, Lin and Smyth ("A fast and effective
    heuristic for the feedback arc set problem", 1993): sources go to the front, sinks to the back,
    and of what is left the vertex with the most links out over links in goes to the front.
    """
    if all(u < v for u, v in links):
        return list(range(count)), list(links)
    below: list[list[int]] = [[] for _ in range(count)]
    above: list[list[int]] = [[] for _ in range(count)]
    for u, v in links:
        below[u].append(v)
        above[v].append(u)
    out = [len(item) for item in below]
    into = [len(item) for item in above]
    left = [True] * count
    sources = deque(v for v in range(count) if not into[v])
    sinks = deque(v for v in range(count) if into[v] and not out[v])
    rest = [(into[v] - out[v], v) for v in range(count)]
    rest.sort()
    front: list[int] = []
    back: list[int] = []

    def take(v: int) -> None:
        left[v] = False
        for w in below[v]:
            into[w] -= 1
            if left[w]:
                if not into[w]:
                    sources.append(w)
                else:
                    heappush(rest, (into[w] - out[w], w))
        for u in above[v]:
            out[u] -= 1
            if left[u]:
                if not out[u]:
                    sinks.append(u)
                else:
                    heappush(rest, (into[u] - out[u], u))

    while len(front) + len(back) < count:
        if sources:
            if left[v := sources.popleft()]:
                front.append(v)
                take(v)
        elif sinks:
            if left[v := sinks.popleft()]:
                back.append(v)
                take(v)
        else:
            excess, v = heappop(rest)
            if left[v] and excess == into[v] - out[v]:
                front.append(v)
                take(v)
    order = front + back[::-1]
    at = [0] * count
    for place, v in enumerate(order):
        at[v] = place
    return order, [(u, v) if at[u] < at[v] else (v, u) for u, v in links]
