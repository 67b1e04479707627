"""The B-tree of an LMDB file, read page by page: keys in order, values left where they lie.

LMDB itself trusts every number in a file, and a damaged one ends the process. Here each is checked
before it is used. The layout: http://www.lmdb.tech/doc/ (mdb.c, MDB_page, MDB_node)
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import Source
from ufkit.ufw.rules import DAMAGED_DATABASE, NOT_DATASET
from ufkit.ufw.store import Meta, read_meta

# A record's key, and the bytes of the file that its value has.
Item = tuple[bytes, int, int]

_PAGE = struct.Struct("<QHHHH")  # own number, padding, flags, end of pointers, begin of nodes
_NODE = struct.Struct("<HHHH")  # low and high half of a size, flags, bytes of the key
_NUMBER = struct.Struct("<Q")
_BRANCH, _LEAF, _OVERFLOW = 1, 2, 4
_KINDS = _BRANCH | _LEAF | _OVERFLOW | 8 | 32 | 64  # without what says only that it was changed
_BIG, _SUBDATA, _DUPDATA = 1, 2, 4
_NO_PAGE = (1 << 64) - 1
_DEEPEST = 32  # levels, as LMDB has it


class Tree:
    """The records of an LMDB file, by key and in the order of keys.

    `len` is what the file says. Everything read later may raise FormatError (UFW305) where it is
    damaged, with the bytes.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.meta: Meta = read_meta(source)
        if self.meta.flags:
            message = f"its keys are of a kind of their own (flags {self.meta.flags:#x})"
            raise FormatError(NOT_DATASET.at(Where(source.name), message))

        if self.meta.entries > source.size // _NODE.size:
            raise self._damaged(
                0, f"{self.meta.entries:,} records do not fit in {source.size:,} bytes"
            )

    def __len__(self) -> int:
        return self.meta.entries

    def items(self, start: bytes = b"") -> Iterator[Item]:
        """Records in order, from the first key that is not less than `start`."""
        if self.meta.root == _NO_PAGE:
            return
        for count, item in enumerate(self._below(self.meta.root, start, 1)):
            if count == self.meta.entries:
                raise self._damaged(0, f"there are more than the {count:,} records it tells of")
            yield item

    def get(self, key: bytes) -> Item | None:
        """The record with a key; None without one."""
        found = next(self.items(key), None)
        return found if found is not None and found[0] == key else None

    def last(self) -> Item | None:
        """The record with the greatest key; None without any."""
        number = self.meta.root
        for level in range(1, _DEEPEST + 1):
            if number == _NO_PAGE:
                return None
            at, leaf, pointers = self._page(number, level)
            if leaf:
                return self._record(at, pointers[-1])
            number = self._child(at, pointers[-1])
        return None

    def leaves(self) -> Iterator[tuple[bytes, int]]:
        """The first key of each leaf, in order, and how many records it has; none is read."""
        if self.meta.root == _NO_PAGE:
            return
        total = 0
        for at, pointers in self._leaves(self.meta.root, 1):
            total += len(pointers)
            if total > self.meta.entries:
                message = f"there are more than the {self.meta.entries:,} records it tells of"
                raise self._damaged(0, message)
            yield self._key(at, pointers[0])[0], len(pointers)

    # -- pages -------------------------------------------------------------------------------

    def _leaves(self, number: int, level: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Where each leaf of a page and all below it begins, and where in it its nodes are."""
        at, leaf, pointers = self._page(number, level)
        if leaf:
            yield at, pointers
            return
        for pointer in pointers:
            yield from self._leaves(self._child(at, pointer), level + 1)

    def _below(self, number: int, start: bytes, level: int) -> Iterator[Item]:
        """Records of a page and all below it."""
        at, leaf, pointers = self._page(number, level)
        first = 0
        if leaf:
            if start:
                first = bisect_left(pointers, start, key=lambda pointer: self._key(at, pointer)[0])
            for pointer in pointers[first:]:
                yield self._record(at, pointer)
            return
        if start:  # the first key of a branch is empty: it stands for all less than the second
            key = lambda pointer: self._key(at, pointer)[0]  # noqa: E731
            first = bisect_right(pointers, start, 1, key=key) - 1
        for pointer in pointers[first:]:
            yield from self._below(self._child(at, pointer), start, level + 1)
            start = b""

    def _page(self, number: int, level: int) -> tuple[int, bool, tuple[int, ...]]:
        """Where a page begins, whether it is a leaf, and where in it its nodes are."""
        at = self._start(number)
        own, _, flags, lower, _ = _PAGE.unpack_from(self.source.buffer, at)
        kind = flags & _KINDS
        count = (lower - _PAGE.size) // 2
        if own != number or kind not in (_BRANCH, _LEAF) or level > _DEEPEST:
            raise self._damaged(at, f"page {number} is not of the tree: number {own}, kind {kind}")
        if count < 1 or lower > self.meta.page:
            raise self._damaged(at, f"page {number} has {count} nodes")
        pointers = struct.unpack_from(f"<{count}H", self.source.buffer, at + _PAGE.size)
        return at, kind == _LEAF, pointers

    def _start(self, number: int) -> int:
        at = number * self.meta.page
        if number > self.meta.last_page or at + self.meta.page > self.source.size:
            raise self._damaged(0, f"there is no page {number}; the last is {self.meta.last_page}")
        return at

    def _key(self, at: int, pointer: int) -> tuple[bytes, int]:
        """The key of a node, and where it ends."""
        begin = at + pointer + _NODE.size
        stop = at + self.meta.page
        if begin > stop:
            raise self._damaged(at, f"a node begins at byte {pointer} of its page")
        end = begin + _NODE.unpack_from(self.source.buffer, begin - _NODE.size)[3]
        if end > stop:
            raise self._damaged(begin, f"a key of {end - begin} bytes leaves its page")
        return bytes(self.source.buffer[begin:end]), end

    def _child(self, at: int, pointer: int) -> int:
        self._key(at, pointer)
        low, high, higher, _ = _NODE.unpack_from(self.source.buffer, at + pointer)
        return low | high << 16 | higher << 32  # type: ignore[no-any-return]

    def _record(self, at: int, pointer: int) -> Item:
        key, begin = self._key(at, pointer)
        low, high, flags, _ = _NODE.unpack_from(self.source.buffer, at + pointer)
        size = low | high << 16
        stop = at + self.meta.page
        if flags & (_SUBDATA | _DUPDATA):
            message = "it holds databases with names, or several values for a key"
            raise FormatError(NOT_DATASET.at(Where(self.source.name), message))
        if flags & _BIG:
            if begin + _NUMBER.size > stop:
                raise self._damaged(begin, "the number of a page leaves its page")
            (number,) = _NUMBER.unpack_from(self.source.buffer, begin)
            begin, stop = self._overflow(number), self.source.size
        if begin + size > stop:
            message = f"a value needs {size:,} bytes, {max(stop - begin, 0):,} are left"
            raise self._damaged(begin, message)
        return key, begin, begin + size

    def _overflow(self, number: int) -> int:
        """Where the value begins that has pages of its own."""
        at = self._start(number)
        own, _, flags, _, _ = _PAGE.unpack_from(self.source.buffer, at)
        if own != number or flags & _KINDS != _OVERFLOW:
            message = f"page {number} holds no value: number {own}, kind {flags & _KINDS}"
            raise self._damaged(at, message)
        return at + _PAGE.size

    def _damaged(self, at: int, message: str) -> FormatError:
        return FormatError(DAMAGED_DATABASE.at(Where(self.source.name, start=at), message))
