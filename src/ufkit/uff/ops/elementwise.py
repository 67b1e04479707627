"""Operations element by element: Binary, Unary, Activation, LeakyRelu, Identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ufkit.core.dtypes import FLOAT16, FLOAT32, INT32
from ufkit.uff.dims import Dim, Shape, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec

_FLOATS = (FLOAT16, FLOAT32)


def broadcast(call: Call) -> Shape:
    """The shape all inputs broadcast to, by NumPy's rule. Fails (UFF302) where they do not."""
    rank = max(call.rank(i) for i in range(len(call.inputs)))
    shape: list[int | Dim] = [1] * rank
    for i in range(len(call.inputs)):
        mine = call.shape(i)
        for at, size in enumerate(mine, rank - len(mine)):
            if shape[at] == 1:
                shape[at] = size
            elif size != 1 and (both := unify(shape[at], size)) is not None:
                shape[at] = both
            elif size != 1:
                shapes = " and ".join(show(call.shape(j)) for j in range(len(call.inputs)))
                call.conflict(f"{shapes} cannot be broadcast together")
    return tuple(shape)


def _divide(x: Array, y: Array) -> Array:
    """Integers are divided towards zero, as TensorFlow's Div does."""
    if x.dtype.kind == "f" or x.dtype == object:
        return np.divide(x, y) if x.dtype.kind == "f" else np.floor_divide(x, y)
    quotient = np.abs(x.astype(np.int64)) // np.abs(y.astype(np.int64))
    return (quotient * np.sign(x) * np.sign(y)).astype(x.dtype)


def _power(x: Array, y: Array) -> Array:
    """Sizes that are not known are never raised: exact powers of integers have no bound."""
    if x.dtype == object or y.dtype == object:
        raise TypeError("a power of a size that is not known")
    return np.asarray(np.power(x, y))


_BINARY: dict[str, tuple[Callable[..., Any], str]] = {
    "min": (np.minimum, "Min"),
    "max": (np.maximum, "Max"),
    "mul": (np.multiply, "Mul"),
    "sub": (np.subtract, "Sub"),
    "div": (_divide, "Div"),
    "add": (np.add, "Add"),
    "pow": (_power, "Pow"),
}


def _infer_binary(call: Call) -> Facts:
    left, right = call.inputs
    if left.dtype != right.dtype:
        call.conflict(f"the two operands are {left.dtype} and {right.dtype}")
    return Facts(broadcast(call), left.dtype)


def _evaluate_binary(call: Call, x: Array, y: Array) -> Array:
    compute, _ = _BINARY[call["func"]]
    return np.asarray(compute(x, y))


def _binary_to_onnx(call: Call, emit: Emitter) -> None:
    _, op_type = _BINARY[call["func"]]
    order = emit.common()
    dtype = call.inputs[0].dtype
    operands = [emit.value(0, order), emit.value(1, order)]
    if dtype.name in ("int8", "int16"):  # no run time computes these; the low bits are the same
        operands = [emit.cast(name, INT32) for name in operands]
    name = emit.node(op_type, *operands)
    emit.result(emit.cast(name, dtype) if dtype.name in ("int8", "int16") else name, order)


BINARY = OpSpec(
    name="Binary",
    doc="Two operands element by element, broadcast as NumPy does. Integers are divided towards "
    "zero.",
    inputs=("x", "y"),
    fields={"func": Field("s", "what is computed", choices=tuple(_BINARY))},
    infer=_infer_binary,
    evaluate=_evaluate_binary,
    to_onnx=_binary_to_onnx,
    examples=tuple(
        Example((np.full((2, 3, 4), 1.5, np.float32), (4,)), {"func": func}, const=(0,))
        for func in _BINARY
    ),
)


def _square(x: Array) -> Array:
    return x * x


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


# ONNX operators one after the other, each on the result of the last; "Square" is Mul(x, x)
_UNARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "neg": (np.negative, ("Neg",)),
    "exp": (np.exp, ("Exp",)),
    "log": (np.log, ("Log",)),
    "abs": (np.abs, ("Abs",)),
    "sqrt": (np.sqrt, ("Sqrt",)),
    "rsqrt": (_rsqrt, ("Sqrt", "Reciprocal")),
    "square": (_square, ("Square",)),
    "sin": (np.sin, ("Sin",)),
    "cos": (np.cos, ("Cos",)),
    "tan": (np.tan, ("Tan",)),
    "sinh": (np.sinh, ("Sinh",)),
    "cosh": (np.cosh, ("Cosh",)),
    "asin": (np.arcsin, ("Asin",)),
    "acos": (np.arccos, ("Acos",)),
    "atan": (np.arctan, ("Atan",)),
    "asinh": (np.arcsinh, ("Asinh",)),
    "acosh": (np.arccosh, ("Acosh",)),
    "atanh": (np.arctanh, ("Atanh",)),
    "ceil": (np.ceil, ("Ceil",)),
    "floor": (np.floor, ("Floor",)),
}


