"""Repeated numbers as arrays: views where they lie in a row, decoded at once where they do not.

The encoding: https://protobuf.dev/programming-guides/encoding/#packed
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ufkit.core.diag import FormatError
from ufkit.core.files import Payload, Source, Span
from ufkit.wire.message import Message
from ufkit.wire.pieces import Piece
from ufkit.wire.reader import LEN, VARINT, fault
from ufkit.wire.rules import BAD_PACKED, BAD_VARINT, TRUNCATED
from ufkit.wire.schema import FieldType
from ufkit.wire.values import encode_varint

Array = NDArray[Any]

_CHUNK = 1 << 15  # bytes decoded, or numbers encoded, at a time: what caches hold
_MOST = 10  # bytes of a varint
_MANY = 0.2  # of the bytes, beyond which all numbers are put together alike

# Of numbers that lie in a word: the groups of seven bits of the first bytes, by how many there are
# beyond the first; and the upper half of what is moved together at each step.
_GROUPS = np.array([0x7F7F_7F7F_7F7F_7F7F >> 8 * (7 - more) for more in range(8)], np.uint64)
_UPPER = (0x7F00_7F00_7F00_7F00, 0x3FFF_0000_3FFF_0000, 0x0FFF_FFFF_0000_0000)
_DTYPES = {
    "float": "<f4",
    "double": "<f8",
    "fixed32": "<u4",
    "sfixed32": "<i4",
    "fixed64": "<u8",
    "sfixed64": "<i8",
    "int32": "<i4",
    "sint32": "<i4",
    "enum": "<i4",
    "uint32": "<u4",
    "int64": "<i8",
    "sint64": "<i8",
    "uint64": "<u8",
    "bool": "?",
}


def dtype_of(field: FieldType) -> np.dtype[Any]:
    """The NumPy type that holds a field's values, little-endian."""
    return np.dtype(_DTYPES[field.kind])


def numbers(message: Message, name: str) -> Array:
    """The values of a repeated number field, in one dimension.

    Floats and fixed-width integers that lie in one piece, packed or each with its tag, are a
    read-only view of the file that keeps its map open; everything else is decoded into an array of
    its own.
    Raises FormatError at the field's bytes (UFK101, UFK103, UFK106).
    """
    field = message.type.fields[name]
    dtype = dtype_of(field)
    if (held := message.held(name)) is not None:
        return held.array if isinstance(held, Numbers) else np.array(held, dtype)
    source = message.span.source
    parts = []
    single = []  # of values that were not packed, one record each
    for record in message.records(name):
        if record[1] != LEN:
            single.append(record)
            continue
        parts += _singles(field, source, single)
        single = []
        parts.append(_packed(field, source, record[0], record[2], record[3]))
    parts += _singles(field, source, single)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _packed(field: FieldType, source: Source, begin: int, start: int, stop: int) -> Array:
    dtype = dtype_of(field)
    if field.wire == VARINT:
        return varints(source, start, stop, field.kind)
    if (stop - start) % dtype.itemsize:
        message = f"{stop - start} bytes of packed {field.kind} are no multiple of {dtype.itemsize}"
        raise fault(BAD_PACKED, source, begin, message, stop)
    return np.frombuffer(source.view(start, stop), dtype)


def _singles(field: FieldType, source: Source, records: list[Any]) -> list[Array]:
    """The values of records that are not packed."""
    if not records:
        return []
    if field.wire == VARINT:
        raw = np.array([record[2] for record in records], np.uint64)
        return [_converted(raw, field.kind).astype(dtype_of(field))]
    arrays = []
    for begin, _, start, stop in records:  # each a row of numbers: a view with a stride
        row = np.dtype([("tag", f"V{start - begin}"), ("value", dtype_of(field))])
        arrays.append(np.frombuffer(source.view(begin, stop), row)["value"])
    return arrays


