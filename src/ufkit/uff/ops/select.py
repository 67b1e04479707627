"""Operations that take parts, or add some: StridedSlice, Gather, GatherV2, Pad."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.uff.dims import Dim, Shape, show, whole
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.reshape import with_axis, without
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.rules import LOST_CONSTANT

LAST = (1 << 63) - 1  # where a slice ends that runs to the end of its axis


def known_numbers(call: Call, i: int) -> list[Any]:
    """The elements of an input that must be known before the model runs."""
    value = call.inputs[i].value
    if value is None:
        call.conflict(f"{call.input_name(i)} must be constant; it is computed while running")
    return whole(value)


def known_integers(call: Call, i: int, count: int | None = None) -> list[int]:
    """As `known_numbers`, of which there must be `count`, none of them a size that is not known."""
    numbers = known_numbers(call, i)
    if any(isinstance(number, Dim) for number in numbers):
        call.conflict(f"{call.input_name(i)} {numbers} depends on a size that is not known")
    if count not in (None, len(numbers)):
        call.conflict(f"{call.input_name(i)} has {len(numbers)} numbers; it must have {count}")
    return numbers


def _cut(call: Call) -> list[Any]:
    """NumPy's index: per axis a slice or, where it is dropped, one number; None is a new axis."""
    begin, end, step = (known_numbers(call, i) for i in (1, 2, 3))
    new, ellipsis = (_mask(call, name) for name in ("new_axis_mask", "ellipsis_mask"))
    count = sum(not (new | ellipsis) & 1 << at for at in range(len(begin)))
    if not len(begin) == len(end) == len(step) or count > call.rank(0):
        call.conflict(
            f"begin, end and strides have {len(begin)}, {len(end)} and {len(step)} numbers for "
            f"{show(call.shape(0))}"
        )
    rest = [slice(None, None, 1)] * (call.rank(0) - count)
    index: list[Any] = []
    for at, (first, last, stride) in enumerate(zip(begin, end, step, strict=True)):
        bit = 1 << at
        if ellipsis & bit:
            index += rest
            rest = []
            continue
        if new & bit:
            index.append(None)
            continue
        if isinstance(stride, Dim) or stride == 0:
            call.conflict("a stride of 0")
        if call["shrink_axis_mask"] & bit:
            index.append(first)
            continue
        start = None if call["begin_mask"] & bit else first
        index.append(slice(start, None if call["end_mask"] & bit else last, stride))
    return index + rest


def _mask(call: Call, name: str) -> int:
    """A mask that only TensorFlow's own operation has."""
    return int(call[name]) if call.has_field(name) else 0


def _length(size: int | Dim, cut: slice) -> int | Dim:
    """How many elements a slice of an axis keeps."""
    start, stop, step = cut.start, cut.stop, cut.step
    if isinstance(size, int) and not isinstance(start, Dim) and not isinstance(stop, Dim):
        return len(range(*cut.indices(size)))
    whole_axis = start in (None, 0) and (stop is None or stop == size) and step == 1
    return size if whole_axis else Dim.unknown()


def _infer_slice(call: Call) -> Facts:
    shape: list[int | Dim] = []
    axes = iter(enumerate(call.shape(0)))
    for cut in _cut(call):
        if cut is None:
            shape.append(1)
            continue
        at, size = next(axes)
        if isinstance(cut, slice):
            shape.append(_length(size, cut))
        elif isinstance(cut, int) and isinstance(size, int) and not -size <= cut < size:
            call.conflict(f"there is no element {cut} on axis {at} of {show(call.shape(0))}")
    return Facts(tuple(shape), call.inputs[0].dtype)


def _evaluate_slice(call: Call, x: Array, *_: Array) -> Array:
    return np.asarray(x[tuple(_cut(call))])


def _slice_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    starts, ends, places, steps, dropped = [], [], [], [], set()
    index = _cut(call)
    for at, cut in enumerate(cut for cut in index if cut is not None):
        if not isinstance(cut, slice):
            dropped.add(at)
            if isinstance(cut, Dim):
                emit.refuse("an element whose place depends on a size that is not known")
            cut = slice(cut, min(cut + 1, LAST) if cut != -1 else None, 1)
        if cut == slice(None, None, 1):
            continue
        if isinstance(cut.start, Dim) or isinstance(cut.stop, Dim):
            emit.refuse("a slice whose bounds depend on a size that is not known")
        backwards = cut.step < 0
        starts.append((LAST if backwards else 0) if cut.start is None else cut.start)
        ends.append((-LAST if backwards else LAST) if cut.stop is None else cut.stop)
        places.append(order.index(at))
        steps.append(cut.step)
    if not places and None not in index:
        emit.alias(0)
        return
    name = emit.value(0, order)
    if places:
        bounds = [emit.constant(numbers) for numbers in (starts, ends, places, steps)]
        name = emit.node("Slice", name, *bounds)
    if dropped:
        axes = emit.constant(sorted(order.index(at) for at in dropped))
        name = emit.node("Squeeze", name, axes)
    order = without(order, dropped)
    kept = [cut for cut in index if cut is None or isinstance(cut, slice)]
    for at in (at for at, cut in enumerate(kept) if cut is None):
        name = emit.node("Unsqueeze", name, emit.constant([at]))
        order = with_axis(order, at)
    emit.result(name, order)


