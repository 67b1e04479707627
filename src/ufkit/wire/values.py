"""One element of a field: from its bytes to a Python value and back.

int64, uint64 and the like become int; float and double float; enums int; string str;
bytes a Span into the file. A varint too wide for its type is cut to it, as protobuf does.
"""

from __future__ import annotations

import math
import operator
import re
import reprlib
import struct
from collections.abc import Callable
from typing import Any

from ufkit.core.diag import RequestError, Where
from ufkit.core.files import Buffer, Payload, Source, Span
from ufkit.wire.reader import LEN, VARINT, Record, TextFault, elements, fault, shown, varint
from ufkit.wire.rules import BAD_PACKED, BAD_STRING, BAD_VALUE
from ufkit.wire.schema import FieldType


def _signed(bits: int) -> Callable[[int], int]:
    mask, sign = (1 << bits) - 1, 1 << bits - 1
    return lambda value: ((value & mask) ^ sign) - sign


def _zigzag(bits: int) -> Callable[[int], int]:
    mask = (1 << bits) - 1
    return lambda value: (value & mask) >> 1 ^ -(value & 1)


_FROM_VARINT: dict[str, Callable[[int], Any]] = {
    "int32": _signed(32),
    "int64": _signed(64),
    "uint32": lambda value: value & 0xFFFF_FFFF,
    "uint64": lambda value: value,
    "sint32": _zigzag(32),
    "sint64": _zigzag(64),
    "bool": bool,
    "enum": _signed(32),
}
_FIXED = {
    kind: struct.Struct(code)
    for kind, code in {
        "fixed32": "<I",
        "sfixed32": "<i",
        "float": "<f",
        "fixed64": "<Q",
        "sfixed64": "<q",
        "double": "<d",
    }.items()
}
_RANGES = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "enum": (-(1 << 31), (1 << 31) - 1),
    "sint32": (-(1 << 31), (1 << 31) - 1),
    "sfixed32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "fixed32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "sint64": (-(1 << 63), (1 << 63) - 1),
    "sfixed64": (-(1 << 63), (1 << 63) - 1),
    "uint64": (0, (1 << 64) - 1),
    "fixed64": (0, (1 << 64) - 1),
}
_DEFAULTS: dict[str, Any] = {"string": "", "bool": False, "float": 0.0, "double": 0.0}


def default(field: FieldType) -> Any:
    """What an absent singular field reads as."""
    if field.default is not None:
        return field.default
    if field.kind == "bytes":
        return Span.of(b"")
    return _DEFAULTS.get(field.kind, 0)


def is_default(field: FieldType, value: Any) -> bool:
    """Whether a field that cannot tell "absent" from its default has it: it is not written."""
    if field.kind == "bytes":
        return bool(value.nbytes == 0)
    if field.kind in ("float", "double"):
        return bool(value == 0 and math.copysign(1, value) > 0)  # -0.0 is a value of its own
    return not value


def decode(field: FieldType, source: Source, record: Record) -> Any:
    """The value of one record of a scalar field. Raises FormatError (UFK105)."""
    kind, (_, _, value, end) = field.kind, record
    if kind == "string":
        return _text(source, value, end)
    if kind == "bytes":
        return Span(source, value, end)
    if (convert := _FROM_VARINT.get(kind)) is not None:
        return convert(value)
    form = _FIXED[kind]
    return form.unpack(source.piece(end - form.size, end))[0]  # of several, the last one counts


def _text(source: Source, start: int, stop: int) -> str:
    try:
        return str(source.piece(start, stop), "utf-8")
    except UnicodeDecodeError as error:
        at = start + error.start
        raise fault(BAD_STRING, source, at, f"a text is not UTF-8: {error.reason}", stop) from error


def decode_each(field: FieldType, source: Source, record: Record) -> list[Any]:
    """The values of one record of a repeated field that is not packed; of fixed width, several."""
    form = _FIXED.get(field.kind)
    if form is None or elements(record, form.size) == 1:
        return [decode(field, source, record)]
    begin, _, start, end = record
    padded = struct.Struct(f"<{start - begin}x{form.format.removeprefix('<')}")
    return [value for (value,) in padded.iter_unpack(source.view(begin, end))]


def decode_packed(field: FieldType, source: Source, record: Record) -> list[Any]:
    """The values of one packed record. Raises FormatError (UFK101, UFK103, UFK106)."""
    begin, _, at, end = record
    if (convert := _FROM_VARINT.get(field.kind)) is not None:
        values = []
        data, base = source.piece(at, end), at
        while at < end:
            value = data[at - base]
            at += 1
            if value >= 128:
                value, at = varint(source, at - 1, end)
            values.append(convert(value))
        return values
    form = _FIXED[field.kind]
    if (end - at) % form.size:
        message = f"{end - at} bytes of packed {field.kind} are no multiple of {form.size}"
        raise fault(BAD_PACKED, source, begin, message, end)
    return [value for (value,) in form.iter_unpack(source.piece(at, end))]


