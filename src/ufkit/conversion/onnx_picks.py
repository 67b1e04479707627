"""ONNX's operators that reduce axes, or take elements by number."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ufkit.conversion.onnx_graph import OnnxCall
from ufkit.conversion.onnx_shapes import Cut, cut, squeezed, taken
from ufkit.conversion.onnx_walk import Entry, Refused, Walk, axis_of, bounded
from ufkit.core.dtypes import INT32, INT64
from ufkit.uff.draft import Value

# -- reductions ------------------------------------------------------------------------------


def _axes(walk: Walk, node: OnnxCall, x: Value) -> list[int]:
    """The axes reduced: those named, else all, or none where that was asked."""
    given = walk.listed(node, "axes", 1)
    if not given:
        return [] if node.whole("noop_with_empty_axes") else [*range(x.rank)]
    if wrong := [axis for axis in given if not -x.rank <= axis < x.rank]:
        raise Refused(f"axis {wrong[0]} of a tensor of rank {x.rank}")
    return sorted({axis % x.rank for axis in given})


def _reduce(func: str, before: str = "", after: str = "") -> Entry:
    """A reduction, with a function of each element before it and one of the result."""

    def write(walk: Walk, node: OnnxCall) -> Value:
        x = walk.input(node)
        axes = _axes(walk, node, x)
        x = walk.unary(before, x) if before else x
        if axes:
            keep = bool(node.whole("keepdims", 1))
            x = walk.op("Reduce", x, func=func, axes=axes, keepdims=keep)
        return walk.unary(after, x) if after else x

    return write


def _log_sum_exp(walk: Walk, node: OnnxCall) -> Value:
    """The largest element is taken out before, and put back behind."""
    x = walk.input(node)
    axes, keep = _axes(walk, node, x), bool(node.whole("keepdims", 1))
    if not axes:
        return x
    most = walk.op("Reduce", x, func="max", axes=axes, keepdims=True)
    raised = walk.unary("exp", walk.binary("sub", x, most))
    total = walk.op("Reduce", raised, func="sum", axes=axes, keepdims=True)
    y = walk.binary("add", walk.unary("log", total), most)
    return y if keep else squeezed(walk, y, axes)


def _search(operation: str) -> Entry:
    """The place of an extreme; to find the last of equal ones the axis is turned round."""

    def write(walk: Walk, node: OnnxCall) -> Value:
        x = walk.input(node)
        axis = axis_of(node.whole("axis"), x.rank)
        last = node.whole("select_last_index")
        if last:
            (size,) = walk.sizes(x, [axis])
            rows: list[Cut] = [(0, None, 1)] * x.rank
            rows[axis] = (size - 1, -size - 1, -1)
            x = cut(walk, x, rows)
        y = walk.op(operation, x, axis=axis)
        if last:
            y = walk.binary("sub", walk.const(np.array(size - 1, np.int64)), y)
        return walk.op("ExpandDims", y, axis=axis) if node.whole("keepdims", 1) else y

    return write


# -- elements by number ----------------------------------------------------------------------


def _gather(walk: Walk, node: OnnxCall) -> Value:
    x, numbers = walk.input(node), walk.input(node, 1)
    axis = axis_of(node.whole("axis"), x.rank)
    known, size = numbers.array(), x.shape[axis]
    if known is not None and known.size and known.min() < 0:
        if not isinstance(size, int):
            raise Refused("it counts from the end of an axis whose size is not known")
        numbers = walk.const(np.where(known < 0, known + size, known))
    return taken(walk, x, numbers, axis)


def _gather_elements(walk: Walk, node: OnnxCall) -> Value:
    """Each element by its number in the tensor laid out as one row; sizes have to be known."""
    x, numbers = walk.input(node), walk.cast(walk.input(node, 1), INT64)
    axis = axis_of(node.whole("axis"), x.rank)
    if numbers.rank != x.rank:
        raise Refused(f"indices of rank {numbers.rank} into a tensor of rank {x.rank}")
    sizes, wanted = (walk.sizes(value, range(x.rank)) for value in (x, numbers))
    bounded(wanted, "the places of its elements")
    steps = [prod(sizes[at + 1 :]) for at in range(x.rank)]
    grid = np.indices(wanted, np.int64)
    others = sum(grid[at] * steps[at] for at in range(x.rank) if at != axis)
    size = walk.const(np.array(sizes[axis], np.int64))  # negative numbers count from the end
    along = walk.binary("mul", walk.op("_FloorMod", numbers, size), steps[axis])
    places = walk.binary("add", along, walk.const(np.broadcast_to(others, wanted).copy()))
    return taken(walk, walk.reshape(x, [-1]), places, 0)


def _gather_nd(walk: Walk, node: OnnxCall) -> Value:
    if node.whole("batch_dims"):
        raise Refused("its batch_dims are not 0")
    x, numbers = walk.input(node), walk.input(node, 1)
    return walk.op("_GatherNd", x, numbers, Tparams=x.dtype, Tindices=numbers.dtype)


def _running_sum(walk: Walk, node: OnnxCall) -> Value:
    x, axis = walk.input(node), int(walk.number(walk.input(node, 1), "axis"))
    flags: dict[str, Any] = {name: bool(node.whole(name)) for name in ("exclusive", "reverse")}
    return walk.op("_Cumsum", x, walk.i32(axis), T=x.dtype, Tidx=INT32, **flags)


def _einsum(walk: Walk, node: OnnxCall) -> Value:
    values = walk.inputs(node)
    equation = node.text("equation").replace(" ", "")
    return walk.op("_Einsum", *values, equation=equation, N=len(values), T=values[0].dtype)


def _nonzero(walk: Walk, node: OnnxCall) -> Value:
    return walk.transpose(walk.op("_Where", walk.input(node)), [1, 0])


def _one_hot(walk: Walk, node: OnnxCall) -> Value:
    """Each number is compared with all places; a negative one counts from the end."""
    numbers, pair = walk.cast(walk.input(node), INT64), walk.input(node, 2)
    depth = int(walk.number(walk.input(node, 1), "depth"))
    bounded([depth], "the places compared")
    axis = axis_of(node.whole("axis", -1), numbers.rank + 1)
    places = np.arange(depth).reshape(-1, *[1] * (numbers.rank - axis))
    numbers = walk.op("ExpandDims", numbers, axis=axis)
    found = walk.op("_Equal", numbers, walk.const(places))
    behind = walk.op("_Equal", numbers, walk.const(places - depth))
    off, on = (squeezed(walk, cut(walk, pair, [(at, at + 1, 1)]), [0]) for at in (0, 1))
    return walk.op("_SelectV2", walk.op("_LogicalOr", found, behind), on, off)


def _top(walk: Walk, node: OnnxCall) -> list[Value | None]:
    """The largest of the last axis; the smallest are the largest of what is turned round 0."""
    x, given = walk.input(node), walk.maybe(node, 1)
    count = node.whole("k") if given is None else int(walk.number(given, "k"))
    axis = axis_of(node.whole("axis", -1), x.rank)
    order = [*(at for at in range(x.rank) if at != axis), axis]
    back = [order.index(at) for at in range(x.rank)]
    smallest = not node.whole("largest", 1)
    turned = walk.transpose(walk.unary("neg", x) if smallest else x, order)
    values = walk.op("_TopKV2", turned, walk.i32(count), sorted=True, T=x.dtype)
    places = walk.cast(walk.draft.further(values, 1), INT64)
    values = walk.unary("neg", values) if smallest else values
    return [walk.transpose(values, back), walk.transpose(places, back)]


def _reverse_sequence(walk: Walk, node: OnnxCall) -> Value:
    x, lengths = walk.input(node), walk.input(node, 1)
    along, batch = node.whole("time_axis"), node.whole("batch_axis", 1)
    return walk.op("_ReverseSequence", x, lengths, seq_dim=along, batch_dim=batch)


def _triangle(walk: Walk, node: OnnxCall) -> Value:
    """The part of matrices above or below a diagonal."""
    x, given = walk.input(node), walk.maybe(node, 1)
    k = 0 if given is None else int(walk.number(given, "k"))
    rows, columns = walk.sizes(x, (x.rank - 2, x.rank - 1)) if x.rank > 1 else (0, 0)
    bounded((rows, columns), "its mask")
    build: Callable[..., np.ndarray] = np.triu if node.whole("upper", 1) else np.tril
    mask = build(np.ones((rows, columns), bool), k)
    return walk.op("_SelectV2", walk.const(mask), x, walk.like(0, x))


PICKS: dict[str, Entry] = {
    "ReduceSum": _reduce("sum"),
    "ReduceProd": _reduce("prod"),
    "ReduceMax": _reduce("max"),
    "ReduceMin": _reduce("min"),
    "ReduceMean": _reduce("mean"),
    "ReduceL1": _reduce("sum", before="abs"),
    "ReduceL2": _reduce("sum", before="square", after="sqrt"),
    "ReduceSumSquare": _reduce("sum", before="square"),
    "ReduceLogSum": _reduce("sum", after="log"),
    "ReduceLogSumExp": _log_sum_exp,
    "ArgMax": _search("ArgMax"),
    "ArgMin": _search("ArgMin"),
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "CumSum": _running_sum,
    "Einsum": _einsum,
    "NonZero": _nonzero,
    "OneHot": _one_hot,
    "TopK": _top,
    "ReverseSequence": _reverse_sequence,
    "Trilu": _triangle,
}
