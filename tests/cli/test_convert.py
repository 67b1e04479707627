"""`ufkit convert`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from syrupy.assertion import SnapshotAssertion

import ufkit
from ufkit.conversion.engines import Session


def test_onnx(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    result = run("convert", net, target)
    assert result.code == 0
    assert result.err == ""
    assert result.out.startswith(f"wrote {target}: ")
    assert "opset 17" in result.out
    assert "float32[N, 8, 8, 3]" in result.out
    onnx.checker.check_model(str(target))


def test_verify(run: Any, net: Path, tmp_path: Path) -> None:
    result = run("convert", net, tmp_path / "out.onnx", "--verify", "--seed", 3)
    assert result.code == 0
    assert "random inputs, seed 3" in result.out
    assert "equal: ONNX Runtime and the reference agree on 1 output within " in result.out


def test_json(
    run: Any,
    net: Path,
    tmp_path: Path,
    masked: Callable[[Any], Any],
    snapshot: SnapshotAssertion,
) -> None:
    result = run("convert", net, tmp_path / "out.onnx", "--verify", "--json")
    assert result.code == 0
    shown = masked(result.json)
    shown["data"]["bytes"] = "<int>"
    assert shown == snapshot


def test_quiet(run: Any, net: Path, tmp_path: Path) -> None:
    result = run("convert", net, tmp_path / "out.onnx", "-q", "--verify")
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.fixture
def wrong_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is off by a half."""
    right = Session.run

    def wrong(*args: Any, **kwargs: Any) -> Any:
        return {name: value + np.float32(0.5) for name, value in right(*args, **kwargs).items()}

    monkeypatch.setattr(Session, "run", wrong)


