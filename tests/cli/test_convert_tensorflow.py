"""`ufkit convert` of TensorFlow graphs."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import ufkit
from tf_graphs import const, graph_def, node, placeholder, saved, tensor
from ufkit.conversion.tf_graph import SCHEMA
from ufkit.wire.message import Message, to_bytes


def nodes(*last: Message) -> tuple[Message, ...]:
    """A layer of -1, 4 to -1, 2."""
    weights = const("w", np.arange(8, dtype=np.float32).reshape(4, 2))
    return (placeholder("x", -1, 4), weights, node("logits", "MatMul", "x", "w"), *last)


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    return saved(tmp_path / "frozen.pb", *nodes(node("y", "Softmax", "logits")))


def test_a_frozen_graph(run: Any, frozen: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.uff"
    result = run("convert", frozen, target)
    assert result.code == 0
    assert result.out.startswith(f"wrote {target}: ")
    assert "binary UFF, 5 nodes" in result.out
    assert "no other node takes 'y'" in result.out
    with ufkit.open(target) as model:
        assert model.graph.outputs == ["y"]


@pytest.mark.parametrize("option", ["-O", "--output-node"])
def test_outputs(run: Any, frozen: Path, tmp_path: Path, option: str) -> None:
    target = tmp_path / "net.uff"
    result = run("convert", frozen, target, option, "logits", option, "y", "--json")
    assert result.code == 0
    assert result.codes == []
    assert result.json["data"]["uff_outputs"] == ["logits", "y"]
    assert result.json["data"]["uff_nodes"] == 6


def test_an_input(run: Any, frozen: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.uff"
    assert run("convert", frozen, target, "-I", "logits,z,float32,-1,2").code == 0
    with ufkit.open(target) as model:
        assert [(n.id, n.fields["shape"]) for n in model.graph.inputs] == [("z", [-1, 2])]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "no NODE,NAME,TYPE,SIZES"),
        ("x,y", "no NODE,NAME,TYPE,SIZES"),
        ("x,y,float32,", "no NODE,NAME,TYPE,SIZES"),
        ("x,y,float32,N,3", "must be numbers"),
        ("x,y,float32,-2", "-2 in"),
        ("x,z,float33,1", "'float33', the type of input 'z', is not known"),
    ],
)
def test_inputs_that_are_none(
    run: Any, frozen: Path, tmp_path: Path, text: str, reason: str
) -> None:
    result = run("convert", frozen, tmp_path / "net.uff", "-I", text)
    assert result.code == 2
    assert reason in result.err


def test_onnx_at_once_and_proven(run: Any, frozen: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.onnx"
    result = run("convert", frozen, target, "--verify")
    assert result.code == 0
    assert "equal: ONNX Runtime and the reference agree on 1 output" in result.out
    onnx.checker.check_model(str(target))


def test_text_with_weights(run: Any, frozen: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.pbtxt"
    assert run("convert", frozen, target, "--full").code == 0
    with ufkit.open(target) as model:
        assert ufkit.constant(model.graph["w"]).numpy()[3, 1] == 7


def test_strict_keeps_what_the_converter_lost(run: Any, tmp_path: Path) -> None:
    one = node("one", "Const", value=tensor("int64", (), int64_val=[1]))
    source = saved(
        tmp_path / "a.pb", placeholder("x", 2, dtype="int64"), one, node("y", "Add", "x", "one")
    )
    modern = run("convert", source, tmp_path / "modern.uff", "-O", "y", "--modern", "--json")
    strict = run("convert", source, tmp_path / "strict.uff", "-O", "y", "--strict", "--json")
    assert (modern.codes, strict.codes) == ([], ["CNV406"])
    with ufkit.open(tmp_path / "modern.uff") as model:
        assert ufkit.constant(model.graph["one"]).shape == ()
    with ufkit.open(tmp_path / "strict.uff") as model:
        assert ufkit.constant(model.graph["one"]).shape == (0,)


# -- the list --------------------------------------------------------------------------------


def test_the_nodes_are_listed(run: Any, frozen: Path) -> None:
    result = run("convert", frozen, "--list-nodes")
    assert result.code == 0
    assert [line.split() for line in result.out.splitlines()] == [
        ["x", "Placeholder"],
        ["w", "Const"],
        ["logits", "MatMul", "x,", "w"],
        ["y", "Softmax", "logits"],
    ]
    listed = run("convert", frozen, "-l", "--json").json["data"]["nodes"]
    assert listed[2] == {"name": "logits", "op": "MatMul", "inputs": ["x", "w"]}


def test_a_list_converts_nothing(run: Any, frozen: Path, net: Path, tmp_path: Path) -> None:
    assert "would have no effect" in run("convert", frozen, tmp_path / "a.uff", "-l").err
    assert "-O" in run("convert", frozen, "-l", "-O", "y").err.replace("--output-node", "-O")
    assert "TensorFlow graphs only" in run("convert", net, "-l").err
    assert run("convert", frozen).code == 2
    assert "TARGET" in run("convert", frozen).err


@pytest.mark.parametrize("options", ["--strict", "--modern", "-O y", "-I x,x,float32"])
def test_options_without_effect_are_refused(
    run: Any, net: Path, tmp_path: Path, options: str
) -> None:
    result = run("convert", net, tmp_path / "out.uff", *options.split())
    assert result.code == 2
    assert "concerns TensorFlow graphs" in result.err


# -- what is no frozen graph -----------------------------------------------------------------


def test_a_keras_model_is_told_how_to_be_frozen(run: Any, tmp_path: Path) -> None:
    (tmp_path / "model.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as archive:
        archive.writestr("metadata.json", "{}")
    for name in ("model.h5", "model.keras"):
        result = run("convert", tmp_path / name, tmp_path / "out.uff")
        assert result.code == 4
        assert "tf.keras.models.load_model" in result.err
        assert "\\n" not in result.err
        assert "tf.io.write_graph(freeze(" in result.err
    assert not (tmp_path / "out.uff").exists()


def test_a_saved_model_with_variables_is_told_how_to_be_frozen(run: Any, tmp_path: Path) -> None:
    variable = node("v", "VarHandleOp")
    data = saved_model(*nodes(variable, node("r", "ReadVariableOp", "v")))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "saved_model.pb").write_bytes(data)
    result = run("convert", tmp_path / "model", tmp_path / "out.uff", "-O", "r")
    assert result.code == 4
    assert "tf.saved_model.load" in result.err


@pytest.mark.parametrize("name", ["model", "model/saved_model.pb"])
def test_a_saved_model_of_constants(run: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "saved_model.pb").write_bytes(saved_model(*nodes()))
    assert run("convert", tmp_path / name, tmp_path / "out.uff").code == 0
    with ufkit.open(tmp_path / "out.uff") as model:
        assert model.graph.outputs == ["logits"]


def saved_model(*messages: Message) -> bytes:
    meta = Message.new(SCHEMA["MetaGraphDef"], graph_def=graph_def(*messages))
    model = SCHEMA["SavedModel"]
    return to_bytes(Message.new(model, saved_model_schema_version=1, meta_graphs=[meta]))


def test_a_damaged_graph_leaves_nothing(run: Any, frozen: Path, tmp_path: Path) -> None:
    data = frozen.read_bytes()
    for size in range(1, len(data), 7):
        frozen.write_bytes(data[:size])
        result = run("convert", frozen, tmp_path / "out.uff", "-O", "y")
        assert result.code in (2, 3)
        assert os.listdir(tmp_path) == ["frozen.pb"]
