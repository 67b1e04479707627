"""Pool."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import ONES, ORDERS, OUTPUT_ORDERS, ZEROS, Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.windows import (
    SAME,
    canonical_result,
    canonical_value,
    extents,
    is_same,
    onnx_padding,
    pad,
    padding_of,
    taps,
)


def _steps(call: Call) -> list[int]:
    return [1] * (call.rank(0) - 2)


def _infer(call: Call) -> Facts:
    if call.rank(0) < 3:
        call.conflict(f"a map needs a spatial axis; this one has rank {call.rank(0)}")
    sizes = extents(call, call.spatial("kernel"), _steps(call))
    return Facts(call.from_canonical((*call.canonical(0)[:2], *sizes)), call.inputs[0].dtype)


def _evaluate(call: Call, x: Array) -> Array:
    x = call.to_canonical(0, x)
    kernel, strides, steps = call.spatial("kernel"), call.spatial("strides"), _steps(call)
    pads = padding_of(call, kernel, steps, x.shape[2:])
    out: Any = extents(call, kernel, steps)
    is_max = call["func"] == "max"
    filling = -np.inf if is_max and is_same(call) else 0
    result: Any = None
    padded = pad(call, x.astype(np.float64), pads, filling)
    for _, seen in taps(call, padded, kernel, strides, steps, out):
        if result is None:
            result = seen.copy()
        elif is_max:
            np.maximum(result, seen, out=result)
        else:
            result += seen
    if not is_max:
        counted = pad(call, np.ones((1, 1, *x.shape[2:])), pads, 0 if is_same(call) else 1)
        result /= sum(seen for _, seen in taps(call, counted, kernel, strides, steps, out))
    return call.back(result.astype(x.dtype))


def _to_onnx(call: Call, emit: Emitter) -> None:
    kernel, strides = call.spatial("kernel"), call.spatial("strides")
    value = canonical_value(call, emit)
    if call["func"] == "avg":
        name = emit.node(
            "AveragePool",
            value,
            kernel_shape=kernel,
            strides=strides,
            count_include_pad=0 if is_same(call) else 1,
            **onnx_padding(call, kernel, _steps(call)),
        )
    else:
        padding: dict[str, Any] = onnx_padding(call, kernel, _steps(call))
        if not is_same(call):  # ONNX pads a maximum with -infinity, UFF with zeros that count
            if any(padding["pads"]):
                count = len(kernel)
                ends = [0, 0, *padding["pads"][:count], 0, 0, *padding["pads"][count:]]
                value = emit.node("Pad", value, emit.constant(ends))
            padding = {}
        name = emit.node("MaxPool", value, kernel_shape=kernel, strides=strides, **padding)
    canonical_result(call, emit, name)


POOL = OpSpec(
    name="Pool",
    doc="Maximum or average of each window. Elements that `implicit_padding` adds take no part; "
    "those that `padding` adds are zeros that do: the average counts them, the maximum sees them.",
    inputs=("input",),
    fields={
        "inputs_orders": ORDERS,
        "outputs_orders": OUTPUT_ORDERS,
        "func": Field("s", "what is taken of a window", choices=("max", "avg")),
        "kernel": Field("i_list", "size of the window per spatial axis"),
        "strides": Field("i_list", "step per spatial axis, in elements", ONES),
        "padding": Field("i_list", "zeros at both ends of each spatial axis", ZEROS),
        "implicit_padding": SAME,
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    examples=(
        Example(
            ((2, 7, 6, 3),),
            {"func": "avg", "kernel": [3, 2], "strides": [2, 2], "implicit_padding": "same"},
            "N+C",
        ),
        Example(((1, 3, 6, 6),), {"func": "max", "kernel": [2, 2], "padding": [1, 1]}, "NC+"),
        Example(
            ((1, 6, 6, 3),),
            {"func": "avg", "kernel": [3, 3], "strides": [2, 2], "padding": [1, 1]},
            "N+C",
        ),
    ),
)
