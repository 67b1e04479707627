"""Regions of maps sampled between elements, for the plugins that crop: in NumPy and as ONNX.

A region holds y and x of two corners, 0 and 1 being the first and last elements of the map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.spec import Array, Call
from ufkit.uff.orders import Order, compose, inverse
from ufkit.uff.rules import FIELD_VALUE

CHANNELS_LAST = (0, 2, 3, 1)  # of (N, C, H, W)
_LARGEST = 1 << 16  # side of a part


def size_of_part(call: Call, name: str, least: int) -> int:
    """A field that is the side of parts. Raises FormatError (UFF208)."""
    size: int = call[name]
    if not least <= size <= _LARGEST:
        message = f"{name} is {size}; {least} to {_LARGEST} are possible"
        call.fail(FIELD_VALUE, message, name)
    return size


def places(first: Array, last: Array, size: int, wanted: int) -> Array:
    """Where the elements of each part fall on an axis of `size`: [n, wanted].

    In single precision, as the kernels compute them: at the edge of the map it matters.
    """
    end = np.float32(size - 1)
    if wanted == 1:
        return np.asarray((np.float32(0.5) * (first + last) * end)[:, None])
    step = (last - first) * end / np.float32(wanted - 1)
    return np.asarray((first * end)[:, None] + np.arange(wanted, dtype=np.float32) * step[:, None])


def sampled(plane: Array, rows: Array, columns: Array) -> Array:
    """A map (C, H, W) in double precision at rows and columns that need not be whole."""
    for axis, at in ((1, rows), (2, columns)):
        below = np.floor(at)
        share = (at - below).astype(np.float64).reshape((-1, 1) if axis == 1 else (-1,))
        low = plane.take(below.astype(np.int64), axis)
        high = plane.take(np.ceil(at).astype(np.int64), axis)
        plane = low + share * (high - low)
    return plane


# -- as ONNX ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of all parts, values of [N, n, wanted].

    low, high   numbers of the map's elements before and behind each element of a part
    share       how far it is from `low` to `high`
    outside     whether it falls outside the map
    """

    low: str
    high: str
    share: str
    outside: str


def edges(emit: Emitter, regions: str, axis: int) -> list[str]:
    """y1, x1, y2, x2 of regions that hold them on an axis: each [N, n, 1]."""
    shape = emit.constant([0, 0, 1])
    parts = emit.nodes("Split", regions, emit.constant([1] * 4), outputs=4, axis=axis)
    return [emit.node("Reshape", part, shape) for part in parts]


def axis_of(emit: Emitter, first: str, last: str, end: str, wanted: int) -> Axis:
    """The elements of parts from `first` to `last` on an axis whose last element is `end`."""
    if wanted == 1:
        total = emit.node("Mul", emit.constant(0.5, "float32"), emit.node("Add", first, last))
        at = emit.node("Mul", total, end)
    else:
        reach = emit.node("Mul", emit.node("Sub", last, first), end)
        step = emit.node("Div", reach, emit.constant(wanted - 1, "float32"))
        steps = emit.node("Mul", emit.constant([[range(wanted)]], "float32"), step)
        at = emit.node("Add", emit.node("Mul", first, end), steps)
    zero = emit.constant(0, "float32")
    outside = emit.node("Or", emit.node("Less", at, zero), emit.node("Greater", at, end))
    kept = emit.node("Min", emit.node("Max", at, zero), end)
    low = emit.node("Floor", kept)
    return Axis(
        emit.cast(low, "int64"),
        emit.cast(emit.node("Ceil", kept), "int64"),
        emit.node("Sub", kept, low),
        outside,
    )


def listed(emit: Emitter, i: int, order: Order, channels: int) -> str:
    """Input i, a map whose axes are in `order`, as a list of its places: [N, H W, C]."""
    turned = emit.value(i, compose(inverse(order), CHANNELS_LAST))
    return emit.node("Reshape", turned, emit.constant([0, -1, channels]))


def starts(emit: Emitter, elements: str) -> str:
    """The number of the first element of each image in a list [N, S, C]: [N, 1, 1]."""
    shape = emit.node("Shape", elements)
    count, size = (emit.node("Gather", shape, emit.constant(k), axis=0) for k in (0, 1))
    numbers = emit.node("Range", emit.constant(0), count, emit.constant(1))
    return emit.node("Unsqueeze", emit.node("Mul", numbers, size), emit.constant([1, 2]))


def parts(
    emit: Emitter, elements: str, channels: int, start: str, width: str, at: Sequence[Axis]
) -> str:
    """All parts, [N, n, height, width, C], mixed from the four elements around each of theirs.

    `start` is the number of a region's first element in the list, `width` that of its map.
    """
    rows, columns = at
    flat = emit.node("Reshape", elements, emit.constant([-1, channels]))
    behind, across = emit.constant([3]), emit.constant([2])

    def mixed(row: str) -> str:
        line = emit.node("Add", start, emit.node("Mul", row, width))
        first = emit.node("Unsqueeze", line, behind)
        left, right = (
            emit.node(
                "Gather",
                flat,
                emit.node("Add", first, emit.node("Unsqueeze", column, across)),
                axis=0,
            )
            for column in (columns.low, columns.high)
        )
        return _between(
            emit, left, right, emit.node("Unsqueeze", columns.share, emit.constant([2, 4]))
        )

    share = emit.node("Unsqueeze", rows.share, emit.constant([3, 4]))
    return _between(emit, mixed(rows.low), mixed(rows.high), share)


def _between(emit: Emitter, low: str, high: str, share: str) -> str:
    return emit.node("Add", low, emit.node("Mul", emit.node("Sub", high, low), share))


def in_a_row(emit: Emitter, name: str, order: Order, sizes: Sequence[Any]) -> None:
    """Declare [N, n, height, width, C] as the result: the parts of all images in a row."""
    shape = emit.constant([-1, *sizes])
    emit.result(emit.node("Reshape", name, shape), compose(inverse(order), CHANNELS_LAST))
