"""Operations on maps, whose axes have a meaning: windows, norms, biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ufkit.conversion.tf_graph import TfNode
from ufkit.conversion.tf_tensor import TfTensor
from ufkit.conversion.tf_walk import Entry, Refused, Walk

_KERNEL, _DEPTH, _TRANSPOSED = "+CK", 2, "+KC"


def _channels_first(node: TfNode) -> bool:
    return node.text("data_format", "NHWC").startswith("NC")


def _order(node: TfNode) -> str:
    return "NC+" if _channels_first(node) else "N+C"


def _spatial(node: TfNode, values: Sequence[Any]) -> Sequence[Any]:
    """Of a list with one element an axis, those of the spatial axes."""
    return values[2:] if _channels_first(node) else values[1:-1]


def _padded(walk: Walk, node: TfNode, ref: str) -> tuple[str, dict[str, Any]]:
    """What a window moves over, and the fields that say how that is padded.

    A Pad of as many zeros before as behind becomes a field, if nothing else is padded.
    """
    padding = node.text("padding")
    if padding == "SAME":
        return walk.spell(ref), {"implicit_padding": "same"}
    if padding == "EXPLICIT":
        flat = node.wholes("explicit_paddings")
        return _with_zeros(walk, node, ref, [*zip(flat[::2], flat[1::2], strict=False)])
    if padding != "VALID":
        raise Refused(f"its padding is {padding}, and UFF has none such")
    before = walk.graph.node(ref, node)
    if before.op == "Pad" and (fields := _padding_field(node, walk.pairs(before, 1))) is not None:
        return walk.inputs(before)[0], fields
    return walk.spell(ref), {}


def _with_zeros(
    walk: Walk, node: TfNode, ref: str, rows: list[tuple[int, int]]
) -> tuple[str, dict[str, Any]]:
    """As `_padded`, for zeros of the window's own: a field where that can be, else a Pad."""
    if (fields := _padding_field(node, rows)) is not None:
        return walk.spell(ref), {} if fields["padding"] == [0, 0] else fields
    amounts = walk.array(f"{node.name}/paddings", np.array(rows, np.int32))
    return walk.aside(f"{node.name}/Pad", "Pad", [walk.spell(ref), amounts]), {}


def _padding_field(node: TfNode, rows: Sequence[tuple[int, int]]) -> dict[str, Any] | None:
    """Zeros before and behind each axis as the field of a window; None where that cannot be."""
    if len(rows) < 3:
        return None
    spatial = _spatial(node, rows)
    outside = sum(map(sum, rows)) - sum(map(sum, spatial))
    if outside or any(first != last for first, last in spatial):
        return None
    return {"padding": [first for first, _ in spatial]}


def _convolution(walk: Walk, node: TfNode, **fields: Any) -> None:
    image, kernel = walk.sources(node, 2)[:2]
    taken, padding = _padded(walk, node, image)
    fields["strides"] = _spatial(node, node.wholes("strides"))
    if dilations := node.wholes("dilations"):
        fields["dilation"] = _spatial(node, dilations)
    inputs = [taken, walk.spell(kernel)]
    walk.op(node, "Conv", inputs, f"{_order(node)}_{_KERNEL}", **fields, **padding)


def _depthwise(walk: Walk, node: TfNode) -> None:
    _convolution(walk, node, number_groups=_groups(walk, node))


def _groups(walk: Walk, node: TfNode) -> int:
    kernel = walk.known(node, 1)
    if kernel is None or len(kernel.shape) != 4:
        raise Refused("its kernel is no constant of 4 axes, whose third is the number of groups")
    return kernel.shape[_DEPTH]


