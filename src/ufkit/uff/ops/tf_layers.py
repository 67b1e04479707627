"""TensorFlow's layers that came through the converter unchanged: biases, Softmax, norms."""

from __future__ import annotations

import numpy as np

from ufkit.uff.data import Orders
from ufkit.uff.dims import show, unify
from ufkit.uff.ops.elementwise import in_double
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.norm import LRN, SOFTMAX
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE, stands_for
from ufkit.uff.ops.tf_windows import LAYOUT
from ufkit.uff.orders import identity, parse

# -- BiasAdd ---------------------------------------------------------------------------------


def _channel_axis(call: Call) -> int:
    first = "data_format" in call.spec.fields and call["data_format"][1:2] == "C"
    return 1 if first else call.rank(0) - 1


def _infer_bias(call: Call) -> Facts:
    if call.rank(0) < 2 or call.rank(1) != 1:
        call.conflict(f"a bias {show(call.shape(1))} on {show(call.shape(0))}")
    channels = call.shape(0)[_channel_axis(call)]
    if unify(channels, call.shape(1)[0]) is None:
        call.conflict(f"there are {call.shape(1)[0]} biases for {channels} channels")
    return Facts(call.shape(0), call.inputs[0].dtype)


def _evaluate_bias(call: Call, x: Array, bias: Array) -> Array:
    behind = x.ndim - 1 - _channel_axis(call)
    return x + bias.reshape(-1, *[1] * behind)


def _bias_to_onnx(call: Call, emit: Emitter) -> None:
    """The bias, broadcast from behind, needs an axis for each that is behind the channels."""
    order = emit.held(0)
    behind = len(order) - 1 - order.index(_channel_axis(call))
    bias = emit.value(1)
    if behind:
        bias = emit.node("Unsqueeze", bias, emit.constant([*range(1, 1 + behind)]))
    emit.result(emit.node("Add", emit.value(0, order), bias), order)


_BIAS_DOC = "One number for each channel added."
BIASES = (
    OpSpec(
        "_BiasAdd",
        _BIAS_DOC,
        ("value", "bias"),
        {"T": TYPE, "data_format": LAYOUT},
        _infer_bias,
        _evaluate_bias,
        _bias_to_onnx,
        (
            Example(((2, 4, 5, 3), (3,)), {"data_format": "b'NHWC'"}, const=(1,)),
            Example(((2, 3, 4, 5), (3,)), {"data_format": "NCHW"}, const=(1,)),
            Example(((2, 3), (3,))),
        ),
    ),
    OpSpec(
        "_BiasAddV1",
        _BIAS_DOC,
        ("value", "bias"),
        {"T": TYPE},
        _infer_bias,
        _evaluate_bias,
        _bias_to_onnx,
        (Example(((2, 4, 5, 3), (3,)), const=(1,)),),
    ),
)

# -- Softmax, LogSoftmax, LRN ----------------------------------------------------------------

TF_SOFTMAX = stands_for(
    "_Softmax",
    SOFTMAX,
    "Softmax along the last axis.",
    lambda call: {"axis": -1},
    examples=(Example(((2, 3, 5),)), Example(((4,),))),
)


def _infer_last(call: Call) -> Facts:
    if call.rank(0) == 0:
        call.conflict("a scalar has no axis to normalise")
    return Facts(call.shape(0), call.inputs[0].dtype)


def _log_softmax(x: Array) -> Array:
    """x - log of the sum of exp(x) along the last axis."""
    shifted = x - x.max(-1, keepdims=True, initial=-np.inf)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def _log_softmax_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    place = order.index(len(order) - 1)
    emit.result(emit.node("LogSoftmax", emit.value(0, order), axis=place), order)


LOG_SOFTMAX = OpSpec(
    "_LogSoftmax",
    "Logarithm of Softmax along the last axis.",
    ("logits",),
    {"T": TYPE},
    _infer_last,
    lambda _, x: in_double(_log_softmax, x).astype(x.dtype),
    _log_softmax_to_onnx,
    (Example(((2, 3, 5),)), Example(((4,),))),
)

TF_LRN = stands_for(
    "_LRN",
    LRN,
    "LRN of a map (N, H, W, C).",
    lambda call: {
        "inputs_orders": [Orders(tuple(parse("N+C")))],
        "window_size": call.own("depth_radius"),
        "k": call.own("bias"),
        "alpha": call.own("alpha"),
        "beta": call.own("beta"),
    },
    {
        "depth_radius": Field("i", "channels to either side", 5),
        "bias": Field("d", "added to the sum", 1.0),
        "alpha": Field("d", "factor of the sum of squares", 1.0),
        "beta": Field("d", "exponent", 0.5),
    },
    (
        Example(((2, 3, 4, 7),), {"depth_radius": 2, "bias": 1.5, "alpha": 0.3, "beta": 0.75}),
        Example(((1, 2, 2, 4),)),
    ),
)


# -- L2Loss ----------------------------------------------------------------------------------


def _l2_to_onnx(call: Call, emit: Emitter) -> None:
    value = emit.unordered(0)
    square = emit.node("Mul", value, value)
    if axes := [*identity(call.rank(0))]:
        square = emit.reduce("ReduceSum", square, axes, keep=False)
    emit.result(emit.node("Mul", square, emit.constant(0.5, call.inputs[0].dtype.name)))


L2_LOSS = OpSpec(
    "_L2Loss",
    "Half the sum of all squares.",
    ("t",),
    {"T": TYPE},
    lambda call: Facts((), call.inputs[0].dtype),
    lambda _, x: in_double(lambda wide: np.square(wide).sum() / 2, x).astype(x.dtype),
    _l2_to_onnx,
    (Example(((2, 3, 4),)),),
)

TF_LAYERS = (*BIASES, TF_SOFTMAX, LOG_SOFTMAX, TF_LRN, L2_LOSS)
