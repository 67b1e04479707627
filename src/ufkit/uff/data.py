"""Field values: the fourteen kinds of `Data`, and none; maps of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ufkit.core.diag import FormatError, RequestError, Where
from ufkit.core.dtypes import DType, from_uff
from ufkit.core.files import Span
from ufkit.uff.orders import spell
from ufkit.uff.rules import BAD_REFERENCE, FIELD_KIND
from ufkit.uff.schema import DATA, SCHEMA
from ufkit.wire.message import Message

if TYPE_CHECKING:
    from ufkit.uff.model import MetaGraph

KINDS = tuple(DATA.fields)
_SPECIAL = -1  # the one key that orders have in real files


@dataclass(frozen=True, slots=True)
class Ref:
    """The name of an entry of `referenced_data`."""

    name: str


@dataclass(frozen=True, slots=True)
class Orders:
    """An axis order as the file gives it, runs included: `(0, 2, INC, 1)` is `N+C`."""

    axes: tuple[int, ...]


def kind_of(data: Message) -> str:
    """Which of the fourteen kinds a value is, or "none"."""
    return data.which("type") or "none"


def value_of(data: Message, kind: str = "") -> Any:
    """A value as Python has it; a `ref` stays a Ref, a blob a Span, "none" is None.

    Whoever knows its kind already gives it.
    """
    kind = kind or kind_of(data)
    if kind == "none":
        return None
    value = data.get(kind)
    if kind == "ref":
        return Ref(value)
    if kind == "dtype":
        return from_uff(value)
    if kind == "dtype_list":
        return [from_uff(number) for number in value.all("val")]
    if kind == "dim_orders":
        return _orders(value)
    if kind == "dim_orders_list":
        return [_orders(item) for item in value.all("val")]
    return value.all("val") if isinstance(value, Message) else value


def _orders(message: Message) -> Orders:
    for entry in message.all("orders"):
        if entry.get("key") == _SPECIAL and (value := entry.get("value")) is not None:
            return Orders(tuple(value.all("val")))
    return Orders(())


def plain(value: Any) -> Any:
    """A value as JSON can hold it: a blob as its size, orders as names spell them."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Span):
        return f"({value.nbytes} bytes)"
    if isinstance(value, Orders):
        return spell(value.axes)
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def data_of(value: Any, kind: str | None = None) -> Message:
    """The message that holds a Python value; the kind is told from it unless given.

    str, float, bool, int and lists of them, bytes or an array (blob), Ref, DType, Orders, None;
    an empty list is an `i_list`. Raises RequestError (UFF207) for anything else.
    """
    if isinstance(value, Message) and value.type is DATA:
        return value
    kind = kind or _kind_for(value)
    if kind == "none":
        return Message.new(DATA)
    if kind == "blob" and hasattr(value, "tobytes") and not isinstance(value, memoryview):
        value = value.tobytes()
    return Message.new(DATA, **{kind: _ENCODERS.get(kind, lambda plain: plain)(value)})


