"""TensorRT's CropAndResize: the regions of interest of each image, brought to one size.

Its meaning is that of https://github.com/NVIDIA/TensorRT/tree/release/8.6/plugin:
common/kernels/cropAndResizeKernel.cu and cropAndResizePlugin/cropAndResizePlugin.cpp.
"""

from __future__ import annotations

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, static, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.maps import map_order, only_floats
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.ops.trt_sampling import (
    axis_of,
    edges,
    in_a_row,
    listed,
    parts,
    places,
    sampled,
    size_of_part,
    starts,
)
from ufkit.uff.orders import inverse

_HEIGHT, _WIDTH = "crop_height_u_int", "crop_width_u_int"


def _infer(call: Call) -> Facts:
    for name in (_HEIGHT, _WIDTH):
        size_of_part(call, name, 1)
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


def _evaluate(call: Call, x: Array, rois: Array) -> Array:
    """Elements between four of the map; zero where one falls outside."""
    order = map_order(call)
    maps = x.transpose(inverse(order)).astype(np.float64)
    count, (height, width) = rois.shape[1], maps.shape[2:]
    result = np.zeros((len(maps) * count, maps.shape[1], call[_HEIGHT], call[_WIDTH]))
    boxes = rois.reshape(-1, 4).astype(np.float32)
    ys = places(boxes[:, 0], boxes[:, 2], height, call[_HEIGHT])
    xs = places(boxes[:, 1], boxes[:, 3], width, call[_WIDTH])
    for number, (part, y, x_) in enumerate(zip(result, ys, xs, strict=True)):
        rows, columns = (y >= 0) & (y <= height - 1), (x_ >= 0) & (x_ <= width - 1)
        inside = sampled(maps[number // count], y[rows], x_[columns])
        part[np.ix_(range(len(part)), rows, columns)] = inside
    return np.asarray(result.transpose(order), np.float32)


def _to_onnx(call: Call, emit: Emitter) -> None:
    order = map_order(call)
    known = static(tuple(call.shape(0)[axis] for axis in inverse(order)[1:]))
    if known is None:
        emit.refuse("the size of the map is not known", "give it: --shape NAME=...")
    channels, *size = known
    y1, x1, y2, x2 = edges(emit, emit.value(1), 2)
    down, across = (emit.constant(length - 1, "float32") for length in size)
    rows = axis_of(emit, y1, y2, down, call[_HEIGHT])
    columns = axis_of(emit, x1, x2, across, call[_WIDTH])
    elements = listed(emit, 0, order, channels)
    width = emit.constant(size[1])
    found = parts(emit, elements, channels, starts(emit, elements), width, (rows, columns))
    outside = emit.node(
        "Or",
        emit.node("Unsqueeze", rows.outside, emit.constant([3, 4])),
        emit.node("Unsqueeze", columns.outside, emit.constant([2, 4])),
    )
    inside = emit.node("Where", outside, emit.constant(0, "float32"), found)
    in_a_row(emit, inside, order, (call[_HEIGHT], call[_WIDTH], channels))


def _plugin(call: Call, emit: Emitter) -> None:
    """CropAndResizeDynamic: the plugin as it is where the batch is an axis, as in ONNX it is."""
    maps = emit.value(0, inverse(map_order(call)))
    (name,) = emit.plugin(maps, emit.value(1), name="CropAndResizeDynamic")
    channels = call.shape(0)[map_order(call).index(1)]
    if isinstance(channels, Dim):
        emit.refuse(f"the number of channels of {call.inputs[0]} is not known")
    shape = emit.constant([-1, channels, call[_HEIGHT], call[_WIDTH]])
    emit.result(emit.node("Reshape", name, shape), inverse(map_order(call)))


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
