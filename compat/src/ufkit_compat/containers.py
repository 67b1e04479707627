"""Lists and maps of a message, as protobuf has them: what is edited is the message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any

from ufkit.core.files import made
from ufkit.wire.message import Message
from ufkit.wire.schema import FieldType
from ufkit.wire.values import checked, default

if TYPE_CHECKING:
    from ufkit_compat.proto import Proto


def _held(owner: Proto, name: str) -> list[Any]:
    """The list that the message holds from now on, to be edited in place."""
    held = owner.message.held(name)
    if not isinstance(held, list):
        owner.message.set(name, owner.message.all(name))
        held = owner.message.held(name)
    assert isinstance(held, list)
    return held


def as_kind(field: FieldType, value: Any) -> Any:
    """A value for a field; True is an integer too, as in protobuf."""
    return int(value) if isinstance(value, bool) and field.kind != "bool" else value


class ScalarList(MutableSequence[Any]):
    """Numbers or texts; bytes come as bytes."""

    __slots__ = ("_field", "_owner")

    def __init__(self, owner: Proto, field: FieldType) -> None:
        self._owner = owner
        self._field = field

    def _values(self) -> list[Any]:
        held = self._owner.message.held(self._field.name)
        return held if isinstance(held, list) else self._owner.message.all(self._field.name)

    def _shown(self, value: Any) -> Any:
        return bytes(made(value).view()) if self._field.kind == "bytes" else value

    def _checked(self, value: Any) -> Any:
        return checked(self._field, as_kind(self._field, value))

    def __len__(self) -> int:
        return len(self._values())

    def __iter__(self) -> Iterator[Any]:
        return iter([self._shown(value) for value in self._values()])

    def __getitem__(self, at: Any) -> Any:
        found = self._values()[at]
        return [*map(self._shown, found)] if isinstance(at, slice) else self._shown(found)

    def __setitem__(self, at: Any, value: Any) -> None:
        one = not isinstance(at, slice)
        new = self._checked(value) if one else [self._checked(item) for item in value]
        _held(self._owner, self._field.name)[at] = new
        self._owner.changed()

    def __delitem__(self, at: Any) -> None:
        del _held(self._owner, self._field.name)[at]
        self._owner.changed()

    def insert(self, index: int, value: Any) -> None:
        """Put a value before the one at `index`."""
        _held(self._owner, self._field.name).insert(index, self._checked(value))
        self._owner.changed()

    def extend(self, values: Iterable[Any]) -> None:
        """Add values at the end: all of them, or none where one does not fit."""
        self[len(self) :] = list(values)

    MergeFrom = extend

    def clear(self) -> None:
        """Take all values away."""
        del self[:]

    def sort(self, **how: Any) -> None:
        """As of a list."""
        self[:] = sorted(self, **how)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class MessageList(Sequence[Any]):
    """Messages. What is put in is copied, as protobuf does: edit what is in the list."""

    __slots__ = ("_field", "_items", "_owner")

    def __init__(self, owner: Proto, field: FieldType) -> None:
        self._owner = owner
        self._field = field
        self._items = [owner.child(field.type, m) for m in owner.message.all(field.name)]

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, at: Any) -> Any:
        return self._items[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __delitem__(self, at: Any) -> None:
        del self._items[at]
        del _held(self._owner, self._field.name)[at]
        self._owner.changed()

    def insert(self, index: int, value: Any) -> Proto:
        """Put a copy of a message before the one at `index`; gives what is in the list then."""
        from ufkit_compat.proto import taken

        return self._put(index, taken(self._field.type, value))

    def _put(self, index: int, message: Message) -> Proto:
        self._owner.message.append(self._field.name, message)
        held = _held(self._owner, self._field.name)
        held.insert(index, held.pop())
        item = self._owner.child(self._field.type, message)
        self._items.insert(index, item)
        self._owner.changed()
        return item

    def add(self, **values: Any) -> Proto:
        """Add a message with these fields; gives what is in the list then."""
        item = self._put(len(self), Message.new(self._field.type))
        for name, value in values.items():
            item._merge(item._field(name), value)
        return item

    def append(self, value: Any) -> None:
        """Add a copy of a message."""
        self.insert(len(self), value)

    def extend(self, values: Iterable[Any]) -> None:
        """Add copies of messages: all of them, or none where one is of another type."""
        from ufkit_compat.proto import taken

        for message in [taken(self._field.type, value) for value in values]:
            self._put(len(self), message)

    MergeFrom = extend

    def keep(self, wanted: Iterable[Any]) -> None:
        """Keep those of the messages, in that order; the rest is taken out at once."""
        self._items = list(wanted)
        self._owner.message.set(self._field.name, [item.message for item in self._items])
        self._owner.changed()

    def pop(self, index: int = -1) -> Proto:
        """Take a message out."""
        item: Proto = self._items[index]
        del self[index]
        return item

    def remove(self, value: Any) -> None:
        """Take out the first message equal to one. Raises ValueError where there is none."""
        del self[self._items.index(value)]

    def reverse(self) -> None:
        """Turn the order round."""
        self.keep(self._items[::-1])

    def sort(self, **how: Any) -> None:
        """As of a list; messages need a key."""
        self.keep(sorted(self._items, **how))

    def clear(self) -> None:
        """Take all messages out."""
        self.keep([])

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._items)


class MapField(MutableMapping[Any, Any]):
    """A map. Of a map to messages, a key that is not there is made when it is asked for."""

    __slots__ = ("_entries", "_field", "_owner", "_value", "_views")

    def __init__(self, owner: Proto, field: FieldType) -> None:
        self._owner = owner
        self._field = field
        self._value: FieldType = field.type.fields["value"]
        self._entries: dict[Any, Message] = {
            entry.get("key"): entry for entry in owner.message.all(field.name)
        }
        self._views: dict[Any, Proto] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries  # the inherited one would make it

    def __getitem__(self, key: Any) -> Any:
        if self._value.kind != "message":
            entry = self._entries.get(key)
            return default(self._value) if entry is None else entry.get("value")
        if key not in self._views:
            self._views[key] = self._owner.child(self._value.type, self._message(key))
        return self._views[key]

    def _message(self, key: Any) -> Message:
        """The message of a key, made where it is not there."""
        entry = self._entries.get(key)
        found = entry and entry.get("value")
        if found is None:
            found = Message.new(self._value.type)
            if entry is None:
                self._add(key, found)
            else:
                entry.set("value", found)
        return found

    def _add(self, key: Any, value: Any) -> None:
        entry = Message.new(self._field.type, key=key, value=value)
        self._owner.message.append(self._field.name, entry)
        self._entries[entry.get("key")] = entry
        self._owner.changed()

    def get_or_create(self, key: Any) -> Any:
        """As indexing."""
        return self[key]

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or `default`; makes none."""
        return self[key] if key in self._entries else default

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._value.kind == "message":
            raise ValueError(
                f"a value of {self._field.name} cannot be assigned; edit it in place: "
                f"{self._field.name}[{key!r}].CopyFrom()"
            )
        if key in self._entries:
            self._entries[key].set("value", value)
            self._owner.changed()
        else:
            self._add(key, value)

    def __delitem__(self, key: Any) -> None:
        del self._entries[key]
        self._views.pop(key, None)
        self._owner.message.set(self._field.name, list(self._entries.values()))
        self._owner.changed()

    def MergeFrom(self, other: Mapping[Any, Any]) -> None:
        """Take over the values of another map."""
        for key in list(other):
            if self._value.kind == "message":
                self[key].CopyFrom(other[key])
            else:
                self[key] = other[key]

    def clear(self) -> None:
        """Take all keys away."""
        self._entries, self._views = {}, {}
        self._owner.message.set(self._field.name, [])
        self._owner.changed()

    def __repr__(self) -> str:
        return repr({key: self[key] for key in self})
