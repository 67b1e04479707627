"""Operations on shapes: Reshape, Flatten, Transpose, Squeeze, ExpandDims, Shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.core.dtypes import INT32, INT64, DType
from ufkit.uff.dims import MAX_RANK, Dim, Shape, exact_quotient, product, show, whole
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.orders import Order, identity
from ufkit.uff.rules import FIELD_VALUE, FLATTEN_ORDER


def _target(call: Call) -> list[Any] | None:
    """The numbers of the shape input, symbolic ones as Dims; None when not known."""
    value = call.inputs[1].value
    return None if value is None else whole(value)


def _infer_reshape(call: Call) -> Facts:
    dtype = call.inputs[0].dtype
    target = _target(call)
    if target is None:
        if call.rank(1) != 1 or not isinstance(count := call.shape(1)[0], int):
            return Facts(None, dtype)
        if count > MAX_RANK:
            call.conflict(f"a shape of {count} numbers; {MAX_RANK} are the most")
        return Facts(tuple(Dim.unknown() for _ in range(count)), dtype)
    if call.shape(1) == (0,) and product(call.shape(0)) != 1:
        call.conflict("the shape asked for has no elements: the converter lost it")
    return Facts(_completed(call, target), dtype)


def _completed(call: Call, target: list[Any]) -> Shape:
    """The shape with each -1 replaced. With two, the first is the batch and stays."""
    target = list(target)
    shape = call.shape(0)
    gaps = [at for at, size in enumerate(target) if isinstance(size, int) and size == -1]
    if any(isinstance(size, int) and size < -1 for size in target):
        call.conflict(f"a tensor cannot have the shape {target}")
    if len(gaps) == 2 and gaps[0] == 0 and shape:
        target[0] = shape[0]
        gaps = gaps[1:]
    if len(gaps) > 1:
        call.conflict(f"-1 stands {len(gaps)} times in {target}; once, and for the batch, it may")
    count, rest = product(shape), product(tuple(size for size in target if size != -1))
    if gaps:
        missing = exact_quotient(count, rest)
        if missing is None and isinstance(count, int) and isinstance(rest, int):
            call.conflict(f"{count} elements {show(shape)} cannot be shaped as {target}")
        target[gaps[0]] = Dim.unknown() if missing is None else missing
    elif isinstance(count, int) and isinstance(rest, int) and count != rest:
        call.conflict(f"{count} elements {show(shape)} cannot be shaped as {target}")
    return tuple(target)


def _evaluate_reshape(call: Call, x: Array, shape: Array) -> Array:
    return x.reshape(_completed(call, whole(shape)))  # type: ignore[arg-type]


def _reshape_to_onnx(call: Call, emit: Emitter) -> None:
    target = _target(call)
    if target is None:
        shape = emit.cast(emit.value(1), "int64")
        emit.result(emit.node("Reshape", emit.value(0), shape))
        return
    reshape_to(call, emit, _completed(call, target), emit.value(1) if _open(target) else "")


def _open(target: list[Any]) -> bool:
    return any(isinstance(size, Dim) for size in target)


def reshape_to(call: Call, emit: Emitter, shape: Shape, computed: str = "") -> None:
    """Emit a Reshape to `shape`; `computed` holds it at run time where numbers cannot say it.

    ONNX takes 0 for "as in the input" and one -1 for "what is left".
    """
    given = call.shape(0)
    if shape == given:
        emit.alias(0)
        return
    if 0 in shape:
        emit.refuse("a tensor without elements is reshaped")
    numbers = [
        0 if isinstance(size, Dim) and size.known and given[at : at + 1] == (size,) else size
        for at, size in enumerate(shape)
    ]
    if sum(isinstance(size, Dim) for size in numbers) > 1 and computed:
        target = emit.cast(computed, "int64")
    else:
        numbers = [-1 if isinstance(size, Dim) else size for size in numbers]
        if numbers.count(-1) > 1:
            numbers = _batch_first(call, emit, shape)
        target = emit.constant(numbers)
    emit.result(emit.node("Reshape", emit.unordered(0), target))


def _batch_first(call: Call, emit: Emitter, shape: Shape) -> list[int | Dim]:
    """A shape with two open sizes, the first of them the input's own batch."""
    numbers: list[int | Dim] = [0, *(-1 if isinstance(size, Dim) else size for size in shape[1:])]
    if shape[0] is not call.shape(0)[0] or numbers.count(-1) > 1:
        emit.refuse(
            f"the shape {show(shape)} has more than one size that is not known",
            "give the inputs' shapes: --shape NAME=1,28,28,1",
        )
    return numbers


