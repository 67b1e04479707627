"""Element types and constants of TensorFlow; the elements stay in the file where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.rules import BAD_TF
from ufkit.core.diag import FormatError, Where
from ufkit.core.dtypes import (
    BOOL,
    DTYPES,
    FLOAT16,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    INT64,
    DType,
    from_uff,
)
from ufkit.core.files import Padded, Span
from ufkit.uff.dims import impossible
from ufkit.wire.message import Message
from ufkit.wire.numbers import numbers

_REFERENCE = 100  # types of variables in graphs of TensorFlow 1 are that much more
_MOST = (1 << 31) - 1  # bytes of a field in Protocol Buffers


@dataclass(frozen=True, slots=True)
class TfType:
    """An element type of TensorFlow.

    storage   NumPy's code for how its elements lie in memory; "" where they are no numbers
    field     of TensorProto, that holds elements one by one
    uff       the same type in UFF, where there is one
    stead     the type of UFF that holds all its values, of those others that have one
    """

    name: str
    number: int
    storage: str
    field: str
    uff: DType | None = None
    stead: DType | None = None

    @property
    def written(self) -> DType:
        """The type as NVIDIA's converter numbered it: 7 for those that UFF does not have."""
        width = np.dtype(self.storage).itemsize if self.storage else 0
        return self.uff or from_uff(BOOL.uff, width)

    def __str__(self) -> str:
        return self.name


TYPES = (
    TfType("float32", 1, "<f4", "float_val", FLOAT32),
    TfType("float64", 2, "<f8", "double_val", stead=FLOAT32),
    TfType("int32", 3, "<i4", "int_val", INT32),
    TfType("uint8", 4, "u1", "int_val", stead=INT32),
    TfType("int16", 5, "<i2", "int_val", INT16),
    TfType("int8", 6, "i1", "int_val", INT8),
    TfType("string", 7, "", "string_val"),
    TfType("complex64", 8, "<c8", "scomplex_val"),
    TfType("int64", 9, "<i8", "int64_val", INT64),
    TfType("bool", 10, "?", "bool_val", BOOL),
    TfType("qint8", 11, "i1", "int_val", stead=INT8),
    TfType("quint8", 12, "u1", "int_val", stead=INT32),
    TfType("qint32", 13, "<i4", "int_val", stead=INT32),
    TfType("bfloat16", 14, "<u2", "half_val", stead=FLOAT32),
    TfType("qint16", 15, "<i2", "int_val", stead=INT16),
    TfType("quint16", 16, "<u2", "int_val", stead=INT32),
    TfType("uint16", 17, "<u2", "int_val", stead=INT32),
    TfType("complex128", 18, "<c16", "dcomplex_val"),
    TfType("float16", 19, "<f2", "half_val", FLOAT16),
    TfType("resource", 20, "", "resource_handle_val"),
    TfType("variant", 21, "", "variant_val"),
    TfType("uint32", 22, "<u4", "uint32_val", stead=INT64),
    TfType("uint64", 23, "<u8", "uint64_val", stead=INT64),
)
_BY_NUMBER = {row.number: row for row in TYPES}
_BY_UFF = {row.uff: row for row in TYPES if row.uff}


def type_of(number: int) -> TfType | None:
    """The type of that number, the same for variables; None for one that is not known."""
    return _BY_NUMBER.get(number - _REFERENCE if number > _REFERENCE else number)


@dataclass(frozen=True, slots=True)
class TfTensor:
    """A constant. `span` are its elements as they lie in memory, little-endian.

    `one_by_one` says that the file has them in the field of their type. Of strings, and of what
    else is no numbers, there is no span.
    """

    type: TfType
    shape: tuple[int, ...]
    span: Span | None
    one_by_one: bool = False

    @classmethod
    def of(cls, array: NDArray[Any]) -> TfTensor:
        """A tensor of computed elements, of a type that UFF has."""
        dtype = next(row for row in DTYPES if row.numpy == array.dtype)
        return cls(_BY_UFF[dtype], array.shape, _span(array))

    def numpy(self) -> NDArray[Any]:
        """The elements, read-only; bfloat16 as float32. Raises TypeError for no numbers."""
        if self.span is None:
            raise TypeError(f"{self.type} holds no numbers")
        values = np.frombuffer(self.span.view(), self.type.storage).reshape(self.shape)
        if self.type.name == "bfloat16":
            return np.asarray(values.astype("<u4") << 16).view("<f4")
        return values


def tensor_of(message: Message, where: Where) -> TfTensor:
    """The tensor of a TensorProto. Raises FormatError (CNV401) where it is not sound."""
    number = message.get("dtype")
    type_ = type_of(number)
    if type_ is None:
        raise FormatError(BAD_TF.at(where, f"the constant is of type {number}, which is unknown"))
    shape = shape_of(message.get("tensor_shape"))
    if shape is None or any(size < 0 for size in shape):
        raise FormatError(BAD_TF.at(where, "the constant has a shape with open sizes"))
    if reason := impossible(shape):
        raise FormatError(BAD_TF.at(where, f"no constant can have this shape: {reason}"))
    if not type_.storage:
        return TfTensor(type_, shape, None, one_by_one=True)
    content: Span = message.get("tensor_content")
    needed = prod(shape) * np.dtype(type_.storage).itemsize
    if needed > _MOST:
        reason = f"{type_}{list(shape)} needs {needed} bytes; a file holds {_MOST} in one piece"
        raise FormatError(BAD_TF.at(where, reason))
    if not content.nbytes:
        return TfTensor(type_, shape, _one_by_one(message, type_, needed, where), one_by_one=True)
    if content.nbytes != needed:
        reason = f"its content is {content.nbytes} bytes; {type_}{list(shape)} needs {needed}"
        raise FormatError(BAD_TF.at(where, reason))
    return TfTensor(type_, shape, content)


def shape_of(message: Message | None) -> tuple[int, ...] | None:
    """The sizes of a TensorShapeProto, -1 for open ones; None where the rank is open."""
    if message is None:
        return ()
    if message.get("unknown_rank"):
        return None
    return tuple(dim.get("size") for dim in message.all("dim"))


def _one_by_one(message: Message, type_: TfType, needed: int, where: Where) -> Span:
    """Elements of the field of a type, the last one again and again as far as the shape goes."""
    values = numbers(message, type_.field)
    if type_.name.startswith("complex"):
        if values.size % 2:
            reason = f"{values.size} numbers are no pairs of real and imaginary parts"
            raise FormatError(BAD_TF.at(where, reason))
        values = np.ascontiguousarray(values).view(type_.storage)
    elif type_.field == "half_val":
        values = values.astype("<u2")  # bits, whatever they stand for
    else:
        values = values.astype(type_.storage, copy=False)
    if values.nbytes > needed:
        reason = f"it has {values.size} elements, {needed // values.itemsize} by its shape"
        raise FormatError(BAD_TF.at(where, reason))
    span = _span(values)
    if span.nbytes == needed:
        return span
    last = bytes(span.view())[-values.itemsize :] if values.size else bytes(values.itemsize)
    return Padded(span.source, span.start, span.stop, needed - span.nbytes, last)


def _span(array: NDArray[Any]) -> Span:
    return Span.of(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
