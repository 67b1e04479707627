"""ONNX's operators element by element: arithmetic, activations, comparisons, choices."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from ufkit.conversion.onnx_graph import OnnxCall
from ufkit.conversion.onnx_tensor import type_of
from ufkit.conversion.onnx_walk import Entry, Refused, Walk
from ufkit.core.dtypes import FLOAT16, FLOAT32
from ufkit.uff.dims import Dim
from ufkit.uff.draft import Value

_FLOATS = (FLOAT16, FLOAT32)

# -- arithmetic ------------------------------------------------------------------------------


def _binary(func: str) -> Entry:
    return lambda walk, node: walk.binary(func, walk.input(node), walk.input(node, 1))


def _chain(func: str) -> Entry:
    """An operator that takes any number of values, two by two."""

    def write(walk: Walk, node: OnnxCall) -> Value:
        return reduce(lambda x, y: walk.binary(func, x, y), walk.inputs(node))

    return write


def _mean(walk: Walk, node: OnnxCall) -> Value:
    total = reduce(lambda x, y: walk.binary("add", x, y), walk.inputs(node))
    return walk.binary("div", total, len(node.inputs)) if node.inputs[1:] else total


def _power(walk: Walk, node: OnnxCall) -> Value:
    """A square has a name of its own, which is exact where logarithms are not."""
    x, exponent = walk.input(node), walk.input(node, 1)
    known = exponent.array()
    if known is not None and known.size == 1 and exponent.rank <= x.rank and known.item() == 2:
        return walk.unary("square", x)
    if x.dtype not in _FLOATS and exponent.dtype in _FLOATS:  # roots of whole numbers
        power = walk.binary("pow", walk.cast(x, exponent.dtype), exponent)
        return walk.cast(power, x.dtype)
    return walk.binary("pow", x, walk.cast(exponent, x.dtype))


def _remainder(walk: Walk, node: OnnxCall) -> Value:
    return walk.op("_Mod" if node.whole("fmod") else "_FloorMod", *walk.inputs(node)[:2])


def _unary(func: str) -> Entry:
    return lambda walk, node: walk.unary(func, walk.input(node))


def _custom(operation: str) -> Entry:
    """An operator that UFF has as TensorFlow's, on the same inputs."""
    return lambda walk, node: walk.op(operation, *walk.inputs(node))