RESHAPE = OpSpec(
    name="Reshape",
    doc="The same elements, in the same order, under another shape. -1 once stands for what is "
    "left; with a dynamic batch twice, the first then being the batch.",
    inputs=("x", "shape"),
    fields={},
    infer=_infer_reshape,
    evaluate=_evaluate_reshape,
    to_onnx=_reshape_to_onnx,
    examples=(
        Example(((2, 3, 4), np.array([-1, 6], np.int32)), const=(1,)),
        Example(((2, 3, 4), np.array([-1, -1, 2], np.int64)), const=(1,)),
    ),
)


def _infer_flatten(call: Call) -> Facts:
    if call.rank(0) == 0:
        call.conflict("a scalar cannot be flattened")
    shape = call.shape(0)
    if len(shape) > 3 and any(size != 1 for size in shape[1:-1]):
        call.note(FLATTEN_ORDER, f"{show(shape)} is flattened as it is stored, last axis fastest")
    return Facts((shape[0], product(shape[1:])), call.inputs[0].dtype)


def _evaluate_flatten(_: Call, x: Array) -> Array:
    return x.reshape(x.shape[0], int(np.prod(x.shape[1:])))


def _flatten_to_onnx(call: Call, emit: Emitter) -> None:
    if call.rank(0) == 2:
        emit.alias(0)
    else:
        emit.result(emit.node("Flatten", emit.unordered(0), axis=1))


FLATTEN = OpSpec(
    name="Flatten",
    doc="Keeps the batch and flattens the rest, in the order the tensor has in the graph (a "
    "channels-last map gives H, W, C).",
    inputs=("x",),
    fields={},
    infer=_infer_flatten,
    evaluate=_evaluate_flatten,
    to_onnx=_flatten_to_onnx,
    examples=(Example(((2, 3, 4),)), Example(((5,),))),
)


def _permutation(call: Call) -> Order:
    given = tuple(call["permutation"])
    rank = call.rank(0)
    if sorted(axis % rank if -rank <= axis < rank else -1 for axis in given) != list(range(rank)):
        message = f"permutation {list(given)} does not name each axis of {show(call.shape(0))} once"
        call.fail(FIELD_VALUE, message, "permutation")
    return tuple(axis % rank for axis in given)


def _infer_transpose(call: Call) -> Facts:
    shape = call.shape(0)
    return Facts(tuple(shape[axis] for axis in _permutation(call)), call.inputs[0].dtype)


TRANSPOSE = OpSpec(
    name="Transpose",
    doc="Axis i of the result is axis permutation[i] of the input.",
    inputs=("x",),
    fields={"permutation": Field("i_list", "which axis of the input comes where")},
    infer=_infer_transpose,
    evaluate=lambda call, x: x.transpose(_permutation(call)),
    to_onnx=lambda call, emit: emit.alias(0, _permutation(call)),
    examples=(Example(((2, 3, 4),), {"permutation": [2, 0, 1]}),),
)


def without(order: Order, axes: set[int]) -> Order:
    """The order of the axes that remain when some are removed."""
    kept = [axis for axis in range(len(order)) if axis not in axes]
    return tuple(kept.index(axis) for axis in order if axis not in axes)


def with_axis(order: Order, at: int) -> Order:
    """The order of all axes when a new one, number `at`, stands in that place."""
    moved = tuple(axis + (axis >= at) for axis in order)
    return (*moved[:at], at, *moved[at:])


def _squeezed(call: Call) -> set[int]:
    shape = call.shape(0)
    axes = {call.axis(axis, name="axes") for axis in call["axes"]}
    if not axes:
        still_open = call.inputs[0].open
        axes = {at for at, size in enumerate(shape) if size == 1 and at not in still_open}
    if wrong := [at for at in axes if isinstance(shape[at], int) and shape[at] != 1]:
        call.conflict(f"axis {wrong[0]} of {show(shape)} is not 1 and cannot be squeezed")
    return axes


