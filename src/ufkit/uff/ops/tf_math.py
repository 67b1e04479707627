"""TensorFlow operations element by element that came through the converter unchanged.

Their meaning: https://www.tensorflow.org/api_docs/python/tf/raw_ops
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ufkit.core.dtypes import BOOL
from ufkit.uff.ops.elementwise import (
    ACTIVATION,
    BINARY,
    IDENTITY,
    LEAKY_RELU,
    UNARY,
    broadcast,
    in_double,
)
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Core, Example, Facts, OpSpec

TYPE = Field("dtype", "element type, as the input says", None)


def stands_for(
    name: str,
    core: OpSpec,
    doc: str,
    values: Callable[[Call], dict[str, Any]] = lambda call: {},
    fields: dict[str, Field] | None = None,
    examples: tuple[Example, ...] = (),
) -> OpSpec:
    """An entry whose meaning is a core operation's with the field values that `values` gives."""
    return replace(
        core,
        name=name,
        doc=doc,
        fields={"T": TYPE, **(fields or {})},
        examples=examples or core.examples,
        core=Core(core, values),
    )


def _function(name: str, core: OpSpec, func: str) -> OpSpec:
    examples = tuple(
        replace(example, fields={}) for example in core.examples if example.fields["func"] == func
    )
    doc = f"{core.name} with func `{func}`."
    return stands_for(name, core, doc, lambda call: {"func": func}, examples=examples)


_BINARY = {
    "_Add": "add",
    "_AddV2": "add",
    "_Sub": "sub",
    "_Mul": "mul",
    "_RealDiv": "div",
    "_Div": "div",
    "_Pow": "pow",
    "_Minimum": "min",
    "_Maximum": "max",
}
_UNARY = {f"_{func.capitalize()}": func for func in UNARY.fields["func"].choices}
_ACTIVATION = {f"_{func.capitalize()}": func for func in ACTIVATION.fields["func"].choices}

CORE_FUNCTIONS = tuple(
    _function(name, core, func)
    for core, names in ((BINARY, _BINARY), (UNARY, _UNARY), (ACTIVATION, _ACTIVATION))
    for name, func in names.items()
)

TF_LEAKY_RELU = stands_for(
    "_LeakyRelu",
    LEAKY_RELU,
    "LeakyRelu.",
    lambda call: {"alpha": call.own("alpha")},
    {"alpha": Field("d", "slope for negative elements", 0.2)},
)

PASSED_ON = tuple(
    stands_for(name, IDENTITY, "Its input; it only matters in training.")
    for name in ("_StopGradient", "_CheckNumerics", "_PreventGradient", "_Snapshot")
)


Lower = Callable[[Call, Emitter, list[str]], str]


def compute(
    name: str,
    doc: str,
    function: Callable[..., Any],
    lower: Lower,
    examples: tuple[Example, ...],
    *,
    inputs: tuple[str, ...] = ("x", "y"),
    gives_bool: bool = False,
    chooses: bool = False,
) -> OpSpec:
    """An entry for a function on the elements of its inputs, broadcast together."""

    def infer(call: Call) -> Facts:
        kinds = {facts.dtype.name for facts in call.inputs}
        if len(kinds) > 1:
            call.conflict(f"the operands are of different types: {', '.join(sorted(kinds))}")
        return Facts(broadcast(call), BOOL if gives_bool else call.inputs[0].dtype)

    def evaluate(call: Call, *arrays: Array) -> Array:
        return in_double(function, *arrays).astype(bool if gives_bool else arrays[0].dtype)

    def to_onnx(call: Call, emit: Emitter) -> None:
        order = emit.common()
        names = [emit.value(i, order) for i in range(len(call.inputs))]
        emit.result(lower(call, emit, names), order)

    entry = OpSpec(name, doc, inputs, {"T": TYPE}, infer, evaluate, to_onnx, examples)
    return replace(entry, chooses=chooses)


def one_node(op_type: str, *after: str) -> Lower:
    """One ONNX operator on all inputs, and further ones on its result."""

    def lower(_: Call, emit: Emitter, names: list[str]) -> str:
        name = emit.node(op_type, *names)
        for following in after:
            name = emit.node(following, name)
        return name

    return lower


def _is_float(call: Call) -> bool:
    return call.inputs[0].dtype.name.startswith("float")


