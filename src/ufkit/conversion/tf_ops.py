"""What becomes of each operation of TensorFlow, as NVIDIA's converter had it.

An entry writes the node, and so names the inputs that are to be written after it. An input that
becomes a field (an axis, a permutation, paddings) is none of them.
"""

from __future__ import annotations

from functools import partial

from ufkit.conversion.tf_graph import TfNode
from ufkit.conversion.tf_ops_maps import MAPS
from ufkit.conversion.tf_walk import Entry, Refused, Walk


def _placeholder(walk: Walk, node: TfNode) -> None:
    shape = node.shape("shape")
    walk.builder.input(node.name, shape or (), walk.type_field(node, "dtype"))


def _const(walk: Walk, node: TfNode) -> None:
    walk.const(node)


def _element_wise(operation: str, func: str) -> Entry:
    def write(walk: Walk, node: TfNode) -> None:
        walk.op(node, operation, walk.inputs(node), func=func)

    return write


def _plain(operation: str) -> Entry:
    def write(walk: Walk, node: TfNode) -> None:
        walk.op(node, operation, walk.inputs(node))

    return write


def _leaky_relu(walk: Walk, node: TfNode) -> None:
    walk.op(node, "LeakyRelu", walk.inputs(node), alpha=node.real("alpha", 0.2))


def _mat_mul(walk: Walk, node: TfNode) -> None:
    left = "CN" if node.flag("transpose_a") else "NC"
    right = "KC" if node.flag("transpose_b") else "CK"
    walk.op(node, "FullyConnected", walk.inputs(node), f"{left}_{right}")


def _reshape(walk: Walk, node: TfNode) -> None:
    """A Flatten where the scope around it is called so: Keras' and Slim's layers are."""
    inputs = walk.inputs(node)
    scopes = node.name.lower().split("/")[:-1]
    if scopes and "flatten" in scopes[-1]:
        walk.op(node, "Flatten", inputs[:1])
    else:
        walk.op(node, "Reshape", inputs)


def _transpose(walk: Walk, node: TfNode) -> None:
    permutation = walk.wholes(node, 1, "permutation")
    walk.op(node, "Transpose", walk.inputs(node)[:1], permutation=permutation)


def _pack(walk: Walk, node: TfNode) -> None:
    walk.op(node, "Stack", walk.inputs(node), axis=node.whole("axis"))


def _concat(walk: Walk, node: TfNode) -> None:
    """The axis is an attribute of graphs that were edited, else an input."""
    inputs = walk.inputs(node)
    if "axis" in node.attrs:
        walk.op(node, "Concat", inputs, axis=node.whole("axis"))
    else:
        axis = walk.whole(node, len(inputs) - 1, "axis")
        walk.op(node, "Concat", inputs[:-1], axis=axis)


def _reduce(func: str) -> Entry:
    def write(walk: Walk, node: TfNode) -> None:
        axes = walk.wholes(node, 1, "axes")
        keepdims = node.flag("keep_dims")
        inputs = walk.inputs(node)[:1]
        walk.op(node, "Reduce", inputs, func=func, axes=axes, keepdims=keepdims)

    return write


def _with_axis(operation: str) -> Entry:
    def write(walk: Walk, node: TfNode) -> None:
        axis = walk.whole(node, 1, "axis")
        walk.op(node, operation, walk.inputs(node)[:1], axis=axis)

    return write


def _squeeze(walk: Walk, node: TfNode) -> None:
    axes = node.wholes("squeeze_dims") or node.wholes("axis")
    walk.op(node, "Squeeze", walk.inputs(node), axes=axes)


def _strided_slice(walk: Walk, node: TfNode) -> None:
    for mask in ("ellipsis_mask", "new_axis_mask"):
        if node.whole(mask):
            raise Refused(f"its {mask} is {node.whole(mask)}, and UFF has none")
    walk.op(
        node,
        "StridedSlice",
        walk.inputs(node),
        begin_mask=node.whole("begin_mask"),
        end_mask=node.whole("end_mask"),
        shrink_axis_mask=node.whole("shrink_axis_mask"),
    )


def _gather(walk: Walk, node: TfNode) -> None:
    walk.op(
        node,
        "Gather",
        walk.inputs(node),
        indices_dtype=walk.type_field(node, "Tindices"),
        params_dtype=walk.type_field(node, "Tparams"),
        validate_indices=node.attr("validate_indices", "b", True),
    )


def _gather_v2(walk: Walk, node: TfNode, *, type_: str = "Tparams") -> None:
    if node.whole("batch_dims"):
        raise Refused(f"its batch_dims is {node.whole('batch_dims')}, and UFF has none")
    walk.op(
        node,
        "GatherV2",
        walk.inputs(node)[:2],
        axis=walk.whole(node, 2, "axis") if len(node.inputs) > 2 else 0,
        indices_dtype=walk.type_field(node, "Tindices"),
        params_dtype=walk.type_field(node, type_),
    )


_BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "RealDiv": "div",
    "Pow": "pow",
    "Minimum": "min",
    "Maximum": "max",
}
_UNARY = (
    "Neg Exp Log Abs Sqrt Rsqrt Square Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Ceil "
    "Floor"
)
_ACTIVATIONS = "Relu Relu6 Sigmoid Tanh Elu Selu Softsign Softplus"
_REDUCTIONS = "Sum Prod Min Max Mean"

ENTRIES: dict[str, Entry] = {
    "Placeholder": _placeholder,
    "Const": _const,
    "Identity": _plain("Identity"),
    **{op: _element_wise("Binary", func) for op, func in _BINARY.items()},
    **{op: _element_wise("Unary", op.lower()) for op in _UNARY.split()},
    **{op: _element_wise("Activation", op.lower()) for op in _ACTIVATIONS.split()},
    **{op: _reduce(op.lower()) for op in _REDUCTIONS.split()},
    "LeakyRelu": _leaky_relu,
    "MatMul": _mat_mul,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Pack": _pack,
    "ConcatV2": _concat,
    "ArgMax": _with_axis("ArgMax"),
    "ArgMin": _with_axis("ArgMin"),
    "ExpandDims": _with_axis("ExpandDims"),
    "Squeeze": _squeeze,
    "Shape": _plain("Shape"),
    "StridedSlice": _strided_slice,
    "Pad": _plain("Pad"),
    "Gather": _gather,
    "GatherV2": _gather_v2,
    "ResourceGather": partial(_gather_v2, type_="dtype"),
    **MAPS,
}