def _infer_squeeze(call: Call) -> Facts:
    gone = _squeezed(call)
    kept = tuple(size for at, size in enumerate(call.shape(0)) if at not in gone)
    return Facts(kept, call.inputs[0].dtype)


def _squeeze_to_onnx(call: Call, emit: Emitter) -> None:
    squeeze(emit, 0, _squeezed(call))


def squeeze(emit: Emitter, i: int, axes: set[int]) -> None:
    """Emit the removal of axes of length 1 (UFF's numbers) as the node's result."""
    if not axes:
        emit.alias(i)
        return
    order = emit.held(i)
    places = emit.constant(sorted(order.index(axis) for axis in axes))
    emit.result(emit.node("Squeeze", emit.value(i, order), places), without(order, axes))


SQUEEZE = OpSpec(
    name="Squeeze",
    doc="Removes axes of length 1: those named, or all. An open size is taken not to be 1.",
    inputs=("x",),
    fields={"axes": Field("i_list", "axes to remove; none named means all of length 1", [])},
    infer=_infer_squeeze,
    evaluate=lambda call, x: x.squeeze(tuple(_squeezed(call))),
    to_onnx=_squeeze_to_onnx,
    examples=(Example(((2, 1, 3, 1),), {"axes": [-1]}), Example(((1, 3, 1),))),
)


def _new_axis(call: Call) -> int:
    return call.axis(call["axis"], call.rank(0) + 1)


def _infer_expand(call: Call) -> Facts:
    at, shape = _new_axis(call), call.shape(0)
    return Facts((*shape[:at], 1, *shape[at:]), call.inputs[0].dtype)


def _expand_to_onnx(call: Call, emit: Emitter) -> None:
    at, order = _new_axis(call), emit.held(0)
    name = emit.node("Unsqueeze", emit.value(0, order), emit.constant([at]))
    emit.result(name, with_axis(order, at))


EXPAND_DIMS = OpSpec(
    name="ExpandDims",
    doc="A new axis of length 1 at a place.",
    inputs=("x",),
    fields={"axis": Field("i", "place of the new axis in the result; -1 is behind the last")},
    infer=_infer_expand,
    evaluate=lambda call, x: np.expand_dims(x, _new_axis(call)),
    to_onnx=_expand_to_onnx,
    examples=(Example(((2, 3),), {"axis": 1}), Example(((2, 3),), {"axis": -1})),
)


def _infer_shape(call: Call) -> Facts:
    shape = call.shape(0)
    numbers = all(isinstance(size, int) for size in shape)
    kind = _shape_type(call)
    most = np.iinfo(kind.numpy).max
    if any(isinstance(size, int) and size > most for size in shape):
        call.conflict(f"{show(shape)} does not fit into {kind}")
    value = np.array(shape, kind.numpy) if numbers else np.array([*shape, None], object)[:-1]
    return Facts((len(shape),), kind, value)


def integer_type(call: Call, name: str, otherwise: DType) -> DType:
    """The type of whole numbers that a field of TensorFlow's own operation names.

    UFF's operations have no such field, and give `otherwise`.
    """
    kind: DType = call[name] if call.has_field(name) else otherwise
    if kind not in (INT32, INT64):
        call.fail(FIELD_VALUE, f"{name} is {kind}; it must be int32 or int64", name)
    return kind


def _shape_type(call: Call) -> DType:
    return integer_type(call, "out_type", INT32)


def _shape_to_onnx(call: Call, emit: Emitter) -> None:
    order = emit.held(0)
    name = emit.node("Shape", emit.value(0, order))
    if order != identity(len(order)):
        places = [order.index(axis) for axis in range(len(order))]
        name = emit.node("Gather", name, emit.constant(places), axis=0)
    emit.result(emit.cast(name, _shape_type(call)))


SHAPE = OpSpec(
    name="Shape",
    doc="The sizes of the input, as int32.",
    inputs=("x",),
    fields={},
    infer=_infer_shape,
    evaluate=lambda call, x: np.array(x.shape, _shape_type(call).numpy),
    to_onnx=_shape_to_onnx,
    examples=(Example(((2, 3, 4),)),),
)
