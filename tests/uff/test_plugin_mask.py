"""Mask R-CNN's plugins, with numbers worked out by hand from their kernels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder
from ufkit.uff.infer import infer

Array = np.ndarray[Any, Any]


def single(operation: str, inputs: dict[str, list[int]], **fields: Any) -> Builder:
    b = Builder()
    for id_, shape in inputs.items():
        b.input(id_, shape)
    b.op("y", operation, inputs, **fields)
    b.output("y")
    return b


def computed(operation: str, feeds: dict[str, Any], **fields: Any) -> Array:
    arrays = {id_: np.asarray(value, np.float32) for id_, value in feeds.items()}
    b = single(operation, {id_: [*array.shape] for id_, array in arrays.items()}, **fields)
    return ufkit.run(b.graph, arrays)["y"]


def test_a_special_slice_is_the_boxes_of_detections() -> None:
    detections = np.arange(12).reshape(1, 2, 6)
    got = computed("_SpecialSlice_TRT", {"x": detections})
    np.testing.assert_array_equal(got, [[[0, 1, 2, 3], [6, 7, 8, 9]]])


# -- PyramidROIAlign -------------------------------------------------------------------------

SHAPES = {"rois": [1, 5, 4], **{level: [1, 2, 4, 4] for level in ("p2", "p3", "p4", "p5")}}


def _levels(shape: tuple[int, ...] = (1, 1, 3, 3)) -> dict[str, Array]:
    return {f"p{level}": np.full(shape, level, np.float32) for level in (2, 3, 4, 5)}


def test_larger_regions_are_of_coarser_levels() -> None:
    """Of 896 x 896 pixels 224 x 224 are a 16th: levels change at 1 / 128, 1 / 32, 1 / 8."""
    sides = [0.05, 0.1, 0.2, 0.5]
    rois = [[[0.25, 0.25, 0.25 + side, 0.25 + side] for side in sides]]
    fields = {"pooled_size_u_int": 2, "image_size_u_ilist": [3, 896, 896]}
    got = computed("_PyramidROIAlign_TRT", {"rois": rois, **_levels()}, **fields)
    assert got.shape == (4, 1, 2, 2)
    np.testing.assert_allclose(got, np.broadcast_to([[[[n]]] for n in (2, 3, 4, 5)], got.shape))


def test_corners_of_a_region_are_elements_of_the_part() -> None:
    rois = [[[0, 0, 1, 1], [0.5, 0, 1, 0.5]]]
    levels = {**_levels(), "p2": np.arange(9).reshape(1, 1, 3, 3)}
    fields = {"pooled_size_u_int": 2, "image_size_u_ilist": [3, 32, 32]}  # all of the first level
    got = computed("_PyramidROIAlign_TRT", {"rois": rois, **levels}, **fields)
    np.testing.assert_array_equal(got[:, 0], [[[0, 2], [6, 8]], [[3, 4], [6, 7]]])


@pytest.mark.parametrize(
    "roi", [[-0.1, 0, 1, 1], [0, 0, 1.1, 1], [0.5, 0, 0.5, 1], [0, 0.9, 1, 0.1], [0] * 4]
)
def test_regions_that_leave_the_map_or_have_no_area_are_zero(roi: list[float]) -> None:
    got = computed("_PyramidROIAlign_TRT", {"rois": [[roi]], **_levels()}, pooled_size_u_int=2)
    np.testing.assert_array_equal(got, np.zeros((1, 1, 2, 2)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pooled_size_u_int": 1}, "pooled_size_u_int is 1; 2 to 65536 are possible"),
        ({"pooled_size_u_int": 1 << 40}, "2 to 65536 are possible"),
        ({"pooled_size_u_int": 2, "image_size_u_ilist": [8]}, "image_size_u_ilist is [8]"),
        ({"pooled_size_u_int": 2, "legacy_u_int": 0}, "legacy_u_int is 0"),
    ],
)
def test_fields_that_are_not_possible_are_told(fields: dict[str, Any], message: str) -> None:
    found = infer(single("_PyramidROIAlign_TRT", SHAPES, **fields).graph).diagnostics
    assert message in "\n".join(map(str, found))


def test_levels_have_the_same_channels() -> None:
    shapes = {**SHAPES, "p4": [1, 3, 4, 4]}
    (finding,) = infer(
        single("_PyramidROIAlign_TRT", shapes, pooled_size_u_int=2).graph
    ).diagnostics
    assert finding.message.startswith("p4 has 1 images and 3 channels")


def test_tensorrt_is_told_that_it_is_as_in_uff_models() -> None:
    b = single("_PyramidROIAlign_TRT", SHAPES, pooled_size_u_int=2)
    nodes = to_onnx(b.graph, trt_plugins=True).model.proto.graph.node
    (node,) = [node for node in nodes if node.domain]
    values = {item.name: item for item in node.attribute}
    assert values["legacy"].i == 1
    assert list(values["image_size"].ints) == [1024, 1024]


# -- ProposalLayer ---------------------------------------------------------------------------

# An image of 64 x 64: 16 x 16 places on the first level, three anchors each of them
ANCHORS = 3 * (16 * 16 + 8 * 8 + 4 * 4 + 2 * 2 + 1)
MIDDLE = 3 * (8 * 16 + 8) + 1  # of 32 x 32 pixels around 32, 32: 16 to 47
PROPOSE = {"prenms_topk_u_int": 10, "keep_topk_u_int": 2, "iou_threshold_u_float": 0.7,
           "image_size_u_ilist": [3, 64, 64]}  # fmt: skip


def _proposed(scores: dict[int, float], deltas: dict[int, list[float]], **fields: Any) -> Array:
    pairs, moves = np.zeros((1, ANCHORS, 2)), np.zeros((1, ANCHORS, 4))
    for at, score in scores.items():
        pairs[0, at, 1] = score
    for at, delta in deltas.items():
        moves[0, at] = delta
    feeds = {"scores": pairs, "deltas": moves}
    return computed("_ProposalLayer_TRT", feeds, **{**PROPOSE, **fields})[0]


def test_an_anchor_that_scores_is_given_and_the_rest_is_zero() -> None:
    got = _proposed({MIDDLE: 1}, {})
    np.testing.assert_allclose(got, [np.array([16, 16, 47, 47]) / 63, [0] * 4], rtol=1e-6)


def test_deltas_move_and_grow_a_box() -> None:
    """A tenth of its height of 31 down; twice as wide, clipped to the image on the right."""
    got = _proposed({MIDDLE: 1}, {MIDDLE: [1, 2, 0, 5 * math.log(2)]})
    middle = 31.5 + 0.2 * 31
    left, right = middle - 31, min(middle + 31, 63)
    np.testing.assert_allclose(got[0], np.array([19.1, left, 50.1, right]) / 63, rtol=1e-6)


def test_of_two_that_overlap_the_better_is_kept() -> None:
    """The anchor to the right is 4 pixels on: 27 of 31 + 4 pixels are common, 0.77."""
    scores = {MIDDLE: 0.5, MIDDLE + 3: 0.9}
    right = np.array([16, 20, 47, 51]) / 63
    np.testing.assert_allclose(_proposed(scores, {}), [right, [0] * 4], rtol=1e-6)
    both = _proposed(scores, {}, iou_threshold_u_float=0.78)
    np.testing.assert_allclose(both, [right, np.array([16, 16, 47, 47]) / 63], rtol=1e-6)


def test_scores_as_good_as_none_give_no_box() -> None:
    np.testing.assert_array_equal(_proposed({MIDDLE: 0.01}, {}), np.zeros((2, 4)))


def test_the_number_of_anchors_follows_from_the_image() -> None:
    shapes = {"scores": [-1, ANCHORS - 1, 2], "deltas": [-1, ANCHORS, 4]}
    (finding,) = infer(single("_ProposalLayer_TRT", shapes, **PROPOSE).graph).diagnostics
    assert f"an image of 64 x 64 has {ANCHORS} anchors" in finding.message
    assert f"[N, {ANCHORS - 1}, 2]" in finding.message


# -- DetectionLayer --------------------------------------------------------------------------

DETECT = {"num_classes_u_int": 3, "keep_topk_u_int": 3, "iou_threshold_u_float": 0.5,
          "score_threshold_u_float": 0.3}  # fmt: skip
LEFT, WHOLE, RIGHT = [0, 0, 0.5, 0.5], [0, 0, 0.5, 1], [0, 0.5, 0.5, 1]
NONE = [0, 0, 0, 0, -1, 0]


def _detection(rois: list[list[float]], scores: list[list[float]], **fields: Any) -> Builder:
    shapes = {"deltas": [1, len(rois), 12], "scores": [1, len(rois), 3], "rois": [1, len(rois), 4]}
    return single("_DetectionLayer_TRT", shapes, **{**DETECT, **fields})


def _detected(rois: list[list[float]], scores: list[list[float]], **fields: Any) -> Array:
    feeds = {"deltas": np.zeros((1, len(rois), 12)), "scores": [scores], "rois": [rois]}
    return computed("_DetectionLayer_TRT", feeds, **{**DETECT, **fields})[0]


def test_boxes_of_one_class_suppress_each_other_from_the_threshold_on() -> None:
    """The left half is half of the whole: exactly the threshold."""
    rois, scores = [LEFT, WHOLE, RIGHT], [[0, 0.9, 0], [0, 0.8, 0], [0, 0.7, 0]]
    wanted = [[*LEFT, 1, 0.9], [*RIGHT, 1, 0.7], NONE]
    np.testing.assert_allclose(_detected(rois, scores), wanted, rtol=1e-6)
    wanted = [[*LEFT, 1, 0.9], [*WHOLE, 1, 0.8], [*RIGHT, 1, 0.7]]
    got = _detected(rois, scores, iou_threshold_u_float=0.51)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_boxes_of_other_classes_do_not() -> None:
    got = _detected([LEFT, WHOLE], [[0.1, 0.2, 0.9], [0, 0.8, 0.1]])
    np.testing.assert_allclose(got, [[*LEFT, 2, 0.9], [*WHOLE, 1, 0.8], NONE], rtol=1e-6)


def test_background_and_low_scores_are_nothing() -> None:
    got = _detected([LEFT, RIGHT], [[0.9, 0.8, 0.7], [0, 0.2, 0.1]])
    np.testing.assert_allclose(got, [NONE] * 3)


def test_a_box_is_moved_by_the_deltas_of_its_class() -> None:
    deltas = np.zeros((1, 1, 3, 4), np.float32)
    deltas[0, 0, 2] = [1, 0, 0, 0]  # a tenth of 0.5 down
    deltas[0, 0, 1] = [9, 9, 9, 9]
    feeds = {"deltas": deltas.reshape(1, 1, 12), "scores": [[[0, 0.1, 0.9]]], "rois": [[LEFT]]}
    got = computed("_DetectionLayer_TRT", feeds, **DETECT)[0, 0]
    np.testing.assert_allclose(got, [0.05, 0, 0.55, 0.5, 2, 0.9], rtol=1e-6)


def test_numbers_of_elements_must_fit() -> None:
    b = _detection([LEFT] * 4, [], num_classes_u_int=4)
    (finding,) = infer(b.graph).diagnostics
    assert "deltas [1, 4, 12] have 48 elements" in finding.message
    assert "4 classes and rois [1, 4, 4] need 64" in finding.message


def test_the_threshold_is_the_same_in_onnx(tmp_path: Path) -> None:
    scores = np.array([[[0, 0.9, 0], [0, 0.8, 0], [0, 0.7, 0]]], np.float32)
    rois = np.array([[LEFT, WHOLE, RIGHT]], np.float32)
    b = _detection([LEFT] * 3, [])
    ufkit.save(b.meta, tmp_path / "a.uff")
    data = {"deltas": np.zeros((1, 3, 12), np.float32), "scores": scores, "rois": rois}
    options = ufkit.Options(verify=True, verify_data=data)
    report = ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx", options)
    assert report.ok
    assert "CNV105" not in {finding.code for finding in report.diagnostics}
