"""TensorFlow's operations give what TensorFlow gives; see scripts/make_tensorflow_cases.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

import ufkit
from graphs import feeds, output, scalars, single
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder
from ufkit.uff.evaluate import evaluate
from ufkit.uff.infer import infer
from ufkit.uff.ops import OPS

RESULTS = dict(np.load(Path(__file__).parent / "tensorflow.npz"))


@pytest.mark.parametrize("case", RESULTS)
def test_the_reference_agrees_with_tensorflow(case: str) -> None:
    name, _, number = case.rpartition("-")
    example = OPS[name].examples[int(number)]
    inference = infer(single(OPS[name], example).graph, scalars(example))
    value = evaluate(inference, feeds(example))[output(example)]
    expected = RESULTS[case]
    assert value.shape == expected.shape
    assert value.dtype == expected.dtype
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(value, expected, rtol=2e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(value, expected)


def test_each_tensorflow_operation_was_computed_but_those_it_has_no_kernel_for() -> None:
    computed = {case.rpartition("-")[0] for case in RESULTS}
    missing = {spec.name for spec in OPS.values() if spec.custom and not spec.plugin} - computed
    assert missing == {"_Snapshot", "_ResourceGather", "_ReadVariableOp"}


def test_space_to_batch_around_a_convolution_is_a_dilated_one() -> None:
    kernel = np.random.default_rng(4).standard_normal((3, 3, 2, 3)).astype(np.float32)
    image = np.random.default_rng(5).standard_normal((2, 7, 9, 2)).astype(np.float32)

    dilated = Builder()
    dilated.input("x", [-1, 7, 9, 2])
    dilated.const("k", kernel)
    fields = {"dilation": [2, 2], "implicit_padding": "same"}
    dilated.op("y", "Conv", ["x", "k"], "N+C_+CK", **fields)
    dilated.output("y")

    batched = Builder()
    batched.input("x", [-1, 7, 9, 2])
    batched.const("k", kernel)
    batched.const("block", np.array([2, 2], np.int32))
    batched.const("paddings", np.array([[2, 3], [2, 3]], np.int32))
    batched.const("crops", np.array([[0, 1], [0, 1]], np.int32))
    batched.op("apart", "_SpaceToBatchND", ["x", "block", "paddings"])
    batched.op("conv", "Conv", ["apart", "k"], "N+C_+CK")
    batched.op("y", "_BatchToSpaceND", ["conv", "block", "crops"])
    batched.output("y")

    wanted, got = (ufkit.run(b.graph, {"x": image})["y"] for b in (dilated, batched))
    np.testing.assert_allclose(got, wanted, atol=1e-5)
    assert str(infer(batched.graph).facts["y"].shape) == "(N, 7, 9, 3)"


def test_scores_that_decay_are_run_but_have_no_equivalent_in_onnx() -> None:
    boxes, scores = OPS["_NonMaxSuppressionV5"].examples[0].inputs[:2]
    b = Builder()
    b.input("boxes", [-1, 4])
    b.const("scores", scores)
    b.const("most", np.array(5, np.int32))
    for name, number in (("iou", 0.5), ("least", 0.05), ("sigma", 0.3)):
        b.const(name, np.array(number, np.float32))
    names = ["boxes", "scores", "most", "iou", "least", "sigma"]
    b.op("y", "_NonMaxSuppressionV5", names, pad_to_max_output_size=False)
    b.output("y")
    assert ufkit.run(b.graph, {"boxes": boxes})["y"].tolist() == [1, 2, 3, 5, 0]  # TensorFlow's
    with pytest.raises(ufkit.NotSupportedError, match="soft_nms_sigma"):
        to_onnx(b.graph)


def test_parts_are_cut_from_maps_of_any_size() -> None:
    example = OPS["_CropAndResize"].examples[0]
    b = Builder()
    b.input("image", [-1, -1, -1, 3])
    for name, array in zip(("boxes", "numbers", "size"), example.inputs[1:], strict=True):
        b.const(name, array)
    b.op("y", "_CropAndResize", ["image", "boxes", "numbers", "size"], method="b'bilinear'")
    b.output("y")
    fed = {"image": np.random.default_rng(6).random((2, 9, 4, 3), np.float32)}
    model = to_onnx(b.graph).model.to_proto().SerializeToString()
    (got,) = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, fed)
    np.testing.assert_allclose(got, ufkit.run(b.graph, fed)["y"], atol=1e-5)
