"""Bytes of UFF files, right or wrong: an encoder of its own, which refuses nothing."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

INT8, INT32, INT64, FLOAT32 = 0x10008, 0x10020, 0x10040, 0x20020
INC, DEC = 0x7FFF_FFFF, -0x8000_0000


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def put(number: int, value: int | float | str | bytes) -> bytes:
    """A field: a varint, a double, or what has a length."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def ints(values: Iterable[int]) -> bytes:
    """ListInt64, packed."""
    return put(1, b"".join(map(varint, values)))


def order(axes: Iterable[int]) -> bytes:
    """DimensionOrders."""
    return put(1, put(1, -1) + put(2, ints(axes)))


class Raw(bytes):
    """A Data message as it is."""


def ref(name: str) -> Raw:
    return Raw(put(100, name))


def blob(data: bytes) -> Raw:
    return Raw(put(9, data))


def dtype(number: int) -> Raw:
    return Raw(put(101, number))


def orders(*each: Iterable[int]) -> Raw:
    return Raw(put(104, b"".join(put(1, order(axes)) for axes in each)))


def data(value: Any) -> bytes:
    """A Data message: text, number, truth, list of integers, or Raw; None has no member."""
    match value:
        case Raw():
            return value
        case None:
            return b""
        case bool():
            return put(5, int(value))
        case int():
            return put(7, value)
        case float():
            return put(3, value)
        case str():
            return put(1, value)
        case _:
            return put(8, ints(value))


def entry(key: str | bytes, value: Any) -> bytes:
    return put(1, key) + put(2, data(value))


def node(
    id_: str | bytes, operation: str | bytes, inputs: Iterable[str | bytes] = (), **fields: Any
) -> bytes:
    return (
        put(1, id_)
        + b"".join(put(2, name) for name in inputs)
        + put(3, operation)
        + b"".join(put(4, entry(key, value)) for key, value in fields.items())
    )


def given(id_: str, *shape: int, type_: int = FLOAT32) -> bytes:
    return node(id_, "Input", shape=shape, dtype=dtype(type_))


def const(id_: str, shape: Iterable[int], values: bytes, type_: int = FLOAT32) -> bytes:
    return node(id_, "Const", shape=tuple(shape), dtype=dtype(type_), values=blob(values))


def numbers(id_: str, *values: int, type_: int = INT32) -> bytes:
    """A constant of one axis."""
    packed = struct.pack(f"<{len(values)}{'q' if type_ == INT64 else 'i'}", *values)
    return const(id_, [len(values)], packed, type_)


def mark(*ids: str) -> bytes:
    return node("MarkOutput_0", "MarkOutput", ids)


def graph(*nodes: bytes, id_: str = "main") -> bytes:
    return put(1, id_) + b"".join(put(2, each) for each in nodes)


def file(*graphs: bytes, **referenced: Any) -> bytes:
    """A MetaGraph."""
    head = put(1, 1) + put(2, 1) + b"".join(put(4, each) for each in graphs)
    return head + b"".join(put(5, entry(key, value)) for key, value in referenced.items())


def net(*nodes: bytes, out: str = "y", **referenced: Any) -> bytes:
    """A file of one graph whose output is `out`."""
    return file(graph(*nodes, mark(out)), **referenced)