def _reciprocal(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    return walk.binary("div", walk.like(1, x), x)


# -- activations -----------------------------------------------------------------------------


def _activation(func: str) -> Entry:
    return lambda walk, node: walk.activation(func, walk.input(node))


def _relu(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    return walk.activation("relu", x) if x.dtype in _FLOATS else walk.binary("max", x, 0)


def _clip(walk: Walk, node: OnnxCall) -> Value:
    """Bounds are attributes before version 11, inputs since."""
    x = walk.input(node)
    low, high = (walk.maybe(node, i) for i in (1, 2))
    if low is None and "min" in node.attributes:
        low = walk.like(node.real("min"), x)
    if high is None and "max" in node.attributes:
        high = walk.like(node.real("max"), x)
    if x.dtype in _FLOATS and _number(low) == 0 and _number(high) == 6:
        return walk.activation("relu6", x)
    if x.dtype in _FLOATS and _number(low) == 0 and high is None:
        return walk.activation("relu", x)
    if low is not None and not _unbounded(low, -1):
        x = walk.binary("max", x, low)
    return x if high is None or _unbounded(high, 1) else walk.binary("min", x, high)


def _number(value: Value | None) -> float | None:
    """The number that a value is; None where it is none, or not known."""
    array = None if value is None else value.array()
    return None if array is None or array.size != 1 else float(array.item())


def _unbounded(bound: Value, sign: int) -> bool:
    """Whether every number of the type lies within a bound, as exporters write it for none."""
    number = _number(bound)
    if number is None or bound.dtype not in _FLOATS:
        return False
    return sign * number >= float(np.finfo(bound.dtype.numpy).max)


def _leaky(walk: Walk, node: OnnxCall) -> Value:
    return walk.op("LeakyRelu", walk.input(node), alpha=node.real("alpha", 0.01))


def _below(walk: Walk, x: Value) -> Value:
    """The elements that are less than 0, and 0 for the others."""
    return walk.binary("min", x, 0)


def _sloped(walk: Walk, node: OnnxCall) -> Value:
    """x where it is positive, a slope times it elsewhere."""
    x, slope = walk.input(node), walk.input(node, 1)
    if x.dtype in _FLOATS and (number := _number(slope)) is not None and slope.rank <= x.rank:
        return walk.op("LeakyRelu", x, alpha=number)
    above = walk.activation("relu", x) if x.dtype in _FLOATS else walk.binary("max", x, 0)
    return walk.binary("add", above, walk.binary("mul", _below(walk, x), slope))


def _elu(walk: Walk, node: OnnxCall) -> Value:
    x, alpha = walk.input(node), node.real("alpha", 1.0)
    if alpha == 1:
        return walk.activation("elu", x)
    low = walk.binary("mul", walk.activation("elu", _below(walk, x)), alpha)
    return walk.binary("add", walk.activation("relu", x), low)


def _celu(walk: Walk, node: OnnxCall) -> Value:
    """max(x, 0) + alpha (exp(min(x, 0) / alpha) - 1)."""
    x, alpha = walk.input(node), node.real("alpha", 1.0)
    scaled = walk.binary("div", _below(walk, x), alpha)
    low = walk.binary("mul", walk.activation("elu", scaled), alpha)
    return walk.binary("add", walk.activation("relu", x), low)


# https://www.tensorflow.org/api_docs/python/tf/nn/selu: what UFF's own has
_SELU = np.float32(1.6732632423543772), np.float32(1.0507009873554805)


def _selu(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    alpha = node.real("alpha", float(_SELU[0]))
    gamma = node.real("gamma", float(_SELU[1]))
    if (np.float32(alpha), np.float32(gamma)) == _SELU:
        return walk.activation("selu", x)
    low = walk.binary("mul", walk.activation("elu", _below(walk, x)), alpha * gamma)
    high = walk.binary("mul", walk.activation("relu", x), gamma)
    return walk.binary("add", high, low)


def _line(walk: Walk, x: Value, alpha: float, beta: float) -> Value:
    """max(0, min(1, alpha x + beta)); where that is relu6(x + 3) / 6, so."""
    if np.isclose(alpha, 1 / 6, rtol=1e-6) and beta == 0.5:
        return walk.binary("div", walk.activation("relu6", walk.binary("add", x, 3)), 6)
    line = walk.binary("add", walk.binary("mul", x, alpha), beta)
    return walk.binary("min", walk.activation("relu", line), 1)


def _hard_sigmoid(walk: Walk, node: OnnxCall) -> Value:
    alpha, beta = node.real("alpha", 0.2), node.real("beta", 0.5)
    return _line(walk, walk.input(node), alpha, beta)


def _hard_swish(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    return walk.binary("mul", x, _line(walk, x, 1 / 6, 0.5))


def _swish(walk: Walk, node: OnnxCall) -> Value:
    x, alpha = walk.input(node), node.real("alpha", 1.0)
    steep = x if alpha == 1 else walk.binary("mul", x, alpha)
    return walk.binary("mul", x, walk.activation("sigmoid", steep))


# -- comparisons and choices -----------------------------------------------------------------


def _equal(walk: Walk, node: OnnxCall) -> Value:
    """Sizes that are not known yet are less than none: they differ from -1 and the like."""
    values = walk.inputs(node)
    equal = walk.op("_Equal", *values)
    left, right = (value.facts.value for value in values[:2])
    if equal.operation and left is not None and right is not None:
        pairs = np.broadcast(left, right)
        told = [_same(a, b) for a, b in pairs]
        if None not in told:
            return walk.const(np.array(told, bool).reshape(pairs.shape))
    return equal


def _same(a: int | Dim, b: int | Dim) -> bool | None:
    """Whether two sizes are equal; None where that depends on what is fed."""
    if not isinstance(a, Dim) and not isinstance(b, Dim):
        return bool(a == b)
    if a == b:
        return True
    numbers = [size for size in (a, b) if not isinstance(size, Dim)]
    return False if numbers and numbers[0] < 0 else None


def _xor(walk: Walk, node: OnnxCall) -> Value:
    return walk.op("_NotEqual", *walk.inputs(node))


def _where(walk: Walk, node: OnnxCall) -> Value:
    condition, x, y = (walk.input(node, i) for i in range(3))
    value = walk.op("_SelectV2", condition, x, y)
    known, left, right = condition.array(), x.facts.value, y.facts.value
    if value.operation and known is not None and left is not None and right is not None:
        value.facts = replace(value.facts, value=np.where(known, left, right))
    return value


def _is_infinite(walk: Walk, node: OnnxCall) -> Value:
    if not (node.whole("detect_negative", 1) and node.whole("detect_positive", 1)):
        raise Refused("it looks for infinity of one sign only")
    return walk.op("_IsInf", walk.input(node))


# -- types -----------------------------------------------------------------------------------


def _cast(walk: Walk, node: OnnxCall) -> Value:
    return walk.cast(walk.input(node), type_of(node.whole("to")).dtype)


def _cast_like(walk: Walk, node: OnnxCall) -> Value:
    return walk.cast(walk.input(node), walk.input(node, 1).dtype)


def _same_value(walk: Walk, node: OnnxCall) -> Value:
    return walk.input(node)


def _dropout(walk: Walk, node: OnnxCall) -> list[Value | None]:
    """What inference does of it: nothing."""
    training = walk.maybe(node, 2)
    if training is not None and walk.elements(training, "training_mode").any():
        raise Refused("it is in training mode", "export the model for inference")
    return [walk.input(node)]


_UNARY = {name.capitalize(): name for name in (
    "neg", "exp", "log", "abs", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "asin", "acos",
    "atan", "asinh", "acosh", "atanh", "ceil", "floor",
)}  # fmt: skip
_CUSTOM: dict[str, str] = {
    "Erf": "_Erf",
    "Sign": "_Sign",
    "Round": "_Round",
    "IsNaN": "_IsNan",
    "Less": "_Less",
    "LessOrEqual": "_LessEqual",
    "Greater": "_Greater",
    "GreaterOrEqual": "_GreaterEqual",
    "And": "_LogicalAnd",
    "Or": "_LogicalOr",
    "Not": "_LogicalNot",
}

MATH: dict[str, Entry] = {
    "Add": _binary("add"),
    "Sub": _binary("sub"),
    "Mul": _binary("mul"),
    "Div": _binary("div"),
    "Pow": _power,
    "Mod": _remainder,
    "Min": _chain("min"),
    "Max": _chain("max"),
    "Sum": _chain("add"),
    "Mean": _mean,
    **{name: _unary(func) for name, func in _UNARY.items()},
    **{name: _custom(operation) for name, operation in _CUSTOM.items()},
    "Reciprocal": _reciprocal,
    "Relu": _relu,
    "Clip": _clip,
    "LeakyRelu": _leaky,
    "PRelu": _sloped,
    "Elu": _elu,
    "Celu": _celu,
    "Selu": _selu,
    "Sigmoid": _activation("sigmoid"),
    "Tanh": _activation("tanh"),
    "Softplus": _activation("softplus"),
    "Softsign": _activation("softsign"),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Swish": _swish,
    "Equal": _equal,
    "Xor": _xor,
    "Where": _where,
    "IsInf": _is_infinite,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Identity": _same_value,
    "Dropout": _dropout,
}
