"""ONNX's operators on shapes and axes, and those that take parts of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ufkit.conversion.onnx_graph import OnnxCall
from ufkit.conversion.onnx_walk import Entry, Refused, Walk, axes_of, axis_of
from ufkit.core.dtypes import DTYPES, INT64
from ufkit.uff.dims import Dim, product, show
from ufkit.uff.draft import Value


def _reshape(walk: Walk, node: OnnxCall) -> Value:
    """0 stands for as many as before, unless `allowzero` says that it is meant."""
    x, given = walk.input(node), walk.input(node, 1)
    target = walk.numbers(given, "shape")
    if not node.whole("allowzero") and 0 in target:
        if len(target) > x.rank and 0 in target[x.rank :]:
            raise Refused(f"the shape {target} keeps sizes that {show(x.shape)} does not have")
        target = [x.shape[at] if size == 0 else size for at, size in enumerate(target)]
        return walk.reshape(x, target)
    return walk.reshape(x, target, given)


def _flatten(walk: Walk, node: OnnxCall) -> Value:
    x, axis = walk.input(node), node.whole("axis", 1)
    if not -x.rank <= axis <= x.rank:
        raise Refused(f"axis {axis} of a tensor of rank {x.rank}")
    axis = axis + x.rank if axis < 0 else axis
    return walk.reshape(x, [product(x.shape[:axis]), product(x.shape[axis:])])


def _transpose(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    return walk.transpose(x, node.wholes("perm") or [*range(x.rank)][::-1])


def _squeeze(walk: Walk, node: OnnxCall) -> Value:
    x, given = walk.input(node), walk.listed(node, "axes", 1)
    if given is None:
        given = [axis for axis in range(x.rank) if x.shape[axis] == 1]
    return squeezed(walk, x, axes_of(given, x.rank))


def squeezed(walk: Walk, x: Value, axes: Sequence[int]) -> Value:
    """A value without these axes, of length 1."""
    return walk.op("Squeeze", x, axes=[*axes]) if axes else x


def _unsqueeze(walk: Walk, node: OnnxCall) -> Value:
    x, axes = walk.input(node), walk.listed(node, "axes", 1) or []
    for axis in axes_of(axes, x.rank + len(axes)):
        x = walk.op("ExpandDims", x, axis=axis)
    return x


def _shape(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    rank = x.rank
    start, end, _ = slice(node.whole("start"), node.whole("end", rank)).indices(rank)
    y = walk.op("_Shape", x, out_type=INT64) if x.dtype in DTYPES else _sizes_of(walk, x)
    return y if (start, end) == (0, rank) else cut(walk, y, [(start, end, 1)])


def _sizes_of(walk: Walk, x: Value) -> Value:
    return walk.const(np.array(walk.sizes(x, range(x.rank)), np.int64))


def _size(walk: Walk, node: OnnxCall) -> Value:
    return walk.op("_Size", walk.input(node), out_type=INT64)


# -- parts -----------------------------------------------------------------------------------

_LAST = np.iinfo(np.int32).max
Cut = tuple[int, int | None, int]  # from which element, to which, in steps of how many


def cut(walk: Walk, x: Value, ends: Sequence[Cut]) -> Value:
    """Elements of each axis as Python's slices take them; None is the end of an axis."""
    rows = [_bounds(*item) for item in zip(x.shape, ends, strict=True)]
    begin, end, step = ([row[at] for row in rows] for at in range(3))
    if all(row == (0, None, 1) for row in rows):
        return x
    bounds = (
        [number or 0 for number in begin],
        [number or 0 for number in end],
        step,
    )
    return walk.op(
        "StridedSlice",
        x,
        *map(walk.i32, bounds),
        begin_mask=_mask(begin),
        end_mask=_mask(end),
        shrink_axis_mask=0,
    )


def _bounds(size: int | Dim, ends: Cut) -> tuple[int | None, int | None, int]:
    """A slice in 32 bits; None is the beginning, or the end, of the axis."""
    first, last, step = ends
    if isinstance(size, int):
        places = range(*slice(first, last, step).indices(size))
        if not places:
            return 0, 0, 1
        whole = places.stop >= size if step > 0 else places.stop < 0
        return places.start, None if whole else places.stop, max(-_LAST, min(step, _LAST))
    forward = step > 0
    start = None if abs(first) >= _LAST and (first < 0) == forward else first
    stop = None if last is None or (abs(last) >= _LAST and (last > 0) == forward) else last
    narrow = (n if n is None else max(-_LAST, min(n, _LAST)) for n in (start, stop))
    return *narrow, step  # type: ignore[return-value]