def _floor_div(call: Call, emit: Emitter, names: list[str]) -> str:
    """ONNX divides integers towards zero; without its remainder the division is exact."""
    if _is_float(call):
        return emit.node("Floor", emit.node("Div", *names))
    exact = emit.node("Sub", names[0], emit.node("Mod", *names))
    return emit.node("Div", exact, names[1])


def _floor_mod(call: Call, emit: Emitter, names: list[str]) -> str:
    """ONNX's Mod has the divisor's sign for integers only."""
    if not _is_float(call):
        return emit.node("Mod", *names)
    return emit.node("Sub", names[0], emit.node("Mul", _floor_div(call, emit, names), names[1]))


def _squared_difference(_: Call, emit: Emitter, names: list[str]) -> str:
    difference = emit.node("Sub", *names)
    return emit.node("Mul", difference, difference)


_A = np.array([[-2.5, -1.0, 0.0], [1.0, 1.5, 3.5]], np.float32)
_B = np.array([[-2.5, 2.0, -1.0], [1.0, -0.5, 2.0]], np.float32)
_I, _J = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
_PAIR, _WHOLE = Example((_A, _B)), Example((_I, _J))
_BOOLS = Example((_A > 0, _B > 0))
_ONE = Example((_B,))

COMPARISONS = tuple(
    compute(name, doc, function, lower, (_PAIR, _WHOLE), gives_bool=True, chooses=True)
    for name, doc, function, lower in (
        ("_Equal", "Whether x = y.", np.equal, one_node("Equal")),
        ("_NotEqual", "Whether x is not y.", np.not_equal, one_node("Equal", "Not")),
        ("_Less", "Whether x < y.", np.less, one_node("Less")),
        ("_LessEqual", "Whether x <= y.", np.less_equal, one_node("LessOrEqual")),
        ("_Greater", "Whether x > y.", np.greater, one_node("Greater")),
        ("_GreaterEqual", "Whether x >= y.", np.greater_equal, one_node("GreaterOrEqual")),
    )
)

LOGICALS = (
    compute("_LogicalAnd", "x and y.", np.logical_and, one_node("And"), (_BOOLS,), gives_bool=True),
    compute("_LogicalOr", "x or y.", np.logical_or, one_node("Or"), (_BOOLS,), gives_bool=True),
    compute(
        "_LogicalNot",
        "Not x.",
        np.logical_not,
        one_node("Not"),
        (Example((_A > 0,)),),
        inputs=("x",),
        gives_bool=True,
    ),
)


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))


_NEAREST = "The nearest whole number, the even one of two."

ARITHMETIC = (
    *(
        compute(name, doc, function, lower, (_PAIR, _WHOLE), chooses=True)
        for name, doc, function, lower in (
            ("_FloorDiv", "floor(x / y).", np.floor_divide, _floor_div),
            ("_FloorMod", "x - floor(x / y) y.", np.mod, _floor_mod),
        )
    ),
    compute(
        "_SquaredDifference",
        "(x - y) squared.",
        lambda x, y: (x - y) ** 2,
        _squared_difference,
        (_PAIR,),
    ),
    compute(
        "_AddN",
        "The sum of all inputs, which have one shape.",
        lambda *arrays: sum(arrays),
        one_node("Sum"),
        (Example((_A, _B, _A)),),
        inputs=("inputs...",),
    ),
    *(
        compute(name, doc, function, lower, (_ONE,), inputs=("x",), chooses=True)
        for name, doc, function, lower in (
            (
                "_Round",
                "The nearest whole number, the even one of two.",
                np.rint,
                one_node("Round"),
            ),
            ("_Rint", _NEAREST, np.rint, one_node("Round")),
            ("_Sign", "-1, 0 or 1.", np.sign, one_node("Sign")),
        )
    ),
    *(
        compute(name, doc, function, lower, (_ONE,), inputs=("x",))
        for name, doc, function, lower in (
            ("_Erf", "The error function.", _erf, one_node("Erf")),
            ("_Reciprocal", "1 / x.", np.reciprocal, one_node("Reciprocal")),
            ("_Inv", "1 / x.", np.reciprocal, one_node("Reciprocal")),
        )
    ),
)

TF_MATH = (*CORE_FUNCTIONS, TF_LEAKY_RELU, *PASSED_ON, *COMPARISONS, *LOGICALS, *ARITHMETIC)
