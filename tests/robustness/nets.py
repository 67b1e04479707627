"""Small files to damage: together they use every operation that decides about shapes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from graphs import scalars, single
from ufkit.core.dtypes import INT32
from ufkit.uff.build import Builder
from ufkit.uff.data import Orders
from ufkit.uff.io import write_to
from ufkit.uff.ops import OPS
from ufkit.uff.orders import DEC, INC
from ufkit.wire.values import encode_varint


def _file(builder: Builder) -> bytes:
    out = io.BytesIO()
    write_to(builder.meta, out)
    return out.getvalue()


def _ints(*numbers: int) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.int32)


def operations() -> list[bytes]:
    """A file for each example of each operation."""
    return [_file(single(spec, example)) for spec in OPS.values() for example in spec.examples]


def models() -> list[bytes]:
    """ONNX models: of each example of each operation, and small ones that PyTorch exported."""
    from ufkit.conversion.uff_onnx import to_onnx

    made = [
        to_onnx(single(spec, example).graph, shapes=scalars(example)).model.to_proto()
        for spec in OPS.values()
        for example in spec.examples
    ]
    exported = Path(__file__).resolve().parents[1] / "conversion" / "torch_models"
    files = [path.read_bytes() for path in exported.glob("*_unfolded.onnx")]
    return [*(model.SerializeToString() for model in made), *files * 10]


def convolutions() -> bytes:
    """Windows, orders, groups, normalisation, dense layers."""
    random = np.random.default_rng(1)

    def weights(*shape: int) -> np.ndarray[Any, Any]:
        return random.standard_normal(shape).astype(np.float32)

    b = Builder()
    b.input("x", [-1, 4, 4, 1])
    b.const("k", weights(2, 2, 1, 1))
    b.op("c", "Conv", ["x", "k"], "N+C_+CK", strides=[1, 1], implicit_padding="same")
    for name in ("gamma", "beta", "mean", "variance"):
        b.const(name, weights(1) ** 2)
    b.op("n", "BatchNorm", ["c", "gamma", "beta", "mean", "variance"], "N+C", epsilon=0.01)
    b.op("r", "Activation", ["n"], func="relu6")
    b.op("p", "Pool", ["r"], "N+C", func="avg", kernel=[2, 2], strides=[2, 2], padding=[1, 1])
    b.op("l", "LRN", ["p"], "N+C", window_size=1, alpha=0.5, beta=0.75, k=1.0)
    b.op("f", "Flatten", ["l"])
    b.const("w", weights(9, 1))
    b.op("d", "FullyConnected", ["f", "w"], "NC_CK")
    b.op("s", "Softmax", ["d"], "N+C", axis=0)
    b.input("z", [1, 2, 2, 1])
    b.const("t", weights(2, 2, 1, 1))
    b.const("size", _ints(1, 4, 4, 1))
    b.op("up", "ConvTranspose", ["z", "t", "size"], "N+C_+KC", strides=[2, 2])
    b.output("s", "up")
    return _file(b)


def shapes() -> bytes:
    """Shapes worked out inside the graph; several outputs."""
    b = Builder()
    b.input("x", [-1, 4, 6])
    b.input("i", [2], INT32)
    b.op("shape", "Shape", ["x"])
    for name, numbers in {"zero": [0], "one": [1], "six": [6], "pads": [0, 0, 1, 0, 0, 2]}.items():
        b.const(name, _ints(*numbers))
    b.op("batch", "StridedSlice", ["shape", "zero", "one", "one"], shrink_axis_mask=1)
    b.const("rest", np.array(24, np.int32))
    b.op("target", "Stack", ["batch", "rest"], axis=0)
    b.op("flat", "Reshape", ["x", "target"])
    b.op("turned", "Transpose", ["x"], permutation=[0, 2, 1])
    b.op("wide", "ExpandDims", ["turned"], axis=-1)
    b.op("narrow", "Squeeze", ["wide"], axes=[-1])
    b.op("both", "Concat", ["narrow", "turned"], axis=1)
    b.op("mean", "Reduce", ["both"], func="mean", axes=[1], keepdims=True)
    b.op("padded", "Pad", ["x", "pads"])
    b.op("first", "ArgMax", ["padded"], axis=1)
    b.op("rows", "GatherV2", ["both", "i"], axis=1)
    b.op("leaky", "LeakyRelu", ["rows"], alpha=0.1)
    b.op("sum", "Binary", ["leaky", "mean"], func="add")
    b.op("root", "Unary", ["sum"], func="abs")
    b.op("same", "Identity", ["root"])
    b.op("scaled", "Binary", ["six", "one"], func="div")
    b.output("flat", "first", "same", "scaled")
    return _file(b)


def values() -> bytes:
    """All kinds of values, inline, nested and unknown; custom operations; two graphs."""
    b = Builder()
    b.meta.add_descriptor("custom")
    b.input("x", [1, 2])
    orders = Orders((0, 2, INC, 1))
    fields: dict[str, Any] = {
        "s": "text",
        "s_list": ["a", "b\n"],
        "d": 1.5,
        "d_list": [0.5, float("inf")],
        "b": True,
        "b_list": [True, False],
        "i": -3,
        "i_list": [1, -1, 1 << 40],
        "blob": b"(...1234 bytes skipped...)",
        "dtype": INT32,
        "dtype_list": [INT32, INT32],
        "dim_orders": orders,
        "dim_orders_list": [orders, Orders((DEC, 2, 0, 1))],
        "none": None,
    }
    b.op("custom", "_Custom_TRT", ["x"], "N+C", **fields)
    b.graph["custom"].extra_fields["more"] = 1
    b.graph.extra_fields["graph"] = "g"
    b.meta.extra_fields["file"] = [1, 2]
    b.graph.add("c", "Const", shape=[2], dtype=INT32, values=b"\1\0\0\0\2\0\0\0")
    b.op("y", "Identity", ["c"])
    b.output("custom", "y")
    other = b.meta.add_graph("other")
    other.add("a", "Input", dtype=INT32, shape=[3])
    other.add("m", "MarkOutput", ["a"])
    unknown = encode_varint(77 << 3 | 2) + b"\x03abc" + encode_varint(9 << 3 | 3) + b"\x08\x01\x4c"
    return _file(b) + unknown


NETS = [convolutions(), shapes(), values()]
