"""TensorRT's plugins of SSD detectors: numbers worked out by hand, and the faults people meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ufkit
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder

VARIANCE = [0.1, 0.1, 0.2, 0.2]
GRID = {
    "minSize_u_float": 0.2,
    "maxSize_u_float": 0.8,
    "aspectRatios_u_flist": [1.0, 4.0, 0.25],
    "featureMapShapes_u_ilist": [2, 1],
    "numLayers_u_int": 2,
    "variance_u_flist": VARIANCE,
}


def _grid(operation: str = "_GridAnchor_TRT", **fields: Any) -> Builder:
    b = Builder()
    b.const("AnchorInput", np.ones((1, 1), np.float32))
    b.op("anchors", operation, ["AnchorInput"], **{**GRID, **fields})
    b.op("all", "Concat", ["anchors"], axis=2)
    b.output("all")
    return b


def _found(b: Builder) -> dict[str, str]:
    """Message and hint of each finding that is more than a note, by code."""
    findings = [f for f in ufkit.check(b.meta) if f.severity != "note"]
    return {finding.code: f"{finding.message} | {finding.hint}" for finding in findings}


# -- anchors -----------------------------------------------------------------------------------


def test_the_anchors_of_a_grid() -> None:
    value = ufkit.run(_grid().graph, {})["all"]
    assert value.shape == (1, 2, (2 * 2 * 3 + 1 * 4) * 4, 1)
    anchors, variances = value.reshape(2, -1, 4)
    np.testing.assert_array_equal(variances, np.tile(np.float32(VARIANCE), (16, 1)))
    # Layer 0 has the scales 0.1, 0.2, 0.2, so boxes of 0.1 x 0.1, 0.4 x 0.1 and 0.1 x 0.4.
    np.testing.assert_allclose(
        anchors[:4],
        [
            [0.20, 0.20, 0.30, 0.30],
            [0.05, 0.20, 0.45, 0.30],
            [0.20, 0.05, 0.30, 0.45],
            [0.70, 0.20, 0.80, 0.30],  # the next column
        ],
        rtol=1e-6,
    )
    np.testing.assert_allclose(anchors[6], [0.20, 0.70, 0.30, 0.80], rtol=1e-6)  # the next row
    # Layer 1 has the scale 0.8 and a square of sqrt(0.8 * 1.0) = 0.894427 more.
    np.testing.assert_allclose(
        anchors[12:],
        [
            [0.1, 0.1, 0.9, 0.9],
            [-0.3, 0.3, 1.3, 0.7],
            [0.3, -0.3, 0.7, 1.3],
            [0.0527864, 0.0527864, 0.9472136, 0.9472136],
        ],
        rtol=1e-6,
        atol=1e-7,
    )


def test_the_anchors_of_a_grid_that_is_not_square() -> None:
    b = _grid("_GridAnchorRect_TRT", featureMapShapes_u_ilist=[1, 2, 1, 1])
    anchors = ufkit.run(b.graph, {})["all"][0, 0].reshape(-1, 4)
    assert len(anchors) == 1 * 2 * 3 + 4
    np.testing.assert_allclose(anchors[0], [0.20, 0.45, 0.30, 0.55], rtol=1e-6)
    np.testing.assert_allclose(anchors[3], [0.70, 0.45, 0.80, 0.55], rtol=1e-6)


def test_anchors_are_one_constant_of_the_model_or_the_plugin_with_a_result_a_layer() -> None:
    graph = to_onnx(_grid().graph).model.proto.graph
    assert [list(tensor.dims) for tensor in graph.initializer] == [[1, 2, 64, 1]]
    assert not graph.node
    graph = to_onnx(_grid().graph, trt_plugins=True).model.proto.graph
    plugin, joined = graph.node
    assert (plugin.op_type, len(plugin.output)) == ("GridAnchor_TRT", 2)
    assert {a.name for a in plugin.attribute} >= {"minSize", "featureMapShapes", "variance"}
    assert (joined.op_type, list(joined.input)) == ("Concat", list(plugin.output))


@pytest.mark.parametrize(
    ("operation", "fields", "said"),
    [
        ("_GridAnchor_TRT", {"featureMapShapes_u_ilist": [2, 2, 1, 1]}, "_GridAnchorRect_TRT"),
        ("_GridAnchorRect_TRT", {}, "2 numbers for 2 layers; 2 a layer is needed; _GridAnchor_TRT"),
        ("_GridAnchor_TRT", {"numLayers_u_int": 3}, "2 numbers for 3 layers"),
        ("_GridAnchor_TRT", {"numLayers_u_int": 1 << 60}, "2 numbers for 1152921504606846976"),
        ("_GridAnchor_TRT", {"aspectRatios_u_flist": [1.0, 2.0]}, "3 or more numbers above 0"),
        ("_GridAnchor_TRT", {"variance_u_flist": [0.1]}, "1 numbers; 4 are needed"),
        ("_GridAnchor_TRT", {"featureMapShapes_u_ilist": [2, 0]}, "1 is the least possible"),
        ("_GridAnchor_TRT", {"featureMapShapes_u_ilist": [1 << 20, 1]}, "anchors; 262144 are"),
    ],
)
def test_fields_of_a_grid_that_cannot_be_meant(
    operation: str, fields: dict[str, Any], said: str
) -> None:
    assert said in " ".join(_found(_grid(operation, **fields)).values())


def test_a_grid_that_lost_its_inputs_is_computed_and_told_of() -> None:
    b = _grid()
    b.graph["anchors"].inputs = []
    assert "UFF320" in _found(b)
    np.testing.assert_array_equal(
        ufkit.run(b.graph, {})["all"], ufkit.run(_grid().graph, {})["all"]
    )


@pytest.mark.parametrize("last", [False, True])
def test_the_anchors_of_a_map(last: bool) -> None:
    """A map of 1 x 2 cells over 10 x 20 pixels: steps of 10, centers (5, 5) and (15, 5)."""
    b = Builder()
    b.input("image", [1, 10, 20, 3] if last else [1, 3, 10, 20])
    kernel = np.zeros((10, 10, 3, 4), np.float32)
    b.const("kernel", kernel if last else kernel.transpose(3, 2, 0, 1))
    orders = "N+C_+CK" if last else "NC+_KC+"
    b.op("conv", "Conv", ["image", "kernel"], orders, strides=[10, 10])
    b.op("map", "Activation", ["conv"], func="relu")
    b.op(
        "y",
        "_PriorBox_TRT",
        ["map", "image"],
        minSize_u_flist=[4.0],
        maxSize_u_flist=[9.0],
        aspectRatios_u_flist=[4.0],
        variance_u_flist=VARIANCE,
    )
    b.output("y")
    image = np.zeros((1, 10, 20, 3) if last else (1, 3, 10, 20), np.float32)
    anchors = ufkit.run(b.graph, {"image": image})["y"][0, 0].reshape(-1, 4)
    np.testing.assert_allclose(
        anchors[:5],
        [
            [3 / 20, 3 / 10, 7 / 20, 7 / 10],  # 4 x 4
            [2 / 20, 2 / 10, 8 / 20, 8 / 10],  # sqrt(4 * 9) = 6 x 6
            [1 / 20, 4 / 10, 9 / 20, 6 / 10],  # ratio 4: 8 x 2
            [4 / 20, 1 / 10, 6 / 20, 9 / 10],  # flipped: 2 x 8
            [13 / 20, 3 / 10, 17 / 20, 7 / 10],  # 4 x 4 in the next cell
        ],
        rtol=1e-6,
    )
    assert len(anchors) == 8
