"""Operations with several values: which one a node takes, where the file has lost it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

import ufkit
from ufkit.core.diag import NotSupportedError
from ufkit.uff.build import Builder
from ufkit.uff.infer import infer

X = np.arange(24, dtype=np.float32).reshape(2, 12)


def _split(sizes: list[int]) -> Builder:
    b = Builder()
    b.input("x", [-1, sum(sizes)])
    b.const("sizes", np.array(sizes, np.int32))
    b.const("axis", np.array(1, np.int32))
    b.op("split", "_SplitV", ["x", "sizes", "axis"], num_split=len(sizes))
    return b


def _dense(b: Builder, name: str, source: str, size: int) -> None:
    b.const(f"{name}/kernel", np.eye(size, dtype=np.float32))
    b.op(name, "FullyConnected", [source, f"{name}/kernel"], "NC_CK")
    b.output(name)


def _same_in_onnx(b: Builder, folder: Path, x: np.ndarray) -> dict[str, np.ndarray]:
    expected = ufkit.run(b.graph, {"x": x})
    ufkit.save(b.meta, folder / "a.uff")
    report = ufkit.convert(folder / "a.uff", folder / "a.onnx", ufkit.Options(verify=True))
    assert report.ok
    session = ort.InferenceSession(folder / "a.onnx")
    names = [port.name for port in session.get_outputs()]
    for name, value in zip(names, session.run(None, {"x": x}), strict=True):
        np.testing.assert_array_equal(value, expected[name])
    return expected


def test_the_part_that_fits_its_taker_is_meant(tmp_path: Path) -> None:
    b = _split([5, 3, 4])
    for name, size in (("b", 3), ("a", 5), ("c", 4)):
        _dense(b, name, "split", size)
    got = _same_in_onnx(b, tmp_path, X)
    np.testing.assert_array_equal(got["a"], X[:, :5])
    np.testing.assert_array_equal(got["b"], X[:, 5:8])
    np.testing.assert_array_equal(got["c"], X[:, 8:])


def test_what_comes_behind_the_taker_must_fit_too(tmp_path: Path) -> None:
    b = _split([5, 7])
    b.op("relu", "Activation", ["split"], func="relu")
    b.const("bias", np.zeros(7, np.float32))
    b.op("add", "Binary", ["relu", "bias"], func="add")
    b.output("add")
    np.testing.assert_array_equal(_same_in_onnx(b, tmp_path, X)["add"], X[:, 5:])


def test_two_parts_of_one_node_are_told_together(tmp_path: Path) -> None:
    b = _split([4, 8])
    b.op("join", "Concat", ["split", "split"], axis=1)
    _dense(b, "dense", "join", 16)
    np.testing.assert_array_equal(
        _same_in_onnx(b, tmp_path, X)["dense"], np.concatenate([X[:, 4:], X[:, 4:]], 1)
    )


@pytest.mark.parametrize(
    "names",
    [
        ("Relu", "Relu_1", "Relu_2"),
        ("Relu6", "Relu6_1", "Relu6_2"),
        ("c_1/x", "c_2/x", "c_3/x"),
        ("tower8/y", "tower9/y", "tower10/y"),
    ],
)
def test_takers_numbered_in_a_row_take_the_values_in_a_row(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    b = Builder()
    b.input("x", [2, 3, 4])
    b.op("unstack", "_Unpack", ["x"], num=3, axis=1)
    for name in reversed(names):
        b.op(name, "Activation", ["unstack"], func="relu")
        b.output(name)
    x = X.reshape(2, 3, 4)
    got = _same_in_onnx(b, tmp_path, x)
    for at, name in enumerate(names):
        np.testing.assert_array_equal(got[name], x[:, at])
    notes = [finding.code for finding in infer(b.graph).diagnostics]
    assert notes == ["UFF312"] * 3


def test_the_indices_of_the_largest_are_what_a_gather_takes(tmp_path: Path) -> None:
    b = Builder()
    b.input("x", [1, 12])
    b.const("k", np.array(3, np.int32))
    b.op("top", "_TopKV2", ["x", "k"], sorted=True)
    b.const("table", np.arange(12, dtype=np.float32)[::-1].copy())
    b.op("rows", "Gather", ["table", "top"])
    b.op("best", "Reduce", ["top"], func="max", axes=[-1], keepdims=True)
    b.output("rows", "top")
    got = _same_in_onnx(b, tmp_path, X[:1])
    np.testing.assert_array_equal(got["top"], [[11, 10, 9]])
    np.testing.assert_array_equal(got["rows"], [[0, 1, 2]])


def test_where_nothing_tells_it_is_said_and_can_be_spelt_out(tmp_path: Path) -> None:
    b = _split([6, 6])
    b.op("left", "Unary", ["split"], func="neg")
    b.op("right", "Unary", ["split"], func="square")
    b.output("left", "right")
    ufkit.save(b.meta, tmp_path / "a.uff")
    with pytest.raises(NotSupportedError) as caught:
        ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx")
    assert [finding.code for finding in caught.value.diagnostics] == ["UFF313", "UFF313"]
    assert "'split' may be any of 2 values" in str(caught.value)
    assert "NAME:NUMBER" in caught.value.diagnostics[0].hint

    b.graph["left"].inputs = ["split:1"]
    b.graph["right"].inputs = ["split:0"]
    assert not [f for f in ufkit.check(b.meta) if f.code in ("UFF102", "UFF105", "UFF313")]
    (tmp_path / "a.uff").unlink()
    got = _same_in_onnx(b, tmp_path, X)
    np.testing.assert_array_equal(got["left"], -X[:, 6:])
    np.testing.assert_array_equal(got["right"], X[:, :6] ** 2)


def test_a_value_spelt_beyond_the_last_is_no_node() -> None:
    b = _split([6, 6])
    b.op("left", "Unary", ["split:2"], func="neg")
    b.output("left")
    assert "UFF102" in {finding.code for finding in ufkit.check(b.meta)}


def test_a_split_of_many_parts_is_one_node_of_onnx() -> None:
    b = Builder()
    b.input("x", [-1, 64])
    b.const("axis", np.array(1, np.int32))
    b.op("split", "_Split", ["axis", "x"], num_split=8)
    for k in range(8):
        b.op(f"Relu_{k}", "Activation", ["split"], func="relu")
        b.output(f"Relu_{k}")
    from ufkit.conversion.uff_onnx import to_onnx

    assert to_onnx(b.graph).count("Split") == 1


def test_numbers_without_bound_end_in_an_error() -> None:
    b = Builder()
    b.input("x", [1, 4])
    b.const("axis", np.array(1, np.int32))
    b.op("split", "_Split", ["axis", "x"], num_split=1 << 62)
    b.op("y", "Unary", ["split"], func="neg")
    b.output("y")
    assert {"UFF208"} <= {finding.code for finding in ufkit.check(b.meta)}
