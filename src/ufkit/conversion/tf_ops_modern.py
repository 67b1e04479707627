"""Operations that NVIDIA's converter did not know: newer names, and such as are made of others."""

from __future__ import annotations

import numpy as np

from ufkit.conversion.tf_graph import TfNode
from ufkit.conversion.tf_ops import ENTRIES as CONVERTER
from ufkit.conversion.tf_walk import Entry, Refused, Walk


def _batch_norm(walk: Walk, node: TfNode) -> None:
    if node.attr("is_training", "b", True):
        raise Refused("it takes the mean and the variance of its own batch, as in training")
    CONVERTER["FusedBatchNorm"](walk, node)


def _concat(walk: Walk, node: TfNode) -> None:
    axis = walk.whole(node, 0, "axis")
    walk.op(node, "Concat", walk.inputs(node)[1:], axis=axis)


def _squared_difference(walk: Walk, node: TfNode) -> None:
    difference = walk.aside(f"{node.name}/Sub", "Binary", walk.inputs(node), func="sub")
    walk.op(node, "Unary", [difference], func="square")


def _add_n(walk: Walk, node: TfNode) -> None:
    """A sum of several is one of two, again and again."""
    first, *rest = walk.inputs(node, 1)
    if not rest:
        walk.op(node, "Identity", [first])
        return
    for number, term in enumerate(rest[:-1]):
        first = walk.aside(f"{node.name}/Add_{number}", "Binary", [first, term], func="add")
    walk.op(node, "Binary", [first, rest[-1]], func="add")


def _clip(walk: Walk, node: TfNode) -> None:
    value, low, high = walk.inputs(node, 3)[:3]
    lower = walk.aside(f"{node.name}/Minimum", "Binary", [value, high], func="min")
    walk.op(node, "Binary", [lower, low], func="max")


def _slice(walk: Walk, node: TfNode) -> None:
    """A StridedSlice from `begin`, as far as the sizes go; -1 is up to the end."""
    begin = walk.wholes(node, 1, "begin")
    size = walk.wholes(node, 2, "size")
    ends = [at + count for at, count in zip(begin, size, strict=False)]
    bounds = {"begin": begin, "end": ends, "strides": [1] * len(begin)}
    inputs = walk.inputs(node)[:1]
    for name, values in bounds.items():
        inputs.append(walk.array(f"{node.name}/{name}", np.array(values, np.int32)))
    up_to_end = sum(1 << axis for axis, count in enumerate(size) if count == -1)
    walk.op(node, "StridedSlice", inputs, begin_mask=0, end_mask=up_to_end, shrink_axis_mask=0)


ENTRIES: dict[str, Entry] = {
    **CONVERTER,
    "AddV2": CONVERTER["Add"],
    "BiasAddV1": CONVERTER["BiasAdd"],
    "FusedBatchNorm": _batch_norm,
    "FusedBatchNormV2": _batch_norm,
    "FusedBatchNormV3": _batch_norm,
    "Concat": _concat,
    "SquaredDifference": _squared_difference,
    "AddN": _add_n,
    "ClipByValue": _clip,
    "Slice": _slice,
}
