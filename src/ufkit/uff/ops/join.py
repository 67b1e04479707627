"""Operations that put tensors together: Concat, Stack."""

from __future__ import annotations

import numpy as np

from ufkit.uff.dims import Dim, Shape, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.rules import CONCAT_AXIS


def one_dtype(call: Call) -> None:
    """Fail (UFF302) where the inputs are of different types."""
    kinds = list(dict.fromkeys(facts.dtype.name for facts in call.inputs))
    if len(kinds) > 1:
        call.conflict(f"the inputs are of different types: {', '.join(kinds)}")


def _concat_axis(call: Call) -> int:
    given, rank = call["axis"], call.rank(0)
    if given >= rank > 0:
        call.note(CONCAT_AXIS, f"axis {given} of rank {rank}: the last axis, {rank - 1}, is taken")
        return rank - 1
    return call.axis(given)


def _merged(call: Call, axis: int | None) -> list[int | Dim]:
    """The shape all inputs share; `axis` may differ."""
    shape = list(call.shape(0))
    for i in range(1, len(call.inputs)):
        other = call.shape(i)
        for at in range(max(len(shape), len(other))):
            both = None
            if len(other) == len(shape):
                both = shape[at] if at == axis else unify(shape[at], other[at])
            if both is None:
                call.conflict(
                    f"input {i} is {show(other)}, input 0 {show(call.shape(0))}: "
                    "they do not fit together" + ("" if axis is None else f" along axis {axis}")
                )
            shape[at] = both
    return shape


def _infer_concat(call: Call) -> Facts:
    one_dtype(call)
    axis = _concat_axis(call)
    shape = _merged(call, axis)
    total: int | Dim = 0
    for i in range(len(call.inputs)):
        total = total + call.shape(i)[axis]
    shape[axis] = total
    return Facts(tuple(shape), call.inputs[0].dtype)


def _evaluate_concat(call: Call, *arrays: Array) -> Array:
    return np.concatenate(arrays, _concat_axis(call))


def _concat_to_onnx(call: Call, emit: Emitter) -> None:
    if len(call.inputs) == 1:
        emit.alias(0)
        return
    order = emit.common()
    operands = [emit.value(i, order) for i in range(len(call.inputs))]
    emit.result(emit.node("Concat", *operands, axis=order.index(_concat_axis(call))), order)


CONCAT = OpSpec(
    name="Concat",
    doc="Joins tensors along an axis they have. An axis beyond the rank means the last one: some "
    "converters counted without the batch.",
    inputs=("inputs...",),
    fields={"axis": Field("i", "axis to join along; may count from the end")},
    infer=_infer_concat,
    evaluate=_evaluate_concat,
    to_onnx=_concat_to_onnx,
    examples=(
        Example(((2, 3, 4), (2, 5, 4)), {"axis": 1}),
        Example(((2, 3), (2, 4), (2, 1)), {"axis": -1}, const=(1,)),
    ),
)


def _stack_axis(call: Call) -> int:
    return call.axis(call["axis"], call.rank(0) + 1)


def _infer_stack(call: Call) -> Facts:
    one_dtype(call)
    at = _stack_axis(call)
    shape: Shape = tuple(_merged(call, None))
    return Facts((*shape[:at], len(call.inputs), *shape[at:]), call.inputs[0].dtype)


def _evaluate_stack(call: Call, *arrays: Array) -> Array:
    return np.stack(arrays, _stack_axis(call))


def _stack_to_onnx(call: Call, emit: Emitter) -> None:
    at = _stack_axis(call)
    place = emit.constant([at])
    slices = [emit.node("Unsqueeze", emit.value(i), place) for i in range(len(call.inputs))]
    emit.result(emit.node("Concat", *slices, axis=at) if len(slices) > 1 else slices[0])


STACK = OpSpec(
    name="Stack",
    doc="Joins tensors of one shape along a new axis.",
    inputs=("inputs...",),
    fields={"axis": Field("i", "place of the new axis in the result", 0)},
    infer=_infer_stack,
    evaluate=_evaluate_stack,
    to_onnx=_stack_to_onnx,
    examples=(Example(((2, 3), (2, 3)), {"axis": 1}), Example(((2,),), {"axis": -1})),
)
