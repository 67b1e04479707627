"""The three common kinds of scripts that put TensorRT's plugins into SSD detectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uff
import ufkit
from ssd_graphs import Detector
from uff.bin.convert_to_uff import main
from uff_contents import entries
from ufkit.wire.message import to_bytes

_V1 = "FeatureExtractor/MobilenetV1"
_V2 = "FeatureExtractor/MobilenetV2"
V1 = (
    f"{_V1}/MobilenetV1/Conv2d_11_pointwise",
    f"{_V1}/MobilenetV1/Conv2d_13_pointwise",
    f"{_V1}/Conv2d_13_pointwise_2_Conv2d_2_3x3_s2_512",
    f"{_V1}/Conv2d_13_pointwise_2_Conv2d_3_3x3_s2_256",
    f"{_V1}/Conv2d_13_pointwise_2_Conv2d_4_3x3_s2_256",
    f"{_V1}/Conv2d_13_pointwise_2_Conv2d_5_3x3_s2_128",
)
V2 = (
    f"{_V2}/expanded_conv_13/expand",
    f"{_V2}/Conv_1",
    f"{_V2}/layer_19_2_Conv2d_2_3x3_s2_512",
    f"{_V2}/layer_19_2_Conv2d_3_3x3_s2_256",
    f"{_V2}/layer_19_2_Conv2d_4_3x3_s2_256",
    f"{_V2}/layer_19_2_Conv2d_5_3x3_s2_128",
)
FACE = Detector(V1, cast="ToFloat", squeezed=True, sized=True)
EGOHANDS = Detector(V1)
COCO = Detector(V2, image="image_tensor:0", scores=True)

# As the sample of TensorRT: a config.py, which the command line runs.
CONFIG = """
import graphsurgeon as gs
import numpy as np
import ufkit_compat.tensorflow as tf

Input = gs.create_node("Input", op="Placeholder", dtype=tf.float32, shape=[1, 3, 300, 300])
PriorBox = gs.create_plugin_node(name="MultipleGridAnchorGenerator", op="GridAnchor_TRT",
    dtype=tf.float32, minSize=0.2, maxSize=0.95, aspectRatios=[1.0, 2.0, 0.5, 3.0, 0.33],
    variance=[0.1, 0.1, 0.2, 0.2], featureMapShapes=[19, 10, 5, 3, 2, 1], numLayers=6)
NMS = gs.create_plugin_node(name="NMS", op="NMS_TRT", dtype=tf.float32, shareLocation=1,
    varianceEncodedInTarget=0, backgroundLabelId=0, confidenceThreshold=0.3, nmsThreshold=0.6,
    topK=100, keepTopK=100, numClasses=2, inputOrder=[0, 2, 1], confSigmoid=1, isNormalized=1)
concat_priorbox = gs.create_node("concat_priorbox", op="ConcatV2", dtype=tf.float32, axis=2)
concat_box_loc = gs.create_plugin_node("concat_box_loc", op="FlattenConcat_TRT",
    dtype=tf.float32, axis=1, ignoreBatch=0)
concat_box_conf = gs.create_plugin_node("concat_box_conf", op="FlattenConcat_TRT",
    dtype=tf.float32, axis=1, ignoreBatch=0)
const = gs.create_node("Const", op="Const", dtype=tf.float32, value=np.array([1, 1], np.float32))

namespace_plugin_map = {
    "MultipleGridAnchorGenerator": PriorBox,
    "Postprocessor": NMS,
    "Preprocessor": Input,
    "ToFloat": Input,
    "image_tensor": Input,
    "Concatenate": concat_priorbox,
    "concat": concat_box_loc,
    "concat_1": concat_box_conf,
}

