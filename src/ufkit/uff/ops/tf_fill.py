"""TensorFlow operations that make tensors of sizes and numbers, or turn them round."""

from __future__ import annotations

import numpy as np

from ufkit.core.dtypes import INT32, DType
from ufkit.uff.dims import product, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.reshape import integer_type
from ufkit.uff.ops.select import LAST, known_integers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1

# -- ZerosLike, OnesLike, Size, Rank ---------------------------------------------------------


def _alike(name: str, number: int) -> OpSpec:
    def lower(call: Call, emit: Emitter) -> None:
        order = emit.held(0)
        value = emit.constant(number, call.inputs[0].dtype.name)
        emit.result(emit.node("Expand", value, emit.node("Shape", emit.value(0, order))), order)

    return OpSpec(
        name,
        f"{number} in the shape and type of the input.",
        ("x",),
        {"T": TYPE},
        lambda call: Facts(call.shape(0), call.inputs[0].dtype),
        lambda _, x: np.full_like(x, number),
        lower,
        (Example((_X,)), Example((np.array([3, 4], np.int32),))),
    )


_OUT_TYPE = Field("dtype", "element type of the result", INT32)


def _size_type(call: Call) -> DType:
    return integer_type(call, "out_type", INT32)


def _infer_size(call: Call) -> Facts:
    count, kind = product(call.shape(0)), _size_type(call)
    if not isinstance(count, int):
        return Facts((), kind, np.array(count, object))
    if count > np.iinfo(kind.numpy).max:
        call.conflict(f"{count} elements do not fit into {kind}")
    return Facts((), kind, np.array(count, kind.numpy))


SIZE = OpSpec(
    "_Size",
    "How many elements the input has.",
    ("x",),
    {"T": TYPE, "out_type": _OUT_TYPE},
    _infer_size,
    lambda call, x: np.array(x.size, _size_type(call).numpy),
    lambda call, emit: emit.result(
        emit.cast(emit.node("Size", emit.unordered(0)), _size_type(call))
    ),
    (Example((_X,)),),
)

RANK = OpSpec(
    "_Rank",
    "How many axes the input has.",
    ("x",),
    {"T": TYPE},
    lambda call: Facts((), INT32, np.array(call.rank(0), np.int32)),
    lambda _, x: np.array(x.ndim, np.int32),
    lambda call, emit: emit.result(
        emit.cast(emit.node("Size", emit.node("Shape", emit.unordered(0))), INT32)
    ),
    (Example((_X,)),),
)

# -- LinSpace, InvertPermutation -------------------------------------------------------------


def _count(call: Call) -> int:
    (count,) = known_integers(call, 2, 1)
    if count < 1:
        call.conflict(f"{count} numbers from start to stop")
    return count


def _evaluate_linspace(call: Call, start: Array, stop: Array, _: Array) -> Array:
    first, last = float(start.item()), float(stop.item())
    return np.linspace(first, last, _count(call)).astype(start.dtype)


def _linspace_to_onnx(call: Call, emit: Emitter) -> None:
    count, kind = _count(call), call.inputs[0].dtype
    places = emit.node("Range", *(emit.constant(number) for number in (0, count, 1)))
    share = emit.node("Div", emit.cast(places, kind), emit.constant(max(count - 1, 1), kind.name))
    reach = emit.node("Sub", emit.value(1), emit.value(0))
    emit.result(emit.node("Add", emit.value(0), emit.node("Mul", share, reach)))


LIN_SPACE = OpSpec(
    "_LinSpace",
    "`num` numbers from `start` to `stop`, equally far apart.",
    ("start", "stop", "num"),
    {"T": TYPE, "Tidx": TYPE},
    lambda call: Facts((_count(call),), call.inputs[0].dtype),
    _evaluate_linspace,
    _linspace_to_onnx,
    (
        Example(
            (np.array(-1, np.float32), np.array(2, np.float32), np.array(7, np.int32)), const=(2,)
        ),
        Example(
            (np.array(3, np.float32), np.array(2, np.float32), np.array(1, np.int32)), const=(2,)
        ),
    ),
)


def _infer_inverse(call: Call) -> Facts:
    if call.rank(0) != 1:
        call.conflict(f"{show(call.shape(0))} is no list of axes")
    return Facts(call.shape(0), call.inputs[0].dtype)


def _evaluate_inverse(call: Call, x: Array) -> Array:
    if sorted(x.tolist()) != list(range(x.size)):
        call.conflict(f"{x.tolist()} does not name each place once")
    return np.argsort(x).astype(x.dtype)


