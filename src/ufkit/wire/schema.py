"""Schemas as data: message types, their fields, enums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ufkit.wire.reader import I32, I64, LEN, VARINT

# kind -> wire type of one element
WIRE_TYPES = {
    "int32": VARINT,
    "int64": VARINT,
    "uint32": VARINT,
    "uint64": VARINT,
    "sint32": VARINT,
    "sint64": VARINT,
    "bool": VARINT,
    "enum": VARINT,
    "fixed32": I32,
    "sfixed32": I32,
    "float": I32,
    "fixed64": I64,
    "sfixed64": I64,
    "double": I64,
    "string": LEN,
    "bytes": LEN,
    "message": LEN,
}


@dataclass(slots=True, eq=False)
class EnumType:
    """An enum: names to numbers. Numbers without a name are legal values (open enum)."""

    name: str
    numbers: dict[str, int] = field(default_factory=dict)

    def name_of(self, number: int) -> str | None:
        """The first name that stands for `number`, if any."""
        return next((name for name, value in self.numbers.items() if value == number), None)


@dataclass(slots=True, eq=False)
class FieldType:
    """A field of a message.

    kind      a key of WIRE_TYPES
    type      the MessageType or EnumType of kinds `message` and `enum`
    explicit  a singular field that tells "absent" from "has its default value":
              proto2 fields, oneof members, `optional`, and all messages
    doc       the comment beside it in the .proto file
    """

    name: str
    number: int
    kind: str
    type: Any = None
    repeated: bool = False
    packed: bool = False
    explicit: bool = False
    oneof: str = ""
    default: Any = None
    doc: str = ""

    @property
    def wire(self) -> int:
        """Wire type of one element."""
        return WIRE_TYPES[self.kind]


@dataclass(slots=True, eq=False)
class MessageType:
    """A message type: its fields by name and by number, in the order of the .proto file."""

    name: str
    fields: dict[str, FieldType] = field(default_factory=dict)
    numbers: dict[int, FieldType] = field(default_factory=dict)
    oneofs: dict[str, list[FieldType]] = field(default_factory=dict)
    is_map_entry: bool = False

    def add(self, entry: FieldType) -> None:
        """Add a field. Raises ValueError when its name or number is taken."""
        if entry.name in self.fields or entry.number in self.numbers:
            raise ValueError(f"{self.name}: field {entry.name} = {entry.number} is taken")
        self.fields[entry.name] = entry
        self.numbers[entry.number] = entry
        if entry.oneof:
            self.oneofs.setdefault(entry.oneof, []).append(entry)

    @property
    def acts_as_map(self) -> bool:
        """Whether a list of these is a map: as declared, or written out, with keys of any kind."""
        return self.name.endswith("Entry") and self.fields.keys() == {"key", "value"}

    def __repr__(self) -> str:
        return f"MessageType({self.name})"


@dataclass(slots=True, eq=False)
class Schema:
    """All types of one .proto file by their full names (`uff.Data`)."""

    package: str
    messages: dict[str, MessageType] = field(default_factory=dict)
    enums: dict[str, EnumType] = field(default_factory=dict)

    def __getitem__(self, name: str) -> MessageType:
        """The message type of that name, with or without the package."""
        return self.messages.get(f"{self.package}.{name}") or self.messages[name]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known name closest to `name`; None when none is close."""
    import difflib

    near = difflib.get_close_matches(name[:64], known, n=1)  # its cost grows with the square
    return f"did you mean {near[0]!r}?" if near else None
