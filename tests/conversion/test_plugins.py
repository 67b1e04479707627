"""Models for TensorRT: plugins under their own names, and what is proven of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import ufkit
from ufkit.conversion.cut import up_to_foreign
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder
from ufkit.uff.ops import OPS
from ufkit.uff.ops.elementwise import ACTIVATION


def _net(**fields: Any) -> Builder:
    """NHWC: a convolution, a plugin, a convolution behind it, and a head beside both."""
    random = np.random.default_rng(2)
    b = Builder()
    b.input("x", [-1, 6, 4, 3])
    b.const("k", random.normal(0, 0.4, (1, 1, 3, 3)).astype(np.float32))
    b.op("conv", "Conv", ["x", "k"], "N+C_+CK")
    b.op("relu", "Activation", ["conv"], func="relu")
    b.op("leaky", "_LReLU_TRT", ["conv"], negSlope_u_float=0.1)
    b.op("after", "Conv", ["leaky", "k"], "N+C_+CK")
    b.op("last", "_Unheard_TRT", ["after", "relu"], **fields)
    b.op("beside", "Unary", ["relu"], func="exp")
    b.output("last", "beside")
    return b


def _written(b: Builder, folder: Path, **options: Any) -> tuple[ufkit.Report, onnx.ModelProto]:
    ufkit.save(b.meta, folder / "a.uff")
    options = {"plugins": "trt", "verify": True, "force": True, **options}
    report = ufkit.convert(folder / "a.uff", folder / "a.onnx", ufkit.Options(**options))
    return report, onnx.load(folder / "a.onnx")


def test_plugins_keep_their_names_and_fields_without_the_kinds(tmp_path: Path) -> None:
    fields = {"topK_u_int": 5, "sizes_u_flist": [1.0, 0.5], "inputOrder_u_ilist": [0, 2, 1]}
    _, model = _written(_net(**fields), tmp_path)
    nodes = {node.op_type: node for node in model.graph.node if node.domain == "trt.plugins"}
    assert nodes.keys() == {"LReLU_TRT", "Unheard_TRT"}
    found = {a.name: onnx.helper.get_attribute_value(a) for a in nodes["Unheard_TRT"].attribute}
    assert found == {
        "plugin_version": b"1",
        "plugin_namespace": b"",
        "topK": 5,
        "sizes": [1.0, 0.5],
        "inputOrder": [0, 2, 1],
    }
    assert [a.name for a in nodes["LReLU_TRT"].attribute][:1] == ["negSlope"]


def test_what_does_not_depend_on_a_plugin_is_compared(tmp_path: Path) -> None:
    report, _ = _written(_net(), tmp_path)
    assert report.ok
    assert report.verification
    compared = [item.id for item in report.verification.outputs]
    assert compared == ["conv", "relu", "beside"]
    assert report.verification.not_run == ["leaky", "last"]
    (note,) = [finding for finding in report.diagnostics if finding.code == "CNV104"]
    assert "everything up to 2 nodes was compared" in note.message
    assert "only TensorRT can run 'leaky', 'last'" in note.message


def test_the_part_compared_is_made_of_the_nodes_of_the_model() -> None:
    conversion = to_onnx(_net().graph, trt_plugins=True)
    part = up_to_foreign(conversion)
    whole = [node.SerializeToString() for node in conversion.model.proto.graph.node]
    kept = [node.SerializeToString() for node in part.model.proto.graph.node]
    assert [node for node in whole if node in kept] == kept
    assert 0 < len(kept) < len(whole)
    assert {item.domain for item in part.model.proto.opset_import} == {""}
    assert part.model.weights.keys() <= conversion.model.weights.keys()
    assert conversion.foreign == ["leaky", "last"]  # the whole is as it was
    assert "last" in conversion.outputs


def test_a_mistake_before_a_plugin_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def identity(_: Any, emit: Any) -> None:
        emit.alias(0)

    monkeypatch.setitem(OPS, "Activation", replace(ACTIVATION, to_onnx=identity))
    b = _net()
    ufkit.save(b.meta, tmp_path / "a.uff")
    options = ufkit.Options(plugins="trt", verify=True)
    report = ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx", options)
    assert not report.ok
    assert report.verification
    assert report.verification.first
    assert report.verification.first.id == "relu"
    assert not [finding for finding in report.diagnostics if finding.code == "CNV104"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.uff"]


def test_without_foreign_nodes_all_of_it_is_compared(tmp_path: Path) -> None:
    b = Builder()
    b.input("x", [-1, 4])
    b.op("y", "_LReLU_TRT", ["x"], negSlope_u_float=0.1)
    b.output("y")
    report, model = _written(b, tmp_path, plugins="onnx")
    assert report.verification
    assert report.verification.not_run == []
    assert [node.op_type for node in model.graph.node] == ["LeakyRelu"]


def test_there_are_two_things_that_plugins_can_become(tmp_path: Path) -> None:
    with pytest.raises(ufkit.RequestError, match="plugins cannot become 'tensorrt'; onnx or trt"):
        _written(_net(), tmp_path, plugins="tensorrt")
