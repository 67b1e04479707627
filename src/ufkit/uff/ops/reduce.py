"""Operations that take an axis away: Reduce, ArgMax, ArgMin."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ufkit.core.dtypes import INT64, DType
from ufkit.uff.dims import Shape
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.reshape import integer_type, without
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.rules import KEEPDIMS


def _mean(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    """NumPy's own warns where there is nothing to take it of."""
    return np.divide(np.sum(x, axis, keepdims=keepdims), prod(x.shape[at] for at in axis))


_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "sum": (np.sum, "ReduceSum"),
    "prod": (np.prod, "ReduceProd"),
    "max": (np.max, "ReduceMax"),
    "min": (np.min, "ReduceMin"),
    "mean": (_mean, "ReduceMean"),
}


def _axes(call: Call) -> set[int]:
    given = call["axes"]
    rank = call.rank(0)
    return set(range(rank)) if given is None else {call.axis(a, name="axes") for a in given}


def reduced(shape: Shape, axes: set[int], keep: bool) -> Shape:
    """A shape without these axes or, when they are kept, with 1 in their places."""
    return tuple(1 if at in axes else n for at, n in enumerate(shape) if keep or at not in axes)


def _infer_reduce(call: Call) -> Facts:
    axes, keep = _axes(call), call["keepdims"]
    if axes and not keep and call.rank(0) > 1:
        call.note(KEEPDIMS, f"axes {sorted(axes)} are dropped, as the TensorFlow graph does")
    return Facts(reduced(call.shape(0), axes, keep), call.inputs[0].dtype)


def _evaluate_reduce(call: Call, x: Array) -> Array:
    """Floats are summed with twice their bits; a mean of integers drops its fraction."""
    compute, _ = _FUNCTIONS[call["func"]]
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    result = compute(wide, axis=tuple(sorted(_axes(call))), keepdims=call["keepdims"])
    if x.dtype == object:
        return np.asarray(result, object)
    return np.asarray(np.trunc(result) if x.dtype.kind == "i" else result).astype(x.dtype)


def _reduce_to_onnx(call: Call, emit: Emitter) -> None:
    _, op_type = _FUNCTIONS[call["func"]]
    axes, keep, order = _axes(call), call["keepdims"], emit.held(0)
    if not axes:
        emit.alias(0)
        return
    places = sorted(order.index(axis) for axis in axes)
    name = emit.reduce(op_type, emit.value(0, order), places, keep)
    emit.result(name, order if keep else without(order, axes))


REDUCE = OpSpec(
    name="Reduce",
    doc="Sum, product, maximum, minimum or mean along axes. Without `keepdims` the axes go away, "
    "as in the TensorFlow graph; NVIDIA's parser ignored the field and kept them.",
    inputs=("x",),
    fields={
        "func": Field("s", "what is computed", choices=tuple(_FUNCTIONS)),
        "axes": Field("i_list", "axes to reduce; absent means all", None),
        "keepdims": Field("b", "whether reduced axes stay, with length 1", False),
    },
    infer=_infer_reduce,
    evaluate=_evaluate_reduce,
    to_onnx=_reduce_to_onnx,
    examples=tuple(
        Example(((2, 3, 4),), {"func": func, "axes": [0, -1], "keepdims": keep})
        for func in _FUNCTIONS
        for keep in (True, False)
    ),
)


def _infer_arg(call: Call) -> Facts:
    axis = call.axis(call["axis"])
    shape = call.shape(0)
    return Facts(shape[:axis] + shape[axis + 1 :], _arg_type(call))


def _arg_type(call: Call) -> DType:
    return integer_type(call, "output_type", INT64)


def _arg_to_onnx(op_type: str) -> Callable[[Call, Emitter], None]:
    def lower(call: Call, emit: Emitter) -> None:
        axis, order = call.axis(call["axis"]), emit.held(0)
        name = emit.node(op_type, emit.value(0, order), axis=order.index(axis), keepdims=0)
        kind = _arg_type(call)
        name = name if kind is INT64 else emit.cast(name, kind)
        emit.result(name, without(order, {axis}))

    return lower


def _arg(name: str, compute: Callable[..., Any], what: str) -> OpSpec:
    return OpSpec(
        name=name,
        doc=f"Place of the {what} element along an axis, the first of equals; int64, the axis "
        "dropped.",
        inputs=("x",),
        fields={"axis": Field("i", "axis to search along", 0)},
        infer=_infer_arg,
        evaluate=lambda call, x: np.asarray(
            compute(x, call.axis(call["axis"])), _arg_type(call).numpy
        ),
        to_onnx=_arg_to_onnx(name),
        examples=(Example(((2, 3, 4),), {"axis": 1}), Example(((5, 3),), {"axis": -1})),
        chooses=True,
    )


ARG_MAX = _arg("ArgMax", np.argmax, "greatest")
ARG_MIN = _arg("ArgMin", np.argmin, "least")