def varints(source: Source, start: int, stop: int, kind: str) -> Array:
    """The packed varints between two bytes, as values of a field of that kind.

    Raises FormatError (UFK101, UFK103).
    """
    steps = range(start, stop, _CHUNK)
    views = (np.frombuffer(source.view(at, min(stop, at + _CHUNK)), np.uint8) for at in steps)
    out = np.empty(sum(int(np.count_nonzero(view < 128)) for view in views), _DTYPES[kind])
    done = 0
    while start < stop:
        data = np.frombuffer(source.view(start, min(stop, start + _CHUNK)), np.uint8)
        tail = data[-_MOST:] < 128
        if not tail.any():
            raise _endless(source, start, data, stop)
        data = data[: len(data) - int(tail[::-1].argmax())]  # up to where a number ends
        values = _converted(_decoded(source, start, data), kind)
        out[done : done + len(values)] = values
        done += len(values)
        start += len(data)
    return out


def _endless(source: Source, start: int, data: Array, stop: int) -> FormatError:
    """What is wrong where the bytes end within a number."""
    ends = np.flatnonzero(data < 128)
    begin = start + (int(ends[-1]) + 1 if len(ends) else 0)
    left = start + len(data) - begin
    if left >= _MOST:
        message = "an integer goes on beyond its 10th byte"
        return fault(BAD_VARINT, source, begin, message, begin + _MOST)
    return fault(TRUNCATED, source, begin, f"an integer is cut short after {left} bytes", stop)


def _decoded(source: Source, start: int, data: Array) -> Array:
    """The numbers that end within the bytes, all of which belong to them.

    Numbers of one byte are taken as they are, if most are such, and the others put in.
    """
    more = data >= 128  # not the last byte of its number
    count = int(np.count_nonzero(more))
    if not count:
        return data
    if count > len(data) * _MANY:
        ends = np.flatnonzero(~more)
        starts = np.concatenate(([0], ends[:-1] + 1))
        return _joined(source, start, data, starts, ends - starts)
    places = np.flatnonzero(more)
    first = np.concatenate(([True], places[1:] != places[:-1] + 1))  # a number starts there
    before = np.flatnonzero(first)  # as many bytes of `more` are in front of it
    starts, further = places[before], np.diff(before, append=count)
    joined = _joined(source, start, data, starts, further)
    values = data[~more].astype(joined.dtype)
    values[starts - before] = joined
    return values


def _joined(source: Source, start: int, data: Array, starts: Array, further: Array) -> Array:
    """The numbers that begin at `starts`, each with so many bytes beyond the first.

    The bytes from the start of each are taken as one word, those of the next number masked out,
    and their groups of seven bits moved together: two and two, then four and four.
    """
    longest = int(further.max())
    if longest >= _MOST:
        begin = start + int(starts[int((further >= _MOST).argmax())])
        message = "an integer goes on beyond its 10th byte"
        raise fault(BAD_VARINT, source, begin, message, begin + _MOST)
    width = next(width for width in (2, 4, 8) if width > min(longest, 7))
    padded = np.zeros(len(data) + width, np.uint8)
    padded[: len(data)] = data
    word = np.dtype(f"<u{width}")
    values = np.ndarray((len(data),), word, padded, 0, (1,))[starts]
    values &= _GROUPS[:width].astype(word)[np.minimum(further, width - 1)]
    for step in range(width.bit_length() - 1):
        upper = np.uint64(_UPPER[step]).astype(word)
        higher = (values & upper) >> word.type(1 << step)
        values &= upper >> word.type(8 << step)
        values |= higher
    for byte in range(8, longest + 1):
        long = further >= byte
        part = data[starts[long] + byte].astype(np.uint64) & np.uint64(127)
        values[long] |= part << np.uint64(7 * byte)
    return values


def _converted(raw: Array, kind: str) -> Array:
    """Unsigned numbers off the wire as the values of a kind, in a type as narrow as may be.

    Too wide ones are cut.
    """
    if kind == "bool":
        return np.asarray(raw != 0)
    if not kind.startswith("sint"):
        return raw.astype(_DTYPES[kind], copy=False) if raw.dtype.itemsize > 4 else raw
    if kind == "sint32" and raw.dtype.itemsize > 4:
        raw = raw.astype(np.uint32)
    one = raw.dtype.type(1)
    signed = f"<i{raw.dtype.itemsize}"
    return np.asarray((raw >> one).view(signed) ^ -(raw & one).view(signed))


