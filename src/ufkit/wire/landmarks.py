"""Parts of a file that are known for what they are wherever they stand."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ufkit.core.diag import FormatError
from ufkit.core.files import Source
from ufkit.wire.reader import LEN, Record, scan, varint
from ufkit.wire.schema import FieldType, MessageType
from ufkit.wire.soundness import SMALL, Budget, Verdict, judge, judge_field
from ufkit.wire.values import encode_varint, fits

_CONTROL = re.compile(rb"[\0-\x1f\x7f]")
_HEAD = 32  # bytes that cover a tag, a length and a tag
_LONGEST = 4096  # bytes of a name that a landmark is known by


@dataclass(frozen=True, eq=False)
class Layout:
    """Which parts a file has.

    root       the outermost message
    container  the field of it whose messages are rows of parts themselves
    landmarks  fields of either, known again by what each of their messages has: the names of
               fields that are there once, texts among them being names: not empty, without
               control characters
    strangers  fields in a row that are believed although the schema does not know them
    """

    root: MessageType
    container: FieldType
    landmarks: tuple[tuple[FieldType, tuple[str, ...]], ...]
    strangers: int = 16

    def in_container(self, part: FieldType) -> bool:
        """Whether a landmark is a field of the container, not of the root."""
        return self.container.type.numbers.get(part.number) is part

    @cached_property
    def required(self) -> dict[FieldType, tuple[str, ...]]:
        return dict(self.landmarks)

    @cached_property
    def numbers(self) -> dict[int, FieldType]:
        """The landmarks by their numbers."""
        return {mark.number: mark for mark, _ in self.landmarks}

    @cached_property
    def first_bytes(self) -> dict[FieldType, frozenset[int]]:
        """What the value of a landmark may begin with."""
        return {
            mark: frozenset(tag(inner)[0] for inner in mark.type.fields.values())
            for mark, _ in self.landmarks
        }

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Where a landmark or a container may begin: its tag, a length, the tag of a field."""
        parts = (self.container, *self.required)
        return re.compile(
            b"|".join(
                re.escape(tag(part))
                + rb"[\x80-\xff]{0,4}[\0-\x7f](?:"
                + b"|".join(re.escape(tag(inner)) for inner in part.type.fields.values())
                + b")"
                for part in parts
            ),
            re.S,
        )


def tag(part: FieldType) -> bytes:
    """What each element of a field begins with."""
    return encode_varint(part.number << 3 | part.wire)


@functools.lru_cache(maxsize=4096)
def _believable(layout: Layout, part: FieldType, data: bytes, value: int) -> bool:
    return Landmarks(Source(data), layout).readable(part, (0, LEN, value, len(data)))


