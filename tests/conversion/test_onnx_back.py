"""A contract over the operator table: UFF to ONNX and back is stable for every operation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import ufkit
from graphs import feeds, scalars, single
from ufkit.conversion.onnx_graph import open_graph
from ufkit.conversion.onnx_uff import FromOnnx, from_onnx
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.core.diag import NotSupportedError
from ufkit.core.files import Source
from ufkit.uff.ops import OPS
from ufkit.uff.ops.spec import Example, OpSpec

# ONNX says these with operators that UFF has no words for.
NO_WAY_BACK = {
    "_InvertPermutation": "ScatterElements",
    "_NonMaxSuppression": "NonMaxSuppression",
    "_NonMaxSuppressionV2": "NonMaxSuppression",
    "_NonMaxSuppressionV3": "NonMaxSuppression",
    "_NonMaxSuppressionV4": "NonMaxSuppression",
    "_NonMaxSuppressionV5": "NonMaxSuppression",
    "_NMS_TRT": "NonMaxSuppression",
    "_BatchedNMS_TRT": "NonMaxSuppression",
    "_Proposal": "NonMaxSuppression",
    "_ProposalLayer_TRT": "NonMaxSuppression",
    "_DetectionLayer_TRT": "NonMaxSuppression",
}
# These come back in other words, once: what the core says with more nodes than ONNX does.
OTHER_WORDS = {
    "_AddN": "Sum is a chain of Binary",
    "_PadV2": "a frame is added to zeros",
    "_LogSoftmax": "exponents, a sum and a logarithm",
    "_OneHot": "places are compared",
    "_DepthToSpace": "Reshape, Transpose, Reshape",
    "_SpaceToDepth": "Reshape, Transpose, Reshape",
    "_ResizeBicubic": "products with weights are FullyConnected, between two Reshapes",
    "_ResizeArea": "products with weights are FullyConnected, between two Reshapes",
    "_Conv2DBackpropInput": "another padding at both ends is cut off by a StridedSlice",
    "_Select": "the condition's new axes come one by one",
    "_GatherNd": "ONNX's indices are int64, and the entry casts them to that",
    "_Where": "the entry casts its condition, whatever it is",
    "_CropAndResize": "of some eighty nodes, one more",
}
CASES = [
    pytest.param(spec, example, id=f"{spec.key}-{n}")
    for spec in OPS.values()
    for n, example in enumerate(spec.examples)
]


def _back(model: onnx.ModelProto) -> FromOnnx:
    return from_onnx(open_graph(Source(model.SerializeToString(), "model.onnx")))


def _run(model: onnx.ModelProto, example: Example) -> np.ndarray:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    data, providers = model.SerializeToString(), ["CPUExecutionProvider"]
    return ort.InferenceSession(data, options, providers=providers).run(None, feeds(example))[0]


@pytest.mark.parametrize(("spec", "example"), CASES)
def test_onnx_comes_back(spec: OpSpec, example: Example) -> None:
    graph, sizes = single(spec, example).graph, scalars(example)
    first = to_onnx(graph, shapes=sizes).model.to_proto()
    if spec.name in NO_WAY_BACK:
        with pytest.raises(NotSupportedError) as caught:
            _back(first)
        found = {item.message.partition(":")[0] for item in caught.value.diagnostics}
        assert NO_WAY_BACK[spec.name] in found
        return
    back = _back(first)
    second = to_onnx(back.meta.graph, shapes=sizes).model.to_proto()
    expected, got = _run(first, example), _run(second, example)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    near = 1e-5 * np.abs(expected).max(initial=0)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=near)
    if spec.name not in OTHER_WORDS:
        assert len(second.graph.node) <= len(first.graph.node)
    again = _back(second)
    assert len(again.meta.graph) <= len(back.meta.graph)
    third = to_onnx(again.meta.graph, shapes=sizes).model.to_proto()
    assert len(third.graph.node) <= len(second.graph.node)


def test_exceptions_are_of_the_table() -> None:
    names = {spec.name for spec in OPS.values()}
    assert names >= NO_WAY_BACK.keys() | OTHER_WORDS.keys()


@pytest.mark.parametrize("name", ["lenet5", "mlp_mnist", "mlp_leaky", "netvlad"])
def test_real_files_come_back(corpus: Path, name: str, tmp_path: Path) -> None:
    source, proven = corpus / "uff" / f"{name}.uff", name != "netvlad"  # whose maps are large
    first = ufkit.convert(source, tmp_path / "a.onnx")
    back = ufkit.convert(tmp_path / "a.onnx", tmp_path / "b.uff", ufkit.Options(verify=proven))
    assert back.ok
    assert back.diagnostics == []  # all of it in the core's words
    second = ufkit.convert(tmp_path / "b.uff", tmp_path / "b.onnx", ufkit.Options(verify=proven))
    assert second.ok
    assert first.conversion
    assert second.conversion
    for operator in ("", "Transpose"):
        assert second.conversion.count(operator) <= first.conversion.count(operator)
