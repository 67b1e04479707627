"""Keys of datasets: as Caffe's tools number them, as ufwio does, or the user's own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ufkit.core.diag import RequestError, Where
from ufkit.ufw.rules import BAD_KEY

Key = str | bytes


def as_key(key: Key) -> bytes:
    """A key as the database has it: text as UTF-8."""
    return key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key


def shown_key(key: bytes) -> str:
    """A key as text; bytes that are none come back from `as_key` all the same."""
    return key.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class KeyStyle:
    """How keys are made: from a number, digits of a fixed width, and a name."""

    width: int
    between: bytes
    empty: bytes

    def key(self, index: int, name: bytes) -> bytes:
        """The key of a record. Raises RequestError (UFW307) for numbers that are too wide: keys
        would not come in the order of their numbers any more."""
        if index >= 10**self.width:
            message = f"the number {index:,} has more than {self.width} digits"
            raise RequestError(BAD_KEY.at(Where(), message))
        return b"%0*d%s%s" % (self.width, index, self.between, name or self.empty)

    def index(self, key: bytes) -> int | None:
        """The number in a key; None where it is of another style."""
        found = re.match(rb"(\d{%d})%s" % (self.width, re.escape(self.between)), key)
        return int(found[1]) if found else None


# caffe  `00000000_name`: convert_imageset and convert_annoset; the name is the path in their list
# ufwio  `0000000000__name`, and without a name `0000000000__ `, which ends in a space
STYLES = {"caffe": KeyStyle(8, b"_", b""), "ufwio": KeyStyle(10, b"__", b" ")}
OWN = "own"
_NUMBERED = re.compile(r"(?:\d{8}_(?!_)|\d{10}__)(?=\s*\S)")


def name_of(key: str) -> str:
    """What a key names, without the number that either style puts before it."""
    match = _NUMBERED.match(key)
    return key[match.end() :] if match else key
