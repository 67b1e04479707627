"""Records as pictures that a browser can show, small and large, and the numbers behind them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ufkit.core.diag import FormatError, NotSupportedError, UfkitError, Where
from ufkit.datasets.pictures import encoded, opencv, resized
from ufkit.datasets.planes import planes, viewable
from ufkit.ufw import image
from ufkit.viewer.records.collection import Array, Collection, Entry, picture_size, placed
from ufkit.viewer.rules import RECORD_TOO_LARGE

_CACHE = 32 << 20  # bytes of thumbnails that are kept
_DECODED = 256 << 20  # bytes of the elements of a record that is shown
_SHRUNK = 1 << 30  # pixels of a JPEG that is decoded at a part of its size
_LARGEST = 4096  # pixels of a side of the large picture
_SIDE = 1024  # pixels of a side of a thumbnail
TILE = 32  # rows and columns of one answer with elements


class File(NamedTuple):
    """An image file for the browser."""

    media: str
    data: bytes


@dataclass(frozen=True, slots=True)
class _Opened:
    """The record that was looked at last: its elements as planes."""

    number: int
    stack: Array
    where: Where


class Thumbnails:
    """Pictures of the records of a collection; the last ones are kept."""

    def __init__(self, collection: Collection) -> None:
        opencv().setNumThreads(1)  # several are made at a time
        self._collection = collection
        self._kept: OrderedDict[tuple[int, int, bool], File] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._opened: _Opened | None = None

    def small(self, number: int, side: int, *, rgb: bool = False) -> File:
        """A record within a square; one that is smaller comes as it is, a PNG, else a JPEG.

        `rgb` takes three channels to be red, green, blue in place of blue, green, red.
        Raises UfkitError where there is nothing to show.
        """
        side = min(side, _SIDE)
        asked = number, side, rgb
        with self._lock:
            if (found := self._kept.get(asked)) is not None:
                self._kept.move_to_end(asked)
                return found
        made = self._made(self._collection.entry(number), side, rgb)
        with self._lock:
            if asked not in self._kept:
                self._kept[asked] = made
                self._bytes += len(made.data)
            while self._bytes > _CACHE and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1].data)
        return made

    def _made(self, entry: Entry, side: int, rgb: bool) -> File:
        pixels = _reduced(entry, side)
        if pixels is None:
            pixels = viewable(planes(_elements(entry)), entry.where)
        pixels = _turned(pixels, rgb=rgb)
        if max(pixels.shape[:2]) <= side:
            return File("image/png", encoded(pixels, "png", entry.where))
        return File("image/jpeg", encoded(_fitted(pixels, side, entry.where), "jpg", entry.where))

    def large(self, number: int, channel: int | None = None, *, rgb: bool = False) -> File:
        """A record in its own size, or made smaller to 4,096 pixels a side; one channel in gray.

        Raises UfkitError where there is nothing to show.
        """
        opened = self._open(number)
        pixels = _turned(viewable(opened.stack, opened.where, channel), rgb=rgb)
        if max(pixels.shape[:2]) > _LARGEST:
            pixels = _fitted(pixels, _LARGEST, opened.where)
        return File("image/png", encoded(pixels, "png", opened.where))

    def stack(self, number: int) -> Array:
        """The elements of a record, channels x rows x columns.

        Raises UfkitError; NotSupportedError (VWR101) for more than 256 MiB.
        """
        return self._open(number).stack

    def _open(self, number: int) -> _Opened:
        opened = self._opened
        if opened is None or opened.number != number:
            entry = self._collection.entry(number)
            opened = _Opened(number, planes(_elements(entry)), entry.where)
            self._opened = opened
        return opened

    def values(self, number: int, row: int, column: int) -> list[list[list[Any]]]:
        """Elements from a row and column on, at most 32 x 32: by row, by column, by channel.
        Floats are text of six digits, since they may be no numbers. Raises as `stack`."""
        tile = self.stack(number)[:, row : row + TILE, column : column + TILE]
        lines: list[list[list[Any]]] = np.moveaxis(tile, 0, -1).tolist()
        if tile.dtype.kind != "f":
            return lines
        return [[[f"{value:.6g}" for value in pixel] for pixel in line] for line in lines]


def _elements(entry: Entry) -> Array:
    if entry.array is None:
        raise FormatError(*entry.problem)
    nbytes = prod(entry.shape) * np.dtype(entry.dtype).itemsize
    if nbytes > _DECODED:
        message = f"its elements take {nbytes:,} bytes; up to {_DECODED:,} are shown"
        raise NotSupportedError(RECORD_TOO_LARGE.at(entry.where, message))
    try:
        return entry.array()
    except UfkitError as error:
        raise type(error)(*placed(error, entry.where)) from error


def _reduced(entry: Entry, side: int) -> Array | None:
    """A JPEG much larger than wanted, decoded at a part of its size; None for any other."""
    if entry.file is None or bytes(entry.file[:3]) != b"\xff\xd8\xff":
        return None
    width, height = picture_size(entry.shape)
    shrink = next((by for by in (8, 4, 2) if max(width, height) >= by * side), 1)
    if shrink == 1 or width * height > _SHRUNK:
        return None
    return image.decode(entry.file, colour=entry.shape[0] == 3, shrink=shrink, where=entry.where)


def _turned(pixels: Array, *, rgb: bool) -> Array:
    return pixels[..., ::-1] if rgb and pixels.ndim == 3 else pixels


def _fitted(pixels: Array, side: int, where: Where) -> Array:
    """The image made smaller to fit into a square, its proportions kept."""
    factor = side / max(pixels.shape[:2])
    width, height = (max(1, round(length * factor)) for length in pixels.shape[1::-1])
    return resized(pixels, (width, height), where, interpolation=opencv().INTER_AREA)