def preprocess(dynamic_graph):
    for node in dynamic_graph.find_nodes_by_op("FusedBatchNormV3"):
        gs.update_node(node, op="FusedBatchNorm")
    dynamic_graph.collapse_namespaces(namespace_plugin_map)
    dynamic_graph.append(const)
    dynamic_graph.find_nodes_by_op("GridAnchor_TRT")[0].input.append("Const")
    dynamic_graph.remove(dynamic_graph.graph_outputs, remove_exclusive_dependencies=False)
    dynamic_graph.find_nodes_by_op("NMS_TRT")[0].input.remove("Input")
"""

# As people's build_engine.py: a function that makes the plugins of a model's specification.
BUILD = """
import graphsurgeon as gs
import numpy as np
import uff

def replace_fusedbnv3(graph):
    for node in graph.find_nodes_by_op("FusedBatchNormV3"):
        gs.update_node(node, op="FusedBatchNorm")
    return graph

def add_anchor_input(graph):
    data = np.array([1, 1], dtype=np.float32)
    anchor_input = gs.create_node("Const", "Const", dtype=np.float32, value=data)
    graph.append(anchor_input)
    graph.find_nodes_by_op("GridAnchor_TRT")[0].input.insert(0, "Const")
    return graph

def add_plugin(graph, spec):
    graph.remove(graph.find_nodes_by_op("Assert"), remove_exclusive_dependencies=True)
    graph.forward_inputs(graph.find_nodes_by_op("Identity"))
    Input = gs.create_plugin_node("Input", op="Placeholder", dtype=np.float32,
        shape=(1, 3, 300, 300))
    PriorBox = gs.create_plugin_node("MultipleGridAnchorGenerator", op="GridAnchor_TRT",
        dtype=np.float32, minSize=spec["min_size"], maxSize=0.95,
        aspectRatios=[1.0, 2.0, 0.5, 3.0, 0.33], variance=[0.1, 0.1, 0.2, 0.2],
        featureMapShapes=[19, 10, 5, 3, 2, 1], numLayers=6)
    NMS = gs.create_plugin_node("NMS", op="NMS_TRT", dtype=np.float32, shareLocation=1,
        varianceEncodedInTarget=0, backgroundLabelId=0, confidenceThreshold=0.3,
        nmsThreshold=0.6, topK=100, keepTopK=100, numClasses=spec["num_classes"],
        inputOrder=spec["input_order"], confSigmoid=1, isNormalized=1)
    concat_priorbox = gs.create_node("concat_priorbox", op="ConcatV2", axis=2)
    box_loc = gs.create_plugin_node("concat_box_loc", op="FlattenConcat_TRT", dtype=np.float32)
    box_conf = gs.create_plugin_node("concat_box_conf", op="FlattenConcat_TRT", dtype=np.float32)
    graph.collapse_namespaces({
        "MultipleGridAnchorGenerator": PriorBox,
        "Postprocessor": NMS,
        "Preprocessor": Input,
        "Cast": Input,
        "ToFloat": Input,
        "image_tensor": Input,
        "Concatenate": concat_priorbox,
        "concat": box_loc,
        "concat_1": box_conf,
    })
    graph = replace_fusedbnv3(graph)
    if "image_tensor:0" in graph.find_nodes_by_name("Input")[0].input:
        graph.find_nodes_by_name("Input")[0].input.remove("image_tensor:0")
    if "Input" in graph.find_nodes_by_name("NMS")[0].input:
        graph.find_nodes_by_name("NMS")[0].input.remove("Input")
    if "NMS" not in [node.name for node in graph.graph_outputs]:
        graph.remove(graph.graph_outputs, remove_exclusive_dependencies=False)
        assert "NMS" in [node.name for node in graph.graph_outputs]
    if len(graph.find_nodes_by_op("GridAnchor_TRT")[0].input) < 1:
        graph = add_anchor_input(graph)
    return graph

def build(pb, target, spec):
    dynamic_graph = add_plugin(gs.DynamicGraph(pb), spec)
    return uff.from_tensorflow(dynamic_graph.as_graph_def(), output_nodes=["NMS"],
        output_filename=target, text=True, debug_mode=False)