class Landmarks:
    """Looks for landmarks and heads of containers in a source."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source, self.size, self.layout = source, source.size, layout
        self.budget = Budget(source.size)
        self._head = tag(layout.container)

    def search(self, at: int, stop: int) -> int:
        """Where the first landmark or container from `at` on begins; `stop` without one."""
        buffer, pattern = self.source.buffer, self.layout.pattern
        while at < stop and (match := pattern.search(buffer, at, stop + _HEAD)):
            at = match.start()
            if at < stop and (self.part(at) or self.head(at)):
                return at
            at += 1
        return stop

    def record(self, at: int, stop: int) -> tuple[int, Record] | None:
        """The field at `at` and its number; None where none ends by `stop`."""
        try:
            fields = scan(self.source, at, stop, most=1)
        except FormatError:
            return None
        (number, (record,)) = next(iter(fields.items()))
        return number, record

    def part(self, at: int) -> tuple[FieldType, Record] | None:
        """The landmark at `at`."""
        found = self.record(at, self.size)
        mark = self.layout.numbers.get(found[0]) if found else None
        if found is None or mark is None or found[1][1] != LEN:
            return None
        _, _, start, stop = found[1]
        if not self.is_value(mark, start, stop) or self.swallowed(start, stop):
            return None
        return mark, found[1]

    def is_value(self, mark: FieldType, start: int, stop: int) -> bool:
        """Whether bytes are the value of a landmark."""
        first = self.source.piece(start, start + 1)[0] if start < stop else None
        if first not in self.layout.first_bytes[mark]:
            return False
        fields = self.budget.scan(self.source, start, stop)
        if fields is None:
            return False
        if not self._has_required(mark, fields, self._is_name):
            return False
        return judge(mark.type, self.source, start, stop, self.budget) is Verdict.PLAUSIBLE

    def _has_required(
        self, mark: FieldType, fields: dict[int, list[Record]], is_name: Callable[[int, int], bool]
    ) -> bool:
        for name in self.layout.required[mark]:
            wanted = mark.type.fields[name]
            records = fields.get(wanted.number, [])
            if len(records) != 1 or not fits(wanted, records[0][1]):
                return False
            if wanted.kind == "string" and not is_name(*records[0][2:]):
                return False
        return True

    def frame(self, at: int) -> int:
        """Where the landmark whose tag is at `at` ends by its length, if another begins there or
        the file ends; `at` otherwise."""
        found = self.record(at, self.size)
        if found is None or found[0] not in self.layout.numbers or found[1][1] != LEN:
            return at
        stop = found[1][3]
        return stop if stop == self.size or self.part(stop) or self.head(stop) else at

    def mislabelled(self, at: int, stop: int) -> tuple[FieldType, int] | None:
        """The landmark that begins at `at` and ends at `stop`, whatever its length says, and
        where its value begins. All texts in it must be names: a part behind it, taken for a text
        of its own, is none."""
        for mark in self.layout.required:
            begin = at + len(tag(mark))
            if begin < stop and bytes(self.source.piece(at, begin)) == tag(mark):
                # The byte that was changed may be one of those that say how long the length is.
                for value in range(begin + 1, min(begin + 6, stop)):
                    if self._is_all(mark, value, stop):
                        return mark, value
        return None

    def _is_all(self, mark: FieldType, start: int, stop: int) -> bool:
        if not self.is_value(mark, start, stop) or self.swallowed(start, stop):
            return False
        for number, records in scan(self.source, start, stop).items():
            field = mark.type.numbers[number]
            if field.kind == "string" and not all(self._is_name(*each[2:]) for each in records):
                return False
            if len(records) > 1 and self._repeats(field, records):
                return False
        return True

    def _repeats(self, field: FieldType, records: list[Record]) -> bool:
        """Whether there is a second one where there is but one: of a field, or of a map's key."""
        if not field.repeated:
            return True
        if field.kind != "message" or "key" not in field.type.fields:
            return False
        number = field.type.fields["key"].number
        found = [scan(self.source, start, stop).get(number, []) for _, _, start, stop in records]
        keys = [bytes(self.source.view(key[2], key[3])) for each in found for key in each]
        return len(set(keys)) < len(keys)

    def _is_name(self, start: int, stop: int) -> bool:
        size = stop - start
        return 0 < size <= _LONGEST and not _CONTROL.search(self.source.piece(start, stop))

    def is_displaced(self, record: Record) -> bool:
        """Whether an unknown field is a landmark whose tag was changed."""
        _, wire, start, stop = record
        return wire == LEN and any(self.is_value(m, start, stop) for m in self.layout.required)

    def believable(self, part: FieldType, record: Record) -> bool:
        """Whether a known field in its place can be read, and has what a landmark has."""
        begin, wire, value, stop = record
        if wire == LEN and stop - begin <= SMALL:
            data = bytes(self.source.piece(begin, stop))
            return _believable(self.layout, part, data, value - begin)
        return self.readable(part, record)

    def readable(self, part: FieldType, record: Record) -> bool:
        if judge_field(part, self.source, [record], self.budget) is Verdict.BROKEN:
            return False
        if part.kind != "message":
            return True
        if part in self.layout.required:
            fields = self.budget.scan(self.source, record[2], record[3]) or {}
            if not self._has_required(part, fields, int.__lt__):
                return False
        return not self.swallowed(record[2], record[3])

    def swallowed(self, start: int, stop: int) -> bool:
        """Whether a message holds what is none of its fields but a landmark behind it: a length
        that was changed reaches to the end of another part."""
        fields = self.budget.scan(self.source, start, stop) or {}
        return any(
            wire == LEN and self.is_value(mark, begin, end)
            for number, mark in self.layout.numbers.items()
            for _, wire, begin, end in fields.get(number, ())
        )

    def open_head(self, at: int) -> tuple[int, int] | None:
        """Where the value of a container begins and is to end, if there is its tag at `at`."""
        begin = at + len(self._head)
        if bytes(self.source.piece(at, min(begin, self.size))) != self._head:
            return None
        try:
            length, value = varint(self.source, begin, self.size)
        except FormatError:
            return None
        return value, value + length

    def head(self, at: int) -> tuple[int, int] | None:
        """The same if its first landmark follows, behind singular fields of its own."""
        head = self.open_head(at)
        begin = head[0] if head else self.size
        type_: MessageType = self.layout.container.type
        for _ in type_.fields:
            found = self.record(begin, self.size) if begin < self.size else None
            part = type_.numbers.get(found[0]) if found else None
            if found is None or part is None:
                return None
            if part in self.layout.required:
                return head if self.part(begin) else None
            if part.repeated or not self.believable(part, found[1]):
                return None
            begin = found[1][3]
        return None