def _inverse_to_onnx(call: Call, emit: Emitter) -> None:
    """The order in which places must be taken to come out sorted: those of the smallest."""
    size = emit.node("Shape", emit.value(0))
    places = emit.cast(emit.value(0), "int64")
    count = emit.node("Squeeze", size)
    numbers = emit.node("Range", emit.constant(0), count, emit.constant(1))
    emit.result(
        emit.cast(emit.node("ScatterElements", numbers, places, numbers), call.inputs[0].dtype)
    )


INVERT_PERMUTATION = OpSpec(
    "_InvertPermutation",
    "The permutation that undoes one.",
    ("x",),
    {"T": TYPE},
    _infer_inverse,
    _evaluate_inverse,
    _inverse_to_onnx,
    (Example((np.array([2, 0, 3, 1], np.int32),)),),
)

# -- Reverse ----------------------------------------------------------------------------


def _axes(call: Call) -> list[int]:
    return sorted({call.axis(axis) for axis in known_integers(call, 1)})


def _infer_reverse(call: Call) -> Facts:
    _axes(call)
    return Facts(call.shape(0), call.inputs[0].dtype)


def _reverse_to_onnx(call: Call, emit: Emitter) -> None:
    axes, order = _axes(call), emit.held(0)
    if not axes:
        emit.alias(0)
        return
    places = [order.index(axis) for axis in axes]
    bounds = ([-1] * len(places), [-LAST] * len(places), places, [-1] * len(places))
    slices = (emit.constant(numbers) for numbers in bounds)
    emit.result(emit.node("Slice", emit.value(0, order), *slices), order)


REVERSE = OpSpec(
    "_ReverseV2",
    "The input with the elements along some axes in opposite sequence.",
    ("x", "axis"),
    {"T": TYPE, "Tidx": TYPE},
    _infer_reverse,
    lambda call, x, _: np.flip(x, tuple(_axes(call))),
    _reverse_to_onnx,
    (Example((_X, np.array([-1, 0], np.int32)), const=(1,)),),
)

# -- ReverseSequence -------------------------------------------------------------------------


def _sequences(call: Call) -> tuple[int, int]:
    """The axis along which rows differ in length, and that along which they are turned."""
    batch = call.axis(call["batch_dim"], name="batch_dim")
    along = call.axis(call["seq_dim"], name="seq_dim")
    if batch == along:
        call.conflict(f"axis {batch} holds both the rows and their elements")
    return batch, along


def _infer_sequence(call: Call) -> Facts:
    rows, lengths = call.shape(0)[_sequences(call)[0]], call.shape(1)
    if len(lengths) != 1 or unify(lengths[0], rows) is None:
        call.conflict(f"{show(lengths)} lengths for {rows} rows")
    return Facts(call.shape(0), call.inputs[0].dtype)


def _evaluate_sequence(call: Call, x: Array, lengths: Array) -> Array:
    result = x.copy()
    batch, along = _sequences(call)
    size = x.shape[along]
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= size:
        call.conflict(f"lengths from {lengths.min()} to {lengths.max()} on an axis of {size}")
    rows = np.moveaxis(result, (batch, along), (0, 1))  # a view
    for row, length in zip(rows, lengths.tolist(), strict=True):
        row[:length] = row[:length][::-1].copy()
    return result


def _sequence_to_onnx(call: Call, emit: Emitter) -> None:
    """ONNX has the two axes in front, as the sequence of axes can always be."""
    front = _sequences(call)
    order = (*front, *(axis for axis in range(call.rank(0)) if axis not in front))
    lengths = emit.cast(emit.value(1), "int64")
    value = emit.value(0, order)
    emit.result(emit.node("ReverseSequence", value, lengths, batch_axis=0, time_axis=1), order)


REVERSE_SEQUENCE = OpSpec(
    "_ReverseSequence",
    "Rows of which the first elements, as many as `seq_lengths` says, come in opposite sequence.",
    ("x", "seq_lengths"),
    {
        "T": TYPE,
        "Tlen": TYPE,
        "seq_dim": Field("i", "axis along which rows are turned"),
        "batch_dim": Field("i", "axis that holds the rows", 0),
    },
    _infer_sequence,
    _evaluate_sequence,
    _sequence_to_onnx,
    (
        Example((_X, np.array([3, 1], np.int64)), {"seq_dim": 2}),
        Example((_X, np.array([0, 2, 1, 2], np.int32)), {"seq_dim": 0, "batch_dim": 2}, const=(1,)),
    ),
)

TF_FILL = (
    _alike("_ZerosLike", 0),
    _alike("_OnesLike", 1),
    SIZE,
    RANK,
    LIN_SPACE,
    INVERT_PERMUTATION,
    REVERSE,
    REVERSE_SEQUENCE,
)
