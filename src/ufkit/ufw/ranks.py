"""Which record is the i-th: LMDB orders keys but does not count them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from ufkit.ufw.pages import Item, Tree

_STEP = 64  # of so many keys one is remembered
_NUMBERED = re.compile(rb"(\D*)(\d+)")


class _Numbered(NamedTuple):
    """Keys whose numbers follow one another: text, digits of a fixed width, anything."""

    text: bytes
    width: int
    first: int

    def prefix(self, rank: int) -> bytes:
        """How the key at a rank begins."""
        return b"%s%0*d" % (self.text, self.width, self.first + rank)


class Ranks:
    """The records of a tree by rank, found without reading all keys where that can be.

    Keys that Caffe's and UFW's tools number are found by their number, in the time that any key
    takes. Of others all are read once, when the first rank is asked for, and every 64th is kept.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._numbered = _numbering(tree)
        self._kept: list[bytes] | None = None

    def items(self, rank: int) -> Iterator[Item]:
        """Records in order, from that of a rank on; none where a damaged tree has fewer."""
        if rank == 0:
            return self.tree.items()
        if self._numbered is not None:
            if (found := _from_number(self.tree, self._numbered.prefix(rank))) is not None:
                return found
            self._numbered = None  # numbers are missing, and others twice
        if self._kept is None:
            self._kept = [key for key, _, _ in islice(self.tree.items(), 0, None, _STEP)]
        at, further = divmod(rank, _STEP)
        if at >= len(self._kept):
            return iter(())
        return islice(self.tree.items(self._kept[at]), further, None)


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
