"""Element types and constants of ONNX; the elements stay in the file where they lie."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.rules import BAD_ONNX
from ufkit.core.diag import FormatError, Where
from ufkit.core.dtypes import DTYPES, DType, from_name
from ufkit.core.files import Source, Span
from ufkit.core.tensor import Tensor
from ufkit.uff.dims import impossible
from ufkit.wire.message import Message
from ufkit.wire.numbers import numbers

_EXTERNAL = 1
_BITS = ("float16", "bfloat16")  # the field of their type holds bits, whatever they stand for


@dataclass(frozen=True, slots=True)
class OnnxType:
    """An element type of ONNX.

    storage   NumPy's code for how its elements lie in memory; "" where they are no numbers, or
              of less than a byte
    field     of TensorProto, that holds elements one by one
    """

    name: str
    number: int
    storage: str = ""
    field: str = "int32_data"

    @property
    def dtype(self) -> DType:
        """The type in UFF; of one that UFF does not have, a type without a number there."""
        try:
            return from_name(self.name)
        except KeyError:
            return DType(self.name, np.dtype(self.storage).itemsize if self.storage else 0, 0)


TYPES = (
    OnnxType("float32", 1, "<f4", "float_data"),
    OnnxType("uint8", 2, "u1"),
    OnnxType("int8", 3, "i1"),
    OnnxType("uint16", 4, "<u2"),
    OnnxType("int16", 5, "<i2"),
    OnnxType("int32", 6, "<i4"),
    OnnxType("int64", 7, "<i8", "int64_data"),
    OnnxType("string", 8),
    OnnxType("bool", 9, "?"),
    OnnxType("float16", 10, "<f2"),
    OnnxType("float64", 11, "<f8", "double_data"),
    OnnxType("uint32", 12, "<u4", "uint64_data"),
    OnnxType("uint64", 13, "<u8", "uint64_data"),
    OnnxType("complex64", 14, "<c8", "float_data"),
    OnnxType("complex128", 15, "<c16", "double_data"),
    OnnxType("bfloat16", 16, "<u2"),
    OnnxType("float8e4m3fn", 17),
    OnnxType("float8e4m3fnuz", 18),
    OnnxType("float8e5m2", 19),
    OnnxType("float8e5m2fnuz", 20),
    OnnxType("uint4", 21),
    OnnxType("int4", 22),
    OnnxType("float4e2m1", 23),
    OnnxType("float8e8m0", 24),
    OnnxType("uint2", 25),
    OnnxType("int2", 26),
)
_BY_NUMBER = {row.number: row for row in TYPES}


def type_of(number: int) -> OnnxType:
    """The type of that number; one of a name that tells it where it is not known."""
    return _BY_NUMBER.get(number) or OnnxType(f"type {number}", number)


@dataclass(frozen=True, slots=True)
class External:
    """The files beside a model that hold what it does not hold itself; each is opened once.

    file   the model's
    """

    file: str
    _opened: dict[str, Source] = field(default_factory=dict)

    def span(self, tensor: Message) -> Span:
        """Where the elements of a tensor are. Raises FormatError (CNV202), FileError."""
        given = {entry.get("key"): entry.get("value") for entry in tensor.all("external_data")}
        location = given.get("location", "")
        parts = location.replace("\\", "/").split("/")
        if not location or os.path.isabs(location) or parts[0] == "" or ".." in parts:
            raise self.bad(tensor, f"its data would be in {location!r}, not beside the model")
        try:
            start = int(given.get("offset", 0))
            size = int(given["length"]) if "length" in given else None
        except ValueError:
            raise self.bad(tensor, f"its data is at no place that makes sense: {given}") from None
        source = self._source(location)
        stop = source.size if size is None else start + size
        if not 0 <= start <= stop <= source.size:
            message = f"bytes {start}-{stop} of {location!r}, which has {source.size}"
            raise self.bad(tensor, message)
        return Span(source, start, stop)

    def _source(self, location: str) -> Source:
        if location not in self._opened:
            path = os.path.join(os.path.dirname(self.file), location)
            self._opened[location] = Source.open(path)
        return self._opened[location]

    @property
    def size(self) -> int:
        """Bytes of the files opened so far."""
        return sum(source.size for source in self._opened.values())

    def bad(self, tensor: Message, message: str) -> FormatError:
        """An error (CNV202) at a tensor."""
        return FormatError(BAD_ONNX.at(Where(self.file, tensor.get("name")), message))


def span_of(tensor: Message, external: External) -> Span | None:
    """Where the elements lie in a row; None when they are encoded one by one."""
    if tensor.get("data_location") == _EXTERNAL:
        return external.span(tensor)
    return tensor.get("raw_data") if tensor.has("raw_data") else None


@dataclass(frozen=True, slots=True)
class OnnxTensor:
    """A constant.

    held   a Tensor where UFF has the type, else the elements (bfloat16 as float32); None for what
           is no numbers
    """

    dtype: DType
    shape: tuple[int, ...]
    held: Tensor | NDArray[Any] | None


def tensor_of(tensor: Message, external: External) -> OnnxTensor:
    """The constant of a TensorProto. Raises FormatError (CNV202) where it is not sound."""
    type_, shape = type_of(tensor.get("data_type")), tuple(tensor.all("dims"))
    if reason := impossible(shape):
        raise external.bad(tensor, f"no constant can have this shape: {reason}")
    if not type_.storage:
        return OnnxTensor(type_.dtype, shape, None)
    needed = prod(shape) * np.dtype(type_.storage).itemsize
    span = span_of(tensor, external)
    if span is None:
        span = _one_by_one(tensor, type_)
    if span.nbytes != needed:
        message = f"it has {span.nbytes} bytes; {type_.name}{list(shape)} needs {needed}"
        raise external.bad(tensor, message)
    if type_.dtype in DTYPES:
        where = Where(external.file, tensor.get("name"))
        return OnnxTensor(type_.dtype, shape, Tensor(shape, type_.dtype, span, where=where))
    values = np.frombuffer(span.view(), type_.storage).reshape(shape)
    if type_.name == "bfloat16":
        values = np.asarray(values.astype("<u4") << 16).view("<f4")
    return OnnxTensor(type_.dtype, shape, values)


def _one_by_one(tensor: Message, type_: OnnxType) -> Span:
    """Elements of the field of a type."""
    values = numbers(tensor, type_.field)
    if type_.name.startswith("complex"):
        values = np.ascontiguousarray(values)  # pairs of real and imaginary parts
    elif type_.name in _BITS:
        values = values.astype("<u2")
    else:
        values = values.astype(type_.storage, copy=False)
    return Span.of(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
