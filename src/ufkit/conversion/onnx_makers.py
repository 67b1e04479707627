"""ONNX's operators that make tensors, or make them larger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ufkit.conversion.onnx_graph import OnnxCall
from ufkit.conversion.onnx_shapes import Cut, cut, taken
from ufkit.conversion.onnx_walk import NAMED_SHAPES, Entry, Refused, Walk, axes_of, bounded
from ufkit.conversion.onnx_windows import framed
from ufkit.core.dtypes import BOOL, INT32, INT64
from ufkit.uff.dims import Dim, Shape, show, static, unify
from ufkit.uff.draft import Value

_ZEROS = 1 << 20  # elements of a constant that only makes another larger

# -- paddings --------------------------------------------------------------------------------


def _pad(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    ends = walk.listed(node, "pads", 1) or node.wholes("paddings") or []
    axes = _axes_in(walk, node, x, len(ends) // 2)
    if len(ends) != 2 * len(axes):
        raise Refused(f"pads {ends} are not two numbers for each of the axes {axes}")
    rows = [(0, 0)] * x.rank
    for axis, first, last in zip(axes, ends, ends[len(axes) :], strict=False):
        rows[axis] = (first, last)
    less: list[Cut] = [(max(-first, 0), min(last, 0) or None, 1) for first, last in rows]
    x = cut(walk, x, less)
    rows = [(max(first, 0), max(last, 0)) for first, last in rows]
    if not any(map(any, rows)):
        return x
    return _PADDED[_mode_of(node)](walk, node, x, rows)


def _axes_in(walk: Walk, node: OnnxCall, x: Value, count: int) -> list[int]:
    """The axes that a Pad's fourth input names, in its sequence; all where it is left out."""
    given = walk.maybe(node, 3)
    if given is None:
        return [*range(count)] if count == x.rank else []
    axes = walk.wholes(given, "axes")
    axes_of(axes, x.rank)
    return [axis % x.rank for axis in axes]


def _mode_of(node: OnnxCall) -> str:
    mode = node.text("mode", "constant")
    if mode not in _PADDED:
        raise Refused(f"its mode is {mode!r}; {', '.join(_PADDED)} are known")
    return mode


Rows = Sequence[tuple[int, int]]
Padder = Callable[[Walk, OnnxCall, Value, Rows], Value]


def _constant(walk: Walk, node: OnnxCall, x: Value, rows: Rows) -> Value:
    """Zeros; another number is added to the zeros where sizes are known."""
    given = walk.maybe(node, 2)
    number = node.real("value") if given is None else walk.number(given, "value")
    if number == 0:
        return walk.op("Pad", x, walk.i32(rows))
    known = all(isinstance(n, int) or not any(r) for n, r in zip(x.shape, rows, strict=True))
    if x.dtype is BOOL or not known:
        return walk.op("_PadV2", x, walk.i32(rows), walk.like(number, x))
    return framed(walk, x, rows, number)


def _reflected(walk: Walk, node: OnnxCall, x: Value, rows: Rows) -> Value:
    return walk.op("_MirrorPad", x, walk.i32(rows), mode="REFLECT")


def _gathered(mode: Any) -> Padder:
    """Elements taken again, each axis by the numbers of those that are there."""

    def write(walk: Walk, node: OnnxCall, x: Value, rows: Rows) -> Value:
        for axis, ends in enumerate(rows):
            if any(ends):
                (size,) = walk.sizes(x, [axis])
                bounded([size + sum(ends)], "the padded axis")
                numbers = np.pad(np.arange(size, dtype=np.int32), ends, mode=mode)
                x = taken(walk, x, walk.const(numbers), axis)
        return x

    return write


_PADDED: dict[str, Padder] = {
    "constant": _constant,
    "reflect": _reflected,
    "edge": _gathered("edge"),
    "wrap": _gathered("wrap"),
}


# -- tensors made, or made larger ------------------------------------------------------------


