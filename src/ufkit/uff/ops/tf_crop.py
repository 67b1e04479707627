"""TensorFlow's CropAndResize: parts of maps, brought to one size.

Its meaning: https://www.tensorflow.org/api_docs/python/tf/raw_ops/CropAndResize
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.select import known_integers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE


def _size(call: Call) -> tuple[int, int]:
    """Height and width of the parts."""
    height, width = known_integers(call, 3, 2)
    if min(height, width) < 1:
        call.conflict(f"parts of {height} x {width}")
    return height, width


def _infer(call: Call) -> Facts:
    boxes, numbers = call.shape(1), call.shape(2)
    if call.rank(0) != 4 or len(boxes) != 2 or unify(boxes[1], 4) is None or len(numbers) != 1:
        given = ", ".join(map(str, call.inputs[:3]))
        call.conflict(f"maps (N, H, W, C), boxes [n, 4] and n numbers are needed, not {given}")
    count = unify(boxes[0], numbers[0])
    if count is None:
        call.conflict(f"there are {boxes[0]} boxes, and maps of {numbers[0]} are named")
    return Facts((count, *_size(call), call.shape(0)[3]), FLOAT32)


def _places(first: Array, last: Array, size: int, wanted: int) -> Array:
    """Where the elements of each part fall on an axis of `size`: [n, wanted].

    In single precision, as TensorFlow computes them: at the edge of the map it matters.
    """
    end = np.float32(size - 1)
    if wanted == 1:
        return (np.float32(0.5) * (first + last) * end)[:, None]
    step = (last - first) * end / np.float32(wanted - 1)
    return (first * end)[:, None] + np.arange(wanted, dtype=np.float32) * step[:, None]


def _evaluate(call: Call, image: Array, boxes: Array, numbers: Array, _: Array) -> Array:
    """Elements between four of the map, or the nearest one; outside, the value given."""
    count, height, width, _ = image.shape
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
        call.conflict(f"maps {numbers.min()} to {numbers.max()} are named, there are {count}")
    rows, columns = _size(call)
    boxes = boxes.astype(np.float32)
    parts = np.full((len(boxes), rows, columns, image.shape[3]), call["extrapolation_value"])
    ys = _places(boxes[:, 0], boxes[:, 2], height, rows)
    xs = _places(boxes[:, 1], boxes[:, 3], width, columns)
    for part, number, y, x in zip(parts, numbers, ys, xs, strict=True):
        down, across = (y >= 0) & (y <= height - 1), (x >= 0) & (x <= width - 1)
        inside = np.ix_(down, across)
        part[inside] = _sampled(call, image[number].astype(np.float64), y[down], x[across])
    return parts.astype(np.float32)


def _sampled(call: Call, plane: Array, ys: Array, xs: Array) -> Array:
    """One map at these rows and columns, which need not be whole."""
    for axis, places in enumerate((ys.astype(np.float64), xs.astype(np.float64))):
        if call["method"] == "nearest":  # halves are rounded up
            plane = plane.take(np.floor(places + 0.5).astype(np.int64), axis)
            continue
        below = np.floor(places)
        share = (places - below).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        low = plane.take(below.astype(np.int64), axis)
        plane = low + share * (plane.take(np.ceil(places).astype(np.int64), axis) - low)
    return plane


@dataclass(frozen=True, slots=True)
class _Axis:
    """ONNX values of one axis of all parts, shaped to be broadcast to [n, rows, columns].

    size        of the map
    inside      whether an element falls on the map
    low, high   numbers of the map's elements before and behind it; of the nearest one, twice
    share       how far it is from `low` to `high`
    """

    size: str
    inside: str
    low: str
    high: str
    share: str


def _axis(call: Call, emit: Emitter, axis: int) -> _Axis:
    size = call.shape(0)[axis]
    length = emit.constant(size) if isinstance(size, int) else _length(emit, axis)
    zero = emit.constant(0, "float32")
    last = emit.node("Sub", emit.cast(length, FLOAT32), emit.constant(1, "float32"))
    places = emit.node("Unsqueeze", _falling(call, emit, axis, last), emit.constant([3 - axis]))
    outside = emit.node("Or", emit.node("Less", places, zero), emit.node("Greater", places, last))
    kept = emit.node("Min", emit.node("Max", places, zero), last)
    if call["method"] == "nearest":
        kept = emit.node("Floor", emit.node("Add", kept, emit.constant(0.5, "float32")))
    low = emit.node("Floor", kept)
    return _Axis(
        length,
        emit.node("Not", outside),
        emit.cast(low, "int64"),
        emit.cast(emit.node("Ceil", kept), "int64"),
        emit.node("Unsqueeze", emit.node("Sub", kept, low), emit.constant([3])),
    )


def _falling(call: Call, emit: Emitter, axis: int, last: str) -> str:
    """Where the elements of the parts fall on an axis that ends at `last`: [n, wanted]."""
    wanted, boxes = _size(call)[axis - 1], emit.cast(emit.value(1), FLOAT32)
    corner, opposite = (
        emit.node("Gather", boxes, emit.constant([place]), axis=1) for place in (axis - 1, axis + 1)
    )
    if wanted == 1:
        total = emit.node("Add", corner, opposite)
        return emit.node("Mul", emit.node("Mul", emit.constant(0.5, "float32"), total), last)
    reach = emit.node("Mul", emit.node("Sub", opposite, corner), last)
    step = emit.node("Div", reach, emit.constant(wanted - 1, "float32"))
    numbers = (emit.constant(number, "float32") for number in (0, wanted, 1))
    steps = emit.node("Mul", emit.node("Range", *numbers), step)
    return emit.node("Add", emit.node("Mul", corner, last), steps)


def _length(emit: Emitter, axis: int) -> str:
    """The size of an axis of the maps, known while the model runs."""
    return emit.node("Gather", emit.node("Shape", emit.value(0)), emit.constant(axis), axis=0)


def _to_onnx(call: Call, emit: Emitter) -> None:
    """Gathers the four elements around each place from all maps laid out as one list."""
    channels = call.shape(0)[3]
    if isinstance(channels, Dim):
        emit.refuse(f"the number of channels of {call.inputs[0]} is not known")
    rows, columns = _axis(call, emit, 1), _axis(call, emit, 2)
    elements = emit.cast(
        emit.node("Reshape", emit.value(0), emit.constant([-1, channels])), FLOAT32
    )
    number = emit.node("Unsqueeze", emit.cast(emit.value(2), "int64"), emit.constant([1, 2]))
    first = emit.node("Mul", number, rows.size)

    def row(place: str) -> str:
        return emit.node("Mul", emit.node("Add", first, place), columns.size)

    def mixed(line: str) -> str:
        left, right = (
            emit.node("Gather", elements, emit.node("Add", line, place), axis=0)
            for place in (columns.low, columns.high)
        )
        return _between(emit, left, right, columns.share)

    if call["method"] == "nearest":
        line = emit.node("Add", row(rows.low), columns.low)
        result = emit.node("Gather", elements, line, axis=0)
    else:
        result = _between(emit, mixed(row(rows.low)), mixed(row(rows.high)), rows.share)
    inside = emit.node(
        "Unsqueeze", emit.node("And", rows.inside, columns.inside), emit.constant([3])
    )
    beyond = emit.constant(call["extrapolation_value"], "float32")
    emit.result(emit.node("Where", inside, result, beyond))


def _between(emit: Emitter, low: str, high: str, share: str) -> str:
    return emit.node("Add", low, emit.node("Mul", emit.node("Sub", high, low), share))


_BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.9, 0.7, 0.2], [-0.3, 0.2, 0.5, 1.4], [0.5, 0.25, 0.5, 0.75]], np.float32
)
_NUMBERS = np.array([1, 0, 1, 1], np.int32)

CROP_AND_RESIZE = OpSpec(
    name="_CropAndResize",
    doc="Parts of maps (N, H, W, C), each brought to `crop_size` (height, width), as float32. A "
    "box holds y and x of two corners, 0 and 1 being the first and last elements; `box_ind` says "
    "which map each box is cut from.",
    inputs=("image", "boxes", "box_ind", "crop_size"),
    fields={
        "T": TYPE,
        "method": Field("s", "what lies between elements", "bilinear", ("bilinear", "nearest")),
        "extrapolation_value": Field("d", "what lies outside the map", 0.0),
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    examples=tuple(
        Example(
            ((2, 5, 6, 3), _BOXES, _NUMBERS, np.array(size, np.int32)),
            {"method": f"b'{method}'", "extrapolation_value": 0.5},
            const=(2, 3),
        )
        for method in ("bilinear", "nearest")
        for size in ((4, 3), (1, 7))
    ),
)
