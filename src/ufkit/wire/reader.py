"""One level of a message: which fields lie where. Knows no schema and copies nothing.

The encoding: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import sys

from ufkit.core.diag import FormatError, Rule, Where
from ufkit.core.files import Buffer, Source
from ufkit.wire.rules import BAD_TAG, BAD_TEXT, BAD_VARINT, TOO_DEEP, TRUNCATED

VARINT, I64, LEN, GROUP, END_GROUP, I32 = range(6)
_WIDTHS = {I32: 4, I64: 8}
MAX_DEPTH = 100
_CHUNK = 1 << 16
_ROWS = 1 << 5  # numbers looked at first, when it is open how many there are

# (where the tag begins, wire type, the value of a varint or where the payload begins, end)
#
# Numbers of fixed width that follow one another, each with the same tag, are one record, from the
# tag of the first to the end of the last: an image in floats has a million of them.
Record = tuple[int, int, int, int]


def fault(
    rule: Rule, source: Source, at: int, message: str, stop: int | None = None
) -> FormatError:
    """A FormatError at a byte of a source."""
    return FormatError(rule.at(Where(source.name, start=at, stop=stop), message))


class TextFault(ValueError):
    """What is wrong at a byte of a text; `located` makes it a FormatError that names the line."""

    def __init__(self, at: int, message: str, hint: str | None = None, rule: Rule = BAD_TEXT):
        super().__init__(message)
        self.at, self.message, self.hint, self.rule = at, message, hint, rule

    def located(self, source: Source) -> FormatError:
        """The fault in its file, line and column counted from 1."""
        line, begin = 1, 0
        for start in range(0, self.at, _CHUNK):
            chunk = bytes(source.view(start, min(self.at, start + _CHUNK)))
            if found := chunk.count(b"\n"):
                line += found
                begin = start + chunk.rindex(b"\n") + 1
        column = len(str(source.view(begin, self.at), "utf-8", "replace")) + 1
        where = Where(source.name, line=line)
        return FormatError(self.rule.at(where, f"{self.message} (column {column})", hint=self.hint))


def shown(token: bytes | str) -> str:
    """A piece of a text the way a message quotes it, cut where it is long."""
    text = token if isinstance(token, str) else token.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "...")


def varint(source: Source, at: int, stop: int) -> tuple[int, int]:
    """The unsigned 64-bit number at `at`, and where it ends. More than 64 bits are cut off.

    Raises FormatError (UFK101, UFK103).
    """
    left = min(stop - at, 10)
    data, base, _ = source.window(at) if left > 0 else (b"", at, 0)
    value, length = _number(data, at - base)
    if 0 < length <= left:
        return value, at + length
    if left == 10:
        raise fault(BAD_VARINT, source, at, "an integer goes on beyond its 10th byte", at + 10)
    raise fault(TRUNCATED, source, at, f"an integer is cut short after {left} bytes", stop)


def _number(data: Buffer, at: int) -> tuple[int, int]:
    """The varint at an index of a window, and its length; 0 when it has no end there."""
    value = shift = 0
    for byte in data[at : at + 10]:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, shift // 7
    return 0, 0


def scan(source: Source, start: int, stop: int, most: int = sys.maxsize) -> dict[int, list[Record]]:
    """The fields between `start` and `stop`, by number, each list in file order.

    Groups come as one record that spans them. Every length is checked before it is used; with
    `most` no more than so many fields are looked at.
    Raises FormatError with the byte position (UFK101 to UFK104).
    """
    found: dict[int, list[Record]] = {}
    at = start
    data, base, safe = source.window(start) if start < stop else (b"", 0, 0)
    while at < stop and most:
        most -= 1
        if at >= safe:
            data, base, safe = source.window(at)
        begin = at
        tag = data[at - base]
        at += 1
        if tag >= 128:
            tag, at = varint(source, begin, stop)
        wire = tag & 7
        if wire == LEN and at < stop:
            value = at + 1
            size = data[at - base]
            if size >= 128:  # any bulk data: read from the window at hand, unless it is wrong
                size, length = _number(data, at - base)
                value = at + length
                if not length or value > stop:
                    size, value = varint(source, at, stop)
            at = value + size
        elif wire == VARINT and at < stop:
            value = data[at - base]
            at += 1
            if value >= 128:
                value, at = varint(source, at - 1, stop)
        elif wire == I32:
            value = at
            at += 4
        elif wire == I64:
            value = at
            at += 8
        elif wire == GROUP:
            value = at
            at = _skip_group(source, begin, tag >> 3, at, stop)
        elif at >= stop:
            raise fault(TRUNCATED, source, begin, "the file ends right after a field tag", stop)
        else:
            raise fault(BAD_TAG, source, begin, f"field {tag >> 3} has impossible wire type {wire}")
        if at > stop:
            message = f"field {tag >> 3} needs {at - value} bytes, {max(stop - value, 0)} are left"
            raise fault(TRUNCATED, source, begin, message, stop)
        number = tag >> 3
        if number in found:
            records = found[number]
            if wire in _WIDTHS and records[-1][1] == wire and records[-1][3] == begin:
                first = records[-1]
                run = _run(source, first, begin, stop)
                if run > begin:
                    at = run
                    records[-1] = (*first[:3], at)
                    continue
            records.append((begin, wire, value, at))
        elif 0 < number < 1 << 29:
            found[number] = [(begin, wire, value, at)]
        else:
            raise fault(BAD_TAG, source, begin, f"field number {number} is not allowed")
    return found


def _run(source: Source, first: Record, at: int, stop: int) -> int:
    """Where the numbers end that follow from `at` with the same tag as the first one."""
    import numpy as np

    tag = bytes(source.piece(first[0], first[2]))
    step = len(tag) + _WIDTHS[first[1]]
    most = _ROWS
    while count := min(most, (stop - at) // step):
        bytes_ = np.frombuffer(source.view(at, at + count * step), np.uint8)
        other = bytes_[::step] != tag[0]
        for place in range(1, len(tag)):
            other |= bytes_[place::step] != tag[place]
        end = int(other.argmax())
        if other[end]:
            return at + end * step
        at += count * step
        most *= 8
    return at


def elements(record: Record, width: int) -> int:
    """How many numbers of a fixed width a record holds, packed or one after the other."""
    begin, wire, start, stop = record
    return (stop - start) // width if wire == LEN else (stop - begin) // (start - begin + width)


def _skip_group(source: Source, begin: int, number: int, at: int, stop: int) -> int:
    """Where the group of field `number` ends; nested groups are followed without recursion."""
    open_groups = [number]
    while open_groups:
        if at >= stop:
            raise fault(TRUNCATED, source, begin, f"group {open_groups[-1]} never ends", stop)
        tag_at = at
        tag, at = varint(source, at, stop)
        wire = tag & 7
        if wire == VARINT:
            _, at = varint(source, at, stop)
        elif wire == I64:
            at += 8
        elif wire == LEN:
            size, at = varint(source, at, stop)
            at += size
        elif wire == I32:
            at += 4
        elif wire == GROUP:
            open_groups.append(tag >> 3)
            if len(open_groups) > MAX_DEPTH:
                raise fault(TOO_DEEP, source, tag_at, f"groups nested more than {MAX_DEPTH} deep")
        elif wire == END_GROUP and tag >> 3 == open_groups[-1]:
            open_groups.pop()
        else:
            raise fault(BAD_TAG, source, tag_at, f"tag {tag} does not belong in group {number}")
        if at > stop:
            raise fault(TRUNCATED, source, tag_at, f"a field of group {number} is cut short", stop)
    return at
