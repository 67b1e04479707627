"""The part of a file that its end cuts through."""

from __future__ import annotations

from dataclasses import dataclass

from ufkit.core.diag import FormatError
from ufkit.wire.landmarks import Landmarks
from ufkit.wire.reader import LEN, varint
from ufkit.wire.schema import FieldType, MessageType
from ufkit.wire.values import fits


@dataclass(frozen=True, slots=True)
class Open:
    """A field that is not closed: where it begins, where its value does and was to end."""

    field: FieldType
    start: int
    value: int
    stop: int


def cut_at(marks: Landmarks, type_: MessageType, at: int) -> tuple[Open, ...] | None:
    """The fields that are open at the end of the file, outermost first, if what begins at `at`
    is a field of the type that is whole but for its end; None otherwise.

    None are open where the end comes before it can be told which.
    """
    if marks.record(at, marks.size):
        return None
    try:
        tag, value = varint(marks.source, at, marks.size)
    except FormatError:
        return ()
    part = type_.numbers.get(tag >> 3)
    if part is None or not fits(part, tag & 7):
        return None
    if tag & 7 != LEN:
        return (Open(part, at, value, marks.size),)
    try:
        length, value = varint(marks.source, value, marks.size)
    except FormatError:
        return (Open(part, at, marks.size, marks.size),)
    outer = Open(part, at, value, value + length)
    if part.kind != "message":
        return (outer,) if part.kind == "bytes" or _is_text(marks, value) else None
    begin = _behind_whole_fields(marks, part.type, value)
    inner = () if begin == marks.size else cut_at(marks, part.type, begin)
    if inner is None or any(each.stop > outer.stop for each in inner):
        return None
    return (outer, *inner)


def _behind_whole_fields(marks: Landmarks, type_: MessageType, at: int) -> int:
    """Where the known fields that begin at `at` end."""
    while at < marks.size and (found := marks.record(at, marks.size)):
        number, record = found
        part = type_.numbers.get(number)
        if part is None or not fits(part, record[1]) or marks.part(at):
            break
        if not marks.believable(part, record):
            break
        at = record[3]
    return at


def _is_text(marks: Landmarks, at: int) -> bool:
    """Whether the rest of the file is text, the last character of which may be cut."""
    try:
        str(marks.source.view(at, marks.size), "utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True