def _dilated(walk: Walk, node: TfNode) -> None:
    """One convolution for the three nodes that TensorFlow wrote a dilated one with.

    SpaceToBatchND puts zeros around a map and cuts it into as many as the block has elements,
    a convolution works on all of them, BatchToSpaceND joins them and cuts edges off. An edge cut
    off is a zero not needed.
    """
    conv = walk.graph.node(walk.sources(node, 3)[0], node)
    cut = walk.graph.node(walk.sources(conv, 1)[0], conv) if conv.inputs else conv
    if conv.op not in ("Conv2D", "DepthwiseConv2dNative") or cut.op != "SpaceToBatchND":
        raise Refused("it does not end a dilated convolution")
    block = walk.wholes(cut, 1, "block")
    rows = [
        (added[0] - taken[0], added[1] - taken[1])
        for added, taken in zip(walk.pairs(cut, 2), walk.pairs(node, 2), strict=False)
    ]
    ones = {*conv.wholes("strides"), *conv.wholes("dilations")} == {1}
    plain = ones and conv.text("padding") == "VALID" and not _channels_first(conv)
    fits = block == walk.wholes(node, 1, "block") and len(rows) == len(block) == 2
    if not (plain and fits) or min(map(min, rows)) < 0:
        raise Refused("what it ends is no convolution that a dilation could say")
    fields: dict[str, Any] = {"strides": [1, 1], "dilation": block}
    if conv.op == "DepthwiseConv2dNative":
        fields["number_groups"] = _groups(walk, conv)
    taken, padding = _with_zeros(walk, conv, walk.sources(cut, 1)[0], [(0, 0), *rows, (0, 0)])
    inputs = [taken, walk.inputs(conv, 2)[1]]
    walk.op(node, "Conv", inputs, f"{_order(conv)}_{_KERNEL}", **fields, **padding)


def _transposed(walk: Walk, node: TfNode) -> None:
    """TensorFlow's inputs are the shape of the result, the kernel, the map."""
    shape, kernel, image = walk.inputs(node, 3)[:3]
    fields: dict[str, Any] = {"strides": _spatial(node, node.wholes("strides"))}
    if dilations := node.wholes("dilations"):
        fields["dilation"] = _spatial(node, dilations)
    padding = node.text("padding")
    if padding == "SAME":
        fields["implicit_padding"] = "same"
    elif padding != "VALID":
        raise Refused(f"its padding is {padding}, and UFF has SAME and VALID")
    order = f"{_order(node)}_{_TRANSPOSED}"
    walk.op(node, "ConvTranspose", [image, kernel, shape], order, **fields)


def _pool(func: str) -> Entry:
    def write(walk: Walk, node: TfNode) -> None:
        taken, padding = _padded(walk, node, walk.sources(node, 1)[0])
        fields = {
            "func": func,
            "kernel": _spatial(node, node.wholes("ksize")),
            "strides": _spatial(node, node.wholes("strides")),
        }
        walk.op(node, "Pool", [taken], _order(node), **fields, **padding)

    return write


def _bias_add(walk: Walk, node: TfNode) -> None:
    """The bias is written before the node that adds it; channels first, with axes behind it."""
    inputs = walk.inputs(node, 2)
    bias = walk.known(node, 1)
    if not _channels_first(node):
        if bias is not None:
            walk.const(walk.graph.node(inputs[1], node))
    elif bias is None:
        raise Refused("channels come first, and its bias is no constant")
    else:
        turned = TfTensor(bias.type, (*bias.shape, 1, 1), bias.span, bias.one_by_one)
        inputs[1] = walk.const(TfNode.constant(inputs[1], turned, node.file))
    walk.op(node, "Binary", inputs, func="add")


def _batch_norm(walk: Walk, node: TfNode) -> None:
    epsilon = node.real("epsilon", float(np.float32(1e-4)))
    walk.op(node, "BatchNorm", walk.inputs(node)[:5], _order(node), epsilon=epsilon)


def _softmax(walk: Walk, node: TfNode) -> None:
    """The axis is TensorFlow's last one, which UFF says with 0."""
    walk.op(node, "Softmax", walk.inputs(node), _order(node), axis=0)


def _lrn(walk: Walk, node: TfNode) -> None:
    """UFF's window is TensorFlow's radius: that is what the converter wrote."""
    radius = node.whole("depth_radius") if "depth_radius" in node.attrs else 5
    walk.op(
        node,
        "LRN",
        walk.inputs(node),
        _order(node),
        window_size=radius,
        alpha=node.real("alpha", 1.0),
        beta=node.real("beta", 0.5),
        k=node.real("bias", 1.0),
    )


MAPS: dict[str, Entry] = {
    "Conv2D": _convolution,
    "DepthwiseConv2dNative": _depthwise,
    "Conv2DBackpropInput": _transposed,
    "BatchToSpaceND": _dilated,
    "MaxPool": _pool("max"),
    "AvgPool": _pool("avg"),
    "BiasAdd": _bias_add,
    "FusedBatchNorm": _batch_norm,
    "Softmax": _softmax,
    "LRN": _lrn,
}
