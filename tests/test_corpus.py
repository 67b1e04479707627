"""Real files that nobody here made, with results that TensorFlow computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import ufkit
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.infer import infer

SHAPES = {"allcnn": {"input_image": ["N", 28, 28, 1]}}
CORE = ("lenet5", "mlp_mnist", "mlp_leaky", "vlad_stack", "allcnn", "degenerate_io")
BINARY = (*CORE, "netvlad", "netvlad_short")
TEXT = (
    "netvlad_short.uff.pbtxt",
    "ssd_mobilenet_v1_egohands.pbtxt",
    "ssd_mobilenet_v1_face.pbtxt",
    "ssd_mobilenet_v2_coco.pbtxt",
)


@pytest.mark.parametrize("name", BINARY)
def test_it_is_saved_byte_for_byte(corpus: Path, tmp_path: Path, name: str) -> None:
    path = corpus / "uff" / f"{name}.uff"
    with ufkit.open(path) as model:
        ufkit.save(model, tmp_path / "same.uff")
    assert (tmp_path / "same.uff").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("form", ["json", "full text"])
@pytest.mark.parametrize("name", BINARY)
def test_it_comes_back_from_other_forms(corpus: Path, tmp_path: Path, name: str, form: str) -> None:
    path = corpus / "uff" / f"{name}.uff"
    between = tmp_path / ("x.json" if form == "json" else "x.pbtxt")
    ufkit.convert(path, between, ufkit.Options(full=True))
    ufkit.convert(between, tmp_path / "back.uff")
    assert (tmp_path / "back.uff").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", [*(f"{name}.uff" for name in BINARY), *TEXT])
def test_it_is_summed_up_and_checked(corpus: Path, name: str) -> None:
    with ufkit.open(corpus / "uff" / name) as model:
        (graph,) = ufkit.summarize(model).graphs
        findings = list(ufkit.check(model))
    assert graph.nodes == sum(graph.operations.values()) > 0
    assert graph.outputs
    assert graph.weights_left_out == sum(finding.code == "UFF204" for finding in findings)
    if name.removesuffix(".uff") in CORE:
        assert not [finding for finding in findings if finding.severity == "error"]


@pytest.mark.parametrize("name", CORE)
def test_it_becomes_an_equal_onnx_model(corpus: Path, tmp_path: Path, name: str) -> None:
    path = corpus / "uff" / f"{name}.uff"
    options = ufkit.Options(verify=True, shapes=SHAPES.get(name, {}))
    report = ufkit.convert(path, tmp_path / "model.onnx", options)
    assert report.ok
    assert report.verification
    assert report.verification.ok
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)
    assert report.conversion
    assert report.conversion.count("Transpose") <= 1
    for results in (path.with_suffix(".uff.npz"), path.with_suffix(".pb.npz")):
        if results.exists():
            _hold_against(np.load(results), tmp_path / "model.onnx")


def _hold_against(results: np.lib.npyio.NpzFile, model: Path) -> None:
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    fed = {key[3:]: results[key] for key in results if key.startswith("in:")}
    names = [output.name for output in session.get_outputs()]
    assert {f"out:{name}" for name in names} == {key for key in results if key[:4] == "out:"}
    for name, value in zip(names, session.run(None, fed), strict=True):
        expected = results[f"out:{name}"]
        assert value.shape == expected.shape
        assert np.abs(value - expected).max() <= 1e-5 * np.abs(expected).max()


def test_vlad_stack_adds_its_constant_behind_a_reshape(corpus: Path) -> None:
    with ufkit.open(corpus / "uff" / "vlad_stack.uff") as model:
        x = np.random.default_rng(0).random((2, 60, 80, 256), np.float32)
        centers = np.asarray(ufkit.constant(model.graph["net_vlad_layer_1/cluster_centers"]))
        (value,) = ufkit.run(model.graph, {"input_1": x}).values()
    np.testing.assert_array_equal(value, x.reshape(2, 60, 80, 256, 1) + centers)


@pytest.mark.parametrize("name", ["netvlad", "netvlad_short"])
def test_the_training_side_is_left_behind(corpus: Path, tmp_path: Path, name: str) -> None:
    report = ufkit.convert(
        corpus / "uff" / f"{name}.uff", tmp_path / "x.onnx", ufkit.Options(verify=True)
    )
    assert report.ok
    assert report.conversion
    with ufkit.open(corpus / "uff" / f"{name}.uff") as model:
        merges = sum(node.operation == "_Merge" for node in model.graph)
    assert report.conversion.count("BatchNormalization") == merges
    assert report.conversion.count("Transpose") <= 4
    assert sum(finding.code == "UFF310" for finding in report.diagnostics) == merges


SSD = [name for name in TEXT if name.startswith("ssd")]


@pytest.mark.parametrize("name", SSD)
def test_all_of_a_detector_but_its_weights_is_there(
    corpus: Path, tmp_path: Path, name: str
) -> None:
    with ufkit.open(corpus / "uff" / name) as model:
        assert not [f for f in ufkit.check(model) if f.severity == "error"]
        inference = infer(model.graph)
    assert {id_: str(inference.facts[id_]) for id_ in ("NMS", "NMS_1")} == {
        "NMS": "float32[1, 1, 100, 7]",
        "NMS_1": "int32[1, 1, 1, 1]",
    }
    with pytest.raises(ufkit.UfkitError) as caught:
        ufkit.convert(corpus / "uff" / name, tmp_path / "x.onnx")
    assert {finding.code for finding in caught.value.diagnostics} == {"UFF204"}
    assert not list(tmp_path.iterdir())


def _made_up(id_: str, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Weights that leave a deep net alive: kernels by what they sum, scales about 1."""
    if id_.endswith(("gamma", "variance")):
        return random.uniform(0.75, 1.25, shape).astype(np.float32)
    summed = np.prod(shape[:2] if shape[-1] == 1 else shape[:-1]) if len(shape) > 1 else 100
    return random.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / summed))