def _mask(bounds: Sequence[int | None]) -> int:
    return sum(1 << at for at, bound in enumerate(bounds) if bound is None)


def _slice(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    starts, ends = walk.listed(node, "starts", 1), walk.listed(node, "ends", 2)
    if starts is None or ends is None:
        raise Refused("it does not say where it starts and ends")
    axes = walk.listed(node, "axes", 3)
    axes = [*range(len(starts))] if axes is None else axes
    steps = walk.listed(node, "steps", 4) or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise Refused(f"starts {starts}, ends {ends}, axes {axes}, steps {steps} do not fit")
    axes_of(axes, x.rank)
    rows: list[Cut] = [(0, None, 1)] * x.rank
    for first, last, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step < 0:
            first = _begin(first, x.shape[axis])
        rows[axis % x.rank] = (first, last, step)
    return cut(walk, x, rows)


def _begin(first: int, size: int | Dim) -> int:
    """Where a slice backwards begins: at the first element where that is before it, in ONNX.

    In Python, and in UFF, nothing is taken then.
    """
    if isinstance(size, Dim):
        if first < -1:
            raise Refused(f"it goes backwards from {first} on an axis of a size not known")
        return first
    return first if -size <= first else 0


def _split(walk: Walk, node: OnnxCall) -> list[Value | None]:
    x = walk.input(node)
    axis = axis_of(node.whole("axis"), x.rank)
    sizes = walk.listed(node, "split", 1)
    if sizes is None:
        count, (total,) = len(node.outputs), walk.sizes(x, [axis])
        each = -(-total // count)
        sizes = [each] * (count - 1) + [total - each * (count - 1)]
    if min(sizes, default=0) < 0:
        raise Refused(f"its parts have the sizes {sizes}")
    parts: list[Value | None] = []
    begin = 0
    for size in sizes:
        rows: list[Cut] = [(0, None, 1)] * x.rank
        rows[axis] = (begin, begin + size, 1)
        parts.append(cut(walk, x, rows))
        begin += size
    return parts


def _concat(walk: Walk, node: OnnxCall) -> Value:
    values = walk.inputs(node)
    axis = axis_of(node.whole("axis", 1), values[0].rank)
    return walk.op("Concat", *values, axis=axis) if values[1:] else values[0]


def taken(walk: Walk, x: Value, numbers: Value, axis: int) -> Value:
    """Slices of an axis by number."""
    types: dict[str, Any] = {"indices_dtype": numbers.dtype, "params_dtype": x.dtype}
    if axis == 0:
        return walk.op("Gather", x, numbers, validate_indices=True, **types)
    return walk.op("GatherV2", x, numbers, axis=axis, **types)


# -- blocks ----------------------------------------------------------------------------------


def _depth_to_space(walk: Walk, node: OnnxCall) -> Value:
    """Channels as blocks of the map, by way of six axes."""
    x, side = walk.input(node), node.whole("blocksize")
    batch, (channels, height, width) = _map(walk, x)
    if side < 1 or channels % side**2:
        raise Refused(f"blocks of {side} do not divide {channels} channels")
    depth = channels // side**2
    if node.text("mode", "DCR") == "DCR":
        split, order = [batch, side, side, depth, height, width], [0, 3, 4, 1, 5, 2]
    else:
        split, order = [batch, depth, side, side, height, width], [0, 1, 4, 2, 5, 3]
    y = walk.transpose(walk.reshape(x, split), order)
    return walk.reshape(y, [batch, depth, height * side, width * side])


def _space_to_depth(walk: Walk, node: OnnxCall) -> Value:
    x, side = walk.input(node), node.whole("blocksize")
    batch, (channels, height, width) = _map(walk, x)
    if side < 1 or height % side or width % side:
        raise Refused(f"blocks of {side} do not divide a map of {height} x {width}")
    split = [batch, channels, height // side, side, width // side, side]
    order = [0, 3, 5, 1, 2, 4] if node.text("mode", "DCR") == "DCR" else [0, 1, 3, 5, 2, 4]
    y = walk.transpose(walk.reshape(x, split), order)
    return walk.reshape(y, [batch, channels * side**2, height // side, width // side])


def _map(walk: Walk, x: Value) -> tuple[int | Dim, tuple[int, ...]]:
    if x.rank != 4:
        raise Refused(f"a map of four axes is needed, not {show(x.shape)}")
    return x.shape[0], walk.sizes(x, (1, 2, 3))


SHAPES: dict[str, Entry] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Split": _split,
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
}
