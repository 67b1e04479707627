"""Operations that are the graph's ends: Input, Const, MarkOutput."""

from __future__ import annotations

from typing import NoReturn

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Facts, OpSpec


def _elsewhere(*_: object) -> NoReturn:
    """Inputs are fed, constants read from the file: whoever walks a graph does that first."""
    raise AssertionError("the walker handles this operation itself")


INPUT = OpSpec(
    name="Input",
    doc="A value given to the model. -1 is an open size; the shape may be empty (the user must "
    "give it), may lack the batch, and may be NCHW where the convolutions are NHWC.",
    inputs=(),
    fields={
        "shape": Field("i_list", "sizes; -1 where open", []),
        "dtype": Field("dtype", "element type", FLOAT32),
    },
    infer=_elsewhere,
    evaluate=_elsewhere,
    to_onnx=_elsewhere,
)

CONST = OpSpec(
    name="Const",
    doc="A value in the file: little-endian elements in C order.",
    inputs=(),
    fields={
        "shape": Field("i_list", "sizes; [] is a scalar, [0] what the converter could not read"),
        "dtype": Field("dtype", "element type", FLOAT32),
        "values": Field("blob", "the elements"),
    },
    infer=_elsewhere,
    evaluate=_elsewhere,
    to_onnx=_elsewhere,
)


def _infer_mark(call: Call) -> Facts:
    return call.inputs[0]


def _evaluate_mark(_: Call, x: Array, *__: Array) -> Array:
    return x


def _mark_to_onnx(_: Call, emit: Emitter) -> None:
    emit.alias(0)


MARK_OUTPUT = OpSpec(
    name="MarkOutput",
    doc="Names its inputs as results of the graph; it computes nothing.",
    inputs=("inputs...",),
    fields={},
    infer=_infer_mark,
    evaluate=_evaluate_mark,
    to_onnx=_mark_to_onnx,
)
