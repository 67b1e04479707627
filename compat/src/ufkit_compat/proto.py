"""Messages with the names that Google's protobuf gives them, over those of `ufkit.wire`.

Scripts for NVIDIA's tools edit nodes as protobuf objects: `node.input.insert(0, name)`,
`node.attr["axis"].i = 1`. These classes are such objects. What they are made of stays in its file
until asked for, and what nobody edits is written back as the bytes that came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Self

from ufkit.core.files import Source, made
from ufkit.wire.copying import copied
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.pieces import nbytes
from ufkit.wire.schema import FieldType, MessageType, did_you_mean
from ufkit.wire.text import text_lines
from ufkit.wire.values import is_default
from ufkit_compat.containers import MapField, MessageList, ScalarList, as_kind

_IN_PLACE = "a list, a map or a message is edited in place: .append(), [:] = or .CopyFrom()"


class Proto:
    """One message. Fields are attributes; lists, maps and messages in it are edited in place.

    `class_of` makes a class for each type of a schema. A message that is not there yet can be
    edited too, and is there then. Raises AttributeError for a field that the type has not,
    RequestError (UFK112) for a value that does not fit its field.
    """

    __slots__ = ("_edits", "_owner", "_place", "_views", "message")
    TYPE: ClassVar[MessageType]
    ONEOFS: ClassVar[Mapping[str, str]] = {}  # other names of oneofs

    message: Message
    _owner: Proto | None
    _place: str
    _views: dict[str, Any]
    _edits: int

    def __init__(self, **values: Any) -> None:
        self._begin(Message.new(self.TYPE))
        for name, value in values.items():
            if value is not None:
                self._merge(self._field(name), value)

    @classmethod
    def over(cls, message: Message) -> Self:
        """The object for a message, which it edits."""
        found = cls.__new__(cls)
        found._begin(message)
        return found

    def _begin(self, message: Message, owner: Proto | None = None, place: str = "") -> None:
        """`place` is the field of the owner that the message is not in yet."""
        self.message = message
        self._owner = owner
        self._place = place
        self._views = {}
        self._edits = 0

    # -- fields ------------------------------------------------------------------------------

    @classmethod
    def _field(cls, name: str) -> FieldType:
        field = cls.TYPE.fields.get(name)
        if field is None:
            hint = did_you_mean(name, cls.TYPE.fields) or f"fields: {', '.join(cls.TYPE.fields)}"
            raise AttributeError(f"{cls.__name__} has no field {name!r}; {hint}")
        return field

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        field = self._field(name)
        if field.repeated:
            view = self._views.get(name)
            if view is None:
                view = self._views[name] = _container(self, field)
            return view
        if field.kind == "message":
            return self._single(field)
        value = self.message.get(name)
        return bytes(made(value).view()) if field.kind == "bytes" else value

    def _single(self, field: FieldType) -> Proto:
        """The object for the message in a field, whether it is there or not."""
        message: Message | None = self.message.get(field.name)
        known: Proto | None = self._views.get(field.name)
        if known is not None and known.message is message:
            return known
        if known is not None and message is None and known._place:
            return known  # not there yet
        view = self.child(field.type, message or Message.new(field.type))
        view._place = "" if message else field.name
        self._views[field.name] = view
        return view

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Proto.__slots__:
            object.__setattr__(self, name, value)
            return
        field = self._field(name)
        if field.repeated or field.kind == "message":
            raise AttributeError(f"{type(self).__name__}.{name} cannot be assigned; {_IN_PLACE}")
        self.message.set(name, as_kind(field, value))
        self.changed()

    # -- what containers ask of their owner --------------------------------------------------

    def child(self, type_: MessageType, message: Message) -> Proto:
        """The object for a message in this one."""
        found = class_of(type_).over(message)
        found._owner = self
        return found

    def changed(self) -> None:
        """Note an edit in this message or below, and put it where it belongs."""
        if self._place and self._owner is not None:
            place, self._place = self._place, ""
            self._owner.message.set(place, self.message)
        if self._owner is not None:
            self._owner.changed()
        self._edits += 1

    @property
    def edits(self) -> int:
        """How often this message, or one in it, was edited."""
        return self._edits

    # -- protobuf's methods ------------------------------------------------------------------

    def HasField(self, name: str) -> bool:
        """Whether a field that can be absent is there. Raises ValueError for any other."""
        if (oneof := self.ONEOFS.get(name, name)) in self.TYPE.oneofs:
            return self.message.which(oneof) is not None
        field = self.TYPE.fields.get(name)
        if field is None or field.repeated or not (field.explicit or field.kind == "message"):
            raise ValueError(f"{type(self).__name__} cannot tell whether it has {name!r}")
        return self.message.has(name)

    def WhichOneof(self, name: str) -> str | None:
        """The field of a oneof that is there. Raises ValueError for an unknown oneof."""
        oneof = self.ONEOFS.get(name, name)
        if oneof not in self.TYPE.oneofs:
            raise ValueError(f"{type(self).__name__} has no oneof {name!r}")
        return self.message.which(oneof)

    def ListFields(self) -> list[tuple[FieldType, Any]]:
        """The fields that are there, with `.name` and `.number`, and their values."""
        return [(field, getattr(self, field.name)) for field, _ in self._fields()]

    def _fields(self) -> Iterator[tuple[FieldType, Any]]:
        """The fields that are there, with their values; bytes stay where they are."""
        for field in self.message.known():
            if field.repeated or field.kind == "message":
                yield field, getattr(self, field.name)
                continue
            value = self.message.get(field.name)
            if field.explicit or not is_default(field, value):
                yield field, value

    def ClearField(self, name: str) -> None:
        """Take a field away."""
        field = self._field(name)
        if field.repeated:
            getattr(self, name).clear()
            return
        self.message.clear(name)
        self._views.pop(name, None)
        self.changed()

    def Clear(self) -> None:
        """Take all fields away."""
        for field in list(self.message.known()):
            self.ClearField(field.name)
        self.changed()

    def CopyFrom(self, other: Any) -> None:
        """Become equal to another message of the type, be it one of protobuf's."""
        theirs = taken(self.TYPE, other)  # first: it may be part of what is cleared
        self.Clear()
        self.MergeFrom(class_of(self.TYPE).over(theirs))

    def MergeFrom(self, other: Any) -> None:
        """Take over what another message has; lists are appended to."""
        theirs = class_of(self.TYPE).over(taken(self.TYPE, other))
        for field, value in theirs._fields():
            self._merge(field, value)
        self.changed()

    def _merge(self, field: FieldType, value: Any) -> None:
        """Add a value to a field: as `MergeFrom`, and what constructors take."""
        if not field.repeated and field.kind != "message":
            setattr(self, field.name, value)
        elif not field.repeated:
            target = getattr(self, field.name)
            target.MergeFrom(class_of(field.type)(**value) if isinstance(value, dict) else value)
        elif field.kind == "message" and field.type.acts_as_map:
            getattr(self, field.name).MergeFrom(value)
        else:
            getattr(self, field.name).extend(value)

    def SerializeToString(self, deterministic: bool = False) -> bytes:
        """The encoded message; its order is the same each time, asked for or not."""
        return to_bytes(self.message)

    def ByteSize(self) -> int:
        """Bytes of the encoded message."""
        return sum(map(nbytes, self.message.pieces()))

    def ParseFromString(self, data: bytes) -> int:
        """Become the message that bytes encode; how many these are. Raises FormatError."""
        found = Message.read(self.TYPE, Source(data))
        found.wire_types()  # what is no message is told at once
        if self._owner is None:
            edits = self._edits
            self._begin(found)
            self._edits = edits + 1
        else:
            self.CopyFrom(class_of(self.TYPE).over(found))
        return len(data)

    def MergeFromString(self, data: bytes) -> int:
        """Take over what bytes encode. Raises FormatError."""
        self.MergeFrom(self.FromString(data))
        return len(data)

    @classmethod
    def FromString(cls, data: bytes) -> Self:
        """The message that bytes encode. Raises FormatError."""
        found = cls()
        found.ParseFromString(data)
        return found

    def SetInParent(self) -> None:
        """Be there, even without a field."""
        self.changed()

    def IsInitialized(self) -> bool:
        """True: no schema here has fields that must be there."""
        return True

    def __copy__(self) -> Self:
        return type(self).over(copied(self.message))

    def __deepcopy__(self, memo: Any) -> Self:
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Proto):
            return NotImplemented
        if self.message is other.message:
            return True
        ours, theirs = self.ListFields(), other.ListFields()
        if self.TYPE is not other.TYPE or [f for f, _ in ours] != [f for f, _ in theirs]:
            return False
        return all(a == b for (_, a), (_, b) in zip(ours, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __str__(self) -> str:
        return "".join(text_lines(self.message))

    __repr__ = __str__


def _container(owner: Proto, field: FieldType) -> Any:
    if field.kind != "message":
        return ScalarList(owner, field)
    return (MapField if field.type.acts_as_map else MessageList)(owner, field)


@cache
def class_of(type_: MessageType) -> type[Proto]:
    """The class for messages of a type, the same each time."""
    name = type_.name.rpartition(".")[2]
    return type(name, (Proto,), {"__slots__": (), "TYPE": type_, "__doc__": f"A {type_.name}."})


def taken(type_: MessageType, value: Any) -> Message:
    """A message of its own with a value's content: of an object here, or of protobuf's own.

    Raises TypeError for anything else.
    """
    if isinstance(value, Proto):
        if value.TYPE is not type_:
            raise TypeError(f"a {type_.name} is wanted, not a {value.TYPE.name}")
        return copied(value.message)
    if hasattr(value, "SerializeToString"):
        return Message.read(type_, Source(value.SerializeToString()))
    raise TypeError(f"a {type_.name} is wanted, not {type(value).__name__}")
