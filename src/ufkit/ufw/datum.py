"""Records of a dataset: an image or any other array, with a label."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.core.diag import FormatError, RequestError, Where
from ufkit.core.files import Source, Span
from ufkit.ufw import image
from ufkit.ufw.blob import DTYPES, MAX_RANK
from ufkit.ufw.rules import BAD_RECORD, RECORD_VALUES
from ufkit.ufw.schema import BLOB_SHAPE, DATUM
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.numbers import Numbers, numbers
from ufkit.wire.reader import elements
from ufkit.wire.schema import EnumType

Array = NDArray[Any]

SIZES = ("channels", "height", "width")
_FLOATS = np.dtype("<f4")
_EXACT = 1 << 24  # up to here every integer is a float32
_DTYPE_ENUM: EnumType = DATUM.fields["dtype"].type
_BYTES = DTYPES["UINT8"]
_BY_NUMBER = {_DTYPE_ENUM.numbers[name]: dtype for name, dtype in DTYPES.items()}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Datum:
    """One record: an array, or the file of an image, and a label where there is one.

    Nothing is decoded before it is asked for. Arrays are read-only views of the record's bytes.
    Channels of colour images are in the order blue, green, red, as OpenCV reads them and Caffe
    keeps them; UFW's tools keep whatever order the net was trained with.
    """

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message

    @classmethod
    def read(cls, data: bytes | memoryview, name: str = "") -> Datum:
        """The record that these bytes are. They are kept, not copied, and read when asked for.

        `name` is what diagnostics call it; the bytes they name are counted from its beginning.
        """
        return cls(Message.read(DATUM, Source(data, name)))

    @classmethod
    def of(cls, array: Any, label: int | None = None, *, style: str = "ufw") -> Datum:
        """A record that holds an array, which must not change until it is written.

        `style` is who must read it:

        ufw    `shape` and `dtype`; float32 in `float_data`, float16 and integers of up to 32 bits
               as raw little-endian bytes in `data`. Any shape. As ufwio writes.
        caffe  `channels`, `height`, `width`: an array of three axes. uint8 in `data`, all else as
               float32 in `float_data`. As pycaffe writes.

        Raises RequestError (UFW303) for what the style cannot hold.
        """
        if style not in _STYLES:
            message = f"there is no style {style!r}; there are {', '.join(_STYLES)}"
            raise RequestError(RECORD_VALUES.at(Where(), message, hint=""))
        record = Message.new(DATUM)
        _STYLES[style](record, np.asarray(array))
        if label is not None:
            record.set("label", label)
        return cls(record)

    @classmethod
    def of_image(cls, data: bytes, label: int | None = None) -> Datum:
        """A record that holds the file of an image as it is, and the sizes its header tells.

        Raises FormatError (UFW302) for what is no image.
        """
        sizes = dict(zip(SIZES, image.header(data).shape, strict=True))
        record = Message.new(DATUM, **sizes, data=data, encoded=True)
        if label is not None:
            record.set("label", label)
        return cls(record)

    # -- what it is --------------------------------------------------------------------------

    @property
    def where(self) -> Where:
        """Its place, for diagnostics."""
        return Where(self.message.span.source.name)

    @property
    def datum(self) -> Datum:
        """The record itself: those of either kind have one."""
        return self

    @property
    def boxes(self) -> tuple[()]:
        """None: only an AnnotatedDatum has any."""
        return ()

    @property
    def label(self) -> int | None:
        """The number of its class; None where it has none."""
        return self.message.get("label") if self.message.has("label") else None

    @property
    def encoded(self) -> bool:
        """Whether `data` is the file of an image."""
        return bool(self.message.get("encoded"))

    @property
    def style(self) -> str:
        """Whose sizes it has: `ufw` for `shape`, `caffe` for channels, height and width, or ""."""
        if self.message.has("shape"):
            return "ufw"
        return "caffe" if any(map(self.message.has, SIZES)) else ""

    @property
    def storage(self) -> str:
        """The field the elements are in: `data`, else `float_data`, else "" for none."""
        if self.message.get("data").nbytes:
            return "data"
        return "float_data" if self.message.has("float_data") else ""

    @property
    def data(self) -> memoryview:
        """What `data` holds, not copied: raw elements, or the file of an image."""
        span: Span = self.message.get("data")
        return span.view()

    @property
    def content(self) -> memoryview:
        """The bytes of the elements or the image as they lie in the record: equal arrays of one
        style have equal ones."""
        if self.storage != "float_data" or not (rows := self.message.records("float_data")):
            return self.data
        return self.message.span.source.view(rows[0][0], rows[-1][3])

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of `array()`. Of an encoded image those its header tells, whatever the record
        says; without any sizes, one axis of all elements.

        Raises FormatError (UFW301) for sizes that nothing can have, UFW302 for no image.
        """
        return image.header(self.data, self.where).shape if self.encoded else self.stated_shape

    @property
    def stated_shape(self) -> tuple[int, ...]:
        """The sizes the record itself states, also of an encoded image. Raises as `shape`."""
        if self.message.has("shape"):
            sizes = tuple(self.message.get("shape").all("dim"))
        elif any(map(self.message.has, SIZES)):
            sizes = tuple(map(self.message.get, SIZES))
        else:
            return () if self.encoded else (self._count(),)
        if min(sizes, default=0) < 0 or len(sizes) > MAX_RANK or prod(sizes) >= 1 << 62:
            message = f"no array has the shape {list(sizes[:8])}, of {len(sizes)} axes"
            raise FormatError(BAD_RECORD.at(self.where, message))
        return sizes

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements of `array()`."""
        if self.encoded:
            return image.header(self.data, self.where).dtype
        if self.storage == "float_data":
            return _FLOATS
        return _BY_NUMBER.get(self.message.get("dtype"), _BYTES)

    def _count(self) -> int:
        if self.storage != "float_data":
            return int(self.data.nbytes) // self.dtype.itemsize
        if (held := self.message.held("float_data")) is not None:
            return len(held)
        return sum(elements(record, 4) for record in self.message.records("float_data"))

    # -- its values --------------------------------------------------------------------------

    def array(self) -> Array:
        """The elements, in the record's shape: a view of its bytes, of float_data one with a step.

        An encoded image is decoded: channels x height x width, see `image.decode`.
        Raises FormatError (UFW301) where elements and shape do not fit, UFW302 for no image.
        """
        if self.encoded:
            pixels = image.decode(self.data, where=self.where)
            return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
        span: Span = self.message.get("data")
        if span.nbytes or not self.message.has("float_data"):
            dtype = _BY_NUMBER.get(self.message.get("dtype"), _BYTES)
            whole = span.nbytes - span.nbytes % dtype.itemsize
            flat: Array = np.frombuffer(span.view()[:whole], dtype)
        else:
            flat = numbers(self.message, "float_data")
        shape = self.stated_shape
        if flat.size != prod(shape) or (flat.nbytes < span.nbytes):
            raise FormatError(BAD_RECORD.at(self.where, self._misfit(flat, span, shape)))
        return flat.reshape(shape)

    def _misfit(self, flat: Array, span: Span, shape: tuple[int, ...]) -> str:
        """How elements and shape do not fit, with both numbers."""
        if more := span.nbytes % flat.itemsize:
            return f"data has {span.nbytes} bytes, {more} more than whole {flat.dtype} take"
        stored = self.storage or "data"
        count = f"{stored} holds {flat.size} {flat.dtype} elements"
        return f"{count}; the shape {list(shape)} has {prod(shape)}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array(), dtype, copy=copy)

    def to_bytes(self) -> bytes:
        """The record as it goes into a database; one that was not edited, byte for byte."""
        return to_bytes(self.message)

    def __repr__(self) -> str:
        label = "" if self.label is None else f", label {self.label}"
        image_ = f"image of {self.data.nbytes} bytes" if self.encoded else ""
        return f"Datum({image_ or f'{self.dtype}{list(self.shape)}'}{label})"


def _as_ufw(record: Message, array: Array) -> None:
    dtype = array.dtype.newbyteorder("<")
    if dtype not in _NAMES:
        message = f"an array of {array.dtype} has no place in a record"
        hint = "convert it first: to float32, or integers of up to 32 bits"
        raise RequestError(RECORD_VALUES.at(Where(), message, hint=hint))
    if array.ndim > MAX_RANK:
        message = f"an array of {array.ndim} axes; no reader takes more than {MAX_RANK}"
        raise RequestError(RECORD_VALUES.at(Where(), message))
    record.set("shape", Message.new(BLOB_SHAPE, dim=array.shape))
    record.set("dtype", _DTYPE_ENUM.numbers[_NAMES[dtype]])
    _store(record, array, "float_data" if dtype == _FLOATS else "data", dtype)


def _as_caffe(record: Message, array: Array) -> None:
    if array.ndim != 3:
        message = f"the shape {list(array.shape)} is not channels x height x width"
        hint = "Caffe's records have three axes; style='ufw' keeps any shape"
        raise RequestError(RECORD_VALUES.at(Where(), message, hint=hint))
    if array.dtype.kind not in "iuf":
        message = f"an array of {array.dtype} is neither of floats nor of integers"
        raise RequestError(RECORD_VALUES.at(Where(), message))
    for name, size in zip(SIZES, array.shape, strict=True):
        record.set(name, size)
    if array.dtype == np.uint8:
        _store(record, array, "data", array.dtype)
        return
    if array.dtype.kind in "iu" and array.size:
        low, high = int(array.min()), int(array.max())
        if low < -_EXACT or high > _EXACT:
            message = f"integers from {low} to {high}; float32 has all up to {_EXACT} only"
            raise RequestError(RECORD_VALUES.at(Where(), message))
    _store(record, array, "float_data", _FLOATS)


def _store(record: Message, array: Array, name: str, dtype: np.dtype[Any]) -> None:
    """Put the elements in a field, without a copy where they lie in a row already."""
    flat = np.ascontiguousarray(array, dtype).reshape(-1)
    if name == "float_data":
        record.set(name, Numbers(DATUM.fields[name], flat))
    else:
        record.set(name, Span.of(flat.view(np.uint8).data))


_STYLES: dict[str, Callable[[Message, Array], None]] = {"ufw": _as_ufw, "caffe": _as_caffe}