def fits(field: FieldType, wire: int) -> bool:
    """Whether a record of that wire type is one of this field; others count as unknown."""
    return wire == field.wire or (field.repeated and wire == LEN and field.wire != LEN)


def checked(field: FieldType, value: Any) -> Any:
    """`value` in the form the field holds. Raises RequestError (UFK112) if it does not fit."""
    kind = field.kind
    try:
        if kind in _RANGES and not isinstance(value, bool):
            low, high = _RANGES[kind]
            number = operator.index(value)
            if low <= number <= high:
                return number
            raise _misfit(field, f"{_shown(number)} is outside {low} to {high}")
        if kind == "double":
            return float(value)
        if kind == "float":
            return _as_float32(float(value))
        if kind == "bool" and not isinstance(value, (str, bytes, float)):
            return bool(value)
        if kind == "string" and isinstance(value, str):
            value.encode()  # lone surrogates cannot be written
            return value
        if kind == "bytes" and isinstance(value, (bytes, bytearray, memoryview)):
            if isinstance(value, memoryview) and value.nbytes != len(value):
                value = value.cast("B")
            return Span.of(value)
        if kind == "bytes" and hasattr(value, "nbytes") and hasattr(value, "write_to"):
            return value
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, RequestError):
            raise
    raise _misfit(field, f"{_shown(value)} is no {kind}")


def _misfit(field: FieldType, reason: str) -> RequestError:
    return RequestError(BAD_VALUE.at(Where(field=field.name), f"{field.name}: {reason}"))


def _shown(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to print a huge one
        return f"an integer of {value.bit_length()} bits"
    return reprlib.repr(value)


def encode_varint(value: int) -> bytes:
    """A number as a varint; negative numbers take ten bytes, as protobuf writes them."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(field: FieldType, value: Any) -> bytes | Payload:
    """One element without tag; strings and bytes without their length."""
    kind = field.kind
    if kind == "string":
        return str(value).encode()
    if kind == "bytes":
        return value  # type: ignore[no-any-return]
    if kind in ("sint32", "sint64"):
        return encode_varint(value << 1 ^ value >> 63)
    if field.wire == VARINT:
        return encode_varint(value)
    return _FIXED[kind].pack(value)


def _as_float32(value: float) -> float:
    """The nearest float32; infinity beyond its range, as protobuf has it."""
    form = _FIXED["float"]
    try:
        return form.unpack(form.pack(value))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest(value: float) -> float:
    """The number with the fewest digits that is the same float32 as `value`."""
    for digits in range(6, 9):
        if _as_float32(short := float(f"{value:.{digits}g}")) == value:
            return short
    return float(f"{value:.9g}")


# What the codec unicode_escape reads the way text format does; the rest is read one by one.
_SIMPLE = (
    rb"(?:[^%s\\\n\0]+|\\(?:[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7])"
    rb"|[abfnrtv\\'\"]|x[0-9a-fA-F]{2})){1,16384}"
)
_RUNS = {ord(quote): re.compile(_SIMPLE % quote) for quote in (b'"', b"'")}
_ODD = re.compile(rb"\\(?:(\?)|x([0-9a-fA-F])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")


def quoted(buffer: Buffer, at: int, out: bytearray) -> int:
    """Append what the quoted string at `at` stands for; return where it ends.

    The escapes are those of C, \\u and \\U. Raises TextFault.
    """
    quote = buffer[at]
    at += 1
    while True:
        if run := _RUNS[quote].match(buffer, at):
            out += run[0].decode("unicode_escape").encode("latin-1")
            at = run.end()
        elif at >= len(buffer) or buffer[at] == 0x0A:
            raise TextFault(at, "a string is not closed on its line")
        elif buffer[at] == 0:
            raise TextFault(at, "a NUL byte inside a string")
        elif buffer[at] == quote:
            return at + 1
        else:
            at = _odd_escape(buffer, at, out)


def _odd_escape(buffer: Buffer, at: int, out: bytearray) -> int:
    match = _ODD.match(buffer, at)
    if match is None:
        raise TextFault(at, f"bad escape {shown(bytes(buffer[at : at + 4]))} in a string")
    code = int(match[2] or match[3] or match[4] or b"3f", 16)
    if match[1] or match[2]:
        out.append(code)
    elif code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise TextFault(at, f"{shown(match[0])} is no character")
    else:
        out += chr(code).encode()
    return match.end()
