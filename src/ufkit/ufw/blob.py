"""Blobs: the arrays of a net, in floats or in integers with what turns them back into floats."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.core.diag import FormatError, RequestError, Rule, Where
from ufkit.core.files import Span
from ufkit.ufw.rules import BLOB_SHAPE as BAD_SHAPE
from ufkit.ufw.rules import BLOB_SIZE, DOES_NOT_FIT, FOREIGN_BLOB
from ufkit.ufw.schema import BLOB, BLOB_SHAPE
from ufkit.wire.message import Message
from ufkit.wire.numbers import Numbers, dtype_of, numbers
from ufkit.wire.reader import LEN, VARINT
from ufkit.wire.schema import EnumType

Array = NDArray[Any]

LEGACY = ("num", "channels", "height", "width")
NOT_SET = 255  # of the two shifts
MAX_RANK = 32  # axes; as Caffe has it

# In the order in which one counts for all: floats, where there are any, are what is meant.
STORAGES = ("data", "double_data", "int8_data", "int32_data")
SCALES = ("scaleToFloat", "scaleToFloatPerChannel", "per_channel_en")
DIFFS = ("diff", "double_diff", "int8_diff", "int32_diff")

# What `dtype` says, as NumPy has it. Numbers 2 to 7 are integers, which lie in int32_data.
DTYPES: dict[str, np.dtype[Any]] = {
    "FP32": np.dtype("<f4"),
    "FP16": np.dtype("<f2"),
    "INT8": np.dtype("i1"),
    "UINT8": np.dtype("u1"),
    "INT16": np.dtype("<i2"),
    "UINT16": np.dtype("<u2"),
    "INT32": np.dtype("<i4"),
    "UINT32": np.dtype("<u4"),
}
_DTYPE_ENUM: EnumType = BLOB.fields["dtype"].type
_FOREIGN = {
    (10, VARINT): "BM1880's Caffe, where field 10 is the offset of the blob",
    (12, LEN): "NVIDIA's Caffe, where fields 10 to 13 are raw data and its type",
}


class Blob:
    """An array in its file, in one or several storages.

    Nothing is read before it is asked for. Arrays come in the file's axis order, read-only and
    not copied where the storage is floats or bytes; see `array`.
    """

    __slots__ = ("message", "where")

    def __init__(self, message: Message, where: Where | None = None) -> None:
        self.message = message
        self.where = where or Where(message.span.source.name)

    @classmethod
    def of(cls, array: Any) -> Blob:
        """A blob of its own that holds an array; see `put` for how."""
        blob = cls(Message.new(BLOB))
        blob.put(array)
        return blob

    # -- what it is --------------------------------------------------------------------------

    @property
    def legacy(self) -> bool:
        """Whether the shape is told by num, channels, height and width, as before 2015."""
        return not self.message.has("shape") and any(map(self.message.has, LEGACY))

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes; four of them in an old file. Without any, (count,), or () for one element.

        Raises FormatError (UFW102) for a shape that nothing can have.
        """
        if (given := self.message.get("shape")) is not None:
            sizes = tuple(given.all("dim"))
        elif self.legacy:
            sizes = tuple(map(self.message.get, LEGACY))
        else:
            count = self.count(self.storage) if self.storage else 0
            return () if count == 1 else (count,)
        beyond = prod(max(size, 1) for size in sizes) >= 1 << 60  # NumPy counts bytes, past zeros
        if len(sizes) > MAX_RANK or any(size < 0 for size in sizes) or beyond:
            message = f"no array has the shape {list(sizes[:8])}, of {len(sizes)} axes"
            raise FormatError(BAD_SHAPE.at(self.where, message))
        return sizes

    @property
    def storage(self) -> str:
        """The storage that counts: data, double_data, int8_data, int32_data; "" without any."""
        return next(iter(self.storages), "")

    @property
    def storages(self) -> list[str]:
        """All storages that hold something, the one that counts first."""
        return [name for name in STORAGES if self.holds(name)]

    def holds(self, name: str) -> bool:
        """Whether a storage is there and not empty."""
        if not self.message.has(name):
            return False
        if self.message.held(name) is not None:
            return True
        return any(
            record[3] > record[2] or record[1] != LEN for record in self.message.records(name)
        )

    def count(self, name: str) -> int:
        """How many elements a storage holds. Of integers, each byte has to be looked at.

        Raises FormatError (UFK106) for bytes that are no whole number of elements.
        """
        if self.message.type.fields[name].kind == "bytes":
            return int(self.message.get(name).nbytes)
        return len(numbers(self.message, name))

    @property
    def dialect(self) -> str:
        """Which other Caffe wrote the blob, where its wire types tell; "" for UFW and Caffe."""
        return next(filter(None, map(_FOREIGN.get, self.message.wire_types().items())), "")

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of `array()`."""
        storage = self.storage
        if storage == "int32_data":
            return np.dtype("<f4") if self.scales is not None else self._integers
        if storage == "int8_data":
            return np.dtype("<f4")
        return dtype_of(self.message.type.fields[storage or "data"])

    @property
    def stored_dtype(self) -> np.dtype[Any]:
        """Element type of what is stored: int8 for coefficients, that of `dtype` for integers."""
        storage = self.storage
        if storage == "int32_data":
            return self._integers
        if storage == "int8_data":
            return np.dtype("i1")
        return dtype_of(self.message.type.fields[storage or "data"])

    @property
    def _integers(self) -> np.dtype[Any]:
        """The type that integers are of: what `dtype` says when it is an integer's, else int32."""
        named = DTYPES.get(_DTYPE_ENUM.name_of(self.message.get("dtype")) or "", DTYPES["INT32"])
        return named if named.kind in "iu" else DTYPES["INT32"]

    @property
    def scales(self) -> Array | None:
        """What int32_data is multiplied with: one number, or one for each element of axis 0.

        None where the blob has none. (Confidence low: named after the fields; no umodel that has
        them is public.)
        """
        per_channel = numbers(self.message, "scaleToFloatPerChannel")
        if self.message.get("per_channel_en") and len(per_channel):
            return per_channel
        if self.message.has("scaleToFloat"):
            return np.array(self.message.get("scaleToFloat"), np.float32)
        return None

    # -- values ------------------------------------------------------------------------------

    def array(self) -> Array:
        """The numbers that are meant, in the blob's shape.

        Floats and doubles as they are stored: a read-only view of the file. INT8 coefficients
        times `fscale_int8_to_float`, as float32. Integers in the type that `dtype` names (int32
        without it) or, where the blob has scales, times those, as float32.
        Raises FormatError (UFW101) where storage and shape do not fit.
        """
        return self._meant(STORAGES)

    def diff(self) -> Array | None:
        """The gradient, as `array` has the values; None where there is none."""
        return self._meant(DIFFS) if any(map(self.holds, DIFFS)) else None

    def _meant(self, storages: Sequence[str]) -> Array:
        name = next(filter(self.holds, storages), storages[0])
        stored = self.stored(name)
        if name.startswith("int8"):
            return _scaled(stored, np.float32(self.message.get("fscale_int8_to_float")))
        if not name.startswith("int32"):
            return stored
        scales = self.scales
        if scales is None:
            return stored.astype(self._integers, copy=False)
        if scales.ndim and scales.shape != stored.shape[:1]:
            message = f"there are {len(scales)} scales for the shape {list(stored.shape)}"
            raise FormatError(BLOB_SIZE.at(self._at("scaleToFloatPerChannel"), message))
        if scales.ndim:
            scales = scales.reshape(-1, *[1] * (stored.ndim - 1))
        return _scaled(stored, scales)

    def stored(self, name: str) -> Array:
        """What one storage holds, in the blob's shape: float32, float64, int8 or int32.

        A view of the file but for integers, which are decoded. Raises FormatError (UFW101).
        """
        if name in ("int8_data", "int8_diff"):
            span: Span = self.message.get(name)
            flat: Array = np.frombuffer(span.view(), np.int8)
        else:
            flat = numbers(self.message, name)
        shape = self.shape
        if flat.size != prod(shape):
            message = (
                f"{name} holds {flat.size} elements; the shape {list(shape)} has {prod(shape)}"
            )
            raise FormatError(BLOB_SIZE.at(self._at(name), message))
        return flat.reshape(shape)

    def _at(self, name: str) -> Where:
        """The place of a field."""
        records = self.message.records(name)
        start, stop = (records[0][0], records[-1][3]) if records else (None, None)
        return Where(self.where.file, self.where.node, name, start, stop)

    def problem(self) -> tuple[Rule, str] | None:
        """What is wrong with the storage that counts, told without decoding any integer.

        Raises FormatError where the shape or the storage cannot be read at all.
        """
        name = self.storage
        if self.dialect:
            return FOREIGN_BLOB, f"it was written by {self.dialect}"
        if name and name != "int32_data" and self.count(name) != prod(self.shape):
            message = f"{name} holds {self.count(name)} elements"
            return BLOB_SIZE, f"{message}; the shape {list(self.shape)} has {prod(self.shape)}"
        return None

    # -- changing it -------------------------------------------------------------------------

    def put(self, array: Any) -> None:
        """Make an array the blob's value, shape included; other storages of values are emptied,
        and what integers would be multiplied with is taken away.

        float32 and float16 go to `data` (exactly; float16 is noted in `dtype`), float64 to
        `double_data`, integers to `int32_data` with their type in `dtype`.
        Raises RequestError (UFW107) for values that do not fit: integers beyond 32 bits, complex
        numbers, text.
        """
        array = np.asarray(array)
        name, dtype = _storage_for(array)
        for other in (*STORAGES, *SCALES):
            self.message.clear(other)
        self.message.set(name, Numbers(BLOB.fields[name], array))
        if dtype:
            self.message.set("dtype", _DTYPE_ENUM.numbers[dtype])
        else:
            self.message.clear("dtype")
        for old in LEGACY:
            self.message.clear(old)
        self.message.set("shape", Message.new(BLOB_SHAPE, dim=array.shape))

    def __repr__(self) -> str:
        return f"Blob({list(self.shape)}, {', '.join(self.storages) or 'no data'})"


def _scaled(integers: Array, scales: Any) -> Array:
    """Integers times what 1 stands for; infinite where a damaged scale leads beyond float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(integers * scales, np.float32)


def _storage_for(array: Array) -> tuple[str, str]:
    """Which storage takes an array, and the name of its type where `dtype` must tell it."""
    kind, name = array.dtype.kind, array.dtype.name
    if name in ("float32", "float16"):
        return "data", "FP16" if name == "float16" else ""
    if name == "float64":
        return "double_data", ""
    if kind not in "iu":
        message = f"an array of {array.dtype} is neither of floats nor of integers"
        raise RequestError(DOES_NOT_FIT.at(Where(), message))
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if low < -(1 << 31) or high >= 1 << 31:
        message = f"{array.dtype} values reach from {low} to {high}; int32_data takes 32 bits"
        raise RequestError(DOES_NOT_FIT.at(Where(), message))
    known = {str(dtype): ufw for ufw, dtype in DTYPES.items()}
    return "int32_data", known.get(name, "INT32")
