"""Messages: fields by name over a file, decoded when asked, written back byte for byte."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from ufkit.core.files import Source, Span
from ufkit.wire.pieces import Piece, nbytes, write
from ufkit.wire.reader import LEN, MAX_DEPTH, Record, fault, scan
from ufkit.wire.rules import TOO_DEEP
from ufkit.wire.schema import WIRE_TYPES, FieldType, MessageType
from ufkit.wire.values import (
    checked,
    decode,
    decode_each,
    decode_packed,
    default,
    encode,
    encode_varint,
    fits,
    is_default,
)


class Encoded(Protocol):
    """Values of a repeated field that encode themselves, tags included; see `wire.numbers`."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...

    def pieces(self) -> Iterator[Piece]: ...


# Most messages of a file are leaves that nobody edits: they share one empty map, never written
# to, in place of two of their own. Half of what reading a graph costs is making objects.
_NOTHING: Any = MappingProxyType({})


class Message:
    """One message of a schema.

    Read from a file it is a window on its bytes: a level is scanned when the first of its
    fields is asked for, values are decoded at each call, `bytes` fields come as Spans, never
    copied. What was set is kept beside; on writing, only messages that were edited are encoded
    anew, everything else, unknown fields included, is copied as it came and where it stood.
    """

    __slots__ = ("_children", "_edited", "_parent", "_records", "_set", "depth", "span", "type")

    def __init__(self, type_: MessageType, span: Span, parent: Message | None = None) -> None:
        self.type = type_
        self.span = span
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._parent = parent
        self._records: dict[int, list[Record]] | None = None
        self._children: dict[int, Message] = _NOTHING  # by where the record begins
        self._set: dict[str, Any] = _NOTHING
        self._edited = False

    @classmethod
    def new(cls, type_: MessageType, **values: Any) -> Message:
        """A message of its own with these fields set."""
        message = cls(type_, Span(Source(b""), 0, 0))
        for name, value in values.items():
            message.set(name, value)
        message._edited = True
        return message

    @classmethod
    def read(cls, type_: MessageType, source: Source) -> Message:
        """The message that is all of a source."""
        return cls(type_, Span(source, 0, source.size))

    @property
    def original(self) -> Span | None:
        """The bytes that the message still is; None once it, or one in it, was edited."""
        return None if self._edited else self.span

    @classmethod
    def of_records(
        cls,
        type_: MessageType,
        source: Source,
        records: Iterable[tuple[int, Record]],
        children: Mapping[int, Message] = _NOTHING,
    ) -> Message:
        """A message of those records of a source, by number, and of nothing that lies between.

        `children` are messages that are written anew in place of those that a record holds, by
        where it begins.
        """
        found: dict[int, list[Record]] = {}
        for number, record in sorted(records, key=lambda item: item[1][0]):
            found.setdefault(number, []).append(record)
        start = min((each[0][0] for each in found.values()), default=0)
        stop = max((each[-1][3] for each in found.values()), default=0)
        message = cls(type_, Span(source, start, stop))
        message._records = found
        message._edited = True
        begins = {each[0] for rows in found.values() for each in rows}
        message._children = {at: child for at, child in children.items() if at in begins}
        for child in message._children.values():
            child._parent = message
            child._edited = True
            child.depth = 1
        return message

    # -- reading -----------------------------------------------------------------------------

    def _scanned(self) -> dict[int, list[Record]]:
        if self._records is None:
            if self.depth > MAX_DEPTH:
                raise fault(
                    TOO_DEEP,
                    self.span.source,
                    self.span.start,
                    f"messages nested more than {MAX_DEPTH} deep",
                )
            self._records = scan(self.span.source, self.span.start, self.span.stop)
        return self._records

    def _found(self, field: FieldType) -> list[Record]:
        """The records that are of this field, in file order."""
        records = (self._records or self._scanned()).get(field.number)
        if records is None:
            return []
        if len(records) == 1:
            wire = records[0][1]  # the plain case, at once: this is the hottest line there is
            return records if wire == WIRE_TYPES[field.kind] or fits(field, wire) else []
        return [record for record in records if fits(field, record[1])]

    def has(self, name: str) -> bool:
        """Whether the field is there: set or on the wire; of a oneof, the last one counts."""
        field = self.type.fields[name]
        if field.oneof:
            return self.which(field.oneof) == name
        if name in self._set:
            value = self._set[name]
            return bool(value) if field.repeated else value is not None
        return bool(self._found(field))

    def which(self, oneof: str) -> str | None:
        """The name of the member of a oneof that counts: the one set, or last on the wire."""
        members = self.type.oneofs[oneof]
        if self._set:
            for field in members:
                if self._set.get(field.name) is not None:
                    return field.name
        best, name = -1, None
        for number in self._scanned():
            member = self.type.numbers.get(number)
            if member is None or member.oneof != oneof or member.name in self._set:
                continue
            records = self._found(member)
            if records and records[-1][0] > best:
                best, name = records[-1][0], member.name
        return name

    def get(self, name: str) -> Any:
        """A singular field's value, or its default; of kind `message`, None when absent.

        Raises FormatError at the field's bytes.
        """
        if self._set and (value := self._set.get(name)) is not None:
            return value
        field = self.type.fields[name]
        is_message = field.kind == "message"
        records = [] if name in self._set else self._found(field)
        if records and field.oneof and (self._set or len(self._scanned()) > 1):
            records = records if self.which(field.oneof) == name else []
        if not records:
            return None if is_message else default(field)
        if is_message:
            return self._child(field, records)
        return decode(field, self.span.source, records[-1])

    def all(self, name: str) -> list[Any]:
        """A repeated field's values, packed or not. Raises FormatError at the field's bytes."""
        if name in self._set:
            return list(self._set[name])
        field = self.type.fields[name]
        records = self._found(field)
        if field.kind == "message":
            return [self._child(field, [record]) for record in records]
        source = self.span.source
        values = []
        for record in records:
            if record[1] == LEN and field.wire != LEN:
                values.extend(decode_packed(field, source, record))
            else:
                values.extend(decode_each(field, source, record))
        return values

    def records(self, name: str) -> list[Record]:
        """Where a field lies on the wire, whatever was set since."""
        return self._found(self.type.fields[name])

    def held(self, name: str) -> list[Any] | Encoded | None:
        """The values that were set for a repeated field; None where it is as it was read."""
        return self._set.get(name)

    def _child(self, field: FieldType, records: list[Record]) -> Message:
        """The message in `records`, the same object each time."""
        if field.oneof and len(records) > 1:
            records = self._since_others(field, records)
        at = records[-1][0]
        child = self._children.get(at)
        if child is None:
            span = Span(self.span.source, records[-1][2], records[-1][3])
            if len(records) > 1:  # occurrences of a singular message merge: so do their bytes
                parts = [self.span.source.view(r[2], r[3]) for r in records]
                span = Span(Source(b"".join(parts), self.span.source.name), 0, sum(map(len, parts)))
            child = Message(field.type, span, self)
            if self._children is _NOTHING:
                self._children = {}
            self._children[at] = child
        return child

    def _since_others(self, field: FieldType, records: list[Record]) -> list[Record]:
        """Those records that no later member of the same oneof has put out of force."""
        others = [
            found[-1][0]
            for member in self.type.oneofs[field.oneof]
            if member is not field and (found := self._found(member))
        ]
        return [record for record in records if record[0] > max(others, default=-1)]

    def unknown(self) -> list[Record]:
        """Records of no known field, or of the wrong wire type for it, in file order."""
        return sorted(
            record
            for number, records in self._scanned().items()
            for record in records
            if (field := self.type.numbers.get(number)) is None or not fits(field, record[1])
        )

    def wire_types(self) -> dict[int, int]:
        """The number of each field on the wire, known or not, and its first wire type."""
        return {number: records[0][1] for number, records in self._scanned().items()}

    def known(self) -> Iterator[FieldType]:
        """The fields that are present, in the order of their numbers."""
        numbers = {self.type.fields[name].number for name in self._set}
        for number in sorted(numbers.union(self._scanned())):
            field = self.type.numbers.get(number)
            if field is not None and self.has(field.name):
                yield field

    # -- editing -----------------------------------------------------------------------------

    def set(self, name: str, value: Any) -> None:
        """Set a field; a repeated one from any iterable, or one that encodes itself. Setting a
        oneof member clears the rest.

        Raises RequestError (UFK112) when the value does not fit the field.
        """
        field = self.type.fields[name]
        if not field.repeated:
            value = self._adopt(field, value)
        elif not hasattr(value, "pieces"):
            value = [self._adopt(field, item) for item in value]
        if field.oneof:
            for member in self.type.oneofs[field.oneof]:
                self._assign(member.name, None)
        self._assign(name, value)

    def append(self, name: str, value: Any) -> None:
        """Add an element to a repeated field; as `set` otherwise."""
        value = self._adopt(self.type.fields[name], value)
        if not isinstance(self._set.get(name), list):
            self._assign(name, self.all(name))
        self._set[name].append(value)
        self._touch()

    def clear(self, name: str) -> None:
        """Remove a field. A member of a oneof that does not count is left alone."""
        field = self.type.fields[name]
        if not field.oneof:
            self._assign(name, [] if field.repeated else None)
        elif self.has(name):  # members that came before it are not to come back
            for member in self.type.oneofs[field.oneof]:
                self._assign(member.name, None)

    def _assign(self, name: str, value: Any) -> None:
        if self._set is _NOTHING:
            self._set = {}
        self._set[name] = value
        self._touch()

    def _adopt(self, field: FieldType, value: Any) -> Any:
        if field.kind != "message":
            return checked(field, value)
        if not isinstance(value, Message) or value.type is not field.type:
            raise TypeError(f"{field.name} takes a {field.type.name}")
        value._parent = self
        return value

    def _touch(self) -> None:
        message: Message | None = self
        while message is not None and not message._edited:
            message._edited = True
            message = message._parent

    # -- writing -----------------------------------------------------------------------------

    def pieces(self) -> Iterator[Piece]:
        """The encoded message, in order: bytes, spans of the file, payloads yet to be made.

        A field that was not there before goes in front of the first one with a greater number.
        """
        if not self._edited:
            yield self.span
            return
        pending = sorted(
            field.number
            for field in map(self.type.fields.__getitem__, self._set)
            if self._set[field.name] is not None and not self._found(field)
        )
        written = set()
        merged = self._merged() if self._scanned() else frozenset()
        for number, record in self._in_order():
            while pending and pending[0] < number:
                yield from self._encode_set(pending.pop(0))
            field = self.type.numbers.get(number)
            if field is None or not fits(field, record[1]):
                yield Span(self.span.source, record[0], record[3])
            elif field.name in self._set:
                if number not in written:
                    written.add(number)
                    yield from self._encode_set(number)
            elif (child := self._children.get(record[0])) is not None and child._edited:
                yield from _encode(field, child)
            elif number not in merged:
                yield Span(self.span.source, record[0], record[3])
        for number in pending:
            yield from self._encode_set(number)

    def _encode_set(self, number: int) -> Iterator[Piece]:
        field = self.type.numbers[number]
        value = self._set[field.name]
        if not field.repeated:
            always = field.explicit or self.type.is_map_entry
            if value is not None and (always or not is_default(field, value)):
                yield from _encode(field, value)
        elif not isinstance(value, list):
            yield from value.pieces()
        elif field.packed and value:
            body = b"".join(encode(field, item) for item in value)  # type: ignore[misc]
            yield encode_varint(number << 3 | LEN) + encode_varint(len(body)) + body
        else:
            for item in value:
                yield from _encode(field, item)

    def _in_order(self) -> list[tuple[int, Record]]:
        found = [(n, record) for n, records in self._scanned().items() for record in records]
        return sorted(found, key=lambda item: item[1][0])

    def _merged(self) -> frozenset[int]:
        """Numbers of the singular messages whose last occurrence, re-encoded, holds them all."""
        edited = {at for at, child in self._children.items() if child._edited}
        singular = (f for f in self.type.fields.values() if f.kind == "message" and not f.repeated)
        last = ((f.number, self._found(f)[-1:]) for f in singular)
        return frozenset(number for number, found in last if found and found[0][0] in edited)

    def __repr__(self) -> str:
        return f"Message({self.type.name}, {self.span!r})"


def _encode(field: FieldType, value: Any) -> Iterator[Piece]:
    """One element with its tag."""
    tag = encode_varint(field.number << 3 | field.wire)
    if field.wire != LEN:
        yield tag + encode(field, value)  # type: ignore[operator]
        return
    inner = list(value.pieces()) if isinstance(value, Message) else [encode(field, value)]
    yield tag + encode_varint(sum(map(nbytes, inner)))
    yield from inner


def to_bytes(message: Message) -> bytes:
    """The encoded message in memory."""
    out = io.BytesIO()
    write(message.pieces(), out)
    return out.getvalue()
