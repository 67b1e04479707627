"""TensorRT's CropAndResize: the regions of interest of each image, brought to one size.

Its meaning is that of https://github.com/NVIDIA/TensorRT/tree/release/8.6/plugin:
common/kernels/cropAndResizeKernel.cu and cropAndResizePlugin/cropAndResizePlugin.cpp.
"""

from __future__ import annotations

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, static
from ufkit.uff.ops.maps import map_order, only_floats
from ufkit.uff.ops.spec import Array, Call, Emitter, Example, Facts, Field, OpSpec, unify
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.orders import inverse
from ufkit.uff.rules import FIELD_VALUE

_HEIGHT, _WIDTH = "crop_height_u_int", "crop_width_u_int"


def _infer(call: Call) -> Facts:
    for name in (_HEIGHT, _WIDTH):
        if call[name] < 1:
            call.fail(FIELD_VALUE, f"{name} is {call[name]}; 1 is the least possible", name)
    only_floats(call)
    rois = call.shape(1)
    boxes = len(rois) == 4 and unify(rois[2], 4) and unify(rois[3], 1)
    if call.rank(0) != 4 or not boxes:
        given = f"{call.inputs[0]} and {call.inputs[1]}"
        call.conflict(f"a map of four axes and boxes [N, n, 4, 1] are needed, not {given}")
    order = map_order(call)
    batch, channels, _, _ = (call.shape(0)[axis] for axis in inverse(order))
    if unify(batch, rois[0]) is None:
        call.conflict(f"there are maps of {batch} images and boxes of {rois[0]}")
    shape = (batch * rois[1], channels, call[_HEIGHT], call[_WIDTH])
    return Facts(tuple(shape[axis] for axis in order), FLOAT32)


def _places(first: Array, last: Array, size: int, wanted: int) -> Array:
    """Where the elements of each region fall on an axis of `size`: [n, wanted].

    In single precision, as the kernel computes them: at the edge of the map it matters.
    """
    end = np.float32(size - 1)
    if wanted == 1:
        return (np.float32(0.5) * (first + last) * end)[:, None]
    step = (last - first) * end / np.float32(wanted - 1)
    return (first * end)[:, None] + np.arange(wanted, dtype=np.float32) * step[:, None]


