"""The official protobuf runtime as a judge: the same .proto, the same values, both ways.

Types live in a private pool, so that several schemas fit into one process.
"""

from __future__ import annotations

import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc
from hypothesis import strategies as st

from ufkit.core.files import Source, Span
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.proto import parse_proto
from ufkit.wire.schema import FieldType, MessageType
from ufkit.wire.values import is_default

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "src" / "ufkit"
UFF_PROTO = PACKAGE / "uff" / "uff.proto"
UFW_PROTO = PACKAGE / "ufw" / "ufw.proto"
CAFFE_PROTO = PACKAGE / "ufw" / "caffe.proto"

FLOAT32_MAX = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


class Judge:
    """One .proto file, with those it imports, read by both sides."""

    def __init__(self, path: Path, *imports: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "set"
            options = [f"-I{path.parent}", f"--descriptor_set_out={out}", "--include_imports"]
            assert protoc.main(["protoc", *options, path.name]) == 0
            found = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
        self.pool = descriptor_pool.DescriptorPool()
        for file in found.file:
            self.pool.Add(file)
        self.package = found.file[-1].package
        known = {other.name: parse_proto(other.read_text("utf-8")) for other in imports}
        self.schema = parse_proto(path.read_text("utf-8"), known)

    def type(self, name: str) -> MessageType:
        return self.schema[name]

    def official(self, type_: MessageType, values: dict[str, Any] | None = None) -> Any:
        """A message of the official runtime with these values."""
        kind = message_factory.GetMessageClass(self.pool.FindMessageTypeByName(type_.name))
        message = kind()
        _fill(message, type_, values or {})
        return message

    def parsed(self, type_: MessageType, data: bytes) -> Any:
        message = self.official(type_)
        message.MergeFromString(data)
        return message


@cache
def judge(name: str) -> Judge:
    """`proto3`, `proto2`, `uff`, `ufw` or `caffe`."""
    paths = {
        "proto3": (HERE / "all_types.proto",),
        "proto2": (HERE / "all_types2.proto",),
        "uff": (UFF_PROTO,),
        "ufw": (UFW_PROTO,),
        "caffe": (CAFFE_PROTO, UFW_PROTO),
    }
    return Judge(*paths[name])


def _fill(message: Any, type_: MessageType, values: dict[str, Any]) -> None:
    for name, value in values.items():
        field = type_.fields[name]
        if _is_map(field):
            part = field.type.fields["value"]
            for key, item in value.items():
                if part.kind == "message":
                    getattr(message, name)[key].SetInParent()
                    _fill(getattr(message, name)[key], part.type, item)
                else:
                    getattr(message, name)[key] = item
        elif field.kind == "message":
            for item in value if field.repeated else [value]:
                inner = getattr(message, name)
                inner = inner.add() if field.repeated else inner
                inner.SetInParent()
                _fill(inner, field.type, item)
        elif field.repeated:
            getattr(message, name).extend(value)
        else:
            setattr(message, name, value)


def ours(type_: MessageType, values: dict[str, Any]) -> Message:
    """A message of ufkit with these values."""
    message = Message.new(type_)
    for name, value in values.items():
        field = type_.fields[name]
        if _is_map(field):
            part = field.type.fields["value"]
            value = [
                Message.new(
                    field.type, key=key, value=ours(part.type, v) if part.kind == "message" else v
                )
                for key, v in value.items()
            ]
        elif field.kind == "message":
            value = (
                [ours(field.type, item) for item in value]
                if field.repeated
                else ours(field.type, value)
            )
        message.set(name, value)
    return message


def read(type_: MessageType, data: bytes) -> Message:
    return Message.read(type_, Source(data, "test"))


def binary(message: Any) -> bytes:
    """The bytes of a message of either side."""
    if isinstance(message, Message):
        return to_bytes(message)
    return message.SerializePartialToString()  # type: ignore[no-any-return]


def plain(message: Any, type_: MessageType) -> dict[str, Any]:
    """What is present in a message of either side, in a form that compares."""
    if isinstance(message, Message):
        return {
            field.name: _plain_field(_get(message, field), field)
            for field in message.known()
            if _counts(message, field)
        }
    return {
        descriptor.name: _plain_field(value, type_.fields[descriptor.name])
        for descriptor, value in message.ListFields()
    }


def _counts(message: Message, field: FieldType) -> bool:
    if field.repeated:
        return bool(message.all(field.name))
    return field.explicit or not is_default(field, message.get(field.name))


def _get(message: Message, field: FieldType) -> Any:
    if not field.repeated:
        return message.get(field.name)
    values = message.all(field.name)
    if _is_map(field):
        part = field.type.fields["value"]
        empty = Message.new(part.type) if part.kind == "message" else None
        return {
            v.get("key"): v.get("value") if v.has("value") or not empty else empty for v in values
        }
    return values


def _plain_field(value: Any, field: FieldType) -> Any:
    if _is_map(field):
        part = field.type.fields["value"]
        return {key: _plain_value(value[key], part) for key in sorted(value)}
    if field.repeated:
        return [_plain_value(item, field) for item in value]
    return _plain_value(value, field)


def _plain_value(value: Any, field: FieldType) -> Any:
    if field.kind == "message":
        return plain(value, field.type)
    if field.kind in ("float", "double"):
        return repr(float(value))  # tells -0.0 from 0.0, and equals itself when it is NaN
    if isinstance(value, Span):
        return bytes(value.view())
    return value


def _is_map(field: FieldType) -> bool:
    return field.kind == "message" and field.type.is_map_entry


def scalars(field: FieldType, *, closed: bool) -> st.SearchStrategy[Any]:
    """Values of a scalar field, its bounds among them. A closed enum takes named ones only."""
    kind = field.kind
    if kind == "enum":
        named = st.sampled_from(sorted(field.type.numbers.values()))
        return named if closed else named | st.integers(-(1 << 31), (1 << 31) - 1)
    if kind == "double":
        return st.floats()
    if kind == "float":  # the official JSON parser refuses the greatest one, which it writes
        return st.floats(width=32).filter(lambda value: abs(value) != FLOAT32_MAX)
    if kind == "bool":
        return st.booleans()
    if kind == "string":
        return st.text(max_size=12)
    if kind == "bytes":
        return st.binary(max_size=12)
    bits = int(kind[-2:])
    low = 0 if kind.startswith(("uint", "fixed")) else -(1 << bits - 1)
    high = low + (1 << bits) - 1
    return st.integers(low, high) | st.sampled_from((low, -1 if low else 0, 0, 1, high))


def values(
    type_: MessageType, *, depth: int = 2, maps: bool = True, closed: bool = False
) -> st.SearchStrategy[dict[str, Any]]:
    """Values for some fields of a message type, ready for both sides."""
    return _values(_Opaque(type_), depth, maps, closed)


class _Opaque:
    """A type with a short repr: hypothesis prints what strategies are made of, all of it."""

    def __init__(self, type_: MessageType) -> None:
        self.type = type_


@st.composite
def _values(
    draw: st.DrawFn, opaque: _Opaque, depth: int, maps: bool, closed: bool
) -> dict[str, Any]:
    type_ = opaque.type
    usable = [
        field.name
        for field in type_.fields.values()
        if (depth or field.kind != "message") and (maps or not _is_map(field))
    ]
    chosen = draw(st.lists(st.sampled_from(usable), max_size=6, unique=True))
    made = {}
    for field in map(type_.fields.__getitem__, chosen):
        if _is_map(field):
            key, part = field.type.fields["key"], field.type.fields["value"]
            item = _item(part, depth, maps, closed)
            strategy: st.SearchStrategy[Any] = st.dictionaries(
                _item(key, depth, maps, closed), item, max_size=3
            )
        elif field.repeated:
            strategy = st.lists(_item(field, depth, maps, closed), max_size=4)
        else:
            strategy = _item(field, depth, maps, closed)
        made[field.name] = draw(strategy)
    return made


def _item(field: FieldType, depth: int, maps: bool, closed: bool) -> st.SearchStrategy[Any]:
    if field.kind == "message":
        return values(field.type, depth=depth - 1, maps=maps, closed=closed)
    return scalars(field, closed=closed)


def varint(number: int) -> bytes:
    """A varint, written independently of the code under test."""
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def tag(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def field_bytes(number: int, payload: bytes) -> bytes:
    """A length-delimited field."""
    return tag(number, 2) + varint(len(payload)) + payload


def fixed32(number: int, value: int) -> bytes:
    return tag(number, 5) + struct.pack("<I", value)