def _kind_for(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        kind = _kind_for(value[0]) if value else "i"
        if kind in ("s", "d", "b", "i", "dtype", "dim_orders"):
            return f"{kind}_list"
    for types, kind in _PYTHON_KINDS:
        if isinstance(value, types):
            return kind
    if hasattr(value, "tobytes") or hasattr(value, "write_to"):
        return "blob"
    raise RequestError(
        FIELD_KIND.at(Where(), f"{value!r} is of no kind that UFF has", hint=f"kinds: {KINDS}")
    )


_PYTHON_KINDS: tuple[tuple[Any, str], ...] = (
    (type(None), "none"),
    (bool, "b"),
    (int, "i"),
    (float, "d"),
    (str, "s"),
    (DType, "dtype"),
    (Ref, "ref"),
    (Orders, "dim_orders"),
    ((bytes, bytearray, memoryview, Span), "blob"),
)


def _encode_list(type_: str, item: Callable[[Any], Any]) -> Callable[[Any], Message]:
    return lambda values: Message.new(SCHEMA[type_], val=[item(value) for value in values])


def _encode_orders(value: Orders) -> Message:
    axes = Message.new(SCHEMA["ListInt64"], val=value.axes)
    entry = Message.new(SCHEMA["DimensionOrders.OrdersEntry"], key=_SPECIAL, value=axes)
    return Message.new(SCHEMA["DimensionOrders"], orders=[entry])


_ENCODERS: dict[str, Callable[[Any], Any]] = {
    "ref": lambda value: value.name,
    "dtype": lambda value: value.uff,
    "s_list": _encode_list("ListString", str),
    "d_list": _encode_list("ListDouble", float),
    "b_list": _encode_list("ListBool", bool),
    "i_list": _encode_list("ListInt64", int),
    "dtype_list": _encode_list("ListDataType", lambda value: value.uff),
    "dim_orders": _encode_orders,
    "dim_orders_list": _encode_list("ListDimensionOrders", _encode_orders),
}


class DataMap(MutableMapping[str, Any]):
    """A map from names to values, in file order: fields, extra fields, referenced data.

    Indexing follows references and gives Python values (see `value_of`); `data(key)` is the
    message itself. Of a key given twice the last counts. Assigning edits the file's message.
    """

    def __init__(
        self, meta: MetaGraph, message: Message, field: str, where: Callable[[], Where]
    ) -> None:
        self._meta = meta
        self._message = message
        self._field = field
        self._where = where
        self._entries: dict[str, Message] | None = None

    def entries(self) -> list[Message]:
        """The entries as the file has them, duplicates included."""
        return self._message.all(self._field)

    def _index(self) -> dict[str, Message]:
        if self._entries is None:
            self._entries = {entry.get("key"): entry for entry in self.entries()}
        return self._entries

    def data(self, key: str) -> Message:
        """The value's message, unresolved. Raises KeyError."""
        return self._index()[key].get("value") or Message.new(DATA)

    def __getitem__(self, key: str) -> Any:
        return value_of(self.resolved(key))

    def kind(self, key: str) -> str:
        """Kind of the value after following references, or "none"."""
        return kind_of(self.resolved(key))

    def resolved(self, key: str) -> Message:
        """The value's message, references followed. Raises KeyError, FormatError (UFF202)."""
        data = self.data(key)
        if data.which("type") != "ref":
            return data
        return follow(self._meta.referenced_data, data, lambda: self.where(key))[0]

    def where(self, key: str) -> Where:
        """The place of a value, for diagnostics."""
        span = self._index()[key].span if key in self._index() else None
        start, stop = (span.start, span.stop) if span and span.nbytes else (None, None)
        owner = self._where()
        return Where(owner.file, owner.node, key, start, stop)

    def __setitem__(self, key: str, value: Any) -> None:
        data = data_of(value)
        if key in self._index():
            self._index()[key].set("value", data)
            return
        type_ = self._message.type.fields[self._field].type
        entry = Message.new(type_, key=key, value=data)
        self._message.append(self._field, entry)
        self._index()[key] = entry

    def __delitem__(self, key: str) -> None:
        if key not in self._index():
            raise KeyError(key)
        self.discard({key})

    def discard(self, keys: Collection[str]) -> None:
        """Remove those of the keys that are there, all at once."""
        self._keep(lambda entry: entry.get("key") not in keys)

    def rename(self, names: Mapping[str, str]) -> None:
        """Give entries other keys; their values stay as they are."""
        for entry in self.entries():
            if (name := names.get(entry.get("key"))) is not None:
                entry.set("key", name)
        self._entries = None

    def drop_repeated(self) -> list[str]:
        """Remove what a later entry of the same key puts out of force; the keys it was."""
        counts = self._index()
        dropped = [e.get("key") for e in self.entries() if counts[e.get("key")] is not e]
        if dropped:
            self._keep(lambda entry: counts[entry.get("key")] is entry)
        return dropped

    def _keep(self, wanted: Callable[[Message], bool]) -> None:
        self._message.set(self._field, [entry for entry in self.entries() if wanted(entry)])
        self._entries = None

    def __contains__(self, key: object) -> bool:
        return key in self._index()  # the inherited one decodes the value

    def __iter__(self) -> Iterator[str]:
        return iter(self._index())

    def __len__(self) -> int:
        return len(self._index())

    def __repr__(self) -> str:
        return f"DataMap({list(self)})"


def unquoted(text: str) -> str:
    """A string attribute of a custom operation, which converters wrote as Python's `b'NHWC'`."""
    quoted = text[:2] in ("b'", 'b"') and text[-1] == text[1] and len(text) > 2
    return text[2:-1] if quoted else text


MAX_REFERENCES = 16  # in a row; real files have one


def follow(referenced: DataMap, data: Message, where: Callable[[], Where]) -> tuple[Message, str]:
    """What a value stands for in the end, and the name of the last reference ("" if none).

    Raises FormatError (UFF202) when a name is missing or references go in a circle.
    """
    name = ""
    for _ in range(MAX_REFERENCES):
        if data.which("type") != "ref":
            return data, name
        name = data.get("ref")
        try:
            data = referenced.data(name)
        except KeyError:
            message = f"it refers to {name!r}, which is not in the file"
            raise FormatError(BAD_REFERENCE.at(where(), message)) from None
    raise FormatError(BAD_REFERENCE.at(where(), f"references go in a circle through {name!r}"))
