"""TensorRT's plugins of SSD detectors: numbers worked out by hand, and the faults people meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
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
        (
            "_GridAnchorRect_TRT",
            {},
            "2 layers; 4 are needed; _GridAnchor_TRT takes them as they are",
        ),
        ("_GridAnchor_TRT", {"numLayers_u_int": 1}, "1 layers; the sizes of two or more"),
        ("_GridAnchor_TRT", {"minSize_u_float": 0.0}, "[0.0]; numbers above 0 are needed"),
        ("_GridAnchor_TRT", {"numLayers_u_int": 3}, "2 numbers for 3 layers"),
        ("_GridAnchor_TRT", {"numLayers_u_int": 1 << 60}, "2 numbers for 1152921504606846976"),
        ("_GridAnchor_TRT", {"aspectRatios_u_flist": [1.0, 2.0]}, "3 or more numbers"),
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
    graph = onnx.shape_inference.infer_shapes(
        to_onnx(b.graph, trt_plugins=True).model.to_proto()
    ).graph
    shapes = {
        item.name: [size.dim_value for size in item.type.tensor_type.shape.dim]
        for item in (*graph.value_info, *graph.input)
    }
    # The plugin looks for height and width behind the channels.
    assert [shapes[name] for name in graph.node[-1].input] == [[1, 4, 1, 2], [1, 3, 10, 20]]


# -- what is predicted, put together -------------------------------------------------------------


@pytest.mark.parametrize(("axis", "shape"), [(1, (2, 16, 1, 1)), (3, (2, 1, 1, 16))])
def test_predictions_are_joined_sample_by_sample(axis: int, shape: tuple[int, ...]) -> None:
    b = Builder()
    b.input("a", [-1, 3, 1, 4])
    b.input("b", [-1, 1, 1, 4])
    b.op("y", "_FlattenConcat_TRT", ["a", "b"], axis_u_int=axis, ignoreBatch_u_int=0)
    b.output("y")
    feeds = {
        "a": np.arange(24, dtype=np.float32).reshape(2, 3, 1, 4),
        "b": np.arange(100, 108, dtype=np.float32).reshape(2, 1, 1, 4),
    }
    got = ufkit.run(b.graph, feeds)["y"]
    assert got.shape == shape
    np.testing.assert_array_equal(got[0].ravel(), [*range(12), *range(100, 104)])
    np.testing.assert_array_equal(got[1].ravel(), [*range(12, 24), *range(104, 108)])


@pytest.mark.parametrize(
    ("shapes", "fields", "code", "said"),
    [
        ([[2, 3], [3, 3]], {"axis_u_int": 1}, "UFF302", "input 1 is [3, 3] and input 0 [2, 3]"),
        ([[2, 3]], {"axis_u_int": 0}, "UFF208", "axis 0"),
        ([[2, 3]], {}, "UFF324", "set axis_u_int to 1"),
    ],
)
def test_predictions_that_cannot_be_joined(
    shapes: list[list[int]], fields: dict[str, Any], code: str, said: str
) -> None:
    b = Builder()
    ids = [b.input(f"x{i}", shape) for i, shape in enumerate(shapes)]
    b.op("y", "_FlattenConcat_TRT", ids, **fields)
    b.output("y")
    assert said in _found(b)[code]


# -- a whole detector ----------------------------------------------------------------------------


def _detector(
    *, height: int = 4, width: int = 4, operation: str = "_GridAnchor_TRT", **fields: Any
) -> Builder:
    """A detector of 2 classes with a map of half the image's size, 3 boxes a cell, and one of
    1 x 1, 4 boxes a cell. `fields` go to the anchors and to the detection, by their names."""
    random = np.random.default_rng(5)

    def conv(id_: str, source: str, kernel: tuple[int, ...], strides: list[int]) -> None:
        b.const(f"{id_}/kernel", random.standard_normal(kernel).astype(np.float32))
        b.op(id_, "Conv", [source, f"{id_}/kernel"], "N+C_+CK", strides=strides)

    b = _grid(operation)
    b.input("image", [1, height, width, 3])
    rows, columns = height // 2, width // 2
    conv("map0", "image", (2, 2, 3, 4), [2, 2])
    conv("map1", "map0", (rows, columns, 4, 4), [1, 1])
    for part, each in (("boxes", 4), ("scores", 2)):
        ids = []
        for at, (cells, number) in enumerate([(rows * columns, 3), (1, 4)]):
            conv(f"{part}{at}", f"map{at}", (1, 1, 4, number * each), [1, 1])
            b.const(f"{part}{at}/shape", np.array([-1, cells * number, 1, each], np.int32))
            b.op(f"{part}{at}/Reshape", "Reshape", [f"{part}{at}", f"{part}{at}/shape"])
            ids.append(f"{part}{at}/Reshape")
        b.op(part, "_FlattenConcat_TRT", ids, axis_u_int=1, ignoreBatch_u_int=0)
    limits = {
        "numClasses_u_int": 2,
        "topK_u_int": 5,
        "keepTopK_u_int": 5,
        "confidenceThreshold_u_float": 0.3,
        "nmsThreshold_u_float": 0.5,
        "inputOrder_u_ilist": [0, 2, 1],
        "shareLocation_u_int": 1,
        "confSigmoid_u_int": 1,
    }
    b.op("NMS", "_NMS_TRT", ["boxes", "all", "scores"], **limits)
    for name, value in fields.items():
        b.graph["anchors" if name in GRID else "NMS"].fields[name] = value
    b.graph["MarkOutput_0"].inputs = ["NMS"]
    return b


def test_a_detector_that_fits_together_is_found_nothing_against() -> None:
    assert _found(_detector()) == {}
    assert to_onnx(_detector().graph).count("NonMaxSuppression") == 1


@pytest.mark.parametrize(
    ("fields", "code", "said"),
    [
        (
            {"numClasses_u_int": 3},
            "UFF321",
            (
                "there are 16 anchors, 64 numbers of boxes for 4 * 1 * 16 and 32 scores for "
                "3 * 16; numClasses_u_int 2 would fit"
            ),
        ),
        ({"shareLocation_u_int": 0}, "UFF321", "shareLocation_u_int 1 would fit"),
        (
            {"featureMapShapes_u_ilist": [19, 1]},
            "UFF321",
            (
                "there are 1087 anchors, 64 numbers of boxes for 4 * 1 * 1087 and 32 scores for "
                "2 * 1087; the maps are 2 x 2, 1 x 1; _GridAnchor_TRT with "
                "featureMapShapes_u_ilist [2, 1] fits them at 'anchors'"
            ),
        ),
        (
            {"featureMapShapes_u_ilist": [19, 1], "numClasses_u_int": 91},
            "UFF321",
            "numClasses_u_int 2 fits the boxes; the maps are 2 x 2, 1 x 1; _GridAnchor_TRT",
        ),
        (
            {"width": 8, "featureMapShapes_u_ilist": [4, 1]},
            "UFF321",
            (
                "the maps are 2 x 4, 1 x 1; _GridAnchorRect_TRT with featureMapShapes_u_ilist "
                "[2, 4, 1, 1] fits them at 'anchors'"
            ),
        ),
        (
            {"aspectRatios_u_flist": [1.0, 2.0, 0.5, 3.0]},
            "UFF321",
            "the maps have [3, 4] boxes a cell, aspectRatios_u_flist of 'anchors' makes [3, 5]",
        ),
        (
            {"inputOrder_u_ilist": [0, 1, 2]},
            "UFF322",
            (
                "inputOrder_u_ilist [0, 1, 2] takes boxes from 'boxes' [1, 64, 1, 1], scores from "
                "'all' [1, 2, 64, 1], anchors from 'scores' [1, 32, 1, 1]; [0, 2, 1] fits"
            ),
        ),
        ({"inputOrder_u_ilist": [2, 0, 1]}, "UFF322", "[0, 2, 1] fits"),
        (
            {"inputOrder_u_ilist": [0, 1, 2], "numClasses_u_int": 9},
            "UFF322",
            "'all' has the shape of anchors",
        ),
        ({"inputOrder_u_ilist": [0, 2]}, "UFF322", "[0, 2]; it must have 0, 1 and 2, each once"),
        ({"inputOrder_u_ilist": [0, 2, 7]}, "UFF322", "[0, 2, 7]; it must have 0, 1 and 2"),
        ({"keepTopK_u_int": 6}, "UFF326", "keepTopK_u_int is 6, topK_u_int 5"),
        ({"topK_u_int": 5000}, "UFF326", "topK_u_int is 5000; 4096 are the most"),
        ({"topK_u_int": 0}, "UFF208", "topK_u_int is 0; 1 to"),
        ({"nmsThreshold_u_float": 1.5}, "UFF208", "nmsThreshold_u_float is 1.5; 0 to 1"),
        ({"codeType_u_int": 4}, "UFF208", "codeType_u_int is 4; 0 to 3"),
    ],
)
def test_what_does_not_fit_in_a_detector_is_told(
    fields: dict[str, Any], code: str, said: str
) -> None:
    assert said in _found(_detector(**fields))[code]


def test_what_is_told_would_help() -> None:
    maps = {"featureMapShapes_u_ilist": [2, 4, 1, 1]}
    assert _found(_detector(width=8, operation="_GridAnchorRect_TRT", **maps)) == {}


def test_check_convert_and_run_say_the_same() -> None:
    b = _detector(numClasses_u_int=3)
    said = _found(b)["UFF321"].split(" |")[0]
    for attempt in (to_onnx, lambda graph: ufkit.run(graph, {"image": np.zeros((1, 4, 4, 3))})):
        with pytest.raises(ufkit.NotSupportedError) as caught:
            attempt(b.graph)
        assert [finding.message for finding in caught.value.diagnostics] == [said]


@pytest.mark.parametrize(("place", "order"), [(0, [0, 2, 1]), (0, [1, 3, 2]), (3, [0, 2, 1])])
def test_an_input_left_by_graphsurgeon_changes_nothing(place: int, order: list[int]) -> None:
    """The order may count the three that are meant, or all four."""
    image = {"image": np.random.default_rng(0).standard_normal((1, 4, 4, 3)).astype(np.float32)}
    wanted = ufkit.run(_detector().graph, image)
    b = _detector(inputOrder_u_ilist=order)
    inputs = list(b.graph["NMS"].inputs)
    b.graph["NMS"].inputs = [*inputs[:place], "image", *inputs[place:]]
    assert "'image', is an Input" in _found(b)["UFF323"]
    got = ufkit.run(b.graph, image)
    assert wanted["NMS_1"] > 0
    for name in ("NMS", "NMS_1"):
        np.testing.assert_array_equal(got[name], wanted[name])
    if order == [0, 2, 1]:
        node = to_onnx(b.graph, trt_plugins=True).model.proto.graph.node[-1]
        assert (node.op_type, len(node.input), len(node.output)) == ("NMS_TRT", 3, 2)
    else:
        with pytest.raises(ufkit.NotSupportedError, match="counts an Input"):
            to_onnx(b.graph, trt_plugins=True)


def test_two_inputs_are_not_enough() -> None:
    b = _detector()
    b.graph["NMS"].inputs = ["boxes", "scores"]
    assert "2 inputs: boxes, scores; boxes, scores, anchors are needed" in _found(b)["UFF106"]


def test_inputs_none_of_which_are_anchors() -> None:
    b = _detector()
    b.graph["NMS"].inputs = ["boxes", "scores", "scores"]
    assert "anchors are [N, 2, P * 4, 1]" in _found(b)["UFF302"]
