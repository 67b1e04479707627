"""ONNX's layers: products with matrices, norms, Softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ufkit.conversion.onnx_graph import OnnxCall
from ufkit.conversion.onnx_walk import Entry, Refused, Walk, axis_of
from ufkit.uff.dims import product
from ufkit.uff.draft import Value

_MAP = "NC+"
_ONE_AXIS = 13  # the opset since which Softmax concerns one axis and not all behind it

# -- products --------------------------------------------------------------------------------


def _gemm(walk: Walk, node: OnnxCall) -> Value:
    """alpha A B + beta C; factors go into what is constant."""
    left, right = walk.input(node), walk.input(node, 1)
    orders = f"{'CN' if node.whole('transA') else 'NC'}_{'KC' if node.whole('transB') else 'CK'}"
    alpha, beta = node.real("alpha", 1.0), node.real("beta", 1.0)
    if alpha != 1 and right.constant is not None:
        right, alpha = walk.binary("mul", right, alpha), 1
    y = walk.op("FullyConnected", left, right, orders=orders)
    if alpha != 1:
        y = walk.binary("mul", y, alpha)
    bias = walk.maybe(node, 2)
    if bias is None or beta == 0:
        return y
    return walk.binary("add", y, bias if beta == 1 else walk.binary("mul", bias, beta))


def _matmul(walk: Walk, node: OnnxCall) -> Value:
    """A matrix of weights makes a FullyConnected layer, whatever comes before its rows."""
    left, right = walk.input(node), walk.input(node, 1)
    if not left.rank or not right.rank:
        raise Refused("a product with a scalar")
    if left.rank == 1:
        product_ = _product(walk, walk.op("ExpandDims", left, axis=0), right)
        return walk.op("Squeeze", product_, axes=[product_.rank - (2 if right.rank > 1 else 1)])
    return _product(walk, left, right)


def _product(walk: Walk, left: Value, right: Value) -> Value:
    if right.rank == 1:
        y = _product(walk, left, walk.op("ExpandDims", right, axis=1))
        return walk.op("Squeeze", y, axes=[y.rank - 1])
    if left.rank == right.rank == 2:
        return walk.op("FullyConnected", left, right, orders="NC_CK")
    if right.rank == 2 and right.constant is not None:
        *outer, inner = left.shape
        rows = walk.reshape(left, [product(tuple(outer)), inner])
        y = walk.op("FullyConnected", rows, right, orders="NC_CK")
        return walk.reshape(y, [*outer, y.shape[1]])
    return walk.op("_BatchMatMulV2", left, right)


# -- norms -----------------------------------------------------------------------------------


def _batch_norm(walk: Walk, node: OnnxCall) -> list[Value | None]:
    if node.whole("training_mode") or not node.whole("spatial", 1):
        raise Refused("it is in training mode", "export the model for inference")
    x = walk.input(node)
    moments = [walk.cast(walk.input(node, i), x.dtype) for i in range(1, 5)]
    epsilon = node.real("epsilon", 1e-5)
    return [walk.op("BatchNorm", x, *moments, orders=_MAP, epsilon=epsilon)]


def _normalised(
    walk: Walk, x: Value, axes: Sequence[int], epsilon: float
) -> tuple[Value, Value, Value]:
    """(x - mean) / sqrt(variance + epsilon) along some axes; the mean, and 1 / that root."""

    def mean(value: Value) -> Value:
        return walk.op("Reduce", value, func="mean", axes=[*axes], keepdims=True)

    middle = mean(x)
    centred = walk.binary("sub", x, middle)
    variance = mean(walk.unary("square", centred))
    factor = walk.unary("rsqrt", walk.binary("add", variance, epsilon))
    return walk.binary("mul", centred, factor), middle, factor


def _instance_norm(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    if x.rank < 3:
        raise Refused(f"a map needs a spatial axis; this one has rank {x.rank}")
    y, *_ = _normalised(walk, x, range(2, x.rank), node.real("epsilon", 1e-5))
    column = [-1, *[1] * (x.rank - 2)]
    scale, bias = (walk.reshape(walk.input(node, i), column) for i in (1, 2))
    return walk.binary("add", walk.binary("mul", y, scale), bias)


def _layer_norm(walk: Walk, node: OnnxCall) -> list[Value | None]:
    x, scale, bias = walk.input(node), walk.input(node, 1), walk.maybe(node, 2)
    axes = range(axis_of(node.whole("axis", -1), x.rank), x.rank)
    y, middle, factor = _normalised(walk, x, axes, node.real("epsilon", 1e-5))
    y = walk.binary("mul", y, scale)
    return [y if bias is None else walk.binary("add", y, bias), middle, factor]


def _lrn(walk: Walk, node: OnnxCall) -> Value:
    """UFF's window is told by how far it reaches, and its alpha is not divided by the window."""
    size = node.whole("size")
    if size % 2 == 0:
        raise Refused(f"its window is {size} channels wide; UFF's reach alike to both sides")
    return walk.op(
        "LRN",
        walk.input(node),
        orders=_MAP,
        window_size=size // 2,
        alpha=node.real("alpha", 1e-4) / size,
        beta=node.real("beta", 0.75),
        k=node.real("bias", 1.0),
    )


# -- Softmax ---------------------------------------------------------------------------------


def _softmax(walk: Walk, node: OnnxCall) -> Value:
    return _along(walk, node, lambda x: walk.op("Softmax", x, orders=_MAP, axis=x.rank - 1))


def _log_softmax(walk: Walk, node: OnnxCall) -> Value:
    """x - max - log(sum(exp(x - max)))."""

    def lower(x: Value) -> Value:
        def reduced(func: str, value: Value) -> Value:
            return walk.op("Reduce", value, func=func, axes=[value.rank - 1], keepdims=True)

        shifted = walk.binary("sub", x, reduced("max", x))
        total = walk.unary("log", reduced("sum", walk.unary("exp", shifted)))
        return walk.binary("sub", shifted, total)

    return _along(walk, node, lower)


def _along(walk: Walk, node: OnnxCall, lower: Callable[[Value], Value]) -> Value:
    """A function of the last axis, for whichever axis it is meant."""
    x = walk.input(node)
    if node.opset < _ONE_AXIS:
        axis = axis_of(node.whole("axis", 1), x.rank) if x.rank > 1 else 0
        if axis == x.rank - 1:
            return lower(x)
        rows = walk.reshape(x, [product(x.shape[:axis]), product(x.shape[axis:])])
        return walk.reshape(lower(rows), x.shape)
    axis = axis_of(node.whole("axis", -1), x.rank)
    order = [*(at for at in range(x.rank) if at != axis), axis]
    back = [order.index(at) for at in range(x.rank)]
    return walk.transpose(lower(walk.transpose(x, order)), back)


LAYERS: dict[str, Entry] = {
    "Gemm": _gemm,
    "MatMul": _matmul,
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "LRN": _lrn,
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
}