@pytest.mark.parametrize("name", SSD)
def test_a_detector_with_weights_becomes_an_equal_onnx_model(
    corpus: Path, tmp_path: Path, name: str
) -> None:
    random = np.random.default_rng(1)
    with ufkit.open(corpus / "uff" / name) as model:
        for node in model.graph:
            if node.operation == "Const" and (tensor := ufkit.constant(node)).problem:
                weights = node.fields.data("values").get("ref")
                model.referenced_data[weights] = _made_up(node.id, tensor.shape, random)
        ufkit.save(model, tmp_path / "whole.uff")
    report = ufkit.convert(tmp_path / "whole.uff", tmp_path / "x.onnx", ufkit.Options(verify=True))
    assert report.ok
    assert report.conversion
    assert report.conversion.count("NonMaxSuppression") == 1
    feeds = {"Input": random.standard_normal((1, 3, 300, 300), np.float32)}
    session = ort.InferenceSession(tmp_path / "x.onnx", providers=["CPUExecutionProvider"])
    rows, number = session.run(["NMS", "NMS_1"], feeds)
    assert number.item() == np.count_nonzero(rows[..., 1] >= 0) > 0
    assert (rows[..., 2] > 0.3).sum() == number.item()
    with ufkit.open(tmp_path / "whole.uff") as model:
        graph = to_onnx(model.graph, trt_plugins=True).model.proto.graph
    plugins = {node.op_type: node for node in graph.node if node.domain}
    assert set(plugins) == {"GridAnchor_TRT", "FlattenConcat_TRT", "NMS_TRT"}
    assert [output.name for output in graph.output] == list(plugins["NMS_TRT"].output)


def test_a_pointer_of_git_lfs_is_named(corpus: Path) -> None:
    with pytest.raises(ufkit.FormatError, match="Git LFS pointer"):
        ufkit.open(corpus / "uff" / "lfs_pointer.uff")


@pytest.mark.parametrize("name", ["lenet5", "mlp_mnist", "netvlad", "vlad_stack"])
def test_a_frozen_graph_is_named(corpus: Path, name: str) -> None:
    with pytest.raises(ufkit.FormatError, match="a TensorFlow graph"):
        ufkit.open(corpus / "uff" / f"{name}.pb")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("pnet.caffemodel", "Caffe net"),
        ("lenet_v1_layers.caffemodel", "Caffe net"),
        ("pnet.prototxt", "Caffe net description"),
    ],
)
def test_a_caffe_net_is_named(corpus: Path, name: str, what: str) -> None:
    with pytest.raises(ufkit.FormatError, match=what):
        ufkit.open(corpus / "ufw" / name)
