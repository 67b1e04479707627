"""BatchNorm, LRN, Softmax."""

from __future__ import annotations

import numpy as np

from ufkit.uff.dims import show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import ORDERS, OUTPUT_ORDERS, Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.windows import canonical_result, canonical_value
from ufkit.uff.rules import FIELD_VALUE, SOFTMAX_AXIS

_WIDEST = 1 << 30  # channels to either side, where their number is not known


def _infer_batch_norm(call: Call) -> Facts:
    channels = call.canonical(0)[1] if call.rank(0) > 1 else None
    if channels is None:
        call.conflict(f"there is no channel axis in {show(call.shape(0))}")
    for i in range(1, 5):
        if call.rank(i) != 1 or unify(call.shape(i)[0], channels) is None:
            lost = " (moments of the training side, which the converter could not read)"
            call.conflict(
                f"{call.input_name(i)} is {show(call.shape(i))}, the map has {channels} channels"
                + lost * (call.shape(i) == (0,))
            )
    return Facts(call.shape(0), call.inputs[0].dtype)


def _evaluate_batch_norm(call: Call, x: Array, *moments: Array) -> Array:
    """gamma (x - mean) / sqrt(variance + epsilon) + beta, per channel."""
    data = call.to_canonical(0, x).astype(np.float64)
    column = (-1, *[1] * (data.ndim - 2))
    gamma, beta, mean, variance = (m.astype(np.float64).reshape(column) for m in moments)
    result = gamma * (data - mean) / np.sqrt(variance + call["epsilon"]) + beta
    return np.asarray(result.transpose(call.order(0)), x.dtype)


def _batch_norm_to_onnx(call: Call, emit: Emitter) -> None:
    moments = (emit.value(i) for i in range(1, 5))
    value = canonical_value(call, emit)
    name = emit.node("BatchNormalization", value, *moments, epsilon=call["epsilon"])
    canonical_result(call, emit, name)


BATCH_NORM = OpSpec(
    name="BatchNorm",
    doc="Inference batch normalisation: gamma (x - mean) / sqrt(variance + epsilon) + beta, each "
    "moment with one number per channel.",
    inputs=("input", "gamma", "beta", "mean", "variance"),
    fields={
        "inputs_orders": ORDERS,
        "outputs_orders": OUTPUT_ORDERS,
        "epsilon": Field("d", "added to the variance", 1e-3),
    },
    infer=_infer_batch_norm,
    evaluate=_evaluate_batch_norm,
    to_onnx=_batch_norm_to_onnx,
    examples=(
        Example(
            ((2, 3, 4, 5), *[np.linspace(0.5, 1.5, 5, dtype=np.float32)] * 4),
            {"epsilon": 0.01},
            "N+C",
            const=(1, 2, 3, 4),
        ),
    ),
)


def _infer_lrn(call: Call) -> Facts:
    if call.rank(0) < 2:
        call.conflict(f"there is no channel axis in {show(call.shape(0))}")
    _radius(call)
    return Facts(call.shape(0), call.inputs[0].dtype)


def _radius(call: Call) -> int:
    """How many channels to either side count; more than there are make no difference."""
    radius: int = call["window_size"]
    if radius < 0:
        call.fail(FIELD_VALUE, f"window_size is {radius}; 0 is the least possible", "window_size")
    channels = call.canonical(0)[1]
    return min(radius, channels if isinstance(channels, int) else _WIDEST)


def _evaluate_lrn(call: Call, x: Array) -> Array:
    """x / (k + alpha sum of squares over channels c - radius ... c + radius) ^ beta."""
    data = call.to_canonical(0, x).astype(np.float64)
    radius = _radius(call)
    channels = data.shape[1]
    squares = np.square(data)
    total = np.stack(
        [squares[:, max(c - radius, 0) : c + radius + 1].sum(1) for c in range(channels)], 1
    )
    result = data / (call["k"] + call["alpha"] * total) ** call["beta"]
    return np.asarray(result.transpose(call.order(0)), x.dtype)


def _lrn_to_onnx(call: Call, emit: Emitter) -> None:
    size = 2 * _radius(call) + 1
    name = emit.node(
        "LRN",
        canonical_value(call, emit),
        size=size,
        alpha=call["alpha"] * size,  # ONNX divides by the size, TensorFlow does not
        beta=call["beta"],
        bias=call["k"],
    )
    canonical_result(call, emit, name)


LRN = OpSpec(
    name="LRN",
    doc="Local response normalisation across channels. `window_size` is TensorFlow's "
    "depth_radius: the window reaches that many channels to either side. `alpha` is not divided "
    "by the window.",
    inputs=("input",),
    fields={
        "inputs_orders": ORDERS,
        "outputs_orders": OUTPUT_ORDERS,
        "window_size": Field("i", "channels to either side (depth_radius)", 5),
        "alpha": Field("d", "factor of the sum of squares", 1.0),
        "beta": Field("d", "exponent", 0.5),
        "k": Field("d", "added to the sum", 1.0),
    },
    infer=_infer_lrn,
    evaluate=_evaluate_lrn,
    to_onnx=_lrn_to_onnx,
    examples=(
        Example(
            ((2, 3, 4, 7),),
            {"window_size": 2, "alpha": 0.3, "beta": 0.75, "k": 1.5},
            "N+C",
        ),
    ),
)


def _softmax_axis(call: Call) -> int:
    given = call["axis"]
    if given == 0:
        call.note(SOFTMAX_AXIS, f"axis {call.rank(0) - 1}, the last one, is taken")
        return call.rank(0) - 1
    return call.axis(given)


def _infer_softmax(call: Call) -> Facts:
    if call.rank(0) == 0:
        call.conflict("a scalar has no axis to normalise")
    _softmax_axis(call)
    return Facts(call.shape(0), call.inputs[0].dtype)


def _evaluate_softmax(call: Call, x: Array) -> Array:
    """exp(x) / sum of exp(x) along the axis."""
    axis = _softmax_axis(call)
    data = x.astype(np.float64)
    raised = np.exp(data - data.max(axis, keepdims=True, initial=-np.inf))
    return np.asarray(raised / raised.sum(axis, keepdims=True), x.dtype)


def _softmax_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    axis = order.index(_softmax_axis(call))
    emit.result(emit.node("Softmax", emit.value(0, order), axis=axis), order)


SOFTMAX = OpSpec(
    name="Softmax",
    doc="exp(x) / sum of exp(x) along an axis. Axis 0 and an absent axis both mean that the "
    "converter wrote none: the last axis, as TensorFlow has it.",
    inputs=("input",),
    fields={
        "inputs_orders": ORDERS,
        "outputs_orders": OUTPUT_ORDERS,
        "axis": Field("i", "axis that sums to 1; 0 means the last", 0),
    },
    infer=_infer_softmax,
    evaluate=_evaluate_softmax,
    to_onnx=_softmax_to_onnx,
    examples=(
        Example(((2, 3, 4, 5),), {"axis": 0}, "N+C"),
        Example(((2, 3, 5),), {"axis": 1}),
    ),
)
