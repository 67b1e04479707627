"""How an ONNX model is written: weights put in while it is, or beside it when it is too large."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import ufkit
from graphs import small_net
from ufkit.conversion import onnx_model
from ufkit.conversion.onnx_model import Weights
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """A saved net; its kernels are large enough to stay out of the model until it is written."""
    ufkit.save(small_net().meta, tmp_path / "net.uff")
    return tmp_path / "net.uff"


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 GiB, brought down to a few bytes."""
    monkeypatch.setattr(onnx_model, "_LIMIT", 100)


@pytest.mark.usefixtures("low_limit")
def test_a_model_above_2_gib_has_its_weights_beside_it(net: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.onnx"
    report = ufkit.convert(net, target, ufkit.Options(verify=True))
    beside = tmp_path / "net.onnx.data"
    assert report.ok
    assert report.bytes == target.stat().st_size + beside.stat().st_size
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "net.onnx",
        "net.onnx.data",
        "net.uff",
    ]
    model = onnx.load(target, load_external_data=False)
    outside = [t for t in model.graph.initializer if t.data_location == t.EXTERNAL]
    assert {
        entry.value for t in outside for entry in t.external_data if entry.key == "location"
    } == {"net.onnx.data"}
    onnx.checker.check_model(target, full_check=True)
    image = np.random.default_rng(2).random((3, 8, 8, 3), np.float32)
    session = ort.InferenceSession(target, providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {"image": image})
    with ufkit.open(net) as uff:
        expected = ufkit.run(uff.graph, {"image": image})["probabilities"]
    np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.usefixtures("low_limit")
def test_a_failed_verification_leaves_neither_file(net: Path, tmp_path: Path) -> None:
    options = ufkit.Options(verify=True, tolerance=-1.0)
    assert not ufkit.convert(net, tmp_path / "net.onnx", options).ok
    assert [path.name for path in tmp_path.iterdir()] == ["net.uff"]


def test_large_weights_are_not_in_the_model_until_it_is_written(net: Path) -> None:
    with ufkit.open(net) as uff:
        model = to_onnx(uff.graph).model
        assert model.weights
        assert all(item.nbytes > onnx_model.INLINE for item in model.weights.values())
        assert len(model.proto.SerializeToString()) < sum(
            item.nbytes for item in model.weights.values()
        )
        whole = {t.name: t for t in model.to_proto().graph.initializer}
        for name, weights in model.weights.items():
            np.testing.assert_array_equal(onnx.numpy_helper.to_array(whole[name]), weights.array())


@pytest.mark.parametrize("block", [64, 1000, 1 << 20])
def test_turned_weights_are_written_in_order_whatever_the_block(
    block: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(onnx_model, "_BLOCK", block)
    monkeypatch.setattr(onnx_model, "_TILE", 4)
    array = np.arange(3 * 2 * 9 * 11, dtype=np.float32).reshape(3, 2, 9, 11)
    weights = Weights(array, array.shape, (3, 2, 0, 1))
    with (tmp_path / "x").open("wb") as out:
        weights.write_to(out)
    expected = np.ascontiguousarray(array.transpose(3, 2, 0, 1))
    assert (tmp_path / "x").read_bytes() == expected.tobytes()


def test_a_map_without_elements_is_turned_and_not_reshaped() -> None:
    """A 0 in a Reshape means "as in the input"."""
    b = Builder()
    b.input("x", [0, 4, 4, 1])
    b.op("y", "Pool", ["x"], "N+C", func="max", kernel=[2, 2], strides=[2, 2])
    b.output("y")
    conversion = to_onnx(b.graph)
    assert conversion.count("Transpose") == 2
    assert conversion.count("Reshape") == 0
