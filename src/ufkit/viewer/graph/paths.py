"""Ways through a picture: what comes before and behind an item, and from one to another."""

from __future__ import annotations

from collections import deque

from ufkit.viewer.content import Picture


def related(picture: Picture, start: int) -> tuple[list[int], list[int]]:
    """The items that an item depends on, and those that depend on it, itself in neither."""
    before = _reached(start, [[link.source for link in item.takes] for item in picture.items])
    behind = _reached(start, picture.takers())
    return before, behind


def _reached(start: int, ways: list[list[int]]) -> list[int]:
    seen = {start: None}
    waiting = [start]
    while waiting:
        for at in ways[waiting.pop()]:
            if at not in seen:
                seen[at] = None
                waiting.append(at)
    return sorted(at for at in seen if at != start)


def shortest(picture: Picture, start: int, end: int) -> list[int]:
    """The fewest items between two, in the flow's direction, whichever of them comes first.

    Both are among them; empty where neither leads to the other.
    """
    takers = picture.takers()
    return _way(takers, start, end) or _way(takers, end, start)


def _way(ways: list[list[int]], start: int, end: int) -> list[int]:
    came = {start: start}
    waiting = deque([start])
    while waiting:
        at = waiting.popleft()
        if at == end:
            way = [at]
            while way[-1] != start:
                way.append(came[way[-1]])
            return way[::-1]
        for further in ways[at]:
            if further not in came:
                came[further] = at
                waiting.append(further)
    return []
