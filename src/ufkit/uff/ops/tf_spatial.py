"""TensorFlow operations on maps that came through the converter unchanged.

Their attributes speak of all axes (strides [1, 2, 2, 1]) and of `data_format`; most stand for a
core operation. Their meaning: https://www.tensorflow.org/api_docs/python/tf/raw_ops
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ufkit.core.dtypes import FLOAT32, DType
from ufkit.uff.dims import Dim
from ufkit.uff.ops.norm import BATCH_NORM
from ufkit.uff.ops.select import known_numbers
from ufkit.uff.ops.spec import Array, Call, Emitter, Example, Facts, Field, OpSpec
from ufkit.uff.ops.tf_math import TYPE, stands_for
from ufkit.uff.ops.tf_windows import LAYOUT, map_order
from ufkit.uff.orders import expand, inverse, parse

BATCH_NORMS = tuple(
    stands_for(
        name,
        BATCH_NORM,
        "BatchNorm; only its first result, the map, survives the conversion.",
        lambda call: {"inputs_orders": [map_order(call)], "epsilon": call.own("epsilon")},
        {
            "U": TYPE,
            "epsilon": Field("d", "added to the variance", 1e-4),
            "data_format": LAYOUT,
            "is_training": Field("b", "has no effect: the moments given are used", False),
        },
        tuple(
            Example(
                (shape, *[np.linspace(0.5, 1.5, 3, dtype=np.float32)] * 4),
                {"data_format": layout, "epsilon": 0.01},
                const=(1, 2, 3, 4),
            )
            for shape, layout in (((2, 3, 4, 4), "NCHW"), ((2, 4, 4, 3), "NHWC"))
        ),
    )
    for name in ("_FusedBatchNorm", "_FusedBatchNormV2", "_FusedBatchNormV3")
)


# -- resizing --------------------------------------------------------------------------------


def _target(call: Call) -> list[int | Dim]:
    numbers = known_numbers(call, 1)
    if call.rank(0) != 4 or len(numbers) != 2:
        call.conflict(f"a map of four axes and two sizes are needed, not {call.inputs[0]}")
    return numbers


def _sizes(call: Call) -> list[int]:
    return [int(size) for size in _target(call) if not isinstance(size, Dim)]


def _infer_resize(call: Call) -> Facts:
    batch, _, _, channels = call.shape(0) if call.rank(0) == 4 else (0, 0, 0, 0)
    return Facts((batch, *_target(call), channels), call.inputs[0].dtype)


def _places(call: Call, size: int, wanted: int) -> Array:
    """Where each element of the result falls on an axis of `size`, in its elements.

    align_corners: i (size - 1) / (wanted - 1); half_pixel_centers: (i + 1/2) size / wanted - 1/2;
    else i size / wanted. In single precision, as TensorFlow computes them.
    """
    i = np.arange(wanted, dtype=np.float32)
    if call["align_corners"] and wanted > 1:
        return i * np.float32((size - 1) / (wanted - 1))
    scale = np.float32(size / wanted)
    return (i + np.float32(0.5)) * scale - np.float32(0.5) if _half(call) else i * scale


def _half(call: Call) -> bool:
    return bool(call["half_pixel_centers"])


def _nearest(call: Call, size: int, wanted: int) -> Array:
    places = _places(call, size, wanted)
    turned = call["align_corners"] or _half(call)  # these round half up, the other one down
    whole = np.floor(places + np.float32(0.5)) if turned else np.floor(places)
    return np.clip(whole, 0, size - 1).astype(np.int64)


def _evaluate_nearest(call: Call, x: Array, _: Array) -> Array:
    rows, columns = (
        _nearest(call, size, n) for size, n in zip(x.shape[1:3], _sizes(call), strict=True)
    )
    return x[:, rows][:, :, columns]


def _evaluate_bilinear(call: Call, x: Array, _: Array) -> Array:
    result = x.astype(np.float64)
    for axis, wanted in zip((1, 2), _sizes(call), strict=True):
        size = x.shape[axis]
        places = _places(call, size, wanted).astype(np.float64)
        below = np.floor(places)
        share = (places - below).reshape([-1 if at == axis else 1 for at in range(4)])
        low = np.clip(below, 0, size - 1).astype(np.int64)
        high = np.clip(below + 1, 0, size - 1).astype(np.int64)
        result = result.take(low, axis) * (1 - share) + result.take(high, axis) * share
    return np.asarray(result, np.float32)


def _resize_to_onnx(mode: str) -> Callable[[Call, Emitter], None]:
    def lower(call: Call, emit: Emitter) -> None:
        order = inverse(expand(parse("N+C"), 4))
        wanted = _target(call)
        if any(isinstance(size, Dim) for size in wanted):
            emit.refuse("the size wanted is not known before the model runs")
        turn, rounding = "asymmetric", "floor"
        if call["align_corners"] or _half(call):
            turn = "align_corners" if call["align_corners"] else "half_pixel"
            rounding = "round_prefer_ceil"
        value = emit.value(0, order)
        outer = emit.node(
            "Slice", emit.node("Shape", value), emit.constant([0]), emit.constant([2])
        )
        sizes = emit.node("Concat", outer, emit.constant(wanted), axis=0)
        more = {"nearest_mode": rounding} if mode == "nearest" else {}
        name = emit.node(
            "Resize",
            value,
            "",
            "",
            sizes,
            mode=mode,
            coordinate_transformation_mode=turn,
            **more,
        )
        dtype = call.inputs[0].dtype
        emit.result(
            name if mode == "nearest" or dtype is FLOAT32 else emit.cast(name, FLOAT32), order
        )

    return lower


_RESIZE_FIELDS = {
    "T": TYPE,
    "align_corners": Field("b", "whether the corners of both maps lie on each other", False),
    "half_pixel_centers": Field("b", "whether elements are squares with a middle", False),
}
_SMALLER, _LARGER = np.array([3, 2], np.int32), np.array([8, 10], np.int32)


def _resize(name: str, doc: str, evaluate: Callable[..., Array], mode: str) -> OpSpec:
    examples = tuple(
        Example(((2, 4, 5, 3), size), flags, const=(1,))
        for size in (_SMALLER, _LARGER)
        for flags in ({}, {"align_corners": True}, {"half_pixel_centers": True})
    )
    inputs, lower = ("x", "size"), _resize_to_onnx(mode)
    return OpSpec(name, doc, inputs, _RESIZE_FIELDS, _infer_resize, evaluate, lower, examples)


RESIZES = (
    _resize(
        "_ResizeNearestNeighbor",
        "The map in another size, each element the nearest one. `size` is (height, width).",
        _evaluate_nearest,
        "nearest",
    ),
    _resize(
        "_ResizeBilinear",
        "The map in another size, elements mixed from four, as float32. `size` is (height, width).",
        _evaluate_bilinear,
        "linear",
    ),
)


# -- space and depth, space and batch --------------------------------------------------------


def _block_infer(grow: bool) -> Callable[[Call], Facts]:
    def infer(call: Call) -> Facts:
        if call["data_format"] != "NHWC" or call.rank(0) != 4:
            call.conflict(f"a map (N, H, W, C) is needed, not {call.inputs[0]}")
        block = call["block_size"]
        batch, *sizes, channels = call.shape(0)
        by = [channels] if grow else sizes
        factor = block * block if grow else block
        if block < 1 or any(isinstance(n, int) and n % factor for n in by):
            call.conflict(f"blocks of {block} do not divide {call.inputs[0]}")
        if grow:
            return Facts((batch, *(n * block for n in sizes), channels // factor), _dtype(call))
        return Facts((batch, *(n // block for n in sizes), channels * block * block), _dtype(call))

    return infer


def _dtype(call: Call) -> DType:
    return call.inputs[0].dtype


def _evaluate_depth_to_space(call: Call, x: Array) -> Array:
    b = call["block_size"]
    n, h, w, c = x.shape
    blocks = x.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
    return blocks.reshape(n, h * b, w * b, c // (b * b))


def _evaluate_space_to_depth(call: Call, x: Array) -> Array:
    b = call["block_size"]
    n, h, w, c = x.shape
    blocks = x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
    return blocks.reshape(n, h // b, w // b, b * b * c)


def _block_to_onnx(op_type: str) -> Callable[[Call, Emitter], None]:
    def lower(call: Call, emit: Emitter) -> None:
        order = inverse(expand(parse("N+C"), 4))
        name = emit.node(op_type, emit.value(0, order), blocksize=call["block_size"])
        emit.result(name, order)

    return lower


_BLOCK_FIELDS = {"T": TYPE, "block_size": Field("i", "side of a block"), "data_format": LAYOUT}
BLOCKS = (
    OpSpec(
        "_DepthToSpace",
        "Channels laid out as blocks of the map.",
        ("x",),
        _BLOCK_FIELDS,
        _block_infer(grow=True),
        _evaluate_depth_to_space,
        _block_to_onnx("DepthToSpace"),
        (Example(((2, 2, 3, 8),), {"block_size": 2}),),
    ),
    OpSpec(
        "_SpaceToDepth",
        "Blocks of the map laid out as channels.",
        ("x",),
        _BLOCK_FIELDS,
        _block_infer(grow=False),
        _evaluate_space_to_depth,
        _block_to_onnx("SpaceToDepth"),
        (Example(((2, 4, 6, 2),), {"block_size": 2}),),
    ),
)

TF_SPATIAL = (*BATCH_NORMS, *RESIZES, *BLOCKS)
