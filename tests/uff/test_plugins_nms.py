"""How TensorRT's detection plugins choose among boxes, against numbers worked out by hand and
against the plugin's own arrays and loops, written out slowly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ufkit
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder

LIMITS = {"topK_u_int": 4, "keepTopK_u_int": 4, "shareLocation_u_int": 1}


def _both(b: Builder, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The results of the reference, which ONNX Runtime must give as well."""
    results = ufkit.run(b.graph, feeds)
    session = ort.InferenceSession(
        to_onnx(b.graph).model.to_proto().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [port.name for port in session.get_outputs()]
    for name, value in zip(names, session.run(None, feeds), strict=True):
        np.testing.assert_allclose(value, results[name], rtol=1e-5, atol=1e-6)
    return results


# -- boxes that are decoded already ------------------------------------------------------------

A, B, C = [0.0, 0.0, 0.4, 0.4], [0.1, 0.0, 0.5, 0.4], [0.6, 0.6, 1.2, 1.2]
# A and B share 0.3 * 0.4 = 0.12 of 0.16 + 0.16 - 0.12 = 0.2: their overlap is 0.6.
SCORES = [[0.9, 0.3], [0.8, 0.95], [0.7, 0.7]]  # of A, B, C in classes 0 and 1


def _batched(boxes: Any, scores: Any, **fields: Any) -> dict[str, np.ndarray]:
    boxes, scores = np.array(boxes, np.float32), np.array(scores, np.float32)
    b = Builder()
    b.input("boxes", [1, len(boxes), 1, 4])
    b.input("scores", [1, *scores.shape])
    thresholds = {"scoreThreshold_u_float": 0.35, "iouThreshold_u_float": 0.5}
    limits = {**LIMITS, "numClasses_u_int": scores.shape[1], **thresholds, **fields}
    b.op("y", "_BatchedNMS_TRT", ["boxes", "scores"], **limits)
    b.output("y")
    found = _both(b, {"boxes": boxes[None, :, None], "scores": scores[None]})
    names = {"number": "y", "boxes": "y_1", "scores": "y_2", "classes": "y_3"}
    return {what: found[name][0] for what, name in names.items()}


def test_the_better_of_two_boxes_stays_in_each_class() -> None:
    got = _batched([A, B, C], SCORES)
    assert got["number"] == 4
    np.testing.assert_array_equal(got["classes"], [1, 0, 0, 1])  # of equal scores class 0 is first
    np.testing.assert_allclose(got["scores"], [0.95, 0.9, 0.7, 0.7])
    clipped = [0.6, 0.6, 1.0, 1.0]
    np.testing.assert_allclose(got["boxes"], [B, A, clipped, clipped])


def test_what_is_missing_has_class_minus_one() -> None:
    got = _batched([A, B, C], SCORES, backgroundLabelId_u_int=1, clipBoxes_u_int=0)
    assert got["number"] == 2
    np.testing.assert_array_equal(got["classes"], [0, 0, -1, -1])
    np.testing.assert_allclose(got["scores"], [0.9, 0.7, 0, 0])
    np.testing.assert_allclose(got["boxes"], [A, C, [0] * 4, [0] * 4])


@pytest.mark.parametrize(
    ("fields", "classes"),
    [
        ({"iouThreshold_u_float": 0.65}, [1, 0, 0, 0]),  # B stays beside A: 0.8 comes before 0.7
        ({"topK_u_int": 1, "keepTopK_u_int": 1}, [1]),
        ({"topK_u_int": 2, "keepTopK_u_int": 2}, [1, 0]),
        ({"topK_u_int": 9, "keepTopK_u_int": 9}, [1, 0, 0, 1, -1, -1, -1, -1, -1]),
        ({"scoreThreshold_u_float": 0.9}, [1, -1, -1, -1]),  # 0.9 is not above 0.9
        ({"scoreThreshold_u_float": 1.0}, [-1, -1, -1, -1]),
    ],
)
def test_limits_and_thresholds(fields: dict[str, Any], classes: list[int]) -> None:
    np.testing.assert_array_equal(_batched([A, B, C], SCORES, **fields)["classes"], classes)


@pytest.mark.parametrize(("threshold", "number"), [(0.5, 2), (0.49, 1)])
@pytest.mark.parametrize(
    ("second", "normalized"), [([0, 0, 2, 1], 1), ([0, 0, 1, 0], 0), ([1, 0, 0, 0], 0)]
)
def test_a_box_is_out_above_the_threshold_only(
    second: list[int], normalized: int, threshold: float, number: int
) -> None:
    """1 of 2 is shared: the half; in pixels [0, 0, 1, 0] are two, whichever corner is first."""
    first = [0, 0, 1, 1] if normalized else [0, 0, 0, 0]
    fields = {"iouThreshold_u_float": threshold, "isNormalized_u_int": normalized}
    assert _batched([first, second], [[0.9], [0.8]], **fields)["number"] == number


@pytest.mark.parametrize(
    ("boxes", "fields", "said"),
    [
        ([1, 3, 4], {}, "boxes are [1, 3, 4]; with these fields they must be [N, boxes, 1, 4]"),
        ([1, 3, 1, 4], {"shareLocation_u_int": 0}, "they must be [N, boxes, 2, 4]"),
        ([1, 2, 1, 4], {}, "scores are [1, 3, 2]; they must be [N, 2, 2]"),
        ([1, 3, 1, 4], {"numClasses_u_int": 3}, "scores are [1, 3, 2]; they must be [N, 3, 3]"),
        ([2, 3, 1, 4], {}, "[2, 3, 1, 4] and [1, 3, 2] are not as many samples"),
        ([1, 3, 1, 4], {"caffeSemantics_u_int": 0, "isNormalized_u_int": 0}, "in pixels"),
        ([1, 3, 1, 4], {"iouThreshold_u_float": -0.5}, "-0.5; 0 to 1 are possible"),
    ],
)
def test_boxes_and_scores_that_do_not_fit(
    boxes: list[int], fields: dict[str, Any], said: str
) -> None:
    b = Builder()
    b.input("boxes", boxes)
    b.input("scores", [1, 3, 2])
    thresholds = {"scoreThreshold_u_float": 0.35, "iouThreshold_u_float": 0.5}
    limits = {**LIMITS, "numClasses_u_int": 2, **thresholds, **fields}
    b.op("y", "_BatchedNMS_TRT", ["boxes", "scores"], **limits)
    b.output("y")
    (finding,) = [finding for finding in ufkit.check(b.meta) if finding.severity == "error"]
    assert said in finding.message


# -- boxes told by anchors -----------------------------------------------------------------------

ANCHOR = [0.2, 0.4, 0.6, 0.6]  # 0.4 x 0.2 about (0.4, 0.5)
DOUBLE = math.log(2)


@pytest.mark.parametrize(
    ("kind", "encoded", "code", "box"),
    [
        # (y, x, h, w): about 0.4 + 0.1 * 2 * 0.4 and 0.5 + 0.1 * 1 * 0.2, of twice the width
        (3, 0, [1, 2, 0, 5 * DOUBLE], [0.08, 0.42, 0.88, 0.62]),
        (3, 1, [1, 2, 0, 5 * DOUBLE], [0.08, 0.42, 0.88, 0.62]),  # the variances all the same
        (1, 0, [2, 1, 5 * DOUBLE, 0], [0.08, 0.42, 0.88, 0.62]),
        (1, 1, [0.2, 0.1, DOUBLE, 0], [0.08, 0.42, 0.88, 0.62]),
        (0, 0, [1, -1, 0.5, 0], [0.3, 0.3, 0.7, 0.6]),
        (0, 1, [0.1, -0.1, 0.1, 0], [0.3, 0.3, 0.7, 0.6]),
        (2, 0, [1, -1, 0.5, 0], [0.24, 0.38, 0.64, 0.6]),
        (2, 1, [0.1, -0.1, 0.1, 0], [0.24, 0.38, 0.64, 0.6]),
        (0, 1, [-0.3, 0, 0.9, 0.1], [0.0, 0.4, 1.0, 0.7]),  # what is beyond the image is cut off
    ],
)
def test_boxes_are_told_by_anchors(
    kind: int, encoded: int, code: list[float], box: list[float]
) -> None:
    b = Builder()
    b.const("anchors", np.array([ANCHOR, [0.1, 0.1, 0.2, 0.2]], np.float32).reshape(1, 2, 4, 1))
    b.input("boxes", [1, 4, 1, 1])
    b.input("scores", [1, 2, 1, 1])
    _nms(b, {"codeType_u_int": kind, "varianceEncodedInTarget_u_int": encoded})
    feeds = {
        "boxes": np.array(code, np.float32).reshape(1, 4, 1, 1),
        "scores": np.array([0.2, 0.75], np.float32).reshape(1, 2, 1, 1),
    }
    got = _both(b, feeds)
    np.testing.assert_allclose(got["NMS"][0, 0, 0], [0, 1, 0.75, *box], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(got["NMS"][0, 0, 1], [0, -1, 0, 0, 0, 0, 0])
    assert got["NMS_1"].tolist() == [[[[1]]]]


def _nms(b: Builder, fields: dict[str, Any]) -> None:
    limits = {**LIMITS, "numClasses_u_int": 2, "inputOrder_u_ilist": [0, 1, 2]}
    thresholds = {"confidenceThreshold_u_float": 0.3, "nmsThreshold_u_float": 0.5}
    b.op("NMS", "_NMS_TRT", ["boxes", "scores", "anchors"], **{**limits, **thresholds, **fields})
    b.output("NMS")


def test_the_sigmoid_is_taken_of_scores_and_held_against_the_threshold() -> None:
    b = Builder()
    b.const("anchors", np.array([ANCHOR, [0.1] * 4], np.float32).reshape(1, 2, 4, 1))
    b.input("boxes", [1, 4, 1, 1])
    b.input("scores", [1, 2, 1, 1])
    _nms(b, {"confSigmoid_u_int": 1})
    scores = np.array([-0.85, -0.84], np.float32).reshape(1, 2, 1, 1)  # sigmoids 0.2994, 0.3015
    got = _both(b, {"boxes": np.zeros((1, 4, 1, 1), np.float32), "scores": scores})
    np.testing.assert_allclose(got["NMS"][0, 0, 0, 1:3], [1, 0.30153476], rtol=1e-6)
    assert got["NMS_1"].item() == 1


# -- the plugin's own way ------------------------------------------------------------------------


def _slowly(boxes: np.ndarray, scores: np.ndarray, fields: dict[str, Any]) -> list[list[float]]:
    """Rows of class, score and corners of one image, with arrays of indices as the plugin has
    them: -1 for what is out, of class c and place p c * P + p."""
    count, classes = scores.shape
    left: list[tuple[float, int]] = []
    for c in range(classes):
        items = []
        for p in range(count):
            above = scores[p, c] > np.float32(fields["scoreThreshold_u_float"])
            out = c == fields["backgroundLabelId_u_int"] or not above
            items.append((0.0, -1) if out else (float(scores[p, c]), c * count + p))
        items.sort(key=lambda item: -item[0])  # stable, as a radix sort is
        items = items[: fields["topK_u_int"]]
        kept = [index != -1 for _, index in items]
        for at, (_, index) in enumerate(items):
            for behind in range(at + 1, len(items)):
                if kept[at] and kept[behind]:
                    one, other = (
                        boxes[i % count, c % boxes.shape[1]] for i in (index, items[behind][1])
                    )
                    if _overlap(one, other) > fields["iouThreshold_u_float"]:
                        kept[behind] = False
        left += [item if keep else (0.0, -1) for item, keep in zip(items, kept, strict=True)]
    left.sort(key=lambda item: -item[0])
    rows = []
    for score, index in left[: fields["keepTopK_u_int"]]:
        c, p = divmod(index, count)
        rows.append(
            [-1, 0, 0, 0, 0, 0] if index == -1 else [c, score, *boxes[p, c % boxes.shape[1]]]
        )
    return rows + [[-1, 0, 0, 0, 0, 0]] * (fields["keepTopK_u_int"] - len(rows))


def _overlap(one: np.ndarray, other: np.ndarray) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0
    common = width * height
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return common / (sum(areas) - common)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_it_is_as_the_plugin_does_it(data: st.DataObject) -> None:
    """Corners are whole numbers and scores eighths: equal ones are frequent, and exact."""
    images, count, classes = (data.draw(st.integers(1, n)) for n in (2, 6, 3))
    share = data.draw(st.booleans())
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    low = random.integers(0, 4, (images, count, 1 if share else classes, 2))
    size = random.integers(1, 5, low.shape)
    boxes = np.concatenate([low, low + size], -1).astype(np.float32)
    scores = (random.integers(0, 9, (images, count, classes)) / 8).astype(np.float32)
    fields = {
        "shareLocation_u_int": int(share),
        "numClasses_u_int": classes,
        "backgroundLabelId_u_int": data.draw(st.integers(-1, classes)),
        "topK_u_int": data.draw(st.integers(1, 8)),
        "keepTopK_u_int": data.draw(st.integers(1, 20)),
        "scoreThreshold_u_float": data.draw(st.sampled_from([0.0, 0.25, 0.9])),
        "iouThreshold_u_float": data.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
        "clipBoxes_u_int": 0,
    }
    b = Builder()
    b.input("boxes", [-1, *boxes.shape[1:]])
    b.input("scores", [-1, *scores.shape[1:]])
    b.op("y", "_BatchedNMS_TRT", ["boxes", "scores"], **fields)
    b.output("y")
    got = _both(b, {"boxes": boxes, "scores": scores})
    for image in range(images):
        rows = np.array(_slowly(boxes[image], scores[image], fields), np.float32)
        np.testing.assert_array_equal(got["y_3"][image], rows[:, 0])
        np.testing.assert_array_equal(got["y_2"][image], rows[:, 1])
        np.testing.assert_array_equal(got["y_1"][image], rows[:, 2:])
        assert got["y"][image] == np.count_nonzero(rows[:, 0] >= 0)


def test_a_detection_is_few_nodes() -> None:
    b = Builder()
    b.input("anchors", [1, 2, 40, 1])
    b.input("boxes", [-1, 40, 1, 1])
    b.input("scores", [-1, 20, 1, 1])
    _nms(b, {"keepTopK_u_int": 50, "topK_u_int": 50, "confSigmoid_u_int": 1})
    assert to_onnx(b.graph).count() < 60
