"""The text form of Protocol Buffers: as official writers print it, and what they let one write.

The grammar: https://protobuf.dev/reference/protobuf/textformat-spec/

Not here: extensions, `Any` in its expanded form, fields by number.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ufkit.core.diag import RequestError
from ufkit.core.files import Payload, Source, Span, made
from ufkit.wire.message import Message
from ufkit.wire.reader import MAX_DEPTH, TextFault, shown
from ufkit.wire.rules import TOO_DEEP
from ufkit.wire.schema import FieldType, MessageType, did_you_mean
from ufkit.wire.tokens import (
    BOOLS,
    CLOSING,
    ELEMENT,
    FIELD,
    NAME,
    QUOTE,
    SKIPPED,
    check_utf8,
    integer,
    real,
)
from ufkit.wire.values import is_default, quoted, shortest

Blob = Callable[[Span], bytes | None]
Remark = Callable[[Message, FieldType | None], str | None]

_CHUNK = 1 << 16

# -- writing ---------------------------------------------------------------------------------

_ESCAPES = [chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in range(256)]
for _character, _escape in {
    "\t": "t",
    "\n": "n",
    "\r": "r",
    '"': '"',
    "'": "'",
    "\\": "\\",
}.items():
    _ESCAPES[ord(_character)] = f"\\{_escape}"
_PLAIN = re.compile(r"[ !#-&(-\[\]-~]*")


def text_lines(
    message: Message,
    *,
    blob: Blob | None = None,
    sort_entries: bool = False,
    remark: Remark | None = None,
) -> Iterator[str]:
    """The text of a message, as Python's `text_format.MessageToString` prints it, in pieces.

    A piece is a line, or a part of one where a blob is long. `blob` may put other bytes in place
    of a bytes value; None keeps it. Maps come sorted by key, and with `sort_entries` so do
    repeated messages that act as maps: those named `...Entry` with fields `key` and `value`.
    An enum key of such a message is printed as a number, since a real map cannot have one.
    `remark` may give a comment to print in place of a field, and, asked about the field None, one
    to print at the end of a message.
    Raises FormatError where the message is damaged.
    """
    return _Writer(blob, sort_entries, remark).lines(message, "")


class _Writer:
    def __init__(self, blob: Blob | None, sort_entries: bool, remark: Remark | None) -> None:
        self.blob = blob
        self.sort_entries = sort_entries
        self.remark = remark or (lambda message, field: None)

    def lines(self, message: Message, indent: str) -> Iterator[str]:
        in_map = message.type.is_map_entry
        for field in message.type.fields.values() if in_map else message.known():
            head = indent + field.name
            if comment := self.remark(message, field):
                yield f"{indent}# {comment}\n"
                continue
            for value in self.values(message, field):
                if field.kind == "message":
                    yield head + " {\n"
                    if value is not None:  # a map's value that is not on the wire
                        yield from self.lines(value, indent + "  ")
                    yield indent + "}\n"
                elif field.kind == "bytes":
                    yield head + ': "'
                    yield from self.blob_text(value)
                    yield '"\n'
                else:
                    number = field.name == "key" and message.type.acts_as_map
                    yield f"{head}: {_scalar_text(field, value, number=number)}\n"
        if comment := self.remark(message, None):
            yield f"{indent}# {comment}\n"

    def values(self, message: Message, field: FieldType) -> list[Any]:
        """What to print of a field: nothing for an implicit one that has its default."""
        if not field.repeated:
            value = message.get(field.name)
            return [value] if field.explicit or not is_default(field, value) else []
        values = message.all(field.name)
        if field.kind != "message":
            return values
        if field.type.is_map_entry:
            entries = {entry.get("key"): entry for entry in values}
            return [entries[key] for key in sorted(entries)]
        if self.sort_entries and field.type.acts_as_map:
            values.sort(key=lambda entry: entry.get("key"))
        return values

    def blob_text(self, value: Payload) -> Iterator[str]:
        span = made(value)
        if self.blob is not None and (other := self.blob(span)) is not None:
            span = Span.of(other)
        for chunk in span.chunks(_CHUNK):
            yield _escaped(chunk)


def _escaped(data: bytes | memoryview) -> str:
    return "".join(map(_ESCAPES.__getitem__, data))


def _scalar_text(field: FieldType, value: Any, *, number: bool) -> str:
    if field.kind == "string":
        return f'"{value if _PLAIN.fullmatch(value) else _escaped(value.encode())}"'
    if field.kind == "bool":
        return "true" if value else "false"
    if field.kind == "enum" and not number:
        return field.type.name_of(value) or str(value)
    return str(shortest(value) if field.kind == "float" else value)


# -- reading ---------------------------------------------------------------------------------


def parse_text(
    source: Source, type: MessageType, *, aliases: Mapping[str, str] | None = None
) -> Message:
    """The message that a text describes, in memory.

    `aliases` maps names that the schema lacks to those it has.
    Raises FormatError with the line (UFK110, UFK104).
    """
    try:
        check_utf8(source)
        return _Parser(source, aliases or {}).run(type)
    except TextFault as fault:
        raise fault.located(source) from fault.__cause__


def parse_text_start(
    source: Source, type: MessageType, container: MessageType, *, aliases: Mapping[str, str]
) -> tuple[Message, TextFault | None, int]:
    """The message that a text describes up to where it is wrong, what is wrong, and what of the
    text it is: up to which byte.

    What is open there is left out: an element of the outermost message, or of one of type
    `container` in it, is there completely or not at all.
    """
    fault = None
    stop = source.size
    try:
        check_utf8(source)
    except TextFault as found:
        fault, stop = found, found.at
        source = Source(bytes(source.view(0, stop)), source.name)
    parser = _Parser(source, aliases)
    try:
        return parser.run(type), fault, stop
    except TextFault as found:
        stop = parser.closed(container, found.at)
        return parser.open[0][0], fault or found, stop


class _Parser:
    def __init__(self, source: Source, aliases: Mapping[str, str]) -> None:
        self.buffer = source.buffer
        self.stop = source.size
        self.aliases = aliases
        self.names: dict[MessageType, dict[bytes, FieldType]] = {}
        # for each message that is open: itself, what has been set, its closing brace, and the
        # field it is an element of where it stands in a list, and where it begins
        self.open: list[tuple[Message, set[str], bytes, FieldType | None, int]] = []

    def run(self, type_: MessageType) -> Message:
        buffer = self.buffer
        root = Message.new(type_)
        self.open.append((root, set(), b"", None, 0))
        at = 3 if buffer[:3] == b"\xef\xbb\xbf" else 0
        may_separate = False
        while match := FIELD.match(buffer, at):
            separator, name, colon, plain, word, start, close = match.groups()
            if separator and not may_separate:
                raise TextFault(match.start(1), f"unexpected {shown(separator)}")
            at = match.end()
            if close:
                at = self.close(at, close)
                may_separate = True
                continue
            message = self.open[-1][0]
            field = self.field(message.type, name, match.start(2))
            if field.kind == "message":
                depth = len(self.open)
                at = self.message(field, at, start)
                may_separate = len(self.open) == depth
                continue
            if not colon:
                raise TextFault(at - 1, f"expected ':' after {field.name}")
            if plain is not None:
                self.add(field, self.text(field, plain, match.start(4)), match.start(4))
            elif word:
                self.add(field, self.word(field, word, match.start(5)), match.start(5))
            elif start == b"[":
                at = self.list(field, at)
            else:
                at = self.string(field, start, at - 1)
            may_separate = True
        return self.end(at, may_separate, root)

    def end(self, at: int, may_separate: bool, root: Message) -> Message:
        """The root, if the text ends here as it should; otherwise what is wrong."""
        skipped = SKIPPED.match(self.buffer, at)
        at = skipped.end() if skipped else at
        if skipped and skipped[1] and not may_separate:
            raise TextFault(skipped.start(1), f"unexpected {shown(skipped[1])}")
        if at == self.stop:
            if len(self.open) > 1:
                message, _, closing, *_ = self.open[-1]
                raise TextFault(
                    at, f"{closing.decode()!r} missing: {message.type.name} is not closed"
                )
            return root
        if name := NAME.match(self.buffer, at):
            raise TextFault(at, f"expected ':' and a value, or '{{', after {shown(name[0])}")
        raise TextFault(at, f"expected a field name, found {self.character(at)}")

    def closed(self, container: MessageType, at: int) -> int:
        """Leave out what is open as `parse_text_start` says; where that begins, `at` if nowhere."""
        for (parent, *_), (child, *_, begin) in itertools.pairwise(self.open):
            if child.type is not container:
                (field,) = (f for f in parent.known() if f.type is child.type)
                parent.set(field.name, parent.all(field.name)[:-1])
                return begin
        return at

    def character(self, at: int) -> str:
        if at >= self.stop:
            return "the end"
        return repr(bytes(self.buffer[at : at + 4]).decode("utf-8", "ignore")[:1])

    def field(self, type_: MessageType, name: bytes, at: int) -> FieldType:
        names = self.names.get(type_)
        if names is None:
            known = {
                alias: type_.fields[real]
                for alias, real in self.aliases.items()
                if real in type_.fields
            }
            names = {key.encode(): field for key, field in {**known, **type_.fields}.items()}
            self.names[type_] = names
        if (field := names.get(name)) is not None:
            return field
        hint = did_you_mean(name.decode(), type_.fields)
        raise TextFault(at, f"{type_.name} has no field {shown(name)}", hint)

    def add(self, field: FieldType, value: Any, at: int) -> None:
        message, seen, *_ = self.open[-1]
        try:
            if field.repeated:
                message.append(field.name, value)
                return
            if (key := field.oneof or field.name) in seen:
                what = f"another member of the oneof {key}" if field.oneof else field.name
                raise TextFault(at, f"{field.name}: {what} was given before")
            seen.add(key)
            message.set(field.name, value)
        except RequestError as error:
            raise TextFault(at, error.diagnostic.message) from error

    def message(self, field: FieldType, at: int, start: bytes | None) -> int:
        """Enter a message, or a list of them; return where its first field begins."""
        listed = start == b"[" and field.repeated
        if listed:
            match = ELEMENT.match(self.buffer, at)
            start = match and match[2]
            at = match.end() if match else at
            if start == b"]":
                return at
        if start not in CLOSING:
            raise TextFault(at - 1, f"expected '{{' after {field.name}")
        self.enter(field, at, start, listed)
        return at

    def enter(self, field: FieldType, at: int, start: bytes, listed: bool) -> None:
        if len(self.open) > MAX_DEPTH:
            message = f"messages nested more than {MAX_DEPTH} deep"
            raise TextFault(at - 1, message, rule=TOO_DEEP, hint="")
        child = Message.new(field.type)
        self.add(field, child, at - 1)
        self.open.append((child, set(), CLOSING[start], field if listed else None, at))

    def close(self, at: int, close: bytes) -> int:
        """Leave a message; in a list, enter the next one. Return where to go on."""
        _, _, closing, field, _ = self.open[-1]
        if close != closing:
            wanted = f"expected {closing.decode()!r}" if closing else "nothing is open"
            raise TextFault(at - 1, f"{wanted}, found {close.decode()!r}")
        self.open.pop()
        if field is not None:
            at, more = self.next_element(field, at)
            if more:
                match = ELEMENT.match(self.buffer, at)
                start = match and match[2]
                at = match.end() if match else at
                if start not in CLOSING:
                    raise TextFault(at, f"expected '{{' in the list of {field.name}")
                self.enter(field, at, start, listed=True)
        return at

    def next_element(self, field: FieldType, at: int) -> tuple[int, bool]:
        """Past the comma of a list, or past its end; whether an element must follow."""
        match = ELEMENT.match(self.buffer, at)
        if match is None or match[2] not in (b",", b"]"):
            raise TextFault(at, f"expected ',' or ']' in the list of {field.name}")
        return match.end(), match[2] == b","

    def list(self, field: FieldType, at: int) -> int:
        """Read a list of scalars; return where it ends."""
        if not field.repeated:
            raise TextFault(at - 1, f"{field.name} takes one value, not a list")
        match = ELEMENT.match(self.buffer, at)
        if match and match[2] == b"]":
            return match.end()
        more = True
        while more:
            match = ELEMENT.match(self.buffer, at)
            if match and match[1]:
                self.add(field, self.word(field, match[1], match.start(1)), match.start(1))
                at = match.end()
            elif match:
                at = self.string(field, match[2], match.end() - 1)
            else:
                raise TextFault(at, f"expected a value in the list of {field.name}")
            at, more = self.next_element(field, at)
        return at

    def string(self, field: FieldType, start: bytes, at: int) -> int:
        """Read a string and those that follow it directly; return where they end."""
        if start not in b"\"'":
            raise TextFault(at, f"expected a value for {field.name}, found {start.decode()!r}")
        begin, out = at, bytearray()
        at = quoted(self.buffer, at, out)
        while more := QUOTE.match(self.buffer, at):
            at = quoted(self.buffer, more.end(), out)
        self.add(field, self.text(field, out, begin), begin)
        return at

    def text(self, field: FieldType, value: bytes | bytearray, at: int) -> str | bytes | bytearray:
        if field.kind == "bytes":
            return value
        if field.kind != "string":
            raise TextFault(at, f"{field.name}: a string is no {field.kind}")
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise TextFault(at, f"{field.name} is not UTF-8: {error.reason}") from error

    def word(self, field: FieldType, token: bytes, at: int) -> Any:
        """The value of a token that is not quoted."""
        word, kind = token.decode(), field.kind
        if kind == "bool":
            value: Any = BOOLS.get(word)
        elif kind in ("float", "double"):
            value = real(word)
        elif kind in ("string", "bytes"):
            value = None
        else:
            value = integer(word)
            if value is None and kind == "enum":
                value = field.type.numbers.get(word)
        if value is None:
            hint = did_you_mean(word, field.type.numbers) if kind == "enum" else None
            wanted = field.type.name if kind == "enum" else kind
            raise TextFault(at, f"{field.name}: {shown(token)} is no {wanted}", hint)
        return value
