"""Faster R-CNN's plugins: boxes and regions worked out by hand from the kernels, and by loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ufkit
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder
from ufkit.uff.infer import infer

Array = np.ndarray[Any, Any]

FIELDS: dict[str, Any] = {
    "input_height_u_int": 33,
    "input_width_u_int": 33,
    "rpn_stride_u_int": 16,
    "roi_min_size_u_float": 1.0,
    "nms_iou_threshold_u_float": 0.7,
    "pre_nms_top_n_u_int": 4,
    "post_nms_top_n_u_int": 4,
    "anchor_sizes_u_flist": [16.0],
    "anchor_ratios_u_flist": [1.0],
}


def proposal(scores: list[int], **fields: Any) -> Builder:
    """A Proposal on maps of scores [N, A, H, W] and of their deltas."""
    b = Builder()
    batch, anchors, height, width = scores
    b.input("scores", scores)
    b.input("deltas", [batch, 4 * anchors, height, width])
    b.op("y", "_Proposal", ["scores", "deltas"], **{**FIELDS, **fields})
    b.output("y")
    return b


def boxes(scores: Any, deltas: Any, **fields: Any) -> Array:
    """The boxes of each image."""
    scores, deltas = np.asarray(scores, np.float32), np.asarray(deltas, np.float32)
    b = proposal([*scores.shape], **fields)
    return ufkit.run(b.graph, {"scores": scores, "deltas": deltas})["y"].squeeze(3)


# Cells of 16 pixels have their middles at 8 and 24; the anchors are 16 x 16 around them. The last
# pixel is 32, so that half of the image is 0.5. Best first: top right, bottom right, bottom left.
SCORES = np.array([0.1, 0.9, 0.3, 0.7]).reshape(1, 1, 2, 2)
STILL = np.zeros((1, 4, 2, 2))
BEST = [[0, 0.5, 0.5, 1], [0.5, 0.5, 1, 1], [0.5, 0, 1, 0.5], [0, 0, 0.5, 0.5]]


def test_anchors_that_do_not_move_come_in_the_order_of_their_scores() -> None:
    np.testing.assert_array_equal(boxes(SCORES, STILL)[0], BEST)


def test_what_is_looked_at_and_what_is_given_are_limited() -> None:
    got = boxes(SCORES, STILL, pre_nms_top_n_u_int=2)[0]
    np.testing.assert_array_equal(got, [*BEST[:2], [0] * 4, [0] * 4])
    got = boxes(SCORES, STILL, post_nms_top_n_u_int=3)[0]
    np.testing.assert_array_equal(got, BEST[:3])


def test_a_box_moved_onto_a_better_one_is_dropped() -> None:
    moved = STILL.copy()
    moved[0, 1, 1, 1] = -1  # by its height: from bottom right to top right
    np.testing.assert_array_equal(boxes(SCORES, moved)[0], [BEST[0], *BEST[2:], [0] * 4])


def test_boxes_are_pixels_when_they_overlap() -> None:
    """17 x 17 pixels each; moved 8 to the left, 9 x 17 = 153 are common, of 289 + 289 - 153.

    153 / 425 = 0.36; between the edges it would be 128 / 384 = 0.333.
    """
    scores, still = SCORES[:, :, :1], STILL[:, :, :1].copy()
    still[0, 0, 0, 1] = -0.5
    left, right = [0, 0, 0.5, 0.5], [0, 0.25, 0.5, 0.75]
    fields = {"pre_nms_top_n_u_int": 2, "post_nms_top_n_u_int": 2}
    got = boxes(scores, still, nms_iou_threshold_u_float=0.37, **fields)[0]
    np.testing.assert_array_equal(got, [right, left])
    got = boxes(scores, still, nms_iou_threshold_u_float=0.35, **fields)[0]
    np.testing.assert_array_equal(got, [right, [0] * 4])


def test_a_ratio_makes_a_box_wider_and_lower_by_its_root() -> None:
    """Ratio 4 of size 16: 32 wide and 8 high, around 32 of 64; a delta of ln 2 doubles a side."""
    fields = {
        "input_height_u_int": 65,
        "input_width_u_int": 65,
        "rpn_stride_u_int": 64,
        "post_nms_top_n_u_int": 1,
        "anchor_ratios_u_flist": [4.0],
    }
    got = boxes([[[[1]]]], np.zeros((1, 4, 1, 1)), **fields)[0]
    np.testing.assert_allclose(got, [[28 / 64, 16 / 64, 36 / 64, 48 / 64]])
    got = boxes([[[[1]]]], np.reshape([0, 0, math.log(2), math.log(2)], (1, 4, 1, 1)), **fields)[0]
    np.testing.assert_allclose(got, [[24 / 64, 0, 40 / 64, 1]], rtol=1e-6)


def test_boxes_are_clipped_and_those_not_larger_than_the_least_size_come_last() -> None:
    """The best one, moved out of the image by half, is 8 pixels wide."""
    moved = STILL.copy()
    moved[0, 0, 0, 1] = 0.5
    clipped = [0, 0.75, 0.5, 1]
    np.testing.assert_array_equal(boxes(SCORES, moved)[0], [clipped, *BEST[1:]])
    got = boxes(SCORES, moved, roi_min_size_u_float=8.0)[0]
    np.testing.assert_array_equal(got, [*BEST[1:], clipped])


def _slowly(scores: Array, deltas: Array, fields: dict[str, Any]) -> Array:
    """What the kernels do, one box after the other."""
    sizes, ratios = fields["anchor_sizes_u_flist"], fields["anchor_ratios_u_flist"]
    last_y, last_x = fields["input_height_u_int"] - 1.0, fields["input_width_u_int"] - 1.0
    stride, least = fields["rpn_stride_u_int"], fields["roi_min_size_u_float"]
    result = np.zeros((len(scores), fields["post_nms_top_n_u_int"], 4))
    for n in range(len(scores)):
        found = []
        for a in range(scores.shape[1]):
            size, root = sizes[a // len(ratios)], math.sqrt(ratios[a % len(ratios)])
            for h in range(scores.shape[2]):
                for w in range(scores.shape[3]):
                    tx, ty, tw, th = (float(deltas[n, 4 * a + k, h, w]) for k in range(4))
                    wide, high = math.exp(tw) * size * root, math.exp(th) * size / root
                    x = (w + 0.5) * stride + size * root * tx - wide / 2
                    y = (h + 0.5) * stride + size / root * ty - high / 2
                    x1, x2 = (min(max(e, 0.0), last_x) for e in (x, x + wide))
                    y1, y2 = (min(max(e, 0.0), last_y) for e in (y, y + high))
                    small = x2 - x1 <= least or y2 - y1 <= least
                    score = -math.inf if small else float(scores[n, a, h, w])
                    found.append((-score, len(found), (y1, x1, y2, x2)))
        kept: list[tuple[float, ...]] = []
        for *_, box in sorted(found)[: fields["pre_nms_top_n_u_int"]]:
            if len(kept) == len(result[n]):
                break
            if all(_overlap(box, other) <= fields["nms_iou_threshold_u_float"] for other in kept):
                kept.append(box)
        for row, (y1, x1, y2, x2) in zip(result[n], kept, strict=False):
            row[:] = y1 / last_y, x1 / last_x, y2 / last_y, x2 / last_x
    return result


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    high = max(min(a[2], b[2]) - max(a[0], b[0]) + 1, 0)
    wide = max(min(a[3], b[3]) - max(a[1], b[1]) + 1, 0)
    areas = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)]
    return high * wide / (sum(areas) - high * wide)


@pytest.mark.parametrize("seed", range(5))
def test_the_kernels_in_loops_give_the_same(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.uniform(size=(2, 6, 3, 5)).astype(np.float32)
    deltas = random.normal(0, 0.6, (2, 24, 3, 5)).astype(np.float32)
    fields = {
        "input_height_u_int": 48,
        "input_width_u_int": 80,
        "roi_min_size_u_float": 9.0,
        "nms_iou_threshold_u_float": 0.4,
        "pre_nms_top_n_u_int": 50,
        "post_nms_top_n_u_int": 14,
        "anchor_sizes_u_flist": [16.0, 32.0],
        "anchor_ratios_u_flist": [1.0, 0.5, 2.0],
    }
    got = boxes(scores, deltas, **fields)
    np.testing.assert_allclose(got, _slowly(scores, deltas, {**FIELDS, **fields}), atol=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"anchor_sizes_u_flist": [16.0, 32.0]}, "2 anchor sizes and 1 ratios make 2 anchors"),
        ({"anchor_ratios_u_flist": [0.0]}, "all must be positive"),
        ({"rpn_stride_u_int": 0}, "rpn_stride_u_int is 0"),
        ({"nms_iou_threshold_u_float": 0.0}, "nms_iou_threshold_u_float is 0.0"),
    ],
)
def test_what_does_not_fit_is_told(fields: dict[str, Any], message: str) -> None:
    found = infer(proposal([-1, 1, 2, 2], **fields).graph).diagnostics
    assert message in "\n".join(map(str, found))


# -- CropAndResize ---------------------------------------------------------------------------


def _crop(x: Array, rois: Any, size: tuple[int, int], layout: str = "NC+") -> Array:
    """The regions, their axes as those of the map."""
    b = Builder()
    b.input("x", [-1, *x.shape[1:]])
    channels = x.shape[1 if layout == "NC+" else 3]
    b.const("k", np.eye(channels, dtype=np.float32).reshape(1, 1, channels, channels))
    b.op("conv", "Conv", ["x", "k"], f"{layout}_+CK")
    boxes = np.asarray(rois, np.float32).reshape(len(x), -1, 4, 1)
    b.input("rois", [-1, *boxes.shape[1:]])
    fields = {"crop_height_u_int": size[0], "crop_width_u_int": size[1]}
    b.op("crop", "_CropAndResize", ["conv", "rois"], **fields)
    b.op("y", "Conv", ["crop", "k"], f"{layout}_+CK")  # takes them as it takes maps
    b.output("y")
    return ufkit.run(b.graph, {"x": x, "rois": boxes})["y"]


NINE = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)


@pytest.mark.parametrize(
    ("roi", "expected"),
    [
        ([0, 0, 1, 1], [[0, 2], [6, 8]]),
        ([0.25, 0.25, 0.75, 0.75], [[2, 3], [5, 6]]),  # rows and columns 0.5 and 1.5
        ([0.5, 0.5, 1.5, 1.5], [[4, 0], [0, 0]]),  # rows and columns 1 and 3: outside
        ([1, 0, 0, 1], [[6, 8], [0, 2]]),  # from the bottom to the top
    ],
)
def test_corners_of_a_region_are_elements_of_the_part(roi: Any, expected: Any) -> None:
    np.testing.assert_array_equal(_crop(NINE, roi, (2, 2))[0, 0], expected)


def test_a_part_of_one_element_is_the_middle() -> None:
    np.testing.assert_array_equal(_crop(NINE, [0, 0, 1, 0.5], (1, 1)), [[[[3.5]]]])


@pytest.mark.parametrize("layout", ["NC+", "N+C"])
def test_regions_of_all_images_come_in_a_row(layout: str) -> None:
    turn = (0, 1, 2, 3) if layout == "NC+" else (0, 2, 3, 1)
    maps = np.concatenate([NINE, NINE + 100])
    maps = np.concatenate([maps, -maps], 1)
    rois = [[0, 0, 1, 1], [0.5, 0.5, 1, 1], [0, 0, 0.5, 0.5], [1, 1, 1, 1]]
    got = _crop(maps.transpose(turn), rois, (2, 1), layout).transpose(np.argsort(turn))
    assert got.shape == (4, 2, 2, 1)
    first = [[1, 7], [4.5, 7.5], [100.5, 103.5], [108, 108]]  # between two columns
    np.testing.assert_array_equal(got[:, 0, :, 0], first)
    np.testing.assert_array_equal(got[:, 1, :, 0], np.negative(first))


def test_without_the_field_of_the_plugin_it_is_another_operation() -> None:
    b = Builder()
    b.input("x", [1, 1, 3, 3])
    b.input("rois", [1, 1, 4, 1])
    b.op("y", "_CropAndResize", ["x", "rois"], method="b'bilinear'")
    b.output("y")
    assert infer(b.graph).facts["y"].shape is None


def _detector() -> Builder:
    """The heart of NVIDIA's sampleUffFasterRCNN, with channels last."""
    b = Builder()
    b.input("x", [-1, 4, 6, 2])
    random = np.random.default_rng(1)
    for name, filters in (("scores", 1), ("deltas", 4)):
        b.const(f"{name}/k", random.normal(0, 0.4, (1, 1, 2, filters)).astype(np.float32))
        b.op(name, "Conv", ["x", f"{name}/k"], "N+C_+CK")
    b.op("objectness", "Activation", ["scores"], func="sigmoid")
    fields = {**FIELDS, "input_height_u_int": 64, "input_width_u_int": 96}
    b.op("proposal", "_Proposal", ["objectness", "deltas"], **fields)
    b.const("k", random.normal(0, 0.4, (3, 3, 2, 2)).astype(np.float32))
    b.op("features", "Conv", ["x", "k"], "N+C_+CK", implicit_padding="same")
    crop = {"crop_height_u_int": 3, "crop_width_u_int": 2}
    b.op("crop", "_CropAndResize", ["features", "proposal"], **crop)
    b.op("head", "Conv", ["crop", "k"], "N+C_+CK", implicit_padding="same")
    b.output("head", "proposal")
    return b


def test_a_detector_runs_and_is_converted(tmp_path: Any) -> None:
    ufkit.save(_detector().meta, tmp_path / "a.uff")
    options = ufkit.Options(verify=True)
    report = ufkit.convert(tmp_path / "a.uff", tmp_path / "a.onnx", options)
    assert report.ok
    assert report.verification
    assert [output.shape for output in report.verification.outputs] == [[8, 3, 2, 2], [2, 4, 4, 1]]


def test_tensorrt_is_given_the_plugins_that_take_a_batch() -> None:
    model = to_onnx(_detector().graph, trt_plugins=True).model.proto
    nodes = {node.op_type: node for node in model.graph.node if node.domain}
    assert nodes.keys() == {"ProposalDynamic", "CropAndResizeDynamic"}
    fields = {attribute.name for attribute in nodes["ProposalDynamic"].attribute}
    assert fields == {
        "plugin_version",
        "plugin_namespace",
        *(name.rsplit("_u_", 1)[0] for name in FIELDS),
    }
    assert nodes["ProposalDynamic"].output[0] == nodes["CropAndResizeDynamic"].input[1]
