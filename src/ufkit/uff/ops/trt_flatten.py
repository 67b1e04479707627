"""TensorRT's plugin FlattenConcat, which gathers what an SSD detector predicts on all its maps.

After NVIDIA's plugin/flattenConcat/flattenConcat.cpp (https://github.com/NVIDIA/TensorRT).
"""

from __future__ import annotations

from math import prod

import numpy as np

from ufkit.uff.dims import Dim, Shape, product, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.join import one_dtype
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec, as_it_is
from ufkit.uff.ops.trt_anchors import DTYPE
from ufkit.uff.rules import FIELD_VALUE, FLATTEN_AXIS, FLATTEN_RANK

_AXIS = "axis_u_int"
_RANK = 4  # of what the plugin takes, the batch counted


def _lengths(call: Call) -> list[int | Dim]:
    """How many elements of a sample each input has."""
    return [product(call.shape(i)[1:]) for i in range(len(call.inputs))]


def _batch(call: Call) -> int | Dim:
    batch: int | Dim | None = None
    for i in range(len(call.inputs)):
        if call.rank(i) == 0:
            call.conflict(f"input {i} is a scalar; it has no batch")
        first = call.shape(i)[0]
        both = first if batch is None else unify(batch, first)
        if both is None:
            shapes = f"{show(call.shape(i))} and input 0 {show(call.shape(0))}"
            call.conflict(f"input {i} is {shapes}: they are not as many samples")
        batch = both
    assert batch is not None
    return batch


def _shape(call: Call, batch: int | Dim, length: int | Dim) -> Shape:
    """[batch, length, 1, 1], or the length on another axis."""
    axis = call[_AXIS]
    if not 1 <= axis < _RANK:
        call.fail(FIELD_VALUE, f"axis {axis}; the plugin knows 1, 2 and 3", _AXIS)
    return (batch, *(length if at == axis else 1 for at in range(1, _RANK)))


def _infer(call: Call) -> Facts:
    if _AXIS not in call.node.fields:
        call.note(FLATTEN_AXIS, f"{_AXIS} is not given")
    one_dtype(call)
    batch, total = _batch(call), sum(_lengths(call))
    for i in range(len(call.inputs)):
        if call.rank(i) > _RANK:
            call.note(FLATTEN_RANK, f"input {i} is {show(call.shape(i))}")
    return Facts(_shape(call, batch, total), call.inputs[0].dtype)


def _evaluate(call: Call, *arrays: Array) -> Array:
    flat = np.concatenate([array.reshape(len(array), prod(array.shape[1:])) for array in arrays], 1)
    axes = [axis for axis in range(1, _RANK) if axis != call[_AXIS]]
    return np.expand_dims(flat, axes)


def _to_onnx(call: Call, emit: Emitter) -> None:
    batch, parts = _batch(call), []
    for i, length in enumerate(_lengths(call)):
        if isinstance(length, Dim) or length == 0:
            emit.refuse(f"input {i} is {show(call.shape(i))}; its size must be known")
        shape = _shape(call, -1 if isinstance(batch, Dim) else batch, length)
        parts.append(emit.node("Reshape", emit.unordered(i), emit.constant(list(shape))))
    emit.result(emit.node("Concat", *parts, axis=call[_AXIS]) if len(parts) > 1 else parts[0])


FLATTEN_CONCAT = OpSpec(
    name="_FlattenConcat_TRT",
    doc="All elements of a sample, each input's in its own order, one input after the other: "
    "[N, length, 1, 1].",
    inputs=("inputs...",),
    fields={
        _AXIS: Field("i", "the axis of the result that has the length: 1, 2 or 3", 1),
        "ignoreBatch_u_int": Field(
            "i",
            "has no effect here; with 1, TensorRT's plugin fills in the first sample only",
            0,
        ),
        "dtype": DTYPE,
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    examples=(
        Example(((2, 3, 1, 4), (2, 2, 1, 4), (2, 1, 1, 4)), {_AXIS: 1}),
        Example(((2, 3, 2), (2, 5), (2,)), {_AXIS: 3}),
        Example(((1, 3, 2, 1, 2),), {_AXIS: 2, "ignoreBatch_u_int": 1}),
    ),
    plugin=as_it_is,
)
