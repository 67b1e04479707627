"""Name scopes: the folders that names such as `block1/conv/weights` make, open or closed.

A picture of thousands of nodes is read from the outside in: closed scopes are boxes, open ones
frames around what is in them.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ufkit.viewer.content import Item, Link, Picture

SEPARATOR = "/"
READABLE = 160  # boxes that a person can take in when a picture opens
_DEEPEST = 64  # levels; what is named deeper lies in the last


@dataclass(slots=True)
class Scope:
    """A scope: its full name, the scopes and items right in it, and how many items in all."""

    name: str
    parent: int
    scopes: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    count: int = 0


class Scopes:
    """The scopes of a picture, as a tree; number 0 is everything.

    Only what has two or more boxes in it is a scope; one that holds nothing but another is
    one with it.
    """

    def __init__(self, picture: Picture) -> None:
        self.tree = [Scope("", -1)]
        self.of: dict[int, int] = {}  # item: the scope right around it
        by_name: dict[tuple[int, str], int] = {}
        for index, item in enumerate(picture.items):
            if item.folded:
                continue
            at = 0
            for part in item.key.split(SEPARATOR)[:-1][:_DEEPEST]:
                if (at, part) not in by_name:
                    name = f"{self.tree[at].name}{SEPARATOR}{part}" if at else part
                    by_name[at, part] = len(self.tree)
                    self.tree[at].scopes.append(len(self.tree))
                    self.tree.append(Scope(name, at))
                at = by_name[at, part]
            self.tree[at].items.append(index)
            self.of[index] = at
        self._simplify()

    def _simplify(self) -> None:
        """Count items; take out scopes of one item, and those around a single scope."""
        for at in reversed(range(1, len(self.tree))):  # children come behind their parents
            scope, parent = self.tree[at], self.tree[self.tree[at].parent]
            scope.count = len(scope.items) + sum(self.tree[child].count for child in scope.scopes)
            alone = len(scope.items) + len(scope.scopes) < 2
            if alone:
                parent.scopes.remove(at)
                parent.scopes += scope.scopes
                parent.items += scope.items
                for child in scope.scopes:
                    self.tree[child].parent = scope.parent
                for item in scope.items:
                    self.of[item] = scope.parent
                scope.count = 0
        self.tree[0].count = len(self.of)

    def around(self, item: int) -> list[int]:
        """The scopes an item is in, from the inside out, number 0 left out."""
        found = []
        at = self.of.get(item, 0)
        while at > 0:
            found.append(at)
            at = self.tree[at].parent
        return found

    def all(self) -> list[int]:
        """Every scope."""
        return [at for at, scope in enumerate(self.tree) if at and scope.count]

    def opened(self, budget: int = READABLE) -> list[int]:
        """The scopes to open first: the fullest ones, as long as `budget` boxes are not passed."""
        if len(self.of) <= budget:
            return self.all()
        shown = self._inside(0)
        waiting = [(-self.tree[at].count, at) for at in self.tree[0].scopes]
        heapq.heapify(waiting)
        chosen = []
        while waiting:
            _, at = heapq.heappop(waiting)
            if shown + self._inside(at) - 1 > budget:
                continue
            shown += self._inside(at) - 1
            chosen.append(at)
            for child in self.tree[at].scopes:
                heapq.heappush(waiting, (-self.tree[child].count, child))
        return chosen

    def _inside(self, at: int) -> int:
        """How many boxes an open scope shows."""
        return len(self.tree[at].items) + len(self.tree[at].scopes)


@dataclass(slots=True)
class Box:
    """A box of the picture: an item, or a closed scope with the items in it."""

    frame: int  # the frame right around it, -1 without one
    item: int = -1
    scope: int = -1


@dataclass(slots=True)
class Joined:
    """The links between two boxes, drawn as one."""

    source: int
    target: int
    links: list[Link] = field(default_factory=list)


@dataclass(slots=True)
class View:
    """What is seen of a picture: boxes, frames (scopes, each with the frame around it), links."""

    boxes: list[Box] = field(default_factory=list)
    frames: list[tuple[int, int]] = field(default_factory=list)
    links: list[Joined] = field(default_factory=list)
    box_of: dict[int, int] = field(default_factory=dict)


def view(picture: Picture, scopes: Scopes, opened: Iterable[int]) -> View:
    """The picture with some scopes open; a scope in a closed one is not seen."""
    wanted = {*opened}
    seen = View()
    waiting = [(0, -1)]
    while waiting:
        at, frame = waiting.pop()
        for item in scopes.tree[at].items:
            seen.box_of[item] = len(seen.boxes)
            seen.boxes.append(Box(frame, item=item))
        for child in reversed(scopes.tree[at].scopes):
            if child in wanted:
                seen.frames.append((child, frame))
                waiting.append((child, len(seen.frames) - 1))
            else:
                for item in members(scopes, child):
                    seen.box_of[item] = len(seen.boxes)
                seen.boxes.append(Box(frame, scope=child))
    seen.links = _joined(picture.items, seen.box_of)
    return seen


def flat(picture: Picture) -> View:
    """The picture without scopes: a box for each item, no frames."""
    seen = View()
    for index, item in enumerate(picture.items):
        if not item.folded:
            seen.box_of[index] = len(seen.boxes)
            seen.boxes.append(Box(-1, item=index))
    seen.links = _joined(picture.items, seen.box_of)
    return seen


def members(scopes: Scopes, at: int) -> list[int]:
    """All items in a scope."""
    found: list[int] = []
    waiting = [at]
    while waiting:
        scope = scopes.tree[waiting.pop()]
        found += scope.items
        waiting += scope.scopes
    return found


def _joined(items: list[Item], box_of: dict[int, int]) -> list[Joined]:
    found: dict[tuple[int, int], Joined] = {}
    for index, item in enumerate(items):
        target = box_of.get(index)
        for link in item.takes:
            source = box_of.get(link.source)
            if source is None or target is None or (source == target and index != link.source):
                continue
            pair = source, target
            found.setdefault(pair, Joined(source, target)).links.append(link)
    return [*found.values()]


def kinds(picture: Picture, scopes: Scopes, at: int) -> list[tuple[str, int]]:
    """What a closed scope holds: operations and how many of each, the most frequent first."""
    counts = Counter(picture.items[item].operation for item in members(scopes, at))
    return counts.most_common()
