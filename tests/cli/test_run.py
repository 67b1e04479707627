"""`ufkit run`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from syrupy.assertion import SnapshotAssertion

import ufkit


def test_all_ways_give_the_same(
    run: Any, net: Path, onnx_net: Path, image: Path, tmp_path: Path
) -> None:
    results = []
    for model in (net, onnx_net):
        for engine in ("reference", "onnxruntime"):
            target = tmp_path / f"{model.suffix}-{engine}.npz"
            result = run("run", model, "-i", image, "-o", target, "--engine", engine)
            assert result.code == 0, result.err
            with np.load(target) as arrays:
                results.append(arrays["probabilities"])
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-5, atol=1e-6)
    assert results[0].shape == (2, 5)


def test_without_target_outputs_are_summed_up(run: Any, net: Path, image: Path) -> None:
    result = run("run", net, "-i", f"image={image}")
    assert result.code == 0
    assert "probabilities  float32[2, 5]" in result.out
    assert "0.2" in result.out  # the mean of five probabilities


def test_json(
    run: Any, net: Path, image: Path, masked: Callable[[Any], Any], snapshot: SnapshotAssertion
) -> None:
    assert masked(run("run", net, "-i", image, "--json").json) == snapshot


@pytest.mark.parametrize("prefix", ["", "in:"])
def test_npz(run: Any, net: Path, image: Path, tmp_path: Path, prefix: str) -> None:
    data = tmp_path / "data.npz"
    np.savez(data, **{f"{prefix}image": np.load(image), "out:probabilities": np.zeros(3)})
    assert run("run", net, "-i", data).code == 0
    one = tmp_path / "one.npz"
    np.savez(one, whatever=np.load(image))
    assert run("run", net, "-i", f"image={one}").code == 0


def test_shape_of_the_array_is_taken(run: Any, shapeless: Path, tmp_path: Path) -> None:
    path = tmp_path / "x=1.npy"
    np.save(path, np.ones((7, 4), np.float32))
    for engine in ("reference", "onnxruntime"):
        for given in (path, f"in=put/x:0={path}", f"in=put/x:0={tmp_path / 'plain.npy'}"):
            np.save(tmp_path / "plain.npy", np.ones((7, 4), np.float32))
            result = run("run", shapeless, "-i", given, "--engine", engine)
            assert result.code == 0, result.err
            assert "float32[7, 3]" in result.out


@pytest.mark.parametrize("engine", ["reference", "onnxruntime"])
@pytest.mark.parametrize("kind", ["net", "onnx_net"])
def test_what_does_not_fit(
    run: Any, request: pytest.FixtureRequest, tmp_path: Path, kind: str, engine: str
) -> None:
    model = request.getfixturevalue(kind)
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((2, 9, 8, 3), np.float32))
    result = run("run", model, "-i", path, "--engine", engine)
    assert result.code == 2
    assert "float32[2, 9, 8, 3]" in result.err
    assert "float32[N, 8, 8, 3]" in result.err
    np.save(path, np.zeros((2, 8, 8, 3), np.complex64))
    result = run("run", model, "-i", path, "--engine", engine)
    assert result.code == 2
    assert "complex64" in result.err
    result = run("run", model, "-i", f"imge={path}", "--engine", engine)
    assert result.code == 2
    assert "did you mean 'image'?" in result.err
    result = run("run", model, "--engine", engine, "--json")
    assert result.code == 2
    assert "nothing is given" in result.json["diagnostics"][0]["message"]


def test_existing_target(run: Any, net: Path, image: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.npz"
    target.write_text("mine")
    assert run("run", net, "-i", image, "-o", target).code == 3
    assert target.read_text() == "mine"
    assert run("run", net, "-i", image, "-o", target, "--force", "-q").out == ""


def test_usage(run: Any, net: Path, onnx_net: Path, image: Path, tmp_path: Path) -> None:
    assert run("run", net, "-i", image, "-o", tmp_path / "out.npy").code == 2
    assert run("run", onnx_net, "-i", image, "--shape", "image=1").code == 2
    assert run("run", net, "-i", image, "-i", image).code == 2
    builder = ufkit.Builder()
    builder.op("sum", "Binary", [builder.input("a", [2]), builder.input("b", [2])], func="add")
    builder.output("sum")
    ufkit.save(builder.meta, tmp_path / "two.uff")
    result = run("run", tmp_path / "two.uff", "-i", image)
    assert result.code == 2
    assert "The model has a, b" in result.err


def test_missing_runtime(
    run: Any, net: Path, onnx_net: Path, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for args in (("run", onnx_net), ("run", net, "--engine", "onnxruntime")):
        result = run(*args, "-i", image, "--json")
        assert result.code == 5
        assert "ufkit[run]" in result.json["diagnostics"][0]["hint"]


def test_custom_operations(run: Any, custom: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((1, 4), np.float32))
    for engine in ("reference", "onnxruntime"):
        result = run("run", custom, "-i", tmp_path / "x.npy", "--engine", engine, "--json")
        assert result.code == 4
        assert len(result.json["diagnostics"]) == 6


@pytest.mark.parametrize("engine", ["reference", "onnxruntime"])
def test_damaged_onnx(run: Any, onnx_net: Path, image: Path, engine: str) -> None:
    content = onnx_net.read_bytes()
    onnx_net.write_bytes(content[: len(content) // 2])
    result = run("run", onnx_net, "-i", image, "--engine", engine)
    assert result.code in (2, 3)
    model = onnx.load_from_string(content)
    model.graph.node[0].op_type = "Nonsense"
    onnx_net.write_bytes(model.SerializeToString())
    result = run("run", onnx_net, "-i", image, "--engine", engine, "--json")
    assert result.code == 3
    assert result.codes == ["CNV201"]


def test_text_twin(run: Any, net: Path, image: Path, tmp_path: Path) -> None:
    text = tmp_path / "net.pbtxt"
    assert run("convert", net, text).code == 0
    result = run("run", text, "-i", image)
    assert result.code == 3
    assert "UFF204" in result.err


def test_corpus(run: Any, corpus: Path, tmp_path: Path) -> None:
    model, data = corpus / "uff" / "lenet5.uff", corpus / "uff" / "lenet5.pb.npz"
    assert run("run", model, "-i", data, "-o", tmp_path / "out.npz").code == 0
    with np.load(tmp_path / "out.npz") as got, np.load(data) as expected:
        value = expected["out:dense_1/Softmax"]
        error = np.abs(got["dense_1/Softmax"] - value).max()
    assert error <= 1e-5 * np.abs(value).max()
