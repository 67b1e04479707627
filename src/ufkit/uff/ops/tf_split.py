"""TensorFlow operations with several values, passed on by the converter unchanged."""

from __future__ import annotations

import numpy as np

from ufkit.core.dtypes import INT32
from ufkit.uff.dims import Dim, show
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.reshape import without
from ufkit.uff.ops.select import known_integers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.rules import FIELD_VALUE

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)[:, :, ::-1] / 7
_MOST_PARTS = 1 << 16
_SPLIT_OPSET = 18  # since which equal parts have to be counted


def _at(call: Call) -> int:
    """Which input is split."""
    return 1 if call.node.operation == "_Split" else 0


def _parts(call: Call, name: str) -> int:
    count: int = call[name]
    if not 1 <= count <= _MOST_PARTS:
        call.fail(FIELD_VALUE, f"{name} is {count}; 1 to {_MOST_PARTS} are possible", name)
    return count


def _axis(call: Call) -> int:
    (axis,) = known_integers(call, 0 if _at(call) else 2, 1)
    return call.axis(axis, call.rank(_at(call)))


def _sizes(call: Call) -> list[int | Dim]:
    """The length of each part."""
    shape, axis, count = call.shape(_at(call)), _axis(call), _parts(call, "num_split")
    total = shape[axis]
    if _at(call):
        if isinstance(total, int) and total % count:
            call.conflict(f"axis {axis} of {show(shape)} does not fall into {count} equal parts")
        return [total // count] * count
    sizes: list[int | Dim] = [*known_integers(call, 1, count)]
    rest = [at for at, size in enumerate(sizes) if size == -1]
    given = sum(size for size in sizes if isinstance(size, int) and size != -1)
    if len(rest) > 1 or any(isinstance(size, int) and size < -1 for size in sizes):
        call.conflict(f"sizes {sizes}: one may be -1, for what is left; none may be less")
    if isinstance(total, int) and (given > total or (given < total and not rest)):
        call.conflict(f"sizes {sizes} do not add up to axis {axis} of {show(shape)}")
    if rest:
        sizes[rest[0]] = total - given
    return sizes


def _infer_split(call: Call) -> Facts:
    axis, shape = _axis(call), call.shape(_at(call))
    size = _sizes(call)[call.output]
    return Facts((*shape[:axis], size, *shape[axis + 1 :]), call.inputs[_at(call)].dtype)


def _evaluate_split(call: Call, *arrays: Array) -> Array:
    ends = np.cumsum(np.array(_sizes(call), np.int64))
    return np.asarray(np.split(arrays[_at(call)], ends[:-1], _axis(call))[call.output])


def _split_to_onnx(call: Call, emit: Emitter) -> None:
    at, sizes = _at(call), _sizes(call)
    order = emit.held(at)
    axis, count = order.index(_axis(call)), len(sizes)
    parts = [emit.value(at, order)]
    attributes = {"axis": axis}
    if not any(isinstance(size, Dim) for size in sizes):
        parts.append(emit.constant(sizes))
    elif at == 0:
        emit.refuse(f"the length of a part, {sizes}, is not known")
    elif emit.opset >= _SPLIT_OPSET:
        attributes["num_outputs"] = count
    emit.result(emit.nodes("Split", *parts, outputs=count, **attributes)[call.output], order)


_COUNT = Field("i", "how many parts there are")


def _infer_unpack(call: Call) -> Facts:
    shape, axis, count = call.shape(0), call.axis(call["axis"]), _parts(call, "num")
    if isinstance(shape[axis], int) and shape[axis] != count:
        call.conflict(f"axis {axis} of {show(shape)} is not {count} long")
    return Facts(shape[:axis] + shape[axis + 1 :], call.inputs[0].dtype)


def _evaluate_unpack(call: Call, x: Array) -> Array:
    return np.asarray(np.take(x, call.output, call.axis(call["axis"])))


def _unpack_to_onnx(call: Call, emit: Emitter) -> None:
    axis, order = call.axis(call["axis"]), emit.held(0)
    number = emit.constant(call.output)
    name = emit.node("Gather", emit.value(0, order), number, axis=order.index(axis))
    emit.result(name, without(order, {axis}))


def _most(call: Call) -> int:
    (most,) = known_integers(call, 1, 1)
    size = call.shape(0)[call.axis(-1)]
    if most < 0 or (isinstance(size, int) and most > size):
        call.conflict(f"there are no {most} largest of {size}")
    return most


def _infer_top(call: Call) -> Facts:
    most = _most(call)
    dtype = INT32 if call.output else call.inputs[0].dtype
    return Facts((*call.shape(0)[:-1], most), dtype)


def _evaluate_top(call: Call, x: Array, _: Array) -> Array:
    order = np.argsort(x[..., ::-1], kind="stable")[..., ::-1]  # of equal ones the first is first
    places = (x.shape[-1] - 1 - order)[..., : _most(call)]
    return places.astype(np.int32) if call.output else np.take_along_axis(x, places, -1)


def _top_to_onnx(call: Call, emit: Emitter) -> None:
    values, places = emit.nodes("TopK", emit.value(0), emit.constant([_most(call)]), outputs=2)
    emit.result(emit.cast(places, INT32) if call.output else values)


TF_SPLIT = (
    OpSpec(
        "_Split",
        "`num_split` equal parts along an axis. Value k is part k.",
        ("axis", "x"),
        {"T": TYPE, "num_split": _COUNT},
        _infer_split,
        _evaluate_split,
        _split_to_onnx,
        tuple(
            Example((np.array(-1, np.int32), _X), {"num_split": 2}, const=(0,), output=k)
            for k in (0, 1)
        ),
        outputs=lambda call: _parts(call, "num_split"),
    ),
    OpSpec(
        "_SplitV",
        "Parts of the given sizes along an axis; -1 is what the others leave. Value k is part k.",
        ("x", "sizes", "axis"),
        {"T": TYPE, "Tlen": TYPE, "num_split": _COUNT},
        _infer_split,
        _evaluate_split,
        _split_to_onnx,
        tuple(
            Example(
                (_X, np.array([1, -1, 2], np.int32), np.array(2, np.int32)),
                {"num_split": 3},
                const=(1, 2),
                output=k,
            )
            for k in (0, 1, 2)
        ),
        outputs=lambda call: _parts(call, "num_split"),
    ),
    OpSpec(
        "_Unpack",
        "The slices of an axis, which is dropped. Value k is slice k.",
        ("x",),
        {"T": TYPE, "num": Field("i", "length of the axis"), "axis": Field("i", "the axis", 0)},
        _infer_unpack,
        _evaluate_unpack,
        _unpack_to_onnx,
        tuple(Example((_X,), {"num": 3, "axis": 1}, output=k) for k in (0, 2)),
        outputs=lambda call: _parts(call, "num"),
    ),
    OpSpec(
        "_TopKV2",
        "The k largest elements of the last axis, largest first (value 0), and their places "
        "(value 1). Of equal ones the first comes first.",
        ("x", "k"),
        {
            "T": TYPE,
            "sorted": Field("b", "has no effect: they are always sorted", True),
        },
        _infer_top,
        _evaluate_top,
        _top_to_onnx,
        tuple(
            Example(
                (np.round(_X * 2), np.array(3, np.int32)), {"sorted": True}, const=(1,), output=k
            )
            for k in (0, 1)
        ),
        outputs=lambda call: 2,
        chooses=True,
    ),
)