def _same(call: Call) -> Facts:
    return Facts(call.shape(0), call.inputs[0].dtype)


def _infer_unary(call: Call) -> Facts:
    if call["func"] not in ("neg", "abs", "square") and call.inputs[0].dtype not in _FLOATS:
        call.conflict(f"{call['func']} of {call.inputs[0].dtype} is not defined")
    return _same(call)


def in_double(compute: Callable[..., Any], *arrays: Array) -> Array:
    """A function of arrays, floats computed with twice their bits; rounding is the caller's."""
    return np.asarray(
        compute(*(a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays))
    )


def _evaluate_unary(call: Call, x: Array) -> Array:
    compute, _ = _UNARY[call["func"]]
    return in_double(compute, x).astype(x.dtype)


def _unary_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    name = emit.value(0, order)
    for op_type in _UNARY[call["func"]][1]:
        name = emit.node("Mul", name, name) if op_type == "Square" else emit.node(op_type, name)
    emit.result(name, order)


UNARY = OpSpec(
    name="Unary",
    doc="One function on each element.",
    inputs=("x",),
    fields={"func": Field("s", "what is computed", choices=tuple(_UNARY))},
    infer=_infer_unary,
    evaluate=_evaluate_unary,
    to_onnx=_unary_to_onnx,
    examples=tuple(
        Example((np.linspace(*ends, 12, dtype=np.float32).reshape(3, 4),), {"func": func})
        for func in _UNARY
        for ends in [(1.1, 3.0) if func == "acosh" else (0.1, 0.9)]
    ),
)

# https://www.tensorflow.org/api_docs/python/tf/nn/selu, the constants of arXiv:1706.02515
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0, -x))


_ACTIVATION: dict[str, tuple[Callable[..., Any], str, dict[str, float]]] = {
    "relu": (lambda x: np.maximum(x, 0), "Relu", {}),
    "relu6": (lambda x: np.clip(x, 0, 6), "Clip", {}),
    "sigmoid": (_sigmoid, "Sigmoid", {}),
    "tanh": (np.tanh, "Tanh", {}),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "Elu", {"alpha": 1.0}),
    "selu": (
        lambda x: _SELU_SCALE * np.where(x > 0, x, _SELU_ALPHA * np.expm1(np.minimum(x, 0))),
        "Selu",
        {"alpha": _SELU_ALPHA, "gamma": _SELU_SCALE},
    ),
    "softsign": (lambda x: x / (1 + np.abs(x)), "Softsign", {}),
    "softplus": (_softplus, "Softplus", {}),
}


def _evaluate_activation(call: Call, x: Array) -> Array:
    compute, _, _ = _ACTIVATION[call["func"]]
    return in_double(compute, x).astype(x.dtype)


def _activation_to_onnx(call: Call, emit: Emitter) -> None:
    _, op_type, attributes = _ACTIVATION[call["func"]]
    order, limits = emit.held(0), []
    if op_type == "Clip":
        dtype = call.inputs[0].dtype.name
        limits = [emit.constant(0, dtype), emit.constant(6, dtype)]
    emit.result(emit.node(op_type, emit.value(0, order), *limits, **attributes), order)


ACTIVATION = OpSpec(
    name="Activation",
    doc="An activation function on each element.",
    inputs=("x",),
    fields={"func": Field("s", "which function", choices=tuple(_ACTIVATION))},
    infer=_same,
    evaluate=_evaluate_activation,
    to_onnx=_activation_to_onnx,
    examples=tuple(
        Example((np.linspace(-4, 8, 12, dtype=np.float32).reshape(3, 4),), {"func": func})
        for func in _ACTIVATION
    ),
)


def _evaluate_leaky(call: Call, x: Array) -> Array:
    """x where positive, alpha x elsewhere."""
    return np.where(x > 0, x, x.astype(np.float64) * call["alpha"]).astype(x.dtype)


def _leaky_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    emit.result(emit.node("LeakyRelu", emit.value(0, order), alpha=call["alpha"]), order)


LEAKY_RELU = OpSpec(
    name="LeakyRelu",
    doc="x where it is positive, alpha x elsewhere.",
    inputs=("x",),
    fields={"alpha": Field("d", "slope for negative elements", 0.2)},
    infer=_same,
    evaluate=_evaluate_leaky,
    to_onnx=_leaky_to_onnx,
    examples=(Example(((3, 4),), {"alpha": 0.3}),),
)


def _infer_identity(call: Call) -> Facts:
    return call.inputs[0]


IDENTITY = OpSpec(
    name="Identity",
    doc="Its input.",
    inputs=("x",),
    fields={},
    infer=_infer_identity,
    evaluate=lambda _, x: x,
    to_onnx=lambda _, emit: emit.alias(0),
    examples=(Example(((2, 3),)),),
)
