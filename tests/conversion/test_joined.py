"""Zeros around a map, and what makes a convolution dilated, become part of one ONNX node."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import ufkit
from ufkit.conversion.uff_onnx import Conversion, to_onnx
from ufkit.uff.build import Builder

IMAGE = np.random.default_rng(5).standard_normal((2, 7, 9, 2)).astype(np.float32)


def _batched(
    pads: Any = ((2, 3), (2, 3)), crops: Any = ((0, 1), (0, 1)), conv: Any = None
) -> Builder:
    """A convolution between the two, as TensorFlow writes a dilation of 2."""
    random = np.random.default_rng(4)
    operation, shape, orders, fields = conv or ("Conv", (3, 3, 2, 3), "N+C_+CK", {})
    b = Builder()
    b.input("x", [-1, 7, 9, 2])
    b.const("k", random.standard_normal(shape).astype(np.float32))
    b.const("block", np.array([2, 2], np.int32))
    b.const("pads", np.array(pads, np.int32))
    b.const("crops", np.array(crops, np.int32))
    b.op("apart", "_SpaceToBatchND", ["x", "block", "pads"])
    b.op("conv", operation, ["apart", "k"], orders, **fields)
    b.op("y", "_BatchToSpaceND", ["conv", "block", "crops"])
    b.output("y")
    return b


def _agrees(b: Builder) -> Conversion:
    conversion = to_onnx(b.graph)
    model = conversion.model.to_proto().SerializeToString()
    got = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": IMAGE})
    wanted = ufkit.run(b.graph, {"x": IMAGE})
    for array, id_ in zip(got, b.graph.outputs, strict=True):
        np.testing.assert_allclose(array, wanted[id_], atol=1e-5)
    return conversion


@pytest.mark.parametrize(
    "conv",
    [
        None,
        ("Conv", (3, 3, 2, 2), "N+C_+CK", {"number_groups": 2}),
        ("_Conv2D", (3, 3, 2, 3), "", {"strides": [1] * 4, "padding": "b'VALID'"}),
        ("_DepthwiseConv2dNative", (3, 2, 2, 1), "", {"strides": [1] * 4, "padding": "VALID"}),
    ],
)
def test_one_node_is_left(conv: Any) -> None:
    conversion = _agrees(_batched(conv=conv))
    assert [conversion.count(name) for name in ("Conv", "Pad", "Slice")] == [1, 0, 0]
    (node,) = [n for n in conversion.model.proto.graph.node if n.op_type == "Conv"]
    found = {a.name: list(a.ints) for a in node.attribute}
    assert (found["dilations"], found["pads"]) == ([2, 2], [2, 2, 2, 2])


def test_sizes_may_be_open() -> None:
    b = _batched()
    b.graph["x"].fields["shape"] = [-1, -1, -1, 2]
    assert _agrees(b).count("Conv") == 1


def test_more_cut_off_than_was_added_is_left_as_it_is() -> None:
    assert _agrees(_batched(crops=((3, 0), (0, 1)))).count("Slice") > 0


def test_another_stride_is_left_as_it_is() -> None:
    conv = ("Conv", (3, 3, 2, 3), "N+C_+CK", {"strides": [2, 1]})
    assert _agrees(_batched(conv=conv)).count("Slice") > 0


def test_values_in_between_stay_where_they_are_wanted() -> None:
    b = _batched()
    b.output("conv")
    assert _agrees(b).count("Slice") > 0


def _pad(paddings: Any, *, same: bool = False) -> Builder:
    """A Pad before a strided convolution, as Keras writes ZeroPadding2D."""
    b = Builder()
    b.input("x", [-1, 7, 9, 2])
    b.const("k", np.random.default_rng(4).standard_normal((3, 3, 2, 3)).astype(np.float32))
    b.const("paddings", np.array(paddings, np.int32))
    b.op("pad", "Pad", ["x", "paddings"])
    fields: dict[str, Any] = {"implicit_padding": "same"} if same else {"padding": [1, 0]}
    b.op("y", "Conv", ["pad", "k"], "N+C_+CK", strides=[2, 2], **fields)
    b.output("y")
    return b


def test_zeros_around_a_map_are_the_convolutions_own() -> None:
    conversion = _agrees(_pad([[0, 0], [0, 1], [2, 3], [0, 0]]))
    (node,) = [n for n in conversion.model.proto.graph.node if n.op_type == "Conv"]
    assert {a.name: list(a.ints) for a in node.attribute}["pads"] == [1, 2, 2, 3]
    assert conversion.count("Pad") == 0


def test_zeros_that_other_padding_counts_on_stay_a_node() -> None:
    assert _agrees(_pad([[0, 0], [0, 1], [0, 1], [0, 0]], same=True)).count("Pad") == 1


def test_zeros_between_channels_stay_a_node() -> None:
    b = _pad([[0, 0], [0, 1], [0, 1], [0, 1]])
    b.const("wide", np.random.default_rng(4).standard_normal((3, 3, 3, 3)).astype(np.float32))
    b.graph["y"].inputs = ["pad", "wide"]
    assert _agrees(b).count("Pad") == 1


def test_a_padded_map_that_is_wanted_elsewhere_stays_too() -> None:
    b = _pad([[0, 0], [0, 1], [0, 1], [0, 0]])
    b.output("pad")
    assert _agrees(b).count("Pad") == 1
