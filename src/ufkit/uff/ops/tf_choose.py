"""TensorFlow operations that choose elements, passed on by the converter unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.core.dtypes import BOOL, INT64
from ufkit.uff.dims import Dim, Shape, show
from ufkit.uff.ops.elementwise import broadcast
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.select import GATHER_V2, known_integers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE, stands_for

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1


def _infer_select(call: Call) -> Facts:
    if call.inputs[0].dtype is not BOOL:
        call.conflict(f"the condition is {call.inputs[0].dtype}, not bool")
    if call.inputs[1].dtype != call.inputs[2].dtype:
        call.conflict(f"the choices are {call.inputs[1].dtype} and {call.inputs[2].dtype}")
    return Facts(_select_shape(call), call.inputs[1].dtype)


def _by_rows(call: Call) -> bool:
    """Whether a condition of rank 1 chooses whole rows, as Select alone does."""
    return call.node.operation == "_Select" and call.rank(0) == 1 < call.rank(1)


def _select_shape(call: Call) -> Shape:
    return call.shape(1) if _by_rows(call) else broadcast(call)


def _evaluate_select(call: Call, condition: Array, x: Array, y: Array) -> Array:
    if _by_rows(call):
        condition = condition.reshape(-1, *[1] * (x.ndim - 1))
    return np.where(condition, x, y)


def _select_to_onnx(call: Call, emit: Emitter) -> None:
    if _by_rows(call):
        axes = emit.constant(list(range(1, call.rank(1))))
        condition = emit.node("Unsqueeze", emit.value(0), axes)
        emit.result(emit.node("Where", condition, emit.value(1), emit.value(2)))
        return
    order = emit.common()
    emit.result(emit.node("Where", *(emit.value(i, order) for i in range(3))), order)


SELECTS = tuple(
    OpSpec(
        name=name,
        doc="Elements of `x` where the condition holds, of `y` elsewhere." + more,
        inputs=("condition", "x", "y"),
        fields={"T": TYPE},
        infer=_infer_select,
        evaluate=_evaluate_select,
        to_onnx=_select_to_onnx,
        examples=examples,
    )
    for name, more, examples in (
        (
            "_Select",
            " A condition of rank 1 chooses whole rows.",
            (Example((_X > 0, _X, -_X)), Example((np.array([True, False]), _X, -_X))),
        ),
        ("_SelectV2", "", (Example((_X[:, :1] > 0, _X, np.array(0, np.float32))),)),
    )
)


def _infer_one_hot(call: Call) -> Facts:
    (depth,) = known_integers(call, 1, 1)
    at = call.axis(call["axis"], call.rank(0) + 1)
    shape = call.shape(0)
    return Facts((*shape[:at], depth, *shape[at:]), call.inputs[2].dtype)


def _evaluate_one_hot(call: Call, indices: Array, depth: Array, on: Array, off: Array) -> Array:
    at = call.axis(call["axis"], indices.ndim + 1)
    hot = np.expand_dims(indices, -1) == np.arange(int(depth))
    return np.moveaxis(np.where(hot, on, off), -1, at)


def _one_hot_to_onnx(call: Call, emit: Emitter) -> None:
    """ONNX counts negative indices from the end, TensorFlow leaves their row off."""
    depth = emit.value(1)
    (number,) = known_integers(call, 1, 1)
    kind = call.inputs[0].dtype.name
    below = emit.node("Less", emit.value(0), emit.constant(0, kind))
    indices = emit.node("Where", below, emit.constant(number, kind), emit.value(0))
    pair = [emit.node("Unsqueeze", emit.value(i), emit.constant([0])) for i in (3, 2)]
    values = emit.node("Concat", *pair, axis=0)
    at = call.axis(call["axis"], call.rank(0) + 1)
    emit.result(emit.node("OneHot", indices, depth, values, axis=at))


ONE_HOT = OpSpec(
    name="_OneHot",
    doc="A new axis of length `depth`, with `on` at the place an index names and `off` elsewhere; "
    "an index that is none of them leaves all off.",
    inputs=("indices", "depth", "on", "off"),
    fields={"T": TYPE, "TI": TYPE, "axis": Field("i", "place of the new axis", -1)},
    infer=_infer_one_hot,
    evaluate=_evaluate_one_hot,
    to_onnx=_one_hot_to_onnx,
    examples=(
        Example(
            (
                np.array([[0, 2, -1], [1, 5, 0]], np.int32),
                np.array(3, np.int32),
                np.array(2, np.float32),
                np.array(-1, np.float32),
            ),
            {"axis": 1},
            const=(1,),
        ),
    ),
)


def _infer_gather_nd(call: Call) -> Facts:
    *outer, depth = call.shape(1) or (0,)
    if not isinstance(depth, int) or depth > call.rank(0):
        call.conflict(f"indices {show(call.shape(1))} into {show(call.shape(0))}")
    return Facts((*outer, *call.shape(0)[depth:]), call.inputs[0].dtype)


def _evaluate_gather_nd(_: Call, params: Array, indices: Array) -> Array:
    return np.asarray(params[tuple(np.moveaxis(indices, -1, 0))])


GATHER_ND = OpSpec(
    name="_GatherNd",
    doc="Slices of `params`: the last axis of `indices` holds places on its first axes.",
    inputs=("params", "indices"),
    fields={"Tparams": TYPE, "Tindices": TYPE},
    infer=_infer_gather_nd,
    evaluate=_evaluate_gather_nd,
    to_onnx=lambda call, emit: emit.result(
        emit.node("GatherND", emit.value(0), emit.cast(emit.value(1), "int64"))
    ),
    examples=(Example((_X, np.array([[1, 2], [0, 0]], np.int32))),),
)


def _gather_axis(call: Call) -> dict[str, Any]:
    if len(call.inputs) < 3:
        return {"axis": 0}
    (axis,) = known_integers(call, 2, 1)
    return {"axis": axis}


TF_GATHER = stands_for(
    "_ResourceGather",
    GATHER_V2,
    "Slices of `params` by number, along axis 0.",
    _gather_axis,
    {"dtype": TYPE, "Tindices": TYPE},
    (Example(((5, 3), np.array([4, 0], np.int32)), const=(1,)),),
)


def _infer_where(call: Call) -> Facts:
    if call.rank(0) == 0:
        call.conflict("a scalar has no places")
    return Facts((Dim.unknown(), call.rank(0)), INT64)


def _where_to_onnx(_: Call, emit: Emitter) -> None:
    found = emit.node("NonZero", emit.cast(emit.value(0), BOOL))
    emit.result(emit.node("Transpose", found, perm=[1, 0]))


WHERE = OpSpec(
    name="_Where",
    doc="The places of all elements that hold, or are not zero, one row of int64 each.",
    inputs=("condition",),
    fields={"T": TYPE},
    infer=_infer_where,
    evaluate=lambda _, condition: np.argwhere(condition).astype(np.int64),
    to_onnx=_where_to_onnx,
    examples=(Example((_X > 0.5,)), Example((np.array([0.0, -1.5, 2.0], np.float32),))),
)

TF_CHOOSE = (*SELECTS, ONE_HOT, GATHER_ND, TF_GATHER, WHERE)
