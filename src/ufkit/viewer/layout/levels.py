"""The groups of a diagram as levels, what lies in each directly, and which links pass it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ufkit.viewer.layout.diagram import Diagram
from ufkit.viewer.layout.ranks import rank

_BENDS = 15_000  # or one for each box: more cannot be followed, and take long to put in order


@dataclass(slots=True)
class Level:
    """What a group, or the whole diagram, holds directly: boxes, and groups as if they were boxes.

    An item is the number of a box, or the number of boxes plus that of a group.

    items    in their order
    ranks    of each item
    links    upper item, lower item and link, of links whose ends lie in different items
    upward   link and item of what passes the top of the frame; `downward` likewise the bottom
    near     items that links join, those of jumps too
    """

    group: int
    items: list[int] = field(default_factory=list)
    ranks: dict[int, int] = field(default_factory=dict)
    links: list[tuple[int, int, int]] = field(default_factory=list)
    upward: list[tuple[int, int]] = field(default_factory=list)
    downward: list[tuple[int, int]] = field(default_factory=list)
    near: list[tuple[int, int]] = field(default_factory=list)  # items that jumps join, too


@dataclass(slots=True)
class Levels:
    """All levels, each after the one it lies in, the whole diagram first.

    of_group   the level of each group
    ways       of each link, the levels it passes from its upper end to its lower one; empty for
               loops and jumps
    rising     whether each link leads up
    jumps      the links that span too many ranks
    """

    levels: list[Level]
    of_group: list[Level]
    ways: list[list[Level]]
    rising: list[bool]
    jumps: set[int]


def levels_of(diagram: Diagram, longest: int) -> Levels:
    """Ranks in each level, and what of each link belongs to which level."""
    boxes = len(diagram.widths)
    above = list(diagram.group_parents)
    inside = list(diagram.parents) or [-1] * boxes
    depth = _depths(above)
    levels = [Level(group) for group in range(len(above))]
    whole = Level(-1)
    levels.append(whole)  # group -1 is the last
    for item, group in enumerate([*inside, *above]):
        levels[group].items.append(item)

    climbs = [_climb(link, inside, above, depth, boxes) for link in diagram.links]
    for link, (a, b, at, _, _) in enumerate(climbs):
        if a != b:
            levels[at].links.append((a, b, link))
    for level in levels:
        local = {item: place for place, item in enumerate(level.items)}
        found = rank(len(local), [(local[a], local[b]) for a, b, _ in level.links])
        level.ranks = dict(zip(level.items, found, strict=True))
        level.near = [(a, b) for a, b, _ in level.links]
        level.links = []

    ways: list[list[Level]] = [[] for _ in climbs]
    rising = [False] * len(climbs)
    spans = [0] * len(climbs)
    bottom = [max(level.ranks.values(), default=0) for level in levels]
    for link, (a, b, at, first, second) in enumerate(climbs):
        if a == b:
            continue
        ranks = levels[at].ranks
        if ranks[a] > ranks[b]:
            rising[link] = True
            a, b, _, first, second = climbs[link] = b, a, at, second, first
        span = ranks[b] - ranks[a]
        for group, item in first:
            span += bottom[group] - levels[group].ranks[item] + 1
        for group, item in second:
            span += levels[group].ranks[item] + 1
        spans[link] = span
    longest = _bearable(spans, longest, max(_BENDS, boxes))
    jumps = {link for link, span in enumerate(spans) if span > longest}
    for link, (a, b, at, first, second) in enumerate(climbs):
        if a == b or link in jumps:
            continue
        levels[at].links.append((a, b, link))
        for group, item in first:
            levels[group].downward.append((link, item))
        for group, item in second:
            levels[group].upward.append((link, item))
        ways[link] = [levels[group] for group, _ in first]
        ways[link].append(levels[at])
        ways[link] += [levels[group] for group, _ in reversed(second)]
    nested = sorted(range(len(above)), key=depth.__getitem__)
    return Levels([whole, *(levels[group] for group in nested)], levels[:-1], ways, rising, jumps)


def _bearable(spans: list[int], longest: int, most: int) -> int:
    """The longest span up to `longest` with which all links together pass at most so many ranks."""
    passed = 0
    for span in sorted(spans):
        passed += max(span - 1, 0)
        if passed > most:
            return min(longest, span - 1)
    return longest


def _depths(above: list[int]) -> list[int]:
    depth = [0] * len(above)
    for group in range(len(above)):
        chain = []
        at = group
        while at >= 0 and not depth[at]:
            chain.append(at)
            at = above[at]
        base = depth[at] if at >= 0 else 0
        for known, member in enumerate(reversed(chain), base + 1):
            depth[member] = known
    return depth


Climb = tuple[int, int, int, list[tuple[int, int]], list[tuple[int, int]]]


def _climb(
    link: tuple[int, int], inside: list[int], above: list[int], depth: list[int], boxes: int
) -> Climb:
    """The two items of the level where both ends of a link lie, that level's group, and the groups
    below it that hold each end, from the inside, with the item in them."""
    a, b = link
    at, to = inside[a], inside[b]
    first: list[tuple[int, int]] = []
    second: list[tuple[int, int]] = []
    while at != to:
        if (depth[at] if at >= 0 else 0) >= (depth[to] if to >= 0 else 0):
            first.append((at, a))
            a, at = boxes + at, above[at]
        else:
            second.append((to, b))
            b, to = boxes + to, above[to]
    return a, b, at, first, second
