"""Which key is the i-th: LMDB orders keys but does not count them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

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
    """The keys of a database by rank, found without reading all of them where that can be.

    Keys that Caffe's and UFW's tools number are found by their number, in the time that any key
    takes. Of others all are read once, when the first rank is asked for, and every 64th is kept.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._numbered: _Numbered | None = None
        self._kept: list[bytes] | None = None
        self._looked = False

    def place(self, cursor: Any, rank: int) -> bool:
        """Move a cursor to the record at a rank, which must be less than there are records.

        False where the database has fewer by now.
        """
        if not self._looked:
            self._numbered = _numbering(cursor, self.count)
            self._looked = True
        if self._numbered is not None:
            if _at_number(cursor, self._numbered, rank):
                return True
            self._numbered = None  # numbers are missing, and others twice
        if self._kept is None:
            self._kept = _every(cursor, _STEP)
        at, further = divmod(rank, _STEP)
        found = at < len(self._kept) and cursor.set_key(self._kept[at])
        return bool(found) and all(cursor.next() for _ in range(further))


def _every(cursor: Any, step: int) -> list[bytes]:
    """Each step-th key, the first one included; values are not touched."""
    keys = cursor.iternext(keys=True, values=False) if cursor.first() else ()
    return [bytes(key) for at, key in enumerate(keys) if not at % step]


def _numbering(cursor: Any, count: int) -> _Numbered | None:
    """How the keys are numbered, judged by the first, the last, and how many there are."""
    if not cursor.first():
        return None
    first = _NUMBERED.match(cursor.key())
    cursor.last()
    last = _NUMBERED.match(cursor.key())
    if first is None or last is None or first[1] != last[1] or len(first[2]) != len(last[2]):
        return None
    if int(last[2]) - int(first[2]) != count - 1:
        return None
    return _Numbered(first[1], len(first[2]), int(first[2]))


def _at_number(cursor: Any, numbered: _Numbered, rank: int) -> bool:
    """Move to the one key with the number of that rank; False where there are none or several."""
    prefix = numbered.prefix(rank)
    if not cursor.set_range(prefix) or not _is(cursor.key(), prefix):
        return False
    alone = not (cursor.next() and _is(cursor.key(), prefix))
    return alone and bool(cursor.set_range(prefix))


def _is(key: bytes, prefix: bytes) -> bool:
    return key.startswith(prefix) and not key[len(prefix) : len(prefix) + 1].isdigit()
