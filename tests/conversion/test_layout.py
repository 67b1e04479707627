"""Which values are transposed where a graph mixes axis orders."""

from __future__ import annotations

import numpy as np

from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder


def test_of_two_operands_the_smaller_one_is_transposed() -> None:
    b = Builder()
    b.input("x", [1, 8, 8, 3])
    b.const("k", np.ones((1, 1, 3, 1), np.float32))
    b.op("weights", "Conv", ["x", "k"], "N+C_+CK")  # ONNX has it channels first
    b.input("features", [1, 8, 8, 64])  # and this as it is fed
    b.op("y", "Binary", ["weights", "features"], func="mul")
    b.op("sum", "Reduce", ["y"], func="sum", axes=[1, 2])
    b.output("sum")
    model = to_onnx(b.graph).model.to_proto()
    turned = {
        name for node in model.graph.node if node.op_type == "Transpose" for name in node.input
    }
    assert "features" not in turned