@pytest.mark.usefixtures("wrong_runtime")
def test_not_equal(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    result = run("convert", net, target, "--verify")
    assert result.code == 1
    assert "was not written" in result.out
    assert "NOT EQUAL" in result.out
    assert "the first node that differs is conv (Conv)" in result.out
    assert not target.exists()
    assert os.listdir(tmp_path) == ["net.uff"]
    result = run("convert", net, target, "--verify", "--json")
    assert result.code == 1
    assert result.json["ok"] is False
    assert result.json["data"]["written"] is False
    assert "CNV101" in result.codes
    assert "NOT EQUAL" in run("convert", net, target, "--verify", "-q").out


def test_tolerance_is_what_decides(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    assert run("convert", net, target, "--verify", "--tolerance", "1e-12").code in (0, 1)
    assert run("convert", net, target, "--force", "--verify", "--tolerance", "0.1").code == 0


@pytest.mark.parametrize("prefix", ["", "in:"])
def test_verify_data(run: Any, net: Path, image: Path, tmp_path: Path, prefix: str) -> None:
    data = tmp_path / "data.npz"
    np.savez(data, **{f"{prefix}image": np.load(image)})
    result = run("convert", net, tmp_path / "out.onnx", "--verify-data", data)
    assert result.code == 0
    assert "verified with ONNX Runtime on the data given" in result.out


def test_verify_data_that_cannot_be_read(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    assert run("convert", net, target, "--verify-data", tmp_path / "absent.npz").code == 3
    data = tmp_path / "data.npz"
    for content in (b"", b"no arrays", b"PK\x03\x04 broken", b"\x93NUMPY\x01\x00"):
        data.write_bytes(content)
        result = run("convert", net, target, "--verify-data", data, "--json")
        assert result.code == 3
        assert result.codes == ["CLI005"]
    np.savez(data, image=np.array([object()], dtype=object))
    result = run("convert", net, target, "--verify-data", data)
    assert result.code == 3
    assert "Python objects" in result.err
    np.savez(data, imag=np.zeros((1, 8, 8, 3), np.float32))
    result = run("convert", net, target, "--verify-data", data)
    assert result.code == 2
    assert "did you mean 'image'?" in result.err
    assert not target.exists()


def test_existing_target(run: Any, net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    target.write_text("mine")
    result = run("convert", net, target)
    assert result.code == 3
    assert "--force" in result.err
    assert target.read_text() == "mine"
    assert run("convert", net, target, "--force").code == 0


def test_obstacles_are_one_report(run: Any, custom: Path, tmp_path: Path) -> None:
    result = run("convert", custom, tmp_path / "out.onnx")
    assert result.code == 4
    assert result.err.count("_Plugin_TRT' is not known") == 1
    assert "x5" in result.err
    assert "Nonsense" in result.err
    assert result.err.splitlines()[-1] == "6 errors; nothing was written"
    result = run("convert", custom, tmp_path / "out.onnx", "--json")
    assert result.code == 4
    assert len(result.json["diagnostics"]) == 6
    assert not (tmp_path / "out.onnx").exists()


def test_forms(run: Any, net: Path, tmp_path: Path) -> None:
    text, back = tmp_path / "net.pbtxt", tmp_path / "back.uff"
    result = run("convert", net, text, "--full")
    assert result.code == 0
    assert "text UFF" in result.out
    assert run("convert", text, back).code == 0
    assert back.read_bytes() == net.read_bytes()
    short = tmp_path / "short.pbtxt"
    assert run("convert", net, short).code == 0
    result = run("convert", short, tmp_path / "none.uff")
    assert result.code == 3
    assert "UFF204" in result.err


def test_layout(run: Any, net: Path, tmp_path: Path) -> None:
    result = run("convert", net, tmp_path / "out.onnx", "--layout", "nchw", "--json")
    assert result.json["data"]["inputs"] == [
        {"id": "image", "dtype": "float32", "shape": ["N", 3, 8, 8]}
    ]


def test_shape(run: Any, shapeless: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    result = run("convert", shapeless, target)
    assert result.code == 2
    assert "--shape in=put/x:0=" in result.err
    result = run("convert", shapeless, target, "--shape", "in=put/x:0=batch,4", "--verify")
    assert result.code == 0
    assert "float32[batch, 3]" in result.out


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        ("x.pbtxt", ["--verify"], "--verify concerns ONNX only"),
        ("x.uff", ["--opset", "17", "--seed", "1"], "--opset, --seed concerns ONNX only"),
        ("x.json", ["--shape", "a=1"], "--shape concerns ONNX only"),
        ("x.onnx", ["--full"], "--full concerns text"),
        ("x.onnx", ["--seed", "1"], "--seed needs --verify"),
        ("x.onnx", ["--tolerance", "1"], "--tolerance needs --verify"),
        ("x.onnx", ["--verify-data", "a.npz", "--seed", "1"], "choose one"),
        ("x.onnx", ["--opset", "9"], "opset 9 is not available"),
        ("x.onnx", ["--opset", "new"], "'new' is not a valid integer"),
        ("x.onnx", ["--graph", "other"], "no graph 'other'"),
        ("x.onnx", ["--shape", "image"], "such as --shape input_1=N,28,28,1"),
        ("x.onnx", ["--shape", "image=1,,2"], "is no size"),
        ("x.onnx", ["--shape", "image="], "is no size"),
        ("x.onnx", ["--shape", "image=-2"], "is no size"),
        ("x.onnx", ["--shape", "image=1", "--shape", "image=2"], "given twice"),
        ("x.onnx", ["--shape", "imge=1,8,8,3"], "did you mean 'image'?"),
        ("x.tflite", [], "names no kind of file"),
    ],
)
def test_what_makes_no_sense(
    run: Any, net: Path, tmp_path: Path, target: str, options: list[str], said: str
) -> None:
    result = run("convert", net, tmp_path / target, *options)
    assert result.code == 2
    assert said in result.err
    result = run("convert", net, tmp_path / target, *options, "--json")
    assert result.code == 2
    assert result.json["schema"] == "ufkit.convert/1"
    assert not (tmp_path / target).exists()


def test_without_onnx_runtime(
    run: Any, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    result = run("convert", net, tmp_path / "out.onnx", "--verify")
    assert result.code == 0
    assert "CNV103" in result.out


@pytest.mark.parametrize("name", ["lenet5", "mlp_mnist", "mlp_leaky"])
def test_corpus(run: Any, corpus: Path, tmp_path: Path, name: str) -> None:
    source, target = corpus / "uff" / f"{name}.uff", tmp_path / "out.onnx"
    assert run("convert", source, target, "--verify").code == 0
    text = run("convert", source, tmp_path / "out.json")
    assert text.code == 0
    with ufkit.open(tmp_path / "out.json") as meta:
        assert len(meta.graph) > 2


@pytest.fixture
def plugin_net(tmp_path: Path) -> Path:
    """A plugin known here, one that is not, and a product before both."""
    b = ufkit.Builder()
    b.input("x", [-1, 4])
    b.const("k", np.eye(4, dtype=np.float32))
    b.op("dense", "FullyConnected", ["x", "k"], "NC_CK")
    b.op("leaky", "_LReLU_TRT", ["dense"], negSlope_u_float=0.25)
    b.op("boxes", "_Unheard_TRT", ["leaky"], keepTopK_u_int=9)
    b.output("boxes")
    ufkit.save(b.meta, tmp_path / "plugins.uff")
    return tmp_path / "plugins.uff"


def test_plugins_for_tensorrt(run: Any, plugin_net: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.onnx"
    result = run("convert", plugin_net, target, "--plugins", "trt", "--verify")
    assert result.code == 0
    assert "agree on 1 value within " in result.out
    assert "CNV104" in result.out
    assert "only TensorRT can run 'leaky', 'boxes'" in result.out
    domains = [node.domain for node in onnx.load(target).graph.node]
    assert domains == ["", "trt.plugins", "trt.plugins"]


def test_plugins_as_operators(run: Any, plugin_net: Path, tmp_path: Path) -> None:
    result = run("convert", plugin_net, tmp_path / "out.onnx")
    assert result.code == 4
    assert "'_Unheard_TRT'" in result.err + result.out
    assert "leaky" not in result.err + result.out


def test_plugins_that_nothing_comes_before_are_not_verified(
    run: Any, plugin_net: Path, tmp_path: Path
) -> None:
    b = ufkit.Builder()
    b.input("x", [-1, 4])
    b.op("y", "_LReLU_TRT", ["x"], negSlope_u_float=0.25)
    b.output("y")
    ufkit.save(b.meta, plugin_net)
    result = run("convert", plugin_net, tmp_path / "out.onnx", "--plugins", "trt", "--verify")
    assert result.code == 4
    assert "nothing is computed before it to be verified" in result.err + result.out
    assert not (tmp_path / "out.onnx").exists()