STRIDED_SLICE = OpSpec(
    name="StridedSlice",
    doc="x[begin:end:strides] per axis, as NumPy slices. Bit i of a mask concerns axis i.",
    inputs=("x", "begin", "end", "strides"),
    fields={
        "begin_mask": Field("i", "axes that start at their beginning", 0),
        "end_mask": Field("i", "axes that run to their end", 0),
        "shrink_axis_mask": Field("i", "axes of which element `begin` is taken, and dropped", 0),
    },
    infer=_infer_slice,
    evaluate=_evaluate_slice,
    to_onnx=_slice_to_onnx,
    examples=(
        Example(
            (
                (3, 6, 5),
                np.array([0, 5, -1], np.int32),
                np.array([0, 0, 0], np.int32),
                np.array([1, -2, 1], np.int32),
            ),
            {"begin_mask": 1, "end_mask": 3, "shrink_axis_mask": 4},
            const=(1, 2, 3),
        ),
    ),
)


def _infer_gather(call: Call) -> Facts:
    axis = _gather_axis(call)
    if call.inputs[1].dtype.name not in ("int32", "int64"):
        call.conflict(f"indices are {call.inputs[1].dtype}; they must be int32 or int64")
    shape = call.shape(0)
    return Facts((*shape[:axis], *call.shape(1), *shape[axis + 1 :]), call.inputs[0].dtype)


def _gather_axis(call: Call) -> int:
    if call.rank(0) == 0:
        call.conflict("nothing can be gathered from a scalar")
    return call.axis(call["axis"]) if call.has_field("axis") else 0


def _evaluate_gather(call: Call, params: Array, indices: Array) -> Array:
    axis = _gather_axis(call)
    size = params.shape[axis]
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        call.conflict(f"indices reach from {indices.min()} to {indices.max()} on an axis of {size}")
    return np.take(params, indices, axis)


def _gather_to_onnx(call: Call, emit: Emitter) -> None:
    emit.result(emit.node("Gather", emit.value(0), emit.value(1), axis=_gather_axis(call)))


_GATHER_FIELDS = {
    "indices_dtype": Field("dtype", "element type of `indices`, as the input says", None),
    "params_dtype": Field("dtype", "element type of `params`, as the input says", None),
    "validate_indices": Field("b", "has no effect", True),
}

GATHER = OpSpec(
    name="Gather",
    doc="Rows of `params` by number: result[i...] = params[indices[i...]].",
    inputs=("params", "indices"),
    fields=_GATHER_FIELDS,
    infer=_infer_gather,
    evaluate=_evaluate_gather,
    to_onnx=_gather_to_onnx,
    examples=(Example(((5, 3), np.array([[4, 0], [2, 2]], np.int32)), const=(1,)),),
)

GATHER_V2 = OpSpec(
    name="GatherV2",
    doc="Slices of `params` along an axis by number.",
    inputs=("params", "indices"),
    fields={"axis": Field("i", "axis the numbers count along", 0), **_GATHER_FIELDS},
    infer=_infer_gather,
    evaluate=_evaluate_gather,
    to_onnx=_gather_to_onnx,
    examples=(Example(((2, 5, 3), np.array([4, 0], np.int64)), {"axis": -2}, const=(1,)),),
)


def paddings(call: Call) -> list[tuple[int, int]]:
    """Elements to add before and behind each axis. Fails where they are not known."""
    numbers = known_integers(call, 1)
    if call.shape(1) == (0,) and call.rank(0):
        call.fail(LOST_CONSTANT, "the paddings have no elements: the converter lost them")
    if len(numbers) != 2 * call.rank(0) or any(n < 0 for n in numbers):
        call.conflict(f"paddings {numbers} for {show(call.shape(0))}: two per axis are needed")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _infer_pad(call: Call) -> Facts:
    sizes: Shape = tuple(
        size + (before + behind)
        for size, (before, behind) in zip(call.shape(0), paddings(call), strict=True)
    )
    return Facts(sizes, call.inputs[0].dtype)


def _evaluate_pad(call: Call, x: Array, _: Array) -> Array:
    return np.pad(x, paddings(call))


def pad_to_onnx(call: Call, emit: Emitter, *value: str, **attributes: str) -> None:
    """Emit the padding of input 0, whatever it is padded with, as the node's result."""
    added, order = paddings(call), emit.held(0)
    ends = [added[axis][end] for end in (0, 1) for axis in order]
    if not any(ends):
        emit.alias(0)
        return
    name = emit.node("Pad", emit.value(0, order), emit.constant(ends), *value, **attributes)
    emit.result(name, order)


PAD = OpSpec(
    name="Pad",
    doc="Zeros before and behind each axis. `paddings` is [rank, 2]: before, behind.",
    inputs=("x", "paddings"),
    fields={},
    infer=_infer_pad,
    evaluate=_evaluate_pad,
    to_onnx=pad_to_onnx,
    examples=(Example(((2, 3), np.array([[0, 1], [2, 0]], np.int32)), const=(1,)),),
)
