"""`ufkit convert` of ONNX models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ufkit
from onnx_models import model, node, saved, small_model


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return saved(small_model(), tmp_path / "model.onnx")


def test_a_model(run: Any, source: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.uff"
    result = run("convert", source, target, "--verify")
    assert result.code == 0
    assert result.out.startswith(f"wrote {target}: ")
    assert "binary UFF, 14 nodes" in result.out
    assert "equal: ONNX Runtime and the reference agree on 1 output" in result.out
    with ufkit.open(target) as written:
        assert written.graph.outputs == ["probabilities"]


def test_as_json(run: Any, source: Path, tmp_path: Path) -> None:
    result = run("convert", source, tmp_path / "net.pbtxt", "--verify", "--seed", "3", "--json")
    assert result.code == 0
    data = result.json["data"]
    assert (data["uff_nodes"], data["uff_outputs"]) == (14, ["probabilities"])
    assert data["verification"]["ok"]
    assert data["verification"]["inputs"] == "random, seed 3"


def test_outputs_and_shapes(run: Any, source: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.uff"
    done = run("convert", source, target, "-O", "relu", "--shape", "image=1,3,8,8", "--verify")
    assert done.code == 0
    with ufkit.open(target) as written:
        assert written.graph.inputs[0].fields["shape"] == [1, 3, 8, 8]
        assert written.graph.outputs == ["r"]


def test_obstacles_are_listed_and_nothing_is_written(run: Any, tmp_path: Path) -> None:
    nodes = [node("LSTM", ["x", "w", "w"], ["a"], "recur"), node("Loop", ["a"], ["y"], "again")]
    made = model(nodes, {"x": ["n", 3, "width"], "w": [1]}, ["y"])
    result = run("convert", saved(made, tmp_path / "m.onnx"), tmp_path / "net.uff")
    assert result.code == 4
    assert "3 errors; nothing was written" in result.err
    assert "give its sizes: --shape x=N,3,224" in result.err
    assert not (tmp_path / "net.uff").exists()


def test_a_weight_file_that_is_missing(run: Any, source: Path, tmp_path: Path) -> None:
    import onnx

    whole = onnx.load(source)
    onnx.save(whole, source, save_as_external_data=True, location="m.data", size_threshold=0)
    (tmp_path / "m.data").unlink()
    result = run("convert", source, tmp_path / "net.uff")
    assert result.code == 3
    assert "m.data" in result.err


@pytest.mark.parametrize("options", ["--opset 13", "--layout nchw", "--plugins trt", "--graph g"])
def test_what_concerns_the_other_way_is_refused(
    run: Any, source: Path, tmp_path: Path, options: str
) -> None:
    result = run("convert", source, tmp_path / "net.uff", *options.split())
    assert result.code == 2
    assert "concerns ONNX only" in result.err


@pytest.mark.parametrize("options", ["--strict", "-I x,x,float32"])
def test_what_concerns_tensorflow_is_refused(
    run: Any, source: Path, tmp_path: Path, options: str
) -> None:
    result = run("convert", source, tmp_path / "net.uff", *options.split())
    assert result.code == 2
    assert "concerns TensorFlow graphs only, and this is an ONNX model" in result.err


def test_onnx_to_onnx_is_no_conversion(run: Any, source: Path, tmp_path: Path) -> None:
    result = run("convert", source, tmp_path / "other.onnx")
    assert result.code == 2
    assert "names no kind of file that an ONNX model becomes" in result.err
