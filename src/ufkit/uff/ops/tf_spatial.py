"""TensorFlow operations on maps that came through the converter unchanged.

Their attributes speak of all axes (strides [1, 2, 2, 1]) and of `data_format`; most stand for a
core operation. Their meaning: https://www.tensorflow.org/api_docs/python/tf/raw_ops
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ufkit.core.dtypes import DType
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.norm import BATCH_NORM
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
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

TF_SPATIAL = (*BATCH_NORMS, *BLOCKS)
