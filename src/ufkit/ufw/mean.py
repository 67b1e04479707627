"""Mean images: blobs of 1 x channels x height x width, and what other tools take for them."""

from __future__ import annotations

import numpy as np

from ufkit.core.diag import RequestError, Where
from ufkit.ufw.blob import LEGACY, Array, Blob
from ufkit.ufw.rules import NO_IMAGE
from ufkit.wire.message import Message

LAYOUTS = ("nchw", "chw", "c")


def channel_means(blob: Blob) -> list[float]:
    """The mean of each channel, in the file's order; none for what is no image.

    Raises FormatError where numbers and shape do not fit.
    """
    if not _is_image(blob.shape):
        return []
    return [float(mean) for mean in _image(blob.array()).mean((1, 2), dtype=np.float64)]


def mean_array(blob: Blob, layout: str = "nchw", *, rgb: bool = False) -> Array:
    """A mean image as an array: 1 x C x H x W, C x H x W, or one number a channel.

    Caffe keeps the channels of images as OpenCV reads them, B G R; `rgb` turns them round.
    Raises RequestError (UFW110) for a blob that is no image.
    """
    shape = blob.shape
    if not _is_image(shape):
        message = f"the shape {list(shape)} is not 1 x channels x height x width"
        raise RequestError(NO_IMAGE.at(blob.where, message))
    image = _image(blob.array())
    if rgb:
        image = image[::-1]
    if layout == "c":
        return np.asarray(image.mean((1, 2), dtype=np.float64)).astype(image.dtype)
    return image if layout == "chw" else image[None]


def mean_blob(array: Array, *, rgb: bool = False) -> Blob:
    """A mean image from an array of any of the three layouts, of older files' four sizes.

    Those every Caffe reads. `rgb`: the array has R G B, and is turned round.
    Raises RequestError (UFW110) for other shapes.
    """
    array = np.asarray(array)
    image = array.reshape(-1, 1, 1) if array.ndim == 1 else array
    image = image[0] if image.ndim == 4 and len(image) == 1 else image
    if image.ndim != 3 or not image.size:
        message = f"an array of shape {list(array.shape)} is no mean image"
        raise RequestError(NO_IMAGE.at(Where(), message))
    blob = Blob.of(np.ascontiguousarray(image[::-1] if rgb else image, np.float32))
    message_: Message = blob.message
    message_.clear("shape")
    for name, size in zip(LEGACY, (1, *image.shape), strict=True):
        message_.set(name, size)
    return blob


def _is_image(shape: tuple[int, ...]) -> bool:
    return len(shape) == 3 or (len(shape) == 4 and shape[0] == 1)


def _image(array: Array) -> Array:
    return array[0] if array.ndim == 4 else array
