"""FullyConnected."""

from __future__ import annotations

import numpy as np

from ufkit.uff.data import Orders
from ufkit.uff.dims import Dim, product, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import ORDERS, OUTPUT_ORDERS, Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.orders import Order, inverse


def _infer(call: Call) -> Facts:
    if call.rank(0) != 2 or call.rank(1) != 2:
        call.conflict(f"two matrices are needed, not {call.inputs[0]} and {call.inputs[1]}")
    (rows, inner), (columns, taken) = call.canonical(0), call.canonical(1)
    if unify(inner, taken) is None:
        call.conflict(
            f"{show(call.shape(0))} has {inner} columns, the weights {show(call.shape(1))} "
            f"take {taken}"
        )
    shape = (rows, columns)
    return Facts(tuple(shape[axis] for axis in _order(call)), call.inputs[0].dtype)


def _order(call: Call) -> Order:
    """The result is (N, K) unless outputs_orders says otherwise."""
    given = call["outputs_orders"]
    return (1, 0) if given and given[0].axes == (1, 0) else (0, 1)


def _evaluate(call: Call, x: Array, weights: Array) -> Array:
    left, right = call.to_canonical(0, x), call.to_canonical(1, weights)
    result = left.astype(np.float64) @ right.T.astype(np.float64)
    return result.transpose(_order(call)).astype(x.dtype)


def _macs(call: Call, facts: Facts) -> int | Dim:
    return product((*call.shape(0), call.canonical(1)[0]))


def _to_onnx(call: Call, emit: Emitter) -> None:
    columns_first = inverse(call.order(1))[::-1]
    name = emit.node("MatMul", emit.value(0, inverse(call.order(0))), emit.value(1, columns_first))
    emit.result(name, _order(call))


FULLY_CONNECTED = OpSpec(
    name="FullyConnected",
    doc="Matrix product: y[n, k] = sum over c of input[n, c] * weights[k, c]. The orders `NC`/`CN` "
    "and `CK`/`KC` say how the two are stored; CN and KC mean transposed.",
    inputs=("input", "weights"),
    fields={
        "inputs_orders": Field(ORDERS.kind, ORDERS.doc, [Orders((0, 1)), Orders((1, 0))]),
        "outputs_orders": OUTPUT_ORDERS,
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    macs=_macs,
    examples=(
        Example(((3, 4), (4, 5)), {}, "NC_CK", const=(1,)),
        Example(((4, 3), (5, 4)), {}, "CN_KC"),
    ),
)
