"""What layers are told: fields of their parameters, read alike from files and from texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ufkit.core.diag import Where
from ufkit.ufw.net import Layer
from ufkit.ufw.prototxt import LayerText
from ufkit.ufw.schema import LAYER
from ufkit.wire.message import Message
from ufkit.wire.schema import FieldType, MessageType
from ufkit.wire.tree import Entry, Tree

INTEGER, REAL, FLAG, MESSAGE = "int64", "double", "bool", "message"
_INTEGERS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64")
_REALS = ("float", "double")


class Parameter:
    """A message of settings, this one without any; `type` is Caffe's schema for it, if it has one.

    Values are int, float, bool, str (names of enums too) and Parameter. What reads one raises
    FormatError where the file holds something else, or damage.
    """

    def __init__(self, type_: MessageType | None = None) -> None:
        self.type = type_

    @property
    def names(self) -> Sequence[str]:
        """The fields that are given, each once, in the order of the file or its schema."""
        return ()

    @property
    def foreign(self) -> bool:
        """Whether fields are given whose names nobody knows: a fork of Caffe wrote them."""
        return False

    def all(self, name: str, kind: str = "") -> list[Any]:
        """The values given for a field. `kind` is what they have to be where no schema says it."""
        return []

    def where(self, name: str) -> Where:
        """The place of a field; of the last one, should there be several."""
        return Where()

    def field(self, name: str) -> FieldType | None:
        """What the schema says of a field."""
        return self.type.fields.get(name) if self.type else None

    def has(self, name: str) -> bool:
        return name in self.names

    def get(self, name: str, kind: str = "") -> Any:
        """The value of a field; Caffe's default, or else None, where it is not given."""
        given = self.all(name, kind)
        return given[-1] if given else default_of(self.field(name))

    def whole(self, name: str) -> int | None:
        value = self.get(name, INTEGER)
        return None if value is None else int(value)

    def wholes(self, name: str) -> list[int]:
        return self.all(name, INTEGER)

    def reals(self, name: str) -> list[float]:
        return self.all(name, REAL)

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.get(name, FLAG)
        return default if value is None else bool(value)

    def part(self, name: str) -> Parameter:
        """A message in it; one without settings where it is not given."""
        field = self.field(name)
        given = self.all(name, MESSAGE)
        return given[-1] if given else Parameter(field.type if field else None)

    def parts(self, name: str) -> list[Parameter]:
        """The messages of that name."""
        return self.all(name, MESSAGE)


def default_of(field: FieldType | None) -> Any:
    """Caffe's default of a field, None without one; of an enum its name."""
    if field is None or field.repeated or field.kind == MESSAGE:
        return None
    if field.kind == "enum":
        return field.type.name_of(field.default)
    return field.default


class _OfMessage(Parameter):
    """Settings of a binary file, or of one that was read by the schema."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.type)
        self._message = message

    @property
    def names(self) -> Sequence[str]:
        return [field.name for field in self._message.known()]

    @property
    def foreign(self) -> bool:
        return bool(self._message.unknown())

    def has(self, name: str) -> bool:
        return self.field(name) is not None and self._message.has(name)

    def all(self, name: str, kind: str = "") -> list[Any]:
        if not self.has(name):
            return []
        field = self._message.type.fields[name]
        values = self._message.all(name) if field.repeated else [self._message.get(name)]
        if field.kind == MESSAGE:
            return [_OfMessage(value) for value in values]
        if field.kind == "enum":
            return [field.type.name_of(value) or str(value) for value in values]
        return values

    def where(self, name: str) -> Where:
        records = self._message.records(name)
        start, stop = (records[-1][0], records[-1][3]) if records else (None, None)
        return Where(self._message.span.source.name, start=start, stop=stop)


class _OfText(Parameter):
    """Settings of a text; fields that Caffe does not have are read as they look."""

    def __init__(self, tree: Tree, type_: MessageType | None) -> None:
        super().__init__(type_)
        self._tree = tree

    @property
    def names(self) -> Sequence[str]:
        return list(dict.fromkeys(entry.name for entry in self._tree))

    @property
    def foreign(self) -> bool:
        return False

    def has(self, name: str) -> bool:
        return name in self._tree

    def all(self, name: str, kind: str = "") -> list[Any]:
        entries, field = self._tree.all(name), self.field(name)
        if field is None:
            return [self._value(entry, kind) for entry in entries]
        if not field.repeated:
            entries = entries[-1:]
        if field.kind == "enum":
            names = {str(number): name for name, number in reversed(field.type.numbers.items())}
            return [names.get(entry.text(), entry.text()) for entry in entries]
        return [self._value(entry, field.kind) for entry in entries]

    def _value(self, entry: Entry, kind: str) -> Any:
        if kind == MESSAGE or (not kind and isinstance(entry.value, Tree)):
            field = self.field(entry.name)
            return _OfText(entry.tree(), field.type if field else None)
        if kind in _INTEGERS:
            return entry.integer()
        if kind in _REALS:
            return entry.real()
        if kind == FLAG:
            return entry.flag()
        return entry.text() if kind else entry.plain()

    def where(self, name: str) -> Where:
        entry = self._tree.get(name)
        return Where() if entry is None else entry.where()


def told(layer: object) -> Parameter:
    """All fields of a layer, its name and connections among them."""
    if isinstance(layer, Layer):
        return _OfMessage(layer.message)
    if isinstance(layer, LayerText):
        return _OfText(layer.tree, LAYER)
    return Parameter(LAYER)


def settings(message: Message) -> Parameter:
    """The fields of any message."""
    return _OfMessage(message)
