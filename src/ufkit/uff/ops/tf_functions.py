"""Further TensorFlow functions element by element: guarded quotients, tests, remainders."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.spec import Array, Call, Example
from ufkit.uff.ops.tf_math import Lower, compute, one_node

_X = np.array([[-0.5, 0.0, 0.0], [1.0, 1.5, 3.5]], np.float32)
_Y = np.array([[2.5, 2.0, 0.0], [1.0, 0.5, 4.0]], np.float32)
_ODD = np.array([[np.nan, np.inf, 0.0], [-np.inf, 1.5, -3.5]], np.float32)
_I, _J = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
_REALS = np.array([7.5, -7.5, 7.5, -7.5], np.float32)


def _guarded(i: int, lower: Lower) -> Lower:
    """A function that is 0 wherever operand `i` is, whatever it gives there."""

    def guarded(call: Call, emit: Emitter, names: list[str]) -> str:
        zero = emit.constant(0, call.inputs[0].dtype.name)
        return emit.node(
            "Where", emit.node("Equal", names[i], zero), zero, lower(call, emit, names)
        )

    return guarded


def _with_one(op_type: str, before: str = "", after: str = "") -> Lower:
    """Log(x + 1) and the like: one node with a constant of 1 added before or taken after it."""

    def lower(call: Call, emit: Emitter, names: list[str]) -> str:
        one = emit.constant(1, call.inputs[0].dtype.name)
        name = emit.node(before, names[0], one) if before else names[0]
        name = emit.node(op_type, name)
        return emit.node(after, name, one) if after else name

    return lower


def _times_log(_: Call, emit: Emitter, names: list[str]) -> str:
    return emit.node("Mul", names[0], emit.node("Log", names[1]))


def _is_finite(_: Call, emit: Emitter, names: list[str]) -> str:
    odd = emit.node("Or", emit.node("IsNaN", *names), emit.node("IsInf", *names))
    return emit.node("Not", odd)


def _remainder(_: Call, emit: Emitter, names: list[str]) -> str:
    return emit.node("Mod", *names, fmod=1)


def _truncated(x: Array, y: Array) -> Any:
    return np.trunc(x.astype(np.float64) / y)


_DIV = one_node("Div")

TF_FUNCTIONS = (
    *(
        compute(name, doc, function, lower, (Example((_X, _Y)),))
        for name, doc, function, lower in (
            (
                "_Xdivy",
                "x / y, 0 where x is.",
                lambda x, y: np.where(x == 0, 0, x / y),
                _guarded(0, _DIV),
            ),
            (
                "_Xlogy",
                "x log y, 0 where x is.",
                lambda x, y: np.where(x == 0, 0, x * np.log(y)),
                _guarded(0, _times_log),
            ),
            (
                "_DivNoNan",
                "x / y, 0 where y is.",
                lambda x, y: np.where(y == 0, 0, x / y),
                _guarded(1, _DIV),
            ),
        )
    ),
    *(
        compute(name, doc, function, lower, (Example((_X,)),), inputs=("x",))
        for name, doc, function, lower in (
            ("_Log1p", "log(1 + x).", np.log1p, _with_one("Log", before="Add")),
            ("_Expm1", "exp(x) - 1.", np.expm1, _with_one("Exp", after="Sub")),
        )
    ),
    *(
        compute(name, doc, function, lower, (Example((_ODD,)),), inputs=("x",), gives_bool=True)
        for name, doc, function, lower in (
            ("_IsNan", "Whether x is not a number.", np.isnan, one_node("IsNaN")),
            ("_IsInf", "Whether x is infinite.", np.isinf, one_node("IsInf")),
            ("_IsFinite", "Whether x is a finite number.", np.isfinite, _is_finite),
        )
    ),
    compute(
        "_TruncateDiv",
        "x / y of whole numbers, its fraction dropped.",
        _truncated,
        _DIV,
        (Example((_I, _J)),),
    ),
    *(
        compute(
            name,
            "What is left of x when y is taken off as often as it goes, with the sign of x.",
            np.fmod,
            _remainder,
            (Example((_I, _J)), Example((_REALS, _J.astype(np.float32)))),
        )
        for name in ("_Mod", "_TruncateMod")
    ),
)
