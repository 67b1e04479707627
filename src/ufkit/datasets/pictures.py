"""Images by OpenCV: the bytes of Caffe's tools are those of its decoders and of its resizing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ufkit.core.diag import FormatError, NotSupportedError, Where
from ufkit.core.files import need
from ufkit.datasets.rules import BAD_IMAGE, MISSING_IMAGE, NO_PICTURE
from ufkit.datasets.sample import Array, Sample
from ufkit.ufw import image

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".jp2")
_MAGICS = (
    (b"\xff\xd8\xff", "jpg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"BM", "bmp"),
    (b"II*\0", "tif"),
    (b"MM\0*", "tif"),
    (b"P6", "ppm"),
    (b"P5", "pgm"),
    (b"\0\0\0\x0cjP  ", "jp2"),
)


def opencv() -> Any:
    """The module. Raises MissingExtraError."""
    return need("cv2", extra="datasets")


def suffix_of(data: bytes) -> str:
    """The suffix that an image file of that content has, without its dot; "" for no image."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((suffix for magic, suffix in _MAGICS if data.startswith(magic)), "")


def file_of(sample: Sample) -> bytes | None:
    """The bytes of the sample's image file; None where it has pixels or an array.

    Raises FormatError (DAT101).
    """
    if not isinstance(sample.image, Path):
        return sample.image if isinstance(sample.image, bytes) else None
    try:
        return sample.image.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"{sample.image.name} cannot be read: {reason}"
        raise FormatError(MISSING_IMAGE.at(where(sample), message)) from error


def where(sample: Sample) -> Where:
    """The place of a sample."""
    return Where(str(sample.image) if isinstance(sample.image, Path) else "", sample.key)


def decoded(data: bytes, at: Where, *, gray: bool = False) -> Array:
    """Pixels of an image file in 8 bits: H x W x 3, B G R, also of a gray file; H x W for `gray`.

    Not turned as EXIF says: boxes are fractions of the sizes in the file's header, see
    `ufw.image.decode`. Raises FormatError (DAT102), also for a JPEG that ends too early.
    """
    try:
        pixels = image.decode(data, colour=not gray, where=at)
    except FormatError as error:
        message = error.diagnostic.message if data else "the file is empty"
        raise FormatError(BAD_IMAGE.at(at, message)) from error
    return (pixels >> 8).astype(np.uint8) if pixels.dtype == np.uint16 else pixels


def resized(pixels: Array, size: tuple[int, int], at: Where, **factors: float) -> Array:
    """Pixels in another size (width, height), by OpenCV's default.

    Raises FormatError (DAT102) where nothing would be left of them.
    """
    cv2 = opencv()
    try:
        return np.asarray(cv2.resize(np.ascontiguousarray(pixels), size, **factors))
    except cv2.error as error:
        height, width = pixels.shape[:2]
        message = f"{width} x {height} pixels cannot be resized so: nothing is left of a side"
        raise FormatError(BAD_IMAGE.at(at, message, hint="choose other sizes")) from error


def encoded(pixels: Array, suffix: str, at: Where) -> bytes:
    """The image file of pixels as OpenCV has them: "png" (nothing is lost), "jpg", ...

    Raises FormatError (DAT102) for more pixels on a side than the type takes.
    """
    cv2 = opencv()
    try:
        done, data = cv2.imencode(f".{suffix}", np.ascontiguousarray(pixels))
    except cv2.error:
        done = False
    if not done:
        message = f"{pixels.shape[1]} x {pixels.shape[0]} pixels cannot be written as {suffix}"
        raise FormatError(BAD_IMAGE.at(at, message, hint="choose another type"))
    return bytes(data)


def picture_of(sample: Sample, array: Array) -> Array:
    """Pixels of a record's array: (1 x) C x H x W of uint8. Raises NotSupportedError (DAT103)."""
    planes = array[0] if array.ndim == 4 and len(array) == 1 else array
    if planes.dtype != np.uint8 or planes.ndim != 3 or planes.shape[0] not in (1, 3):
        message = f"the array is {array.dtype}{list(array.shape)}"
        raise NotSupportedError(NO_PICTURE.at(where(sample), message))
    return planes[0] if len(planes) == 1 else planes.transpose(1, 2, 0)


def planar(pixels: Array) -> Array:
    """C x H x W, as records have it, of pixels as OpenCV has them."""
    return np.ascontiguousarray(pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1))
