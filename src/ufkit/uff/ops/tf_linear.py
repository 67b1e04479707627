"""TensorFlow operations that sum: matrix products, running sums, logical reductions, top values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ufkit.core.dtypes import BOOL
from ufkit.uff.dims import Dim, Shape, product, show, static, unify
from ufkit.uff.ops.elementwise import broadcast
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.reduce import reduced
from ufkit.uff.ops.reshape import without
from ufkit.uff.ops.select import known_integers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.orders import Order, identity

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1


def _matrix(call: Call, i: int, flag: str) -> Shape:
    """Shape of one operand, its last two axes swapped where the flag says so."""
    shape = call.shape(i)
    if len(shape) < 2:
        call.conflict(f"{show(shape)} is no matrix")
    return (*shape[:-2], shape[-1], shape[-2]) if call[flag] else shape


def _matmul_flags(call: Call) -> tuple[str, str]:
    return ("adj_x", "adj_y") if "adj_x" in call.spec.fields else ("transpose_a", "transpose_b")


def _infer_matmul(call: Call) -> Facts:
    left, right = (_matrix(call, i, flag) for i, flag in enumerate(_matmul_flags(call)))
    if unify(left[-1], right[-2]) is None:
        call.conflict(f"a product of {show(left)} and {show(right)}")
    outer = Call(call.node, call.spec, [Facts(left[:-2]), Facts(right[:-2])])
    return Facts((*broadcast(outer), left[-2], right[-1]), call.inputs[0].dtype)


def _evaluate_matmul(call: Call, x: Array, y: Array) -> Array:
    left, right = (
        array.swapaxes(-1, -2) if call[flag] else array
        for flag, array in zip(_matmul_flags(call), (x, y), strict=True)
    )
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    return np.asarray(left.astype(wide) @ right.astype(wide)).astype(x.dtype)


def _macs(call: Call, facts: Facts) -> int | Dim:
    inner = _matrix(call, 0, _matmul_flags(call)[0])[-1]
    return product((*(facts.shape or ()), inner))


def _swapped(rank: int) -> Order:
    return (*range(rank - 2), rank - 1, rank - 2)


def _matmul_to_onnx(call: Call, emit: Emitter) -> None:
    operands = []
    for i, flag in enumerate(_matmul_flags(call)):
        rank = call.rank(i)
        operands.append(emit.value(i, _swapped(rank) if call[flag] else identity(rank)))
    emit.result(emit.node("MatMul", *operands))


_ADJOINT = {
    "T": TYPE,
    "adj_x": Field("b", "whether x is transposed", False),
    "adj_y": Field("b", "whether y is transposed", False),
}
_TRANSPOSED = {
    "T": TYPE,
    "transpose_a": Field("b", "whether x is transposed", False),
    "transpose_b": Field("b", "whether y is transposed", False),
}
PRODUCTS = tuple(
    OpSpec(
        name=name,
        doc="Matrix product over the last two axes; the axes before them are broadcast.",
        inputs=("x", "y"),
        fields=fields,
        infer=_infer_matmul,
        evaluate=_evaluate_matmul,
        to_onnx=_matmul_to_onnx,
        macs=_macs,
        examples=examples,
    )
    for name, fields, examples in (
        ("_BatchMatMul", _ADJOINT, (Example(((2, 3, 4), (2, 5, 4)), {"adj_y": True}),)),
        (
            "_BatchMatMulV2",
            _ADJOINT,
            (Example(((2, 1, 3, 4), (5, 4, 2))), Example(((2, 4, 3), (2, 4, 5)), {"adj_x": True})),
        ),
        (
            "_MatMul",
            _TRANSPOSED,
            (Example(((4, 3), (5, 4)), {"transpose_a": True, "transpose_b": True}),),
        ),
    )
)


# -- MatrixBandPart --------------------------------------------------------------------------


def _band(call: Call, rows: int, columns: int) -> Array:
    """Where an element stays: at most `lower` below the diagonal and `upper` above, -1 for all."""
    (lower,), (upper,) = known_integers(call, 1, 1), known_integers(call, 2, 1)
    call.bound((rows, columns))
    below = np.arange(rows)[:, None] - np.arange(columns)
    kept = ((lower < 0) | (below <= lower)) & ((upper < 0) | (-below <= upper))
    return np.asarray(kept)


def _band_to_onnx(call: Call, emit: Emitter) -> None:
    sizes = static(call.shape(0)[-2:])
    if sizes is None:
        emit.refuse(f"the size of the matrices {show(call.shape(0))} is not known")
    mask = emit.constant(_band(call, *sizes), "bool")
    zero = emit.constant(0, call.inputs[0].dtype.name)
    emit.result(emit.node("Where", mask, emit.value(0), zero))


def _infer_band(call: Call) -> Facts:
    if call.rank(0) < 2:
        call.conflict(f"{show(call.shape(0))} is no matrix")
    known_integers(call, 1, 1), known_integers(call, 2, 1)
    return Facts(call.shape(0), call.inputs[0].dtype)


MATRIX_BAND_PART = OpSpec(
    name="_MatrixBandPart",
    doc="The band of each matrix around its diagonal, zeros elsewhere; -1 keeps all of a side.",
    inputs=("x", "num_lower", "num_upper"),
    fields={"T": TYPE, "Tindex": TYPE},
    infer=_infer_band,
    evaluate=lambda call, x, *_: np.where(_band(call, *x.shape[-2:]), x, x.dtype.type(0)),
    to_onnx=_band_to_onnx,
    examples=(
        Example((_X, np.array(1, np.int32), np.array(0, np.int32)), const=(1, 2)),
        Example((_X, np.array(-1, np.int64), np.array(1, np.int64)), const=(1, 2)),
    ),
)


# -- All, Any, Cumsum, TopK, ClipByValue -----------------------------------------------------


def _axes(call: Call) -> set[int]:
    return {call.axis(axis, name="axis") for axis in known_integers(call, 1)}


def _infer_logical(call: Call) -> Facts:
    return Facts(reduced(call.shape(0), _axes(call), call["keep_dims"]), BOOL)


def _logical(name: str, doc: str, compute: Callable[..., Any], op_type: str) -> OpSpec:
    def lower(call: Call, emit: Emitter) -> None:
        """The least (All) or greatest (Any) of zeros and ones."""
        axes, keep, order = _axes(call), call["keep_dims"], emit.held(0)
        if not axes:
            emit.alias(0)
            return
        numbers = emit.cast(emit.value(0, order), "int32")
        name = emit.reduce(op_type, numbers, sorted(order.index(axis) for axis in axes), keep)
        emit.result(emit.cast(name, BOOL), order if keep else without(order, axes))

    return OpSpec(
        name=name,
        doc=doc,
        inputs=("x", "axis"),
        fields={
            "Tidx": TYPE,
            "keep_dims": Field("b", "whether the axes stay, with length 1", False),
        },
        infer=_infer_logical,
        evaluate=lambda call, x, _: np.asarray(
            compute(x, axis=tuple(_axes(call)), keepdims=call["keep_dims"])
        ),
        to_onnx=lower,
        examples=(Example((_X > -0.5, np.array([1, -1], np.int32)), const=(1,)),),
    )


ALL = _logical("_All", "Whether all elements along the axes hold.", np.all, "ReduceMin")
ANY = _logical("_Any", "Whether one element along the axes holds.", np.any, "ReduceMax")


def _evaluate_cumsum(call: Call, x: Array, _: Array) -> Array:
    axis = _cumsum_axis(call)
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    wide = np.flip(wide, axis) if call["reverse"] else wide
    total = np.cumsum(wide, axis)
    total = total - wide if call["exclusive"] else total
    return (np.flip(total, axis) if call["reverse"] else total).astype(x.dtype)


def _cumsum_axis(call: Call) -> int:
    (axis,) = known_integers(call, 1, 1)
    return call.axis(axis)


def _cumsum_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    axis = emit.constant(order.index(_cumsum_axis(call)))
    flags = {"exclusive": int(call["exclusive"]), "reverse": int(call["reverse"])}
    emit.result(emit.node("CumSum", emit.value(0, order), axis, **flags), order)


def _infer_cumsum(call: Call) -> Facts:
    _cumsum_axis(call)
    return Facts(call.shape(0), call.inputs[0].dtype)


CUMSUM = OpSpec(
    name="_Cumsum",
    doc="Running sums along an axis.",
    inputs=("x", "axis"),
    fields={
        "T": TYPE,
        "Tidx": TYPE,
        "exclusive": Field("b", "whether an element leaves itself out", False),
        "reverse": Field("b", "whether sums run from the end", False),
    },
    infer=_infer_cumsum,
    evaluate=_evaluate_cumsum,
    to_onnx=_cumsum_to_onnx,
    examples=(
        Example((_X, np.array(1, np.int32)), {"exclusive": True, "reverse": True}, const=(1,)),
        Example((_X, np.array(-1, np.int32)), const=(1,)),
    ),
)


def _clip_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.common()
    low, high = (emit.value(i, order) for i in (1, 2))
    emit.result(emit.node("Min", emit.node("Max", emit.value(0, order), low), high), order)


CLIP_BY_VALUE = OpSpec(
    name="_ClipByValue",
    doc="Elements brought between `low` and `high`.",
    inputs=("x", "low", "high"),
    fields={"T": TYPE},
    infer=lambda call: Facts(broadcast(call), call.inputs[0].dtype),
    evaluate=lambda call, x, low, high: np.minimum(np.maximum(x, low), high),
    to_onnx=_clip_to_onnx,
    examples=(Example((_X, np.array(-0.5, np.float32), np.array(1, np.float32))),),
)

TF_LINEAR = (*PRODUCTS, MATRIX_BAND_PART, ALL, ANY, CUMSUM, CLIP_BY_VALUE)
