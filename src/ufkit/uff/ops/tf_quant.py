"""TensorFlow's FakeQuant: elements rounded as a network of small integers would have them."""

from __future__ import annotations

import numpy as np

from ufkit.uff.dims import show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE


def _levels(call: Call) -> tuple[int, int]:
    """The first and last of the whole numbers that elements are rounded to."""
    bits = call["num_bits"]
    if not 2 <= bits <= 16:
        call.conflict(f"numbers of {bits} bits; 2 to 16 are possible")
    return int(call["narrow_range"]), (1 << bits) - 1


def _infer(call: Call) -> Facts:
    _levels(call)
    last = call.shape(0)[-1:]
    for i in range(1, len(call.inputs)):
        shape = call.shape(i)
        per_channel = call.spec.name.endswith("PerChannel")
        fits = (
            bool(last and len(shape) == 1 and unify(shape[0], last[0]))
            if per_channel
            else (shape == ())
        )
        if not fits:
            call.conflict(f"{call.input_name(i)} {show(shape)} for {show(call.shape(0))}")
    return Facts(call.shape(0), call.inputs[0].dtype)


def _nudged(call: Call, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """The step between two levels, and both ends, moved so that 0 is on a level.

    In single precision, as TensorFlow computes them.
    """
    if not np.all((low <= 0) & (high >= 0) & (low <= high)):
        call.conflict(f"the range from {low} to {high} does not hold 0")
    first, last = (np.float32(level) for level in _levels(call))
    scale = (high - low) / (last - first)
    empty = scale == 0  # all is 0 then
    scale = np.where(empty, np.float32(1), scale)
    level = np.clip(np.floor(first - low / scale + np.float32(0.5)), first, last)
    return (
        scale,
        np.where(empty, 0, first - level) * scale,
        np.where(empty, 0, last - level) * scale,
    )


def _range(call: Call, given: tuple[Array | None, ...]) -> tuple[Array, Array]:
    low, high = given or (call["min"], call["max"])
    return np.asarray(low, np.float32), np.asarray(high, np.float32)


def _evaluate(call: Call, x: Array, *given: Array) -> Array:
    scale, low, high = _nudged(call, *_range(call, given))
    steps = np.floor((np.clip(x, low, high) - low) / scale + np.float32(0.5))
    return (steps * scale + low).astype(x.dtype)


def _to_onnx(call: Call, emit: Emitter) -> None:
    given = tuple(emit.known(i) for i in range(1, len(call.inputs)))
    if any(array is None for array in given):
        emit.refuse("the range is not known before the model runs")
    order = emit.held(0)
    behind = len(order) - 1 - order.index(len(order) - 1) if order else 0
    scale, low, high = (
        emit.constant(a.reshape((*a.shape, *[1] * (behind * a.ndim))), "float32")
        for a in _nudged(call, *_range(call, given))
    )
    kept = emit.node("Min", emit.node("Max", emit.value(0, order), low), high)
    steps = emit.node("Div", emit.node("Sub", kept, low), scale)
    whole = emit.node("Floor", emit.node("Add", steps, emit.constant(0.5, "float32")))
    emit.result(emit.node("Add", emit.node("Mul", whole, scale), low), order)


_FIELDS = {
    "T": TYPE,
    "num_bits": Field("i", "bits of the whole numbers", 8),
    "narrow_range": Field("b", "whether the least of them is left out", False),
}
_ENDS = {
    "min": Field("d", "least element that is told apart", -6.0),
    "max": Field("d", "greatest element that is told apart", 6.0),
}
_X = np.linspace(-2, 3, 24, dtype=np.float32).reshape(2, 4, 3)
_F32 = np.float32


def _fake(name: str, inputs: tuple[str, ...], more: dict[str, Field], *examples: Example) -> OpSpec:
    doc = (
        "Elements brought between two ends and rounded to 2 ^ num_bits levels; the ends are moved "
        "so that 0 is one of them."
    )
    fields = {**_FIELDS, **more}
    return OpSpec(name, doc, ("x", *inputs), fields, _infer, _evaluate, _to_onnx, examples)


TF_QUANT = (
    _fake(
        "_FakeQuantWithMinMaxArgs",
        (),
        _ENDS,
        Example((_X,), {"min": -1.3, "max": 2.1, "num_bits": 4}),
        Example((_X,)),
    ),
    _fake(
        "_FakeQuantWithMinMaxVars",
        ("min", "max"),
        {},
        Example((_X, _F32(-1.3), _F32(2.1)), {"num_bits": 5, "narrow_range": True}, const=(1, 2)),
        Example((_X, _F32(0), _F32(0)), const=(1, 2)),
    ),
    _fake(
        "_FakeQuantWithMinMaxVarsPerChannel",
        ("min", "max"),
        {},
        Example(
            (_X, np.array([-1.3, -0.2, 0], _F32), np.array([2.1, 1, 0.7], _F32)),
            {"num_bits": 4},
            const=(1, 2),
        ),
    ),
)
