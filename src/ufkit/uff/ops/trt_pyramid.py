"""TensorRT's PyramidROIAlign and SpecialSlice, of Mask R-CNN.

Their meaning is that of https://github.com/NVIDIA/TensorRT/tree/release/7.0/plugin:
common/kernels/maskRCNNKernels.cu (roiAlign_kernel, specialslice_kernel) and
pyramidROIAlignPlugin/pyramidROIAlignPlugin.cpp.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, Shape, show, static, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.maps import map_order, only_floats
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec, as_it_is
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
from ufkit.uff.rules import FIELD_VALUE

IMAGE_SIZE = Field("i_list", "height and width of the image, behind 3 if there are three",
                   [3, 1024, 1024])  # fmt: skip
_POOLED, _IMAGE, _LEGACY = "pooled_size_u_int", "image_size_u_ilist", "legacy_u_int"
_LEVELS = range(1, 5)  # inputs that are maps


def image_size(call: Call) -> tuple[int, int]:
    """Height and width of the image. Raises FormatError (UFF208)."""
    sizes: list[int] = call[_IMAGE]
    if len(sizes) not in (2, 3) or min(sizes) < 1:
        call.fail(FIELD_VALUE, f"{_IMAGE} is {sizes}; [3, height, width] is needed", _IMAGE)
    return sizes[-2], sizes[-1]


def _canonical(call: Call, i: int) -> Shape:
    return tuple(call.shape(i)[axis] for axis in inverse(map_order(call, i)))


def _infer(call: Call) -> Facts:
    only_floats(call)
    image_size(call)
    size_of_part(call, _POOLED, 2)
    if call[_LEGACY] != 1:
        message = f"{_LEGACY} is {call[_LEGACY]}; only 1, what it is in UFF models, is understood"
        call.fail(FIELD_VALUE, message, _LEGACY)
    rois = call.shape(0)
    maps = [call.shape(i) for i in _LEVELS]
    if len(rois) != 3 or unify(rois[2], 4) is None or {len(shape) for shape in maps} != {4}:
        given = ", ".join(show(shape) for shape in (rois, *maps))
        call.conflict(f"boxes [N, n, 4] and four maps of four axes are needed, not {given}")
    batch, channels = rois[0], _canonical(call, 1)[1]
    for i in _LEVELS:
        images, depth, _, _ = _canonical(call, i)
        if unify(batch, images) is None or unify(channels, depth) is None:
            call.conflict(
                f"{call.spec.inputs[i]} has {images} images and {depth} channels; boxes are of "
                f"{batch} images and p2 has {channels} channels"
            )
    shape = (batch * rois[1], channels, call[_POOLED], call[_POOLED])
    return Facts(tuple(shape[axis] for axis in map_order(call, 1)), FLOAT32)


def _thresholds(call: Call) -> list[float]:
    """Areas of regions, as shares of the image, beyond which the next level is taken."""
    first = 224 * 224 * 2 / prod(image_size(call)) / 16
    return [first, 4 * first, 16 * first]


def _evaluate(call: Call, rois: Array, *maps: Array) -> Array:
    order, size, count = map_order(call, 1), call[_POOLED], rois.shape[1]
    levels = [
        level.transpose(inverse(map_order(call, i))).astype(np.float64)
        for i, level in enumerate(maps, 1)
    ]
    result = np.zeros((len(rois) * count, levels[0].shape[1], size, size))
    for number, region in enumerate(rois.reshape(-1, 4)):
        y1, x1, y2, x2 = region
        if not (0 <= y1 < y2 <= 1 and 0 <= x1 < x2 <= 1):
            continue
        level = levels[int(np.sum((y2 - y1) * (x2 - x1) > np.array(_thresholds(call), np.float32)))]
        rows, columns = (
            np.minimum(places(first[None], last[None], length, size)[0], length - 1)
            for first, last, length in ((y1, y2, level.shape[2]), (x1, x2, level.shape[3]))
        )
        result[number] = sampled(level[number // count], rows, columns)
    return np.asarray(result.transpose(order), np.float32)


def _to_onnx(call: Call, emit: Emitter) -> None:
    """All levels in one list of elements, of which each region looks at those of its own."""
    shapes = [static(_canonical(call, i)[1:]) for i in _LEVELS]
    known = [shape for shape in shapes if shape]
    if len(known) < len(shapes):
        emit.refuse("the size of its maps is not known", "give it: --shape NAME=...")
    channels, size = known[0][0], call[_POOLED]
    y1, x1, y2, x2 = edges(emit, emit.value(0), 2)
    high, wide = emit.node("Sub", y2, y1), emit.node("Sub", x2, x1)
    level = _level(call, emit, emit.node("Mul", high, wide))

    def of_level(numbers: list[int], dtype: str) -> str:
        return emit.node("Gather", emit.constant(numbers, dtype), level, axis=0)

    heights, widths = ([shape[k] for shape in known] for k in (1, 2))
    rows = axis_of(emit, y1, y2, of_level([n - 1 for n in heights], "float32"), size)
    columns = axis_of(emit, x1, x2, of_level([n - 1 for n in widths], "float32"), size)
    lists = [listed(emit, i, map_order(call, i), channels) for i in _LEVELS]
    elements = emit.node("Concat", *lists, axis=1)
    before = np.cumsum([0, *(h * w for h, w in zip(heights, widths, strict=True))])[:-1]
    start = emit.node("Add", starts(emit, elements), of_level(before.tolist(), "int64"))
    width = of_level(widths, "int64")
    found = parts(emit, elements, channels, start, width, (rows, columns))
    valid = emit.node("Unsqueeze", _valid(emit, (y1, x1), (y2, x2)), emit.constant([3, 4]))
    inside = emit.node("Where", valid, found, emit.constant(0, "float32"))
    in_a_row(emit, inside, map_order(call, 1), (size, size, channels))


def _level(call: Call, emit: Emitter, area: str) -> str:
    """How many thresholds each region exceeds, [N, n, 1]."""
    more = emit.node("Greater", area, emit.constant([[_thresholds(call)]], "float32"))
    return emit.reduce("ReduceSum", emit.cast(more, "int64"), [2], keep=True)


def _valid(emit: Emitter, first: tuple[str, str], last: tuple[str, str]) -> str:
    """Whether a region lies in the image and has an area, [N, n, 1]."""
    zero, one = emit.constant(0, "float32"), emit.constant(1, "float32")
    holds = [emit.node("Less", *pair) for pair in zip(first, last, strict=True)]
    holds += [emit.node("GreaterOrEqual", edge, zero) for edge in first]
    holds += [emit.node("LessOrEqual", edge, one) for edge in last]
    result = holds[0]
    for condition in holds[1:]:
        result = emit.node("And", result, condition)
    return result


def _plugin(call: Call, emit: Emitter) -> None:
    """As newer versions of the plugin take it: told that it means what it did in UFF models."""
    maps = (emit.value(i, inverse(map_order(call, i))) for i in _LEVELS)
    (name,) = emit.plugin(emit.value(0), *maps, legacy=1, image_size=[*image_size(call)])
    channels = _canonical(call, 1)[1]
    if isinstance(channels, Dim):
        emit.refuse(f"the number of channels of {call.inputs[1]} is not known")
    shape = emit.constant([-1, channels, call[_POOLED], call[_POOLED]])
    emit.result(emit.node("Reshape", name, shape), inverse(map_order(call, 1)))


_ROIS = np.array(
    [
        [[0.1, 0.2, 0.15, 0.3], [0.25, 0.0, 0.75, 0.25], [0, 0, 1, 1], [0.3, 0.3, 0.6, 0.75]],
        [[0.5, 0.5, 0.5, 0.9], [-0.1, 0, 0.5, 0.5], [0.4, 0.25, 0.5, 0.5], [0, 0, 0, 0]],
    ],
    np.float32,
)

PYRAMID = OpSpec(
    name="_PyramidROIAlign_TRT",
    doc="Parts of maps of four levels, each brought to one size: all regions of the first image, "
    "then those of the next, [N n, C, pooled_size, pooled_size] in the axis order of the maps. A "
    "region y1, x1, y2, x2, 0 and 1 being the first and last elements, is taken from p2, or a "
    "coarser level the larger it is; one that leaves the map or has no area gives zeros. TensorRT "
    "has [N, n, C, size, size], of which the convolutions behind it take the last three axes.",
    inputs=("rois", "p2", "p3", "p4", "p5"),
    fields={
        "dtype": TYPE,
        _POOLED: Field("i", "height and width of the parts"),
        _IMAGE: IMAGE_SIZE,
        _LEGACY: Field("i", "1: as in UFF models", 1),
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    plugin=_plugin,
    chooses=True,
    examples=tuple(
        Example(
            (_ROIS, (2, 3, 8, 9), (2, 3, 4, 5), (2, 3, 2, 3), (2, 3, 1, 2)),
            {_POOLED: size, _IMAGE: [3, 600, 600]},
        )
        for size in (2, 3)
    ),
)


# -- SpecialSlice ----------------------------------------------------------------------------


def _infer_slice(call: Call) -> Facts:
    only_floats(call)
    shape = call.shape(0)
    if len(shape) != 3 or unify(shape[2], 6) is None:
        call.conflict(f"detections [N, n, 6] are needed, not {call.inputs[0]}")
    return Facts((*shape[:2], 4), call.inputs[0].dtype)


def _slice_to_onnx(_: Call, emit: Emitter) -> None:
    bounds = [emit.constant([n]) for n in (0, 4, 2)]
    emit.result(emit.node("Slice", emit.value(0), *bounds))


SPECIAL_SLICE = OpSpec(
    name="_SpecialSlice_TRT",
    doc="The boxes of detections: the first four of six numbers.",
    inputs=("detections",),
    fields={"dtype": TYPE},
    infer=_infer_slice,
    evaluate=lambda _, detections: detections[..., :4],
    to_onnx=_slice_to_onnx,
    plugin=as_it_is,
    examples=(Example(((2, 3, 6),)),),
)
