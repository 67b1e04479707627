"""Windows over the spatial axes of a map, as ONNX speaks of them: convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ufkit.conversion.onnx_graph import OnnxCall
from ufkit.conversion.onnx_walk import Entry, Refused, Walk, bounded
from ufkit.uff.draft import Value
from ufkit.uff.ops.spec import Array

_MAP = "NC+"
_NOT_NEGATIVE = {
    "Activation": ("relu", "relu6", "sigmoid", "softplus"),
    "Unary": ("exp", "abs", "sqrt", "rsqrt", "square"),
}
_KEEPS_SIGN = ("Pool", "Concat", "Reshape", "Transpose", "Flatten", "Identity", "StridedSlice")
_REACH = 16  # nodes looked at to tell whether a value can be negative


@dataclass(frozen=True, slots=True)
class Window:
    """How a window moves over a map of `sizes`, one number per spatial axis; -1 is an open size.

    pads    elements before and behind each axis, which may be negative
    more    elements behind that ONNX's `ceil_mode` adds; no average counts them
    """

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    more: tuple[int, ...]

    @property
    def all_pads(self) -> list[tuple[int, int]]:
        """Elements before and behind, all of them."""
        return [
            (first, last + extra) for (first, last), extra in zip(self.pads, self.more, strict=True)
        ]

    @property
    def is_padded(self) -> bool:
        return any(map(any, self.all_pads))

    @property
    def is_same(self) -> bool:
        """Whether the padding is TensorFlow's SAME: the output ceil(size / stride) long."""
        if -1 in self.sizes:
            return False
        wanted = [
            _same_total(*axis)
            for axis in zip(self.sizes, self.kernel, self.strides, self.dilations, strict=True)
        ]
        return self.all_pads == [(total // 2, total - total // 2) for total in wanted] and all(
            (size + sum(pads) - step * (k - 1) - 1) // stride + 1 == -(-size // stride)
            for size, k, stride, step, pads in zip(
                self.sizes, self.kernel, self.strides, self.dilations, self.all_pads, strict=True
            )
        )

    def fields(self) -> dict[str, Any] | None:
        """UFF's padding, which is alike at both ends or SAME; None where it is another."""
        if not self.is_padded:
            return {}
        if all(first == last >= 0 for first, last in self.all_pads):
            return {"padding": [first for first, _ in self.all_pads]}
        return {"implicit_padding": "same"} if self.is_same else None


def _same_total(size: int, kernel: int, stride: int, dilation: int) -> int:
    return max(_lacking(size, kernel, stride, dilation), 0)


def _lacking(size: int, kernel: int, stride: int, dilation: int) -> int:
    """Elements that a map lacks for ceil(size / stride) windows; below 0 where some are left."""
    return (-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size


def _window_of(node: OnnxCall, x: Value, kernel: Sequence[int]) -> Window:
    """The window of a node. Raises Refused where its padding depends on sizes not known."""
    count = len(kernel)
    if x.rank != count + 2:
        raise Refused(f"a window {list(kernel)} on a tensor of rank {x.rank}")
    sizes = tuple(size if isinstance(size, int) else -1 for size in x.shape[2:])
    strides, dilations = _steps_of(node, kernel)
    manner = node.text("auto_pad", "NOTSET")
    if manner in ("SAME_UPPER", "SAME_LOWER"):
        if -1 in sizes:
            raise Refused(f"its padding is {manner} and the size of its map is not known")
        if node.op.endswith("Pool") and min(map(_lacking, sizes, kernel, strides, dilations)) < 0:
            raise Refused(
                f"windows of {list(kernel)} leave elements out, and run times differ then"
            )
        totals = map(_same_total, sizes, kernel, strides, dilations)
        pads = tuple((total // 2, total - total // 2) for total in totals)
        if manner == "SAME_LOWER":
            pads = tuple((last, first) for first, last in pads)
    elif manner == "VALID":
        pads = ((0, 0),) * count
    else:
        ends = _numbers_of(node, "pads", 2 * count, 0)
        pads = tuple(zip(ends[:count], ends[count:], strict=True))
        if node.op.endswith("Pool") and min(ends, default=0) < 0:
            raise Refused(f"its pads {list(ends)} are less than 0")
    more = [0] * count
    if node.whole("ceil_mode") and manner not in ("SAME_UPPER", "SAME_LOWER"):
        if -1 in sizes:
            raise Refused("it rounds sizes up, and the size of its map is not known")
        more = [*map(_rounded_up, sizes, kernel, strides, dilations, pads)]
    return Window(sizes, tuple(kernel), strides, dilations, pads, tuple(more))


def _rounded_up(size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int]) -> int:
    """Elements behind for one more window, if that begins within the map or before it."""
    over = (size + sum(pads) - dilation * (kernel - 1) - 1) % stride
    count = (size + sum(pads) - dilation * (kernel - 1) - 1) // stride + 1
    begins_inside = count * stride < size + pads[0]
    return stride - over if over and begins_inside else 0


def _numbers_of(node: OnnxCall, name: str, count: int, default: int) -> tuple[int, ...]:
    """A list attribute with one number for each. Raises Refused for another length."""
    found = node.wholes(name) or [default] * count
    if len(found) != count:
        raise Refused(f"{name} has {len(found)} numbers for {count}")
    return tuple(found)


def _steps_of(node: OnnxCall, kernel: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Strides and dilations. Raises Refused where one, or a size of the kernel, is less than 1."""
    strides = _numbers_of(node, "strides", len(kernel), 1)
    dilations = _numbers_of(node, "dilations", len(kernel), 1)
    if min((*strides, *dilations, *kernel), default=1) < 1:
        raise Refused(f"kernel {[*kernel]}, strides {[*strides]}, dilations {[*dilations]} below 1")
    return strides, dilations


def padded(walk: Walk, x: Value, pads: Sequence[tuple[int, int]]) -> Value:
    """A value with zeros around its last axes, or with edges cut off where there are less."""
    outer = [(0, 0)] * (x.rank - len(pads))
    rows = [*outer, *pads]
    if any(min(row) < 0 for row in rows):
        begin = [max(-first, 0) for first, _ in rows]
        end = [min(last, 0) for _, last in rows]
        mask = sum(1 << at for at, last in enumerate(end) if not last)
        cut = (walk.i32(numbers) for numbers in (begin, end, [1] * x.rank))
        x = walk.op("StridedSlice", x, *cut, begin_mask=0, end_mask=mask, shrink_axis_mask=0)
        rows = [(max(first, 0), max(last, 0)) for first, last in rows]
    return walk.op("Pad", x, walk.i32(rows)) if any(map(any, rows)) else x


# -- convolutions ----------------------------------------------------------------------------


def _biased(walk: Walk, node: OnnxCall, x: Value) -> Value:
    """A map with the third input added to its channels, where there is one."""
    bias = walk.maybe(node, 2)
    if bias is None:
        return x
    return walk.binary("add", x, walk.reshape(bias, [-1, *[1] * (x.rank - 2)]))


def _kernel_of(walk: Walk, node: OnnxCall) -> tuple[Value, tuple[int, ...]]:
    """The second input, and its spatial sizes."""
    kernel = walk.input(node, 1)
    return kernel, walk.sizes(kernel, range(2, kernel.rank))


def _convolution(walk: Walk, node: OnnxCall) -> Value:
    x = walk.input(node)
    kernel, sizes = _kernel_of(walk, node)
    window = _window_of(node, x, sizes)
    padding = window.fields()
    if padding is None:
        x, padding = padded(walk, x, window.all_pads), {}
    fields = {"strides": [*window.strides], "dilation": [*window.dilations], **padding}
    if (groups := node.whole("group", 1)) != 1:
        fields["number_groups"] = groups
    return _biased(walk, node, walk.op("Conv", x, kernel, orders=f"{_MAP}_KC+", **fields))


def _transposed(walk: Walk, node: OnnxCall) -> Value:
    """UFF says how large the result is, with the padding alike at both ends.

    Another padding is cut off behind: the convolution is made as if there were none.
    """
    x = walk.input(node)
    kernel, sizes = _kernel_of(walk, node)
    count, groups = len(sizes), node.whole("group", 1)
    if x.rank != kernel.rank:
        raise Refused(f"a kernel of rank {kernel.rank} on a map of rank {x.rank}")
    strides, dilations = _steps_of(node, sizes)
    added = _numbers_of(node, "output_padding", count, 0)
    given = walk.sizes(x, range(2, x.rank))
    full = [
        stride * (size - 1) + step * (k - 1) + 1
        for size, stride, step, k in zip(given, strides, dilations, sizes, strict=True)
    ]
    pads, out = _ends(node, full, added, given, strides)
    channels = walk.sizes(kernel, [1])[0] * groups
    alike = all(first == last >= 0 for first, last in pads)
    begin = [0] * count if alike else [first for first, _ in pads]
    made = (
        out
        if alike
        else [
            max(whole, first + size)
            for whole, (first, _), size in zip(full, pads, out, strict=True)
        ]
    )
    if min(begin) < 0:
        raise Refused(f"pads {pads} are less than 0")
    fields: dict[str, Any] = {"strides": [*strides], "dilation": [*dilations]}
    surplus = [whole - size for whole, size in zip(full, out, strict=True)]
    if not alike and pads == [(n // 2, n - n // 2) for n in surplus] and min(surplus) >= 0:
        alike, begin, made = True, [0] * count, out
        fields["implicit_padding"] = "same"
    elif alike and any(map(any, pads)):
        fields["padding"] = [first for first, _ in pads]
    if groups != 1:
        fields["number_groups"] = groups
    batch = x.shape[0]
    shape = walk.i32([batch if isinstance(batch, int) else -1, channels, *made])
    y = walk.op("ConvTranspose", x, kernel, shape, orders=f"{_MAP}_CK+", **fields)
    if not alike:
        ends = [
            (-first, first + size - whole)
            for first, size, whole in zip(begin, out, made, strict=True)
        ]
        y = padded(walk, y, ends)
    return _biased(walk, node, y)


def _ends(
    node: OnnxCall,
    full: Sequence[int],
    added: Sequence[int],
    given: Sequence[int],
    strides: Sequence[int],
) -> tuple[list[tuple[int, int]], list[int]]:
    """What is cut off before and behind each axis, and how long it comes out."""
    manner, wanted = node.text("auto_pad", "NOTSET"), node.wholes("output_shape")
    if manner in ("SAME_UPPER", "SAME_LOWER") and not wanted:
        wanted = [size * stride for size, stride in zip(given, strides, strict=True)]
    if wanted:
        out = [*wanted][-len(full) :]
        totals = [whole + more - n for whole, more, n in zip(full, added, out, strict=True)]
        pads = [(total // 2, total - total // 2) for total in totals]
        if manner != "SAME_UPPER":
            pads = [(last, first) for first, last in pads]
        return pads, out
    ends = _numbers_of(node, "pads", 2 * len(full), 0)
    if manner == "VALID":
        ends = (0,) * len(ends)
    pads = [*zip(ends[: len(full)], ends[len(full) :], strict=True)]
    out = [whole + more - sum(p) for whole, more, p in zip(full, added, pads, strict=True)]
    return pads, out


# -- pools -----------------------------------------------------------------------------------


def _max_pool(walk: Walk, node: OnnxCall) -> Value:
    """ONNX pads with what is less than everything, UFF with zeros.

    Where nothing is negative both are the same; else a constant is added that is 0 on the map, and
    less than everything around it.
    """
    x = walk.input(node)
    window = _window_of(node, x, _kernel_size(node))
    if {*window.dilations} != {1}:
        raise Refused("its window has dilations, and UFF's pools have none")
    fields = window.fields()
    padding = fields
    if fields is None or (fields and not window.is_same and not _not_negative(x)):
        x, padding = _walled(walk, x, window), {}
    elif fields and window.is_same:
        padding = {"implicit_padding": "same"}
    return _pool(walk, x, "max", window, padding or {})


def _kernel_size(node: OnnxCall) -> list[int]:
    kernel = node.wholes("kernel_shape")
    if not kernel:
        raise Refused("it has no kernel_shape")
    return kernel


def _pool(walk: Walk, x: Value, func: str, window: Window, padding: dict[str, Any]) -> Value:
    kernel, strides = [*window.kernel], [*window.strides]
    return walk.op("Pool", x, orders=_MAP, func=func, kernel=kernel, strides=strides, **padding)


def _walled(walk: Walk, x: Value, window: Window) -> Value:
    """A map in a frame of what is less than all its elements can be."""
    dtype = x.dtype.numpy
    least = np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min
    return framed(walk, x, window.all_pads, least)


def framed(walk: Walk, x: Value, pads: Sequence[tuple[int, int]], number: Any) -> Value:
    """A value with a number around its last axes: zeros, and the number added to them."""
    first = x.rank - len(pads)
    sizes = walk.sizes(x, [first + at for at, ends in enumerate(pads) if any(ends)])
    known = iter(sizes)
    inner = [next(known) if any(ends) else 1 for ends in pads]
    bounded([size + sum(ends) for size, ends in zip(inner, pads, strict=True)], "its frame")
    outside = [ends if any(ends) else (0, 0) for ends in pads]
    frame = np.pad(np.zeros(inner, x.dtype.numpy), outside, constant_values=number)
    return walk.binary("add", padded(walk, x, pads), walk.const(frame))


def _not_negative(x: Value, reach: int = _REACH) -> bool:
    """Whether all elements are 0 or more, whatever is fed."""
    if not x.operation:
        array = x.array()
        return array is not None and bool((array >= 0).all())
    if x.fields.get("func") in _NOT_NEGATIVE.get(x.operation, ()) or x.operation == "Softmax":
        return True
    if x.operation not in _KEEPS_SIGN or not reach:
        return False
    inputs = x.inputs if x.operation == "Concat" else x.inputs[:1]
    return all(_not_negative(value, reach - 1) for value in inputs)


def _average_pool(walk: Walk, node: OnnxCall) -> Value:
    """UFF's average counts the zeros of a padding, but not those of SAME.

    Another count is made up for by a factor for each place.
    """
    x = walk.input(node)
    window = _window_of(node, x, _kernel_size(node))
    if {*window.dilations} != {1}:
        raise Refused("its window has dilations, and UFF's pools have none")
    counts_zeros = bool(node.whole("count_include_pad"))
    fields = window.fields()
    if window.is_padded and not counts_zeros and window.is_same:
        return _pool(walk, x, "avg", window, {"implicit_padding": "same"})
    if fields is None or "implicit_padding" in fields:
        x, fields = padded(walk, x, window.all_pads), {}
    y = _pool(walk, x, "avg", window, fields)
    if not window.is_padded or (counts_zeros and not any(window.more)):
        return y
    if -1 in window.sizes:
        raise Refused("its zeros take no part, and the size of its map is not known")
    factors = _factors(walk, y, window, counts_zeros)
    return walk.binary("mul", y, walk.const(factors.astype(y.dtype.numpy)))


def _factors(walk: Walk, y: Value, window: Window, counts_zeros: bool) -> Array:
    """By how much each average is too small: the elements of a window against those that count."""
    out = walk.sizes(y, range(2, y.rank))
    bounded(out, "the factors of its averages")
    bounded([max(window.sizes) + max(map(sum, window.all_pads))], "one axis of its map")
    result: Any = np.ones((), np.float64)
    for size, kernel, stride, (first, last), extra, count in zip(
        window.sizes,
        window.kernel,
        window.strides,
        window.pads,
        window.more,
        out,
        strict=True,
    ):
        line = np.pad(np.ones(size), (first, last), constant_values=float(counts_zeros))
        line = np.pad(line, (0, extra))
        seen = [line[at * stride : at * stride + kernel].sum() for at in range(count)]
        result = result[..., None] * (kernel / np.maximum(seen, 1))
    return np.asarray(result)


def _global(func: str) -> Entry:
    def write(walk: Walk, node: OnnxCall) -> Value:
        x = walk.input(node)
        axes = [*range(2, x.rank)]
        return walk.op("Reduce", x, func=func, axes=axes, keepdims=True) if axes else x

    return write


WINDOWS: dict[str, Entry] = {
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global("mean"),
    "GlobalMaxPool": _global("max"),
}
