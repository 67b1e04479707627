"""TensorRT's plugins on maps: LReLU, ResizeNearest, Normalize, BatchTile.

Their meaning is that of their sources, https://github.com/NVIDIA/TensorRT/tree/release/8.6/plugin:
common/kernels/lReLU.cu, maskRCNNKernels.cu (resize_nearest_kernel_2d), normalizeLayer.cu, and
batchTilePlugin/batchTilePlugin.cpp.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ufkit.uff.dims import Dim, show, unify
from ufkit.uff.ops.elementwise import LEAKY_RELU
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.maps import map_order, only_floats
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec, as_it_is
from ufkit.uff.ops.tf_math import TYPE, stands_for
from ufkit.uff.orders import inverse
from ufkit.uff.rules import FIELD_VALUE


def _lrelu_plugin(_: Call, emit: Emitter) -> None:
    order = emit.held(0)
    emit.result(emit.plugin(emit.value(0, order))[0], order)


def _infer_lrelu(call: Call) -> Facts:
    only_floats(call)
    call.own(_SLOPE)  # fails where it is missing
    return Facts(call.shape(0), call.inputs[0].dtype)


_SLOPE = "negSlope_u_float"
LRELU = replace(
    stands_for(
        "_LReLU_TRT",
        LEAKY_RELU,
        "LeakyRelu.",
        lambda call: {"alpha": call.own(_SLOPE)},
        examples=(Example(((2, 3, 4),), {_SLOPE: 0.3}), Example(((2, 3),), {_SLOPE: -1.5})),
    ),
    fields={"dtype": TYPE, _SLOPE: Field("d", "slope for negative elements")},
    infer=_infer_lrelu,
    plugin=_lrelu_plugin,
)


def _map_of_four(call: Call) -> None:
    only_floats(call)
    if call.rank(0) != 4:
        call.conflict(f"a map of four axes is needed, not {call.inputs[0]}")


def _canonical_plugin(call: Call, emit: Emitter) -> None:
    """The plugin node on the map as TensorRT has it: (N, C, H, W)."""
    order = inverse(map_order(call))
    emit.result(emit.plugin(emit.value(0, order))[0], order)


# -- ResizeNearest ---------------------------------------------------------------------------


def _scale(call: Call) -> np.float32:
    scale = np.float32(call["scale_u_float"])
    if not (math.isfinite(scale) and scale > 0):
        call.fail(FIELD_VALUE, f"scale_u_float is {scale}; it must be positive", "scale_u_float")
    return scale


def _scaled(call: Call, size: int | Dim) -> int | Dim:
    scale = _scale(call)
    if isinstance(size, Dim):
        return size * int(scale) if scale == int(scale) else Dim.unknown()
    made = int(np.float32(size) * scale)
    if made == 0 < size:
        call.conflict(f"nothing is left of an axis of {size} scaled by {scale}")
    return made


def _infer_resize(call: Call) -> Facts:
    _map_of_four(call)
    axes = zip(call.shape(0), map_order(call), strict=True)
    shape = tuple(_scaled(call, size) if axis > 1 else size for size, axis in axes)
    return Facts(shape, call.inputs[0].dtype)


def _evaluate_resize(call: Call, x: Array) -> Array:
    """Element i is element int(i / scale), in single precision as the kernel has it."""
    for at, axis in enumerate(map_order(call)):
        if axis > 1:
            count = int(np.float32(x.shape[at]) * _scale(call))
            places = (np.arange(count, dtype=np.float32) / _scale(call)).astype(np.int64)
            x = x.take(np.minimum(places, x.shape[at] - 1), at)
    return x


def _resize_to_onnx(call: Call, emit: Emitter) -> None:
    order = inverse(map_order(call))
    scales = emit.constant([1, 1, _scale(call), _scale(call)], "float32")
    name = emit.node(
        "Resize",
        emit.value(0, order),
        "",
        scales,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    emit.result(name, order)


RESIZE_NEAREST = OpSpec(
    name="_ResizeNearest_TRT",
    doc="The map with height and width scaled, each element the nearest one towards the front. "
    "Sizes are rounded down.",
    inputs=("x",),
    fields={"dtype": TYPE, "scale_u_float": Field("d", "new size against the old one")},
    infer=_infer_resize,
    evaluate=_evaluate_resize,
    to_onnx=_resize_to_onnx,
    plugin=_canonical_plugin,
    examples=tuple(Example(((2, 3, 5, 4),), {"scale_u_float": scale}) for scale in (2.0, 1.5, 0.5)),
)


# -- Normalize -------------------------------------------------------------------------------


def _infer_normalize(call: Call) -> Facts:
    _map_of_four(call)
    if call["nbWeights_u_int"] != 1:
        message = f"nbWeights_u_int is {call['nbWeights_u_int']}; TensorRT takes 1 list of weights"
        call.fail(FIELD_VALUE, message, "nbWeights_u_int")
    weights, channels = call["weights_u_flist"], call.shape(0)[map_order(call).index(1)]
    wanted = 1 if call["channelShared_u_int"] else channels
    if unify(len(weights), wanted) is None:
        shared = "shared by all channels" if call["channelShared_u_int"] else "one for each channel"
        call.conflict(f"there are {len(weights)} weights for {wanted}, {shared}")
    return Facts(call.shape(0), call.inputs[0].dtype)


def _divides(call: Call) -> bool:
    """Whether the map is divided by the weights: scalChannelKernel does, all others multiply."""
    return bool(call["acrossSpatial_u_int"] and not call["channelShared_u_int"])


def _evaluate_normalize(call: Call, x: Array) -> Array:
    order = map_order(call)
    data = x.transpose(inverse(order)).astype(np.float64)
    axes = (1, 2, 3) if call["acrossSpatial_u_int"] else (1,)
    length = np.sqrt((data**2).sum(axes, keepdims=True) + call["eps_u_float"])
    weights = np.array(call["weights_u_flist"], np.float64).reshape(-1, 1, 1)
    result = data / length / weights if _divides(call) else data / length * weights
    return np.asarray(result.transpose(order), x.dtype)


def _normalize_to_onnx(call: Call, emit: Emitter) -> None:
    order = inverse(map_order(call))
    data = emit.value(0, order)
    axes = [1, 2, 3] if call["acrossSpatial_u_int"] else [1]
    squares = emit.reduce("ReduceSum", emit.node("Mul", data, data), axes, keep=True)
    shifted = emit.node("Add", squares, emit.constant(call["eps_u_float"], "float32"))
    unit = emit.node("Div", data, emit.node("Sqrt", shifted))
    weights = emit.constant([[[w]] for w in call["weights_u_flist"]], "float32")
    emit.result(emit.node("Div" if _divides(call) else "Mul", unit, weights), order)


NORMALIZE = OpSpec(
    name="_Normalize_TRT",
    doc="The map divided by its length over the channels (over channels, height and width with "
    "`acrossSpatial_u_int`), times weights. Across space and with a weight for each channel the "
    "plugin divides by the weights, and so does ufkit.",
    inputs=("x",),
    fields={
        "dtype": TYPE,
        "weights_u_flist": Field("d_list", "one for all channels, or one for each"),
        "acrossSpatial_u_int": Field("i", "1: one length for the whole map of an image", 0),
        "channelShared_u_int": Field("i", "1: one weight for all channels", 0),
        "eps_u_float": Field("d", "added to the square of the length", 0.0),
        "nbWeights_u_int": Field("i", "1, the number of lists of weights", 1),
    },
    infer=_infer_normalize,
    evaluate=_evaluate_normalize,
    to_onnx=_normalize_to_onnx,
    plugin=_canonical_plugin,
    examples=tuple(
        Example(
            ((2, 3, 4, 5),),
            {
                "weights_u_flist": [20.0] if shared else [0.5, 2.0, -3.0],
                "acrossSpatial_u_int": across,
                "channelShared_u_int": shared,
                "eps_u_float": 1e-3,
            },
        )
        for across in (0, 1)
        for shared in (0, 1)
    ),
)


# -- BatchTile -------------------------------------------------------------------------------


def _infer_tile(call: Call) -> Facts:
    shape = call.shape(1)
    if len(shape) != 4 or unify(shape[0], 1) is None or call.rank(0) == 0:
        given = f"{show(call.shape(0))} and {show(shape)}"
        call.conflict(f"a batch and a tensor [1, ?, ?, ?] to repeat are needed, not {given}")
    return Facts((call.shape(0)[0], *shape[1:]), call.inputs[1].dtype)


def _evaluate_tile(_: Call, batch: Array, x: Array) -> Array:
    return np.repeat(x, len(batch), 0)


def _tile_to_onnx(_: Call, emit: Emitter) -> None:
    size = emit.node("Shape", emit.value(0, emit.held(0)))
    count = emit.node("Gather", size, emit.constant([emit.held(0).index(0)]), axis=0)
    order = emit.held(1)
    before, behind = order.index(0), 3 - order.index(0)
    shape = emit.node(
        "Concat", emit.constant([1] * before), count, emit.constant([1] * behind), axis=0
    )
    emit.result(emit.node("Expand", emit.value(1, order), shape), order)


BATCH_TILE = OpSpec(
    name="_BatchTilePlugin_TRT",
    doc="`x`, whose batch is 1, once for each element of the batch of the first input.",
    inputs=("batch", "x"),
    fields={"dtype": TYPE},
    infer=_infer_tile,
    evaluate=_evaluate_tile,
    to_onnx=_tile_to_onnx,
    plugin=as_it_is,
    examples=(
        Example(((3, 2, 2, 2), (1, 3, 2, 2)), const=(1,)),
        Example(((2, 4), np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)), const=(1,)),
    ),
)

TRT_LAYERS = (LRELU, RESIZE_NEAREST, NORMALIZE, BATCH_TILE)
