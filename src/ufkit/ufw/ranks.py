"""Which record is the i-th: LMDB orders keys but does not count them."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from ufkit.ufw.pages import Item, Tree

_NUMBERED = re.compile(rb"(\D*)(\d+)")


class _Numbered(NamedTuple):
    """Keys whose numbers follow one another: text, digits of a fixed width, anything."""

    text: bytes
    width: int
    first: int

    def prefix(self, rank: int) -> bytes:
        """How the key at a rank begins."""
        return b"%s%0*d" % (self.text, self.width, self.first + rank)

    def rank(self, key: bytes) -> int | None:
        """The rank that the number in a key tells; None where it is of another kind."""
        found = _NUMBERED.match(key)
        if found is None or found[1] != self.text or int(found[2]) < self.first:
            return None
        return int(found[2]) - self.first


class Ranks:
    """The records of a tree by rank, found without reading all keys where that can be.

    Keys that Caffe's and UFW's tools number are found by their number, in the time that any key
    takes. For others the head of each leaf of the tree is read once, when the first rank is asked
    for: where it begins, and how many records it has.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._numbered = _numbering(tree)
        self._leaves: _Leaves | None = None

    def items(self, rank: int) -> Iterator[Item]:
        """Records in order, from that of a rank on; none where a damaged tree has fewer."""
        if rank == 0:
            return self.tree.items()
        if self._numbered is not None:
            if (found := _from_number(self.tree, self._numbered.prefix(rank))) is not None:
                return found
            self._numbered = None  # numbers are missing, and others twice
        return self._all().items(rank)

    def rank(self, key: bytes) -> int | None:
        """The rank of a key; None where no record has it."""
        if self._numbered is not None and (rank := self._numbered.rank(key)) is not None:
            found = next(self.items(rank), None)
            if found is not None and found[0] == key:
                return rank
        return self._all().rank(key)

    def _all(self) -> _Leaves:
        if self._leaves is None:
            self._leaves = _Leaves(self.tree)
        return self._leaves


class _Leaves:
    """The leaves of a tree: the first key of each, and its rank."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._keys: list[bytes] = []
        self._ranks = array("Q")
        count = 0
        for key, nodes in tree.leaves():
            self._keys.append(key)
            self._ranks.append(count)
            count += nodes
        self._count = count

    def items(self, rank: int) -> Iterator[Item]:
        if rank >= self._count:
            return iter(())
        at = bisect_right(self._ranks, rank) - 1
        return islice(self._tree.items(self._keys[at]), rank - self._ranks[at], None)

    def rank(self, key: bytes) -> int | None:
        at = bisect_right(self._keys, key) - 1
        if at < 0:
            return None
        for further, (other, _, _) in enumerate(self._tree.items(self._keys[at])):
            if other >= key:
                return self._ranks[at] + further if other == key else None
        return None


def _numbering(tree: Tree) -> _Numbered | None:
    """How the keys are numbered, judged by the first, the last, and how many there are."""
    ends = next(tree.items(), None), tree.last()
    if ends[0] is None or ends[1] is None:
        return None
    first, last = _NUMBERED.match(ends[0][0]), _NUMBERED.match(ends[1][0])
    if first is None or last is None or first[1] != last[1] or len(first[2]) != len(last[2]):
        return None
    if int(last[2]) - int(first[2]) != len(tree) - 1:
        return None
    return _Numbered(first[1], len(first[2]), int(first[2]))


def _from_number(tree: Tree, prefix: bytes) -> Iterator[Item] | None:
    """Records from the one with a number on; None where there are none or several with it."""
    items = tree.items(prefix)
    ahead = list(islice(items, 2))
    if [_has(key, prefix) for key, _, _ in ahead] not in ([True], [True, False]):
        return None
    return chain(ahead, items)


def _has(key: bytes, prefix: bytes) -> bool:
    return key.startswith(prefix) and not key[len(prefix) : len(prefix) + 1].isdigit()
