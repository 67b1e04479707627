"""Verification where an operation chooses, and tells apart what differs by rounding only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit
from ufkit.conversion.engines import Session
from ufkit.uff.build import Builder
from ufkit.uff.ops import OPS
from ufkit.uff.ops.elementwise import BINARY
from ufkit.uff.ops.reduce import ARG_MIN

# Two rows of which the largest is told by the last bit.
X = np.array([[0.5, 0.25, 0.5 + 2**-24], [3, 1, 2]], np.float32)
Verify = Callable[[Builder], ufkit.Report]


@pytest.fixture
def verify(tmp_path: Path) -> Verify:
    """Converts a graph of one Input `x`, compared on X."""

    def call(b: Builder) -> ufkit.Report:
        ufkit.save(b.meta, tmp_path / "a.uff")
        options = ufkit.Options(verify=True, verify_data={"x": X}, force=True)
        return ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx", options)

    return call


@pytest.fixture
def other_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is right, and off by less than 1e-7 of the value."""
    right = Session.run

    def run(self: Session, fed: dict[str, Any]) -> Any:
        bits = np.array([[2**-23, 0, -(2**-24)], [0, 0, 0]], np.float32)
        return right(self, {"x": fed["x"] + bits})

    monkeypatch.setattr(Session, "run", run)


def _choosing() -> Builder:
    """What is chosen from -(-x), times a number: 0 or 2000 for the first row."""
    b = Builder()
    b.input("x", [2, 3])
    b.op("minus", "Unary", ["x"], func="neg")
    b.op("plus", "Unary", ["minus"], func="neg")
    b.op("best", "ArgMax", ["plus"], axis=1)
    b.op("number", "_Cast", ["best"])
    b.const("thousand", np.array(1000, np.float32))
    b.op("y", "Binary", ["number", "thousand"], func="mul")
    b.output("y")
    return b


def test_the_two_choose_otherwise() -> None:
    assert ufkit.run(_choosing().graph, {"x": X})["y"].tolist() == [2000, 0]
    assert np.abs(X[0, 0] - X[0, 2]) < 1e-7


@pytest.mark.usefixtures("other_rounding")
def test_a_choice_is_judged_on_the_engines_own_inputs(verify: Verify) -> None:
    report = verify(_choosing())
    assert report.ok
    assert report.verification
    assert [(item.id, item.max_abs) for item in report.verification.outputs] == [("y", 0)]
    (note,) = [finding for finding in report.diagnostics if finding.code == "CNV105"]
    assert note.where.node == "main/best"


@pytest.mark.usefixtures("other_rounding")
def test_so_are_all_choices_one_after_the_other(verify: Verify) -> None:
    b = _choosing()
    b.op("small", "_Less", ["y", "thousand"])
    b.op("whole", "_Round", ["plus"])
    b.op("sum", "_AddV2", ["whole", "plus"])
    b.output("small", "sum")
    report = verify(b)
    assert report.ok
    found = [d.where.node for d in report.diagnostics if d.code == "CNV105"]
    assert found == ["main/best", "main/whole"]  # 0.5 and a bit is rounded up by one of them


@pytest.mark.usefixtures("other_rounding")
def test_what_follows_a_choice_must_still_be_right(
    verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    def added(call: Any, emit: Any) -> None:
        emit.result(emit.node("Add", emit.value(0), emit.value(1)))

    monkeypatch.setitem(OPS, "Binary", replace(BINARY, to_onnx=added))
    report = verify(_choosing())
    assert not report.ok
    assert report.verification
    assert report.verification.first
    assert report.verification.first.id == "y"


@pytest.mark.parametrize("rounding", [True, False])
def test_a_wrong_lowering_of_what_chooses_is_found(
    verify: Verify, monkeypatch: pytest.MonkeyPatch, rounding: bool, request: pytest.FixtureRequest
) -> None:
    if rounding:
        request.getfixturevalue("other_rounding")
    monkeypatch.setitem(OPS, "ArgMax", replace(OPS["ArgMax"], to_onnx=ARG_MIN.to_onnx))
    report = verify(_choosing())
    assert not report.ok
    assert report.verification
    assert report.verification.first
    assert report.verification.first.id == "best"
    assert [finding.code for finding in report.diagnostics] == ["CNV101"]


@pytest.mark.usefixtures("other_rounding")
def test_what_does_not_choose_has_no_excuse(verify: Verify) -> None:
    b = Builder()
    b.input("x", [2, 3])
    b.const("first", np.array([0.5], np.float32))
    b.op("rest", "Binary", ["x", "first"], func="sub")  # the last bits are all there is
    b.const("much", np.array(2.0**24, np.float32))
    b.op("y", "Binary", ["rest", "much"], func="mul")
    b.op("row", "_Slice", ["y", "begin", "size"])
    b.const("begin", np.array([0, 0], np.int32))
    b.const("size", np.array([1, 1], np.int32))
    b.output("row")
    report = verify(b)
    assert not report.ok
    assert report.verification
    assert report.verification.first
    assert report.verification.first.operation == "_Slice"
