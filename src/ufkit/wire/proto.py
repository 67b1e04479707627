"""Reads .proto files, so that each schema is written down once, in its own language.

Understood: proto2 and proto3, packages, nested messages and enums, oneof, map, `optional`,
`required`, `repeated`, the options `packed` and `default`. Other options, `reserved` and
`extensions` are skipped; services and extension blocks are refused. An import is looked up in
the schemas given. A comment beside a field is kept as its `doc`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ufkit.core.files import Span
from ufkit.wire.schema import WIRE_TYPES, EnumType, FieldType, MessageType, Schema
from ufkit.wire.values import quoted

_TOKEN = re.compile(
    r"""(?P<remark>[ \t]*//[^\n]*)|\s+|/\*.*?\*/     # skipped
    |(?P<token>[A-Za-z_.][\w.]*|-?[\d][\w.+]*|-?\.\d+|-inf|[{}\[\]()<>=;,]
              |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    """,
    re.X | re.S,
)
_SCALARS = frozenset(WIRE_TYPES) - {"enum", "message"}


def parse_proto(text: str, imports: Mapping[str, Schema] | None = None) -> Schema:
    """The schema of one .proto file, `imports` by the names it imports them under.

    Raises ValueError: these files are ours, not a user's.
    """
    return _Parser(text, imports or {}).run()


class _Parser:
    def __init__(self, text: str, imports: Mapping[str, Schema]) -> None:
        self.imports = imports
        self.others = Schema("")  # the types of what is imported
        self.tokens: list[str] = []
        self.remarks: dict[int, str] = {}  # beside what ends with the token before that one
        for match in _TOKEN.finditer(text):
            if match["token"]:
                self.tokens.append(match["token"])
            elif match["remark"] and text[match.start() - 1 : match.start()] == ";":
                self.remarks[len(self.tokens)] = match["remark"].strip(" \t/")
        self.at = 0
        self.proto3 = False
        self.schema = Schema("")
        self.unresolved: list[tuple[str, FieldType]] = []

    def run(self) -> Schema:
        while self.at < len(self.tokens):
            word = self.next()
            if word == "syntax":
                self.expect("=")
                self.proto3 = self.next().strip("\"'") == "proto3"
                self.expect(";")
            elif word == "package":
                self.schema.package = self.next()
                self.expect(";")
            elif word == "message":
                self.message(self.schema.package)
            elif word == "enum":
                self.enum(self.schema.package)
            elif word == "import":
                name = self.next().strip("\"'")
                if name not in self.imports:
                    raise ValueError(f"{name!r} is imported, and not given")
                other = self.imports[name]
                self.others.messages |= other.messages
                self.others.enums |= other.enums
                self.expect(";")
            elif word == "option":
                self.skip_statement()
            elif word != ";":
                raise ValueError(f"{word!r} is not understood at the top of a .proto file")
        for scope, entry in self.unresolved:
            self.resolve(scope, entry)
        return self.schema

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token: str) -> None:
        if (found := self.next()) != token:
            raise ValueError(f"expected {token!r}, found {found!r} (token {self.at})")

    def skip_statement(self) -> None:
        while self.next() != ";":
            pass

    def message(self, scope: str) -> None:
        name = f"{scope}.{self.next()}".lstrip(".")
        message = self.schema.messages[name] = MessageType(name)
        self.expect("{")
        self.body(message, oneof="")

    def body(self, message: MessageType, oneof: str) -> None:
        while (word := self.next()) != "}":
            if word == "message":
                self.message(message.name)
            elif word == "enum":
                self.enum(message.name)
            elif word == "oneof":
                inner = self.next()
                self.expect("{")
                self.body(message, inner)
            elif word == "map":
                self.map(message)
            elif word in ("option", "reserved", "extensions"):
                self.skip_statement()
            elif word != ";":
                self.field(message, word, oneof)

    def field(self, message: MessageType, word: str, oneof: str) -> None:
        label = word if word in ("optional", "required", "repeated") else ""
        kind = self.next() if label else word
        name = self.next()
        self.expect("=")
        number = int(self.next(), 0)
        options = self.options()
        entry = FieldType(name, number, kind, repeated=label == "repeated", oneof=oneof)
        entry.explicit = not entry.repeated and (bool(label or oneof) or not self.proto3)
        entry.default = options.get("default")
        packable = kind not in ("string", "bytes")
        entry.packed = entry.repeated and packable and options.get("packed", self.proto3) is True
        entry.doc = self.remarks.get(self.at, "")
        message.add(entry)
        self.unresolved.append((message.name, entry))

    def map(self, message: MessageType) -> None:
        self.expect("<")
        key = self.next()
        self.expect(",")
        value = self.next()
        self.expect(">")
        name = self.next()
        self.expect("=")
        number = int(self.next(), 0)
        self.options()
        camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
        full = f"{message.name}.{camel}Entry"
        entry = self.schema.messages[full] = MessageType(full, is_map_entry=True)
        for field in (
            FieldType("key", 1, key, explicit=not self.proto3),
            FieldType("value", 2, value, explicit=not self.proto3),
        ):
            entry.add(field)
            self.unresolved.append((message.name, field))
        message.add(FieldType(name, number, "message", entry, repeated=True))

    def options(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.tokens[self.at] == "[":
            while self.next() != "]":
                key = self.next()
                self.expect("=")
                found[key] = _literal(self.next())
        self.expect(";")
        return found

    def enum(self, scope: str) -> None:
        name = f"{scope}.{self.next()}".lstrip(".")
        enum = self.schema.enums[name] = EnumType(name)
        self.expect("{")
        while (word := self.next()) != "}":
            if word in ("option", "reserved"):
                self.skip_statement()
            elif word != ";":
                self.expect("=")
                enum.numbers[word] = int(self.next(), 0)
                self.options()

    def resolve(self, scope: str, entry: FieldType) -> None:
        """Replace a type's name by its type, looked up from the inside out."""
        if entry.kind not in _SCALARS:
            parts = scope.split(".")
            names = [".".join([*parts[:n], entry.kind]) for n in range(len(parts), -1, -1)]
            messages = self.others.messages | self.schema.messages
            enums = self.others.enums | self.schema.enums
            name = next((n for n in names if n in messages or n in enums), None)
            if name is None:
                raise ValueError(f"{scope}.{entry.name}: unknown type {entry.kind}")
            entry.type = messages.get(name) or enums[name]
            entry.kind = "message" if name in messages else "enum"
        if entry.kind == "message":
            entry.packed = False
            entry.explicit = not entry.repeated
        if entry.kind == "bytes" and isinstance(entry.default, bytearray):
            entry.default = Span.of(entry.default)
        elif entry.kind == "string" and isinstance(entry.default, bytearray):
            entry.default = entry.default.decode()
        elif entry.kind in ("float", "double") and entry.default is not None:
            entry.default = float(entry.default)
        elif entry.kind == "enum":
            numbers = entry.type.numbers
            first = next(iter(numbers))  # what an absent field reads as; 0 in proto3
            entry.default = numbers[entry.default or first]


def _literal(token: str) -> Any:
    if token in ("true", "false"):
        return token == "true"
    if token[0] in "\"'":
        out = bytearray()
        quoted(token.encode(), 0, out)
        return out
    for number in (lambda: int(token, 0), lambda: float(token)):
        try:
            return number()
        except ValueError:
            continue
    return token
