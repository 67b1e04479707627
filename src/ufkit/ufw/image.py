"""Encoded images: their sizes from the first bytes, and decoding as tools of Caffe's time do it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import need
from ufkit.ufw.rules import BAD_IMAGE

Array = NDArray[Any]
Bytes = bytes | memoryview

_JPEG, _PNG, _BMP = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM"
_SCAN, _END = b"\xff\xda", b"\xff\xd9"  # what a JPEG's pixels stand between
_IGNORE_ORIENTATION = 128  # the sizes of the header are what boxes are fractions of
_ANY_DEPTH = 2
_SHRINKS = {1: 0, 2: 16, 4: 32, 8: 64}  # decoding at a part of the size


class Header(NamedTuple):
    """What an image is: `channels` is 1 for grey, else 3, whatever else the file has."""

    format: str
    channels: int
    height: int
    width: int
    dtype: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        return self.channels, self.height, self.width


def header(data: Bytes, where: Where | None = None) -> Header:
    """What an encoded image is. JPEG, PNG and BMP are not decoded for it, others are.

    Raises FormatError (UFW302) where the bytes are no image or end within its header.
    """
    where = where or Where()
    head = bytes(data[:8])
    read = next((read for magic, read in _READERS.items() if head.startswith(magic)), None)
    if read is None:
        pixels = _decoded(data, -1 | _IGNORE_ORIENTATION, where)
        channels = 1 if pixels.ndim == 2 else 3
        height, width = pixels.shape[:2]
        return Header("other", channels, height, width, pixels.dtype)
    found = read(data)
    if found is None or not all(found.shape):
        message = f"the {len(data)} bytes end before they tell the size of the image"
        raise FormatError(BAD_IMAGE.at(where, message))
    return found


def decode(
    data: Bytes, *, colour: bool | None = None, shrink: int = 1, where: Where | None = None
) -> Array:
    """The pixels: height x width of grey, or height x width x 3 in the order blue, green, red.

    `colour` asks for either; without it a grey image stays one. Transparency is dropped, 16 bits
    stay 16, and the rotation that a camera noted is not applied, as Caffe never did. `shrink` (2,
    4 or 8) divides both sizes, and for a JPEG the time that it takes.
    Raises FormatError (UFW302); MissingExtraError without OpenCV (extra `datasets`).
    """
    where = where or Where()
    if data[:3] == _JPEG and bytes(data).rfind(_END) < bytes(data).rfind(_SCAN):
        message = f"the JPEG ends too early, after {len(data)} bytes"
        raise FormatError(BAD_IMAGE.at(where, message))  # some OpenCVs make the rest grey
    if colour is None:
        colour = header(data, where).channels == 3
    depth = _ANY_DEPTH if shrink == 1 else 0
    return _decoded(data, int(colour) | depth | _SHRINKS[shrink] | _IGNORE_ORIENTATION, where)


def _decoded(data: Bytes, flags: int, where: Where) -> Array:
    cv2 = need("cv2", "datasets")
    try:
        pixels: Array | None = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error:  # nothing to decode, or more pixels than OpenCV takes
        pixels = None
    if pixels is None:
        start = bytes(data[:8]).hex(" ") or "nothing"
        message = f"OpenCV cannot decode the {len(data)} bytes that begin with {start}"
        raise FormatError(BAD_IMAGE.at(where, message))
    return pixels


def _uint(data: Bytes, start: int, stop: int, order: Any = "big") -> int:
    return int.from_bytes(data[start:stop], order)


def _jpeg(data: Bytes) -> Header | None:
    """By the segments up to the frame's; 4 components are CMYK, decoded to 3."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF or marker == 1 or 0xD0 <= marker <= 0xD9:  # filling, or nothing in it
            at += 1 if marker == 0xFF else 2
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            channels = 1 if data[at + 9] == 1 else 3
            height, width = _uint(data, at + 5, at + 7), _uint(data, at + 7, at + 9)
            return Header("jpeg", channels, height, width, np.dtype(np.uint8))
        at += 2 + _uint(data, at + 2, at + 4)
    return None


def _png(data: Bytes) -> Header | None:
    if len(data) < 26:
        return None
    width, height = _uint(data, 16, 20), _uint(data, 20, 24)
    depth, colour = data[24], data[25]
    dtype = np.dtype(np.uint16 if depth == 16 else np.uint8)
    return Header("png", 1 if colour in (0, 4) else 3, height, width, dtype)


def _bmp(data: Bytes) -> Header | None:
    """A picture with a palette is grey when that is."""
    if len(data) < 30:
        return None
    size = _uint(data, 14, 18, "little")
    old = size == 12
    if old:
        width, height = _uint(data, 18, 20, "little"), _uint(data, 20, 22, "little")
    else:
        width, height = (int(n) for n in np.frombuffer(data[18:26], "<i4"))
    bits = _uint(data, 24, 26, "little") if old else _uint(data, 28, 30, "little")
    channels = 3
    if bits <= 8:
        used = 0 if old else _uint(data, 46, 50, "little")
        width_of_entry = 3 if old else 4
        table = bytes(data[14 + size : 14 + size + width_of_entry * (used or 1 << bits)])
        blue, green, red = (table[place::width_of_entry] for place in range(3))
        channels = 1 if blue == green == red else 3
    return Header("bmp", channels, abs(height), abs(width), np.dtype(np.uint8))


_READERS = {_JPEG: _jpeg, _PNG: _png, _BMP: _bmp}