class Numbers:
    """Values for a repeated number field, encoded when they are written.

    `array` is kept, not copied; it must not change until then. Give it to `Message.set`.
    """

    def __init__(self, field: FieldType, array: Any) -> None:
        self.field = field
        self.array = np.ravel(np.asarray(array, dtype_of(field)))

    def __len__(self) -> int:
        return self.array.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array.tolist())

    def pieces(self) -> Iterator[Piece]:
        """The encoded field, tags included."""
        if not self.field.packed:
            if self.field.wire != VARINT:
                yield _Rows(self)
                return
            for chunk in self.chunks():
                yield Span.of(self._tagged(chunk))
            return
        body: Payload = _Varints(self) if self.field.wire == VARINT else _Fixed(self)
        if body.nbytes:
            yield encode_varint(self.field.number << 3 | LEN) + encode_varint(body.nbytes)
            yield body

    def chunks(self) -> Iterator[Array]:
        """The array in parts of a bounded size."""
        for at in range(0, self.array.size, _CHUNK):
            yield self.array[at : at + _CHUNK]

    def _tagged(self, chunk: Array) -> bytes:
        """Varints with a tag in front of each."""
        tag = encode_varint(self.field.number << 3 | VARINT)
        bodies, lengths = encoded(chunk, self.field.kind)
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        return np.insert(bodies, np.repeat(starts, len(tag)), list(tag) * len(chunk)).tobytes()


class _Rows:
    """Numbers of fixed width with a tag in front of each."""

    def __init__(self, owner: Numbers) -> None:
        self.owner = owner
        self.tag = encode_varint(owner.field.number << 3 | owner.field.wire)
        self.nbytes = owner.array.size * (len(self.tag) + owner.array.itemsize)

    def write_to(self, out: IO[bytes]) -> None:
        array, tag = self.owner.array, self.tag
        rows = np.empty(
            min(array.size, _CHUNK), [("tag", "u1", (len(tag),)), ("value", array.dtype)]
        )
        rows["tag"] = np.frombuffer(tag, np.uint8)  # once for all chunks
        for chunk in self.owner.chunks():
            part = rows[: len(chunk)]
            part["value"] = chunk
            out.write(part.view(np.uint8).data)


class _Fixed:
    """The body of a packed field of fixed width."""

    def __init__(self, owner: Numbers) -> None:
        self.owner = owner
        self.nbytes = owner.array.nbytes

    def write_to(self, out: IO[bytes]) -> None:
        for chunk in self.owner.chunks():
            out.write(np.ascontiguousarray(chunk).data.cast("B"))


class _Varints:
    """The body of a packed field of varints."""

    def __init__(self, owner: Numbers) -> None:
        self.owner = owner
        kind = owner.field.kind
        self.nbytes = sum(int(_lengths(_raw(chunk, kind)).sum()) for chunk in owner.chunks())

    def write_to(self, out: IO[bytes]) -> None:
        for chunk in self.owner.chunks():
            out.write(encoded(chunk, self.owner.field.kind)[0].data)


def _raw(values: Array, kind: str) -> Array:
    """Values as the unsigned numbers that go on the wire."""
    if kind.startswith("sint"):
        shift = values.dtype.itemsize * 8 - 1
        zigzag = values << values.dtype.type(1) ^ values >> values.dtype.type(shift)
        return np.asarray(zigzag).view(f"<u{values.dtype.itemsize}")
    return values.astype("<i8").view("<u8") if kind != "uint64" else values


def _lengths(raw: Array) -> Array:
    """Bytes that each number takes."""
    lengths = np.ones(raw.shape, np.uint8)
    for bits in range(7, raw.dtype.itemsize * 8, 7):
        more = raw >= raw.dtype.type(1 << bits)
        if not more.any():
            break
        lengths += more
    return lengths


def encoded(values: Array, kind: str) -> tuple[Array, Array]:
    """Numbers as varints: all their bytes, and how many each takes."""
    raw = _raw(values, kind)
    lengths = _lengths(raw)
    longest = int(lengths.max(initial=1))
    if longest == 1:
        return raw.astype(np.uint8), lengths
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    out = np.empty(int(lengths.sum()) + longest, np.uint8)
    # What a short number writes behind its last byte is overwritten by the next one's own bytes,
    # whose place in that one is a lower one.
    for at in reversed(range(longest)):
        last = (lengths == at + 1).view(np.uint8) << 7
        out[at:][starts] = ((raw >> raw.dtype.type(7 * at)).astype(np.uint8) | 128) ^ last
    return out[:-longest], lengths