def _constant_node(walk: Walk, node: OnnxCall) -> Value:
    if (tensor := node.tensor("value")) is not None:
        return walk.held(tensor)
    kinds = (("value_float", np.float32), ("value_floats", np.float32))
    for name, kind in (*kinds, ("value_int", np.int64), ("value_ints", np.int64)):
        if name in node.attributes:
            many = name.endswith("s")
            reader = {"value_floats": node.reals, "value_ints": node.wholes}.get(name)
            single = node.real if kind is np.float32 else node.whole
            return walk.const(np.array(reader(name) if many and reader else single(name), kind))
    raise Refused("it holds text or a sparse tensor, of which UFF has neither")


def _filled(walk: Walk, node: OnnxCall) -> Value:
    tensor = node.tensor("value")
    number = walk.const(np.zeros((), np.float32)) if tensor is None else walk.held(tensor)
    sizes = walk.numbers(walk.input(node), "shape")
    return walk.op("_Fill", _dims(walk, sizes), walk.reshape(number, []))


def _dims(walk: Walk, sizes: Sequence[int | Dim]) -> Value:
    """Sizes as an input of a node; an open one is a multiple of the batch of an Input."""
    parts: list[Value] = []
    for size in sizes:
        part = walk.const(np.array([size.factor if isinstance(size, Dim) else size], np.int64))
        if isinstance(size, Dim):
            part = (
                walk.binary("mul", _batch(walk, size), part)
                if size.factor != 1
                else _batch(walk, size)
            )
        parts.append(part)
    return walk.op("Concat", *parts, axis=0) if parts else walk.const(np.zeros(0, np.int64))


def _batch(walk: Walk, size: Dim) -> Value:
    """The batch, as one number that is computed. Raises Refused for any other open size."""
    for port in walk.graph.inputs:
        value = walk.value(port.name)
        first = value.shape[0] if value and value.rank else 0
        if value and isinstance(first, Dim) and first.symbols == size.symbols:
            return cut(walk, walk.op("_Shape", value, out_type=INT64), [(0, 1, 1)])
    raise Refused(f"the size {size} is not known before the model runs", NAMED_SHAPES)


def _expand(walk: Walk, node: OnnxCall) -> Value:
    """Zeros are added, of the shape that is lacking: that is how the core operations say it."""
    x = walk.input(node)
    target = _broadcast(x.shape, walk.numbers(walk.input(node, 1), "shape"))
    if target == x.shape:
        return x
    mine = (1,) * (len(target) - x.rank) + x.shape
    lacking = [1 if a == b else b for a, b in zip(mine, target, strict=True)]
    numbers = static(tuple(lacking))
    if x.dtype is BOOL or numbers is None or prod(numbers) > _ZEROS:
        return walk.op("_BroadcastTo", x, _dims(walk, target))
    return walk.binary("add", x, walk.const(np.zeros(numbers, x.dtype.numpy)))


def _broadcast(shape: Shape, wanted: Sequence[int | Dim]) -> Shape:
    rank = max(len(shape), len(wanted))
    pairs = zip(_front(shape, rank), _front(wanted, rank), strict=True)
    result: list[int | Dim] = []
    for a, b in pairs:
        both = b if a == 1 else a if b == 1 else unify(a, b)
        if both is None:
            raise Refused(f"{show(shape)} cannot be broadcast to {list(wanted)}")
        result.append(both)
    return tuple(result)


def _front(shape: Sequence[int | Dim], rank: int) -> list[int | Dim]:
    return [*[1] * (rank - len(shape)), *shape]


def _tile(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    if len(node.inputs) > 2:
        raise Refused("its form is that of opset 1")
    times = walk.wholes(walk.input(node, 1), "repeats")
    if all(count == 1 for count in times):
        return x
    return walk.op("_Tile", x, walk.i32(times), T=x.dtype, Tmultiples=INT32)


def _range(walk: Walk, node: OnnxCall) -> Value:
    return walk.op("_Range", *walk.inputs(node))


MAKERS: dict[str, Entry] = {
    "Pad": _pad,
    "Constant": _constant_node,
    "ConstantOfShape": _filled,
    "Expand": _expand,
    "Tile": _tile,
    "Range": _range,
}
