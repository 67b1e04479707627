"""ONNX models that tests build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ufkit.conversion.onnx_graph import open_graph
from ufkit.conversion.onnx_uff import FromOnnx, from_onnx
from ufkit.core.files import Source

Array = np.ndarray[Any, Any]
node = helper.make_node


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[Any]],
    outputs: Sequence[str],
    weights: Mapping[str, Array] | None = None,
    *,
    opset: int = 17,
    dtype: int = onnx.TensorProto.FLOAT,
    **more: Any,
) -> onnx.ModelProto:
    """A model; inputs by name with their sizes, outputs of whatever type and shape they are."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(name, dtype, sizes) for name, sizes in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset), *more.pop("opsets", ())]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, **more)


def small_model() -> onnx.ModelProto:
    """A convolution, a pool and a dense layer, with an open batch."""
    random = np.random.default_rng(5)

    def weights(*shape: int) -> Array:
        return random.standard_normal(shape, np.float32)

    return model(
        [
            node("Conv", ["image", "kernel", "bias"], ["c"], "conv", pads=[1, 1, 1, 1]),
            node("Relu", ["c"], ["r"], "relu"),
            node("GlobalAveragePool", ["r"], ["p"], "pool"),
            node("Flatten", ["p"], ["f"], "flat"),
            node("Gemm", ["f", "dense", "offset"], ["logits"], "dense", transB=1),
            node("Softmax", ["logits"], ["probabilities"], "softmax"),
        ],
        {"image": ["batch", 3, 8, 8]},
        ["probabilities"],
        {
            "kernel": weights(4, 3, 3, 3),
            "bias": weights(4),
            "dense": weights(5, 4),
            "offset": weights(5),
        },
    )


def uff(made: onnx.ModelProto, **options: Any) -> FromOnnx:
    """The UFF of a model."""
    return from_onnx(open_graph(Source(made.SerializeToString(), "model.onnx")), **options)


def saved(made: onnx.ModelProto, path: Path) -> Path:
    path.write_bytes(made.SerializeToString())
    return path