def _evaluate(call: Call, x: Array, rois: Array) -> Array:
    """Elements between four of the map; zero where one falls outside."""
    order = map_order(call)
    maps = x.transpose(inverse(order)).astype(np.float64)
    count, height, width = rois.shape[1], call[_HEIGHT], call[_WIDTH]
    parts = np.zeros((len(maps) * count, maps.shape[1], height, width))
    boxes = rois.reshape(-1, 4).astype(np.float32)
    ys = _places(boxes[:, 0], boxes[:, 2], maps.shape[2], height)
    xs = _places(boxes[:, 1], boxes[:, 3], maps.shape[3], width)
    for number, (part, y, x_) in enumerate(zip(parts, ys, xs, strict=True)):
        rows, columns = (y >= 0) & (y <= maps.shape[2] - 1), (x_ >= 0) & (x_ <= maps.shape[3] - 1)
        sampled = _between(_between(maps[number // count], y[rows], 1), x_[columns], 2)
        part[np.ix_(range(len(part)), rows, columns)] = sampled
    return np.asarray(parts.transpose(order), np.float32)


def _between(plane: Array, places: Array, axis: int) -> Array:
    """A map at places on one axis that need not be whole."""
    below = np.floor(places)
    share = (places - below).astype(np.float64).reshape((-1, 1) if axis == 1 else (-1,))
    low = plane.take(below.astype(np.int64), axis)
    high = plane.take(np.ceil(places).astype(np.int64), axis)
    return np.asarray(low + share * (high - low))


# -- as ONNX ---------------------------------------------------------------------------------


def _to_onnx(call: Call, emit: Emitter) -> None:
    """Each region is its rows' weights times the map times its columns' weights."""
    size = static(tuple(call.shape(0)[axis] for axis in inverse(map_order(call))[2:]))
    if size is None:
        emit.refuse("the size of the map is not known", "give it: --shape NAME=...")
    sides = emit.nodes("Split", emit.value(1), emit.constant([1] * 4), outputs=4, axis=2)
    rows = _weights(emit, (sides[0], sides[2]), size[0], call[_HEIGHT])
    columns = _weights(emit, (sides[1], sides[3]), size[1], call[_WIDTH])
    maps = emit.value(0, inverse(map_order(call)))
    one = emit.constant([1])
    left = emit.node("MatMul", emit.node("Unsqueeze", rows, emit.constant([2])),
                     emit.node("Unsqueeze", maps, one))  # fmt: skip
    turned = emit.node("Transpose", columns, perm=[0, 1, 3, 2])
    _flat(call, emit, emit.node("MatMul", left, emit.node("Unsqueeze", turned, emit.constant([2]))))


def _weights(emit: Emitter, ends: tuple[str, str], size: int, wanted: int) -> str:
    """How much each element of an axis of `size` counts in each of `wanted`: [N, n, wanted, size].

    An element counts by how near it is, and one that falls outside is made of none.
    """
    first, last = ends
    end = emit.constant(size - 1, "float32")
    if wanted == 1:
        total = emit.node("Mul", emit.constant(0.5, "float32"), emit.node("Add", first, last))
        places = emit.node("Mul", total, end)
    else:
        reach = emit.node("Mul", emit.node("Sub", last, first), end)
        step = emit.node("Div", reach, emit.constant(wanted - 1, "float32"))
        count = emit.constant(np.arange(wanted).reshape(-1, 1), "float32")
        places = emit.node("Add", emit.node("Mul", first, end), emit.node("Mul", count, step))
    numbers, zero = emit.constant(np.arange(size), "float32"), emit.constant(0, "float32")
    away = emit.node("Abs", emit.node("Sub", places, numbers))
    near = emit.node("Max", emit.node("Sub", emit.constant(1, "float32"), away), zero)
    outside = emit.node("Or", emit.node("Less", places, zero), emit.node("Greater", places, end))
    return emit.node("Where", outside, zero, near)


def _flat(call: Call, emit: Emitter, name: str) -> None:
    """Declare [N, n, C, height, width] as the result, the regions of all images in a row."""
    channels = call.shape(0)[map_order(call).index(1)]
    if isinstance(channels, Dim):
        emit.refuse(f"the number of channels of {call.inputs[0]} is not known")
    shape = emit.constant([-1, channels, call[_HEIGHT], call[_WIDTH]])
    emit.result(emit.node("Reshape", name, shape), inverse(map_order(call)))


def _plugin(call: Call, emit: Emitter) -> None:
    """CropAndResizeDynamic: the plugin as it is where the batch is an axis, as in ONNX it is."""
    maps = emit.value(0, inverse(map_order(call)))
    (name,) = emit.plugin(maps, emit.value(1), name="CropAndResizeDynamic")
    _flat(call, emit, name)


_ROIS = np.array(
    [[0, 0, 1, 1], [0.1, 0.9, 0.7, 0.2], [-0.3, 0.2, 0.5, 1.4], [0.5, 0.25, 0.5, 0.75]], np.float32
)

CROP_PLUGIN = OpSpec(
    name="_CropAndResize",
    mark=_HEIGHT,
    doc="Parts of a map, each brought to one size: all regions of the first image, then those of "
    "the next, [N n, C, height, width] in the axis order of the map. Regions are as `_Proposal` "
    "gives them, 0 and 1 being the first and last elements; what falls outside the map is zero. "
    "TensorRT has [N, n, C, height, width], of which the convolutions behind it take the last "
    "three axes.",
    inputs=("x", "rois"),
    fields={
        "dtype": TYPE,
        _HEIGHT: Field("i", "height of the parts"),
        _WIDTH: Field("i", "width of the parts"),
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    plugin=_plugin,
    chooses=True,
    examples=tuple(
        Example(
            ((2, 3, 5, 6), np.stack([_ROIS, _ROIS[::-1] * 0.75])[..., None]),
            {_HEIGHT: height, _WIDTH: width},
        )
        for height, width in ((4, 3), (1, 7))
    ),
)
