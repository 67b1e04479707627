"""Frozen graphs with what NVIDIA's converter made of them: everything in the UFF is equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import ufkit
from uff_contents import everything, value
from ufkit.uff.data import Ref

EQUAL = ["lenet5", "mlp_mnist", "netvlad"]


def converted(corpus: Path, folder: Path, name: str, **options: Any) -> Path:
    target = folder / f"{name}.uff"
    ufkit.convert(corpus / "uff" / f"{name}.pb", target, ufkit.Options(**options))
    return target


@pytest.mark.parametrize("name", EQUAL)
def test_equal_to_what_nvidia_wrote(corpus: Path, tmp_path: Path, name: str) -> None:
    with (
        ufkit.open(converted(corpus, tmp_path, name, strict=True)) as ours,
        ufkit.open(corpus / "uff" / f"{name}.uff") as theirs,
    ):
        assert everything(ours) == everything(theirs)


def test_equal_but_for_the_weights_of_another_training(corpus: Path, tmp_path: Path) -> None:
    with (
        ufkit.open(converted(corpus, tmp_path, "vlad_stack", strict=True)) as ours,
        ufkit.open(corpus / "uff" / "vlad_stack.uff") as theirs,
    ):
        assert everything(ours, weights=False) == everything(theirs, weights=False)
        centers = "net_vlad_layer_1/cluster_centers"
        assert ufkit.constant(ours.graph[centers]).nbytes == 4 * 256 * 16
        for node in ours.graph:
            if node.operation == "Const" and node.id != centers:
                both = ufkit.constant(node), ufkit.constant(theirs.graph[node.id])
                np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", EQUAL)
def test_through_uff_to_onnx_it_computes_what_tensorflow_did(
    corpus: Path, tmp_path: Path, name: str, strict: bool
) -> None:
    uff = converted(corpus, tmp_path, name, strict=strict)
    ufkit.convert(uff, tmp_path / "net.onnx")
    results = np.load(corpus / "uff" / f"{name}.pb.npz")
    feeds = {key[3:]: results[key] for key in results if key.startswith("in:")}
    session = ort.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    assert {f"out:{item}" for item in names} == {k for k in results if k.startswith("out:")}
    for item, got in zip(names, session.run(names, feeds), strict=True):
        wanted = results[f"out:{item}"]
        assert np.abs(got - wanted).max() <= 1e-4 * np.abs(wanted).max()


def test_training_is_gone_and_weights_stay(corpus: Path, tmp_path: Path) -> None:
    with ufkit.open(converted(corpus, tmp_path, "netvlad")) as model:
        operations = {node.operation for node in model.graph}
        assert not [operation for operation in operations if operation.startswith("_")]
        norms = [node for node in model.graph if node.operation == "BatchNorm"]
        assert len(norms) == 15
        assert all(ufkit.constant(model.graph[n.inputs[3]]).shape != (0,) for n in norms)
        assert not [d for d in ufkit.check(model) if d.severity is ufkit.Severity.ERROR]


def test_as_text_it_is_the_same_graph(corpus: Path, tmp_path: Path) -> None:
    from ufkit.conversion.tf_graph import SCHEMA
    from ufkit.core.files import Source
    from ufkit.wire.message import Message
    from ufkit.wire.text import text_lines

    source = Source.open(corpus / "uff" / "lenet5.pb")
    text = tmp_path / "lenet5.pbtxt"
    text.write_text("".join(text_lines(Message.read(SCHEMA["GraphDef"], source))), "utf-8")
    source.close()
    ufkit.convert(text, tmp_path / "net.uff", ufkit.Options(strict=True))
    with (
        ufkit.open(tmp_path / "net.uff") as ours,
        ufkit.open(corpus / "uff" / "lenet5.uff") as theirs,
    ):
        assert everything(ours) == everything(theirs)


def test_references_are_the_converters(corpus: Path, tmp_path: Path) -> None:
    with ufkit.open(converted(corpus, tmp_path, "lenet5", strict=True)) as model:
        data = model.graph["conv2d/Conv2D"].fields.data("inputs_orders")
        assert value(data) == ("ref", Ref("orders_N+C_+CK"))
