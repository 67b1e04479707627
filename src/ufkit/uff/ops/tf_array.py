"""TensorFlow operations that make, repeat and cut tensors, passed on by the converter unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.core.dtypes import FLOAT32, INT32, DType
from ufkit.uff.dims import Dim, Shape, show, unify, whole
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import REQUIRED, Field
from ufkit.uff.ops.select import LAST, PAD, known_integers, known_numbers, pad_to_onnx, paddings
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1


def _i32(*numbers: int) -> Array:
    return np.array(numbers, np.int32)


# -- Cast ------------------------------------------------------------------------------------


def _cast_to(call: Call) -> DType:
    wanted: DType = call["DstT"]
    if wanted.name.startswith("raw"):
        call.conflict(f"it casts to {wanted}, which UFF has no number for")
    return wanted


def _evaluate_cast(call: Call, x: Array) -> Array:
    """Floats lose their fraction on the way to integers; sizes not known yet have none."""
    if x.dtype == object and _cast_to(call).name in ("int32", "int64"):
        return x
    return x.astype(_cast_to(call).numpy)


def _cast_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    if _cast_to(call) == call.inputs[0].dtype:
        emit.alias(0)
    else:
        emit.result(emit.cast(emit.value(0, order), _cast_to(call)), order)


CAST = OpSpec(
    name="_Cast",
    doc="The input in another element type. Where the converter had no number for it (uint8, "
    "bool), the field has no value, and float32 is taken.",
    inputs=("x",),
    fields={
        "SrcT": Field("dtype", "element type of the input, as it says itself", None),
        "DstT": Field("dtype", "element type of the result", FLOAT32),
        "Truncate": Field("b", "has no effect", False),
    },
    infer=lambda call: Facts(call.shape(0), _cast_to(call)),
    evaluate=_evaluate_cast,
    to_onnx=_cast_to_onnx,
    examples=(Example((_X,), {"DstT": INT32}), Example((_X > 0,), {"DstT": FLOAT32})),
    chooses=True,
)


# -- Fill, Range, BroadcastTo, Tile ----------------------------------------------------------


def shape_from(call: Call, i: int) -> Shape:
    """The shape that an input holds. Fails (UFF302) where it is not known at export."""
    numbers = known_numbers(call, i)
    if any(isinstance(size, int) and size < 0 for size in numbers):
        call.conflict(f"a tensor cannot have the shape {numbers}")
    return tuple(numbers)


def _evaluate_fill(call: Call, dims: Array, value: Array) -> Array:
    return np.full(whole(dims), value, value.dtype)


def _fill_to_onnx(_: Call, emit: Emitter) -> None:
    emit.result(emit.node("Expand", emit.value(1), emit.cast(emit.value(0), "int64")))


FILL = OpSpec(
    name="_Fill",
    doc="A tensor of shape `dims` with `value` everywhere.",
    inputs=("dims", "value"),
    fields={"T": TYPE, "index_type": TYPE},
    infer=lambda call: Facts(shape_from(call, 0), call.inputs[1].dtype),
    evaluate=_evaluate_fill,
    to_onnx=_fill_to_onnx,
    examples=(Example((_i32(2, 3), np.array(1.5, np.float32)), const=(0,)),),
)


def _infer_broadcast_to(call: Call) -> Facts:
    shape = shape_from(call, 1)
    mine = call.shape(0)
    fits = len(mine) <= len(shape) and all(
        size == 1 or unify(size, wanted) is not None
        for size, wanted in zip(mine[::-1], shape[::-1], strict=False)
    )
    if not fits:
        call.conflict(f"{show(mine)} cannot be broadcast to {show(shape)}")
    return Facts(shape, call.inputs[0].dtype)


BROADCAST_TO = OpSpec(
    name="_BroadcastTo",
    doc="The input broadcast to a shape, as NumPy does.",
    inputs=("x", "shape"),
    fields={"T": TYPE, "Tidx": TYPE},
    infer=_infer_broadcast_to,
    evaluate=lambda call, x, shape: np.broadcast_to(x, whole(shape)),
    to_onnx=lambda call, emit: emit.result(
        emit.node("Expand", emit.value(0), emit.cast(emit.value(1), "int64"))
    ),
    examples=(Example(((3, 1), _i32(2, 3, 4)), const=(1,)),),
)


def _infer_tile(call: Call) -> Facts:
    times = known_numbers(call, 1)
    if len(times) != call.rank(0):
        call.conflict(f"{len(times)} repetitions for {show(call.shape(0))}")
    sizes = (size * n for size, n in zip(call.shape(0), times, strict=True))
    return Facts(tuple(sizes), call.inputs[0].dtype)


TILE = OpSpec(
    name="_Tile",
    doc="The input repeated along each axis.",
    inputs=("x", "multiples"),
    fields={"T": TYPE, "Tmultiples": TYPE},
    infer=_infer_tile,
    evaluate=lambda call, x, times: np.tile(x, whole(times)),
    to_onnx=lambda call, emit: emit.result(
        emit.node("Tile", emit.value(0), emit.cast(emit.value(1), "int64"))
    ),
    examples=(Example(((2, 3), _i32(2, 2)), const=(1,)),),
)


def _evaluate_range(_: Call, start: Any, limit: Any, step: Any) -> Array:
    numbers: Any = np.arange(start.item(), limit.item(), step.item())
    return np.asarray(numbers, start.dtype)


def _infer_range(call: Call) -> Facts:
    dtype = call.inputs[0].dtype
    values = [call.inputs[i].value for i in range(3)]
    if any(value is None for value in values):
        return Facts((Dim.unknown(),), dtype)
    if any(value is not None and value.size != 1 for value in values):
        call.conflict("start, limit and delta must be one number each")
    start, limit, step = (whole(value)[0] for value in values if value is not None)
    if step == 0:
        call.conflict("a range in steps of 0")
    if any(isinstance(number, Dim) for number in (start, limit, step)):
        whole_range = start == 0 and step == 1
        return Facts((limit if whole_range else Dim.unknown(),), dtype)
    return Facts((max(0, -(-(limit - start) // step)),), dtype)


RANGE = OpSpec(
    name="_Range",
    doc="Numbers from `start` up to, not including, `limit`, in steps of `delta`.",
    inputs=("start", "limit", "delta"),
    fields={"Tidx": TYPE},
    infer=_infer_range,
    evaluate=_evaluate_range,
    to_onnx=lambda call, emit: emit.result(emit.node("Range", *(emit.value(i) for i in range(3)))),
    examples=(Example((np.array(1, np.int32), np.array(9, np.int32), np.array(3, np.int32))),),
)


# -- Slice, MirrorPad, PadV2, ReverseV2 ------------------------------------------------------


def _slices(call: Call) -> list[tuple[int, int | None]]:
    """Where each axis begins, and ends; None is its end."""
    begin, size = known_integers(call, 1), known_integers(call, 2)
    if not len(begin) == len(size) == call.rank(0):
        call.conflict(f"begin {begin} and size {size} for {show(call.shape(0))}")
    for at, (first, length) in enumerate(zip(begin, size, strict=True)):
        axis = call.shape(0)[at]
        if isinstance(axis, int) and not 0 <= first <= first + max(length, 0) <= axis:
            call.conflict(f"{length} elements from {first} on do not fit axis {at} of {axis}")
    return [
        (first, None if length == -1 else first + length)
        for first, length in zip(begin, size, strict=True)
    ]


def _infer_slice(call: Call) -> Facts:
    sizes: list[int | Dim] = []
    for size, (first, last) in zip(call.shape(0), _slices(call), strict=True):
        if last is not None:
            sizes.append(last - first)
        else:
            sizes.append(size - first if isinstance(size, int) or not first else Dim.unknown())
    return Facts(tuple(sizes), call.inputs[0].dtype)


def _evaluate_slice(call: Call, x: Array, *_: Array) -> Array:
    return x[tuple(slice(*ends) for ends in _slices(call))]


def _slice_to_onnx(call: Call, emit: Emitter) -> None:
    order, ends = emit.held(0), _slices(call)
    cut = [
        (first, LAST if last is None else last, order.index(axis))
        for axis, (first, last) in enumerate(ends)
        if (first, last) != (0, None)
    ]
    if not cut:
        emit.alias(0)
        return
    bounds = [emit.constant(list(numbers)) for numbers in zip(*cut, strict=True)]
    emit.result(emit.node("Slice", emit.value(0, order), *bounds), order)


SLICE = OpSpec(
    name="_Slice",
    doc="`size` elements of each axis from `begin` on; a size of -1 is all that are left.",
    inputs=("x", "begin", "size"),
    fields={"T": TYPE, "Index": TYPE},
    infer=_infer_slice,
    evaluate=_evaluate_slice,
    to_onnx=_slice_to_onnx,
    examples=(Example((_X, _i32(0, 1, 1), _i32(-1, 2, -1)), const=(1, 2)),),
)


def _infer_mirror(call: Call) -> Facts:
    least = 0 if call["mode"] == "SYMMETRIC" else 1  # of the elements, the edge is left out
    for size, ends in zip(call.shape(0), paddings(call), strict=True):
        if isinstance(size, int) and max(ends) > max(size - least, 0):
            call.conflict(f"an axis of {size} cannot be mirrored at {ends[0]} and {ends[1]} places")
    return PAD.infer(call)


def _evaluate_mirror(call: Call, x: Array, _: Array) -> Array:
    return np.pad(x, paddings(call), "reflect" if call["mode"] == "REFLECT" else "symmetric")


def _mirror_to_onnx(call: Call, emit: Emitter) -> None:
    """ONNX reflects without the edge. With it, the ends are cut off, turned and put on again."""
    if call["mode"] == "REFLECT":
        pad_to_onnx(call, emit, mode="reflect")
        return
    added, order = paddings(call), emit.held(0)
    if not any(map(any, added)):
        emit.alias(0)
        return
    name = emit.value(0, order)
    for axis, (before, behind) in enumerate(added):
        place, parts = order.index(axis), [name]
        if before:
            parts.insert(0, _backwards(emit, name, place, before - 1, -LAST))
        if behind:
            parts.append(_backwards(emit, name, place, -1, -behind - 1))
        if len(parts) > 1:
            name = emit.node("Concat", *parts, axis=place)
    emit.result(name, order)


def _backwards(emit: Emitter, name: str, place: int, start: int, stop: int) -> str:
    bounds = ([start], [stop], [place], [-1])
    return emit.node("Slice", name, *(emit.constant(numbers) for numbers in bounds))


MIRROR_PAD = OpSpec(
    name="_MirrorPad",
    doc="Elements before and behind each axis, mirrored: without the edge (REFLECT) or with it.",
    inputs=("x", "paddings"),
    fields={
        "T": TYPE,
        "Tpaddings": TYPE,
        "mode": Field("s", "what is mirrored", REQUIRED, ("REFLECT", "SYMMETRIC")),
    },
    infer=_infer_mirror,
    evaluate=_evaluate_mirror,
    to_onnx=_mirror_to_onnx,
    examples=(
        Example((_X, _i32(0, 0, 1, 2, 2, 0).reshape(3, 2)), {"mode": "REFLECT"}, const=(1,)),
        Example((_X, _i32(0, 0, 1, 3, 2, 0).reshape(3, 2)), {"mode": "SYMMETRIC"}, const=(1,)),
    ),
)


PAD_V2 = OpSpec(
    name="_PadV2",
    doc="A value before and behind each axis.",
    inputs=("x", "paddings", "value"),
    fields={"T": TYPE, "Tpaddings": TYPE},
    infer=PAD.infer,
    evaluate=lambda call, x, _, value: np.pad(x, paddings(call), constant_values=value),
    to_onnx=lambda call, emit: pad_to_onnx(call, emit, emit.value(2)),
    examples=(
        Example(
            ((2, 3), np.array([[0, 1], [2, 0]], np.int32), np.array(7, np.float32)), const=(1, 2)
        ),
    ),
)


TF_ARRAY = (
    CAST,
    FILL,
    BROADCAST_TO,
    TILE,
    RANGE,
    SLICE,
    MIRROR_PAD,
    PAD_V2,
)