"""


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def frozen(detector: Detector, folder: Path) -> Path:
    path = folder / "frozen_inference_graph.pb"
    path.write_bytes(to_bytes(detector.graph_def()))
    return path


def by_command_line(detector: Detector, folder: Path) -> Path:
    (folder / "config.py").write_text(CONFIG, "utf-8")
    pb = frozen(detector, folder)
    assert main([str(pb), "-O", "NMS", "-p", str(folder / "config.py"), "-t"]) == 0
    return pb.with_suffix(".uff")


def by_script(detector: Detector, folder: Path, **spec: Any) -> Path:
    target = folder / "tmp.uff"
    encoded = run(BUILD)["build"](str(frozen(detector, folder)), str(target), spec)
    assert target.read_bytes() == encoded
    return target


def single(value: Any) -> Any:
    """Numbers as float32 has them: converters of some time kept more of an attribute."""
    kind, found = value
    if kind in ("d", "d_list"):
        return kind, np.float32(found).tolist()
    return value


def plugins(path: Path) -> tuple[list[str], dict[str, Any]]:
    """The nodes outside the trunk in their order, and what they say but for sizes of weights."""
    with ufkit.open(path) as model:
        nodes = [n for n in model.graph if not n.id.startswith("FeatureExtractor")]
        said: dict[str, Any] = {"descriptors": [d.id for d in model.descriptors]}
        for node in nodes:
            fields = {k: single(v) for k, v in entries(node.fields).items()}
            if node.operation == "Const" and node.id != "Const":
                del fields["shape"]
            said[node.id] = node.operation, node.inputs, fields
        return [node.id for node in nodes], said


@pytest.mark.parametrize(
    ("name", "detector", "make", "spec"),
    [
        ("v1_face", FACE, by_command_line, {}),
        (
            "v1_egohands",
            EGOHANDS,
            by_script,
            {"min_size": 0.05, "num_classes": 2, "input_order": [0, 2, 1]},
        ),
        (
            "v2_coco",
            COCO,
            by_script,
            {"min_size": 0.2, "num_classes": 91, "input_order": [1, 0, 2]},
        ),
    ],
)
def test_scripts_make_what_nvidias_tools_made(
    corpus: Path, tmp_path: Path, name: str, detector: Detector, make: Any, spec: dict[str, Any]
) -> None:
    ours = plugins(make(detector, tmp_path, **spec))
    theirs = plugins(corpus / "uff" / f"ssd_mobilenet_{name}.pbtxt")
    assert ours == theirs


def test_the_text_twin_is_that_of_the_file(tmp_path: Path) -> None:
    target = by_command_line(FACE, tmp_path)
    twin = target.with_suffix(".pbtxt")
    assert b"bytes skipped...)" in twin.read_bytes()
    assert plugins(twin) == plugins(target)


def test_a_script_can_be_run_twice(tmp_path: Path) -> None:
    """Its nodes are made once, when it is imported: they are not to collect inputs."""
    names = run(CONFIG)
    made = []
    for _ in range(2):
        graph = names["gs"].DynamicGraph(to_bytes(FACE.graph_def()))
        names["preprocess"](graph)
        made.append(uff.from_tensorflow(graph.as_graph_def(), ["NMS"], quiet=True))
    assert made[0] == made[1]


def test_the_input_that_is_spelt_with_a_number_is_left_for_the_script(tmp_path: Path) -> None:
    """Scripts of TensorRT 5 remove it and would fail where it is not."""
    names = run(CONFIG)
    detector = replace(FACE, image="image_tensor:0")
    graph = names["gs"].DynamicGraph(to_bytes(detector.graph_def()))
    graph.collapse_namespaces(names["namespace_plugin_map"])
    assert list(graph.find_nodes_by_name("Input")[0].input) == ["image_tensor:0"]
