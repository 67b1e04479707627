"""Operations nobody here knows: reported once each, or carried over on request."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import ufkit
from ufkit.conversion.custom import DOMAIN
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.core.dtypes import FLOAT32
from ufkit.uff.build import Builder


def _detector() -> Builder:
    """A plugin behind a product, and another one behind that."""
    b = Builder()
    b.input("x", [-1, 4])
    b.const("k", np.ones((4, 3), np.float32))
    b.op("scores", "FullyConnected", ["x", "k"], "NC_CK")
    fields = {
        "topK_u_int": 100,
        "nmsThreshold_u_float": 0.6,
        "inputOrder_u_ilist": [0, 2, 1],
        "mode": "b'NHWC'",
        "dtype": FLOAT32,
        "share": True,
        "unset": None,
        "nothing": [],
    }
    b.op("boxes", "_Unheard_TRT", ["scores", "x"], **fields)
    b.op("last", "_Unheard_TRT", ["boxes"])
    b.output("last", "scores")
    return b


def test_all_are_reported_and_nothing_is_written(tmp_path: Path) -> None:
    ufkit.save(_detector().meta, tmp_path / "a.uff")
    with pytest.raises(ufkit.NotSupportedError) as caught:
        ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx")
    assert [d.where.node for d in caught.value.diagnostics] == ["main/boxes", "main/last"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.uff"]


def test_they_are_carried_over_with_their_fields(tmp_path: Path) -> None:
    ufkit.save(_detector().meta, tmp_path / "a.uff")
    options = ufkit.Options(allow_custom=True)
    report = ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx", options)
    assert report.conversion
    assert report.conversion.foreign == ["boxes", "last"]
    assert {d.severity for d in report.diagnostics} == {ufkit.Severity.WARNING}
    model = onnx.load(tmp_path / "a.onnx")
    assert {(item.domain, item.version) for item in model.opset_import} == {("", 17), (DOMAIN, 1)}
    (node,) = [node for node in model.graph.node if node.name == "boxes"]
    assert (node.op_type, list(node.input)) == ("Unheard_TRT", ["scores", "x"])
    found = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert found == {
        "topK_u_int": 100,
        "nmsThreshold_u_float": pytest.approx(0.6),
        "inputOrder_u_ilist": [0, 2, 1],
        "mode": b"NHWC",
        "dtype": b"float32",
        "share": 1,
    }
    assert [output.name for output in model.graph.output] == ["last", "scores"]


def test_what_needs_their_shape_is_still_an_obstacle() -> None:
    b = _detector()
    b.op("sum", "Reduce", ["last"], func="sum", axes=[1])
    b.output("sum")
    with pytest.raises(ufkit.NotSupportedError, match="shape of its input is not known"):
        to_onnx(b.graph, allow_custom=True)


def test_what_comes_before_them_is_verified(tmp_path: Path) -> None:
    ufkit.save(_detector().meta, tmp_path / "a.uff")
    options = ufkit.Options(allow_custom=True, verify=True)
    report = ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx", options)
    assert report.verification
    assert report.verification.ok
    assert [output.id for output in report.verification.outputs] == ["scores"]
    assert report.verification.not_run == ["boxes", "last"]
    (note,) = [finding for finding in report.diagnostics if finding.code == "CNV104"]
    assert "everything up to 2 nodes was compared; only who knows uff.custom" in note.message


def test_where_nothing_comes_before_them_nothing_can_be_verified(tmp_path: Path) -> None:
    b = Builder()
    b.input("x", [-1, 4])
    b.op("boxes", "_Unheard_TRT", ["x"])
    b.output("boxes")
    ufkit.save(b.meta, tmp_path / "a.uff")
    options = ufkit.Options(allow_custom=True, verify=True)
    with pytest.raises(ufkit.NotSupportedError, match="nothing is computed before it"):
        ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx", options)
    assert [path.name for path in tmp_path.iterdir()] == ["a.uff"]
