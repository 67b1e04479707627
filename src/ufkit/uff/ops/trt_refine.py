"""TensorRT's ProposalLayer and DetectionLayer, of Mask R-CNN: boxes moved, and the best kept.

Their meaning is that of https://github.com/NVIDIA/TensorRT/tree/release/7.0/plugin:
common/kernels/maskRCNNKernels.cu, proposalLayerPlugin/proposalLayerPlugin.cpp and
detectionLayerPlugin/detectionLayerPlugin.cpp. Boxes are y1, x1, y2, x2 as shares of the image.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, product, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.maps import only_floats
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec, as_it_is
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.ops.trt_pyramid import IMAGE_SIZE, image_size
from ufkit.uff.rules import FIELD_VALUE

# mrcnn_config.h of the plugins
_SCALES, _RATIOS, _STRIDES = (32, 64, 128, 256, 512), (0.5, 1.0, 2.0), (4, 8, 16, 32, 64)
_DEVIATION = (0.1, 0.1, 0.2, 0.2)  # of the deltas
_MOST = 1 << 20  # anchors or classes that are written out
_LEAST = np.float32(0.01)  # scores up to it are as good as none

_KEEP, _OVERLAP = "keep_topk_u_int", "iou_threshold_u_float"
_FIELDS = {
    _KEEP: Field("i", "boxes that are given"),
    _OVERLAP: Field("d", "overlap from which the lesser box is dropped"),
}


def _positive(call: Call, *names: str) -> None:
    for name in names:
        if not call[name] > 0:
            call.fail(FIELD_VALUE, f"{name} is {call[name]}; it must be positive", name)


def _moved(boxes: Array, deltas: Array) -> Array:
    """Boxes [..., 4] with their middle moved and their sides grown, clipped to the image."""
    deltas = deltas.astype(np.float64) * _DEVIATION
    boxes = boxes.astype(np.float64)
    size = boxes[..., 2:] - boxes[..., :2]
    middle = (boxes[..., :2] + boxes[..., 2:]) / 2 + deltas[..., :2] * size
    half = size * np.exp(deltas[..., 2:]) / 2
    return np.asarray(np.clip(np.concatenate([middle - half, middle + half], -1), 0, 1))


def _suppressed(call: Call, boxes: Array, ranked: Sequence[int]) -> list[int]:
    """Of boxes in order of their score those that overlap no better one too much."""
    kept: list[int] = []
    left = np.array(ranked, np.int64)
    while len(left):
        best, left = left[0], left[1:]
        kept.append(int(best))
        others = boxes[left]
        low, high = (
            np.maximum(others[:, :2], boxes[best, :2]),
            np.minimum(others[:, 2:], boxes[best, 2:]),
        )
        common = np.maximum(high - low, 0).prod(1)
        areas = (others[:, 2:] - others[:, :2]).prod(1) + (boxes[best, 2:] - boxes[best, :2]).prod()
        union = areas - common
        overlap = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
        left = left[overlap < np.float32(call[_OVERLAP])]
    return kept


# -- as ONNX ---------------------------------------------------------------------------------


def _moved_to_onnx(emit: Emitter, boxes: str, deltas: str) -> str:
    scaled = emit.node("Mul", deltas, emit.constant(_DEVIATION, "float32"))
    halves = emit.constant([2, 2])
    low, high = emit.nodes("Split", boxes, halves, outputs=2, axis=-1)
    move, grow = emit.nodes("Split", scaled, halves, outputs=2, axis=-1)
    half = emit.constant(0.5, "float32")
    size = emit.node("Sub", high, low)
    middle = emit.node("Mul", emit.node("Add", low, high), half)
    middle = emit.node("Add", middle, emit.node("Mul", move, size))
    reach = emit.node("Mul", emit.node("Mul", size, emit.node("Exp", grow)), half)
    ends = [emit.node(op_type, middle, reach) for op_type in ("Sub", "Add")]
    zero, one = emit.constant(0, "float32"), emit.constant(1, "float32")
    return emit.node("Clip", emit.node("Concat", *ends, axis=-1), zero, one)


def _kept_to_onnx(call: Call, emit: Emitter, boxes: str, scores: str, count: int) -> str:
    """Which boxes [N, count, 4] none better of their class overlaps: 1 or 0, [N, count].

    Those whose score [N, classes, count] is not positive are none.
    """
    threshold = np.nextafter(np.float32(min(call[_OVERLAP], 2)), np.float32(0))  # "more than" that
    selected = emit.node(
        "NonMaxSuppression",
        boxes,
        scores,
        emit.constant(count),
        emit.constant(min(threshold, 1), "float32"),
        emit.constant(0, "float32"),
    )
    places = emit.node("Gather", selected, emit.constant([0, 2]), axis=1)
    first = emit.node("Gather", emit.node("Shape", boxes), emit.constant([0]), axis=0)
    shape = emit.node("Concat", first, emit.constant([count]), axis=0)
    none = emit.node("Expand", emit.constant([[0]], "float32"), shape)
    found = emit.node("Gather", emit.node("Shape", selected), emit.constant([0]), axis=0)
    ones = emit.node("Expand", emit.constant([1], "float32"), found)
    return emit.node("ScatterND", none, places, ones)


def _best_rows(call: Call, emit: Emitter, rows: str, scores: str, count: int, width: int) -> str:
    """The rows [N, count, width] of the best positive scores [N, count], others zero.

    As many as are to be kept.
    """
    keep = call[_KEEP]
    best, places = emit.nodes("TopK", scores, emit.constant([min(keep, count)]), outputs=2, axis=1)
    behind = emit.constant([2])
    index = emit.node("Unsqueeze", places, behind)
    index = emit.node("Expand", index, emit.constant([1, 1, width]))
    found = emit.node("GatherElements", rows, index, axis=1)
    some = emit.node("Greater", emit.node("Unsqueeze", best, behind), emit.constant(0, "float32"))
    found = emit.node("Where", some, found, emit.constant(0, "float32"))
    if keep <= count:
        return found
    return emit.node("Pad", found, emit.constant([0, 0, 0, 0, keep - count, 0]))


# -- ProposalLayer ---------------------------------------------------------------------------

_BEFORE = "prenms_topk_u_int"


def _anchors(call: Call) -> Array:
    """All anchors, level by level, row by row: [count, 4]."""
    height, width = image_size(call)
    found = []
    for scale, stride in zip(_SCALES, _STRIDES, strict=True):
        roots = np.sqrt(np.array(_RATIOS))
        high, wide = scale / roots, scale * roots
        y = np.arange(0, height, stride)[:, None, None]
        x = np.arange(0, width, stride)[:, None]
        edges = (y - high / 2, x - wide / 2, y + high / 2 - 1, x + wide / 2 - 1)
        found.append(np.stack(np.broadcast_arrays(*edges), -1).reshape(-1, 4))
    ends = [height - 1, width - 1]
    return np.asarray(np.concatenate(found) / [*ends, *ends], np.float32)


def _anchor_count(call: Call) -> int:
    height, width = image_size(call)
    return sum(-(-height // n) * -(-width // n) for n in _STRIDES) * len(_RATIOS)


def _infer_proposal(call: Call) -> Facts:
    only_floats(call)
    _positive(call, _BEFORE, _KEEP, _OVERLAP)
    count = _anchor_count(call)
    for i, width in ((0, 2), (1, 4)):
        shape = call.shape(i)
        fits = len(shape) > 2 and unify(shape[1], count) is not None
        if not fits or unify(product(shape[2:]), width) is None:
            height, wide = image_size(call)
            call.conflict(
                f"{call.spec.inputs[i]} is {show(shape)}; an image of {height} x {wide} has "
                f"{count} anchors, so it must be [N, {count}, {width}]"
            )
    return Facts((call.shape(0)[0], call[_KEEP], 4), FLOAT32)


def _evaluate_proposal(call: Call, scores: Array, deltas: Array) -> Array:
    batch, anchors = len(scores), _anchors(call)
    result = np.zeros((batch, call[_KEEP], 4), np.float32)
    boxes = _moved(anchors, deltas.reshape(batch, -1, 4))
    for found, mine, rank in zip(result, boxes, scores.reshape(batch, -1, 2)[..., 1], strict=True):
        ranked = np.argsort(-rank, kind="stable")[: call[_BEFORE]]
        kept = _suppressed(call, mine, [i for i in ranked if rank[i] > _LEAST])[: call[_KEEP]]
        found[: len(kept)] = mine[kept]
    return result


def _proposal_to_onnx(call: Call, emit: Emitter) -> None:
    if _anchor_count(call) > _MOST:
        emit.refuse(f"{_anchor_count(call)} anchors; {_MOST} are the most")
    pairs = emit.node("Reshape", emit.value(0), emit.constant([0, -1, 2]))
    scores = emit.node("Gather", pairs, emit.constant(1), axis=2)
    deltas = emit.node("Reshape", emit.value(1), emit.constant([0, -1, 4]))
    boxes = _moved_to_onnx(emit, emit.constant(_anchors(call)[None], "float32"), deltas)
    count = min(call[_BEFORE], _anchor_count(call))
    best, places = emit.nodes("TopK", scores, emit.constant([count]), outputs=2, axis=1)
    index = emit.node("Unsqueeze", places, emit.constant([2]))
    index = emit.node("Expand", index, emit.constant([1, 1, 4]))
    mine = emit.node("GatherElements", boxes, index, axis=1)
    known = emit.node("Greater", best, emit.constant(_LEAST, "float32"))
    ranked = emit.node("Where", known, best, emit.constant(0, "float32"))
    classes = emit.node("Unsqueeze", ranked, emit.constant([1]))
    kept = emit.node("Mul", ranked, _kept_to_onnx(call, emit, mine, classes, count))
    emit.result(_best_rows(call, emit, mine, kept, count, 4))


_SMALL = [3, 32, 48]  # of 318 anchors
_ANCHORS = 3 * (8 * 12 + 4 * 6 + 2 * 3 + 1 * 2 + 1)


def _random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(0, 1, shape).astype(np.float32)


PROPOSAL_LAYER = OpSpec(
    name="_ProposalLayer_TRT",
    doc="The best boxes of a region proposal network, [N, keep_topk, 4]; rows left over are zero. "
    "`scores` hold background and object for each anchor; the anchors are those of Matterport's "
    "Mask R-CNN for an image of that size, sides 32 to 512 at strides 4 to 64.",
    inputs=("scores", "deltas"),
    fields={
        "dtype": TYPE,
        _BEFORE: Field("i", "best boxes that are looked at"),
        **_FIELDS,
        "image_size_u_ilist": IMAGE_SIZE,
    },
    infer=_infer_proposal,
    evaluate=_evaluate_proposal,
    to_onnx=_proposal_to_onnx,
    plugin=as_it_is,
    chooses=True,
    examples=tuple(
        Example(
            (_random(1, 2, _ANCHORS, 2), _random(2, 2, _ANCHORS, 4) * 4 - 2),
            {_BEFORE: 60, _KEEP: keep, _OVERLAP: 0.3, "image_size_u_ilist": _SMALL},
        )
        for keep in (5, 70)
    ),
)


# -- DetectionLayer --------------------------------------------------------------------------

_CLASSES, _SCORE = "num_classes_u_int", "score_threshold_u_float"


def _infer_detection(call: Call) -> Facts:
    only_floats(call)
    _positive(call, _CLASSES, _KEEP, _OVERLAP)
    rois, classes = call.shape(2), call[_CLASSES]
    if len(rois) != 3 or unify(rois[2], 4) is None:
        call.conflict(f"rois are {show(rois)}; they must be [N, n, 4]")
    for i, width in ((0, 4 * classes), (1, classes)):
        found, wanted = product(call.shape(i)), rois[0] * rois[1] * width
        if unify(found, wanted) is None:
            call.conflict(
                f"{call.spec.inputs[i]} {show(call.shape(i))} have {found} elements; {classes} "
                f"classes and rois {show(rois)} need {wanted}"
            )
    return Facts((rois[0], call[_KEEP], 6), FLOAT32)


def _evaluate_detection(call: Call, deltas: Array, scores: Array, rois: Array) -> Array:
    batch, count, classes = *rois.shape[:2], call[_CLASSES]
    scores = scores.reshape(batch, count, classes)
    label = scores.argmax(2)
    best = np.take_along_axis(scores, label[..., None], 2)[..., 0]
    moves = deltas.reshape(batch, count, classes, 4)
    boxes = _moved(rois, np.take_along_axis(moves, label[..., None, None], 2)[:, :, 0])
    result = np.zeros((batch, call[_KEEP], 6))
    result[..., 4] = -1
    least = np.float32(call[_SCORE])
    for n, found in enumerate(result):
        known = (label[n] != 0) & (best[n] >= least) & (best[n] > _LEAST)
        ranked = [i for i in np.argsort(-best[n], kind="stable") if known[i]]
        kept = []
        for one in range(1, classes):
            kept += _suppressed(call, boxes[n], [i for i in ranked if label[n, i] == one])
        kept = sorted(kept, key=lambda i: (-best[n, i], i))[: call[_KEEP]]
        found[: len(kept)] = np.concatenate(
            [boxes[n, kept], label[n, kept, None], best[n, kept, None]], 1
        )
    return result.astype(np.float32)


def _detection_to_onnx(call: Call, emit: Emitter) -> None:
    count, classes = call.shape(2)[1], call[_CLASSES]
    if isinstance(count, Dim):
        emit.refuse("the number of its boxes is not known", "give it: --shape NAME=...")
    if classes > _MOST:
        emit.refuse(f"{classes} classes; {_MOST} are the most")
    scores = emit.node("Reshape", emit.value(1), emit.constant([-1, count, classes]))
    label = emit.node("ArgMax", scores, axis=2, keepdims=1)
    best = emit.node("GatherElements", scores, label, axis=2)
    moves = emit.node("Reshape", emit.value(0), emit.constant([-1, count, classes, 4]))
    index = emit.node("Unsqueeze", label, emit.constant([3]))
    index = emit.node("Expand", index, emit.constant([1, 1, 1, 4]))
    chosen = emit.node("GatherElements", moves, index, axis=2)
    deltas = emit.node("Squeeze", chosen, emit.constant([2]))
    boxes = _moved_to_onnx(emit, emit.value(2), deltas)
    wanted = emit.node("GreaterOrEqual", best, emit.constant(call[_SCORE], "float32"))
    known = emit.node("And", wanted, emit.node("Greater", best, emit.constant(_LEAST, "float32")))
    nothing = emit.node("Equal", label, emit.constant(0))
    known = emit.node("And", known, emit.node("Not", nothing))
    ranked = emit.node("Where", known, best, emit.constant(0, "float32"))
    each = emit.node("Equal", label, emit.constant([[range(classes)]]))
    by_class = emit.node("Where", each, ranked, emit.constant(0, "float32"))
    by_class = emit.node("Transpose", by_class, perm=[0, 2, 1])
    kept = _kept_to_onnx(call, emit, boxes, by_class, count)
    last = emit.constant([2])
    kept = emit.node("Mul", kept, emit.node("Squeeze", ranked, last))
    # labels as one more than they are, so that the zeros of rows left over become -1
    number = emit.node("Add", emit.cast(label, FLOAT32), emit.constant(1, "float32"))
    rows = emit.node("Concat", boxes, number, best, axis=2)
    found = _best_rows(call, emit, rows, kept, count, 6)
    emit.result(emit.node("Sub", found, emit.constant([0, 0, 0, 0, 1, 0], "float32")))


_ROIS = np.sort(_random(3, 2, 40, 2, 2), 2).reshape(2, 40, 4)

DETECTION_LAYER = OpSpec(
    name="_DetectionLayer_TRT",
    doc="The best boxes of all classes but the first, [N, keep_topk, 6]: y1, x1, y2, x2, class and "
    "score, best first; rows left over are zero and of class -1. Each region is of its best class "
    "and moved by that class's deltas; those of one class that overlap are dropped.",
    inputs=("deltas", "scores", "rois"),
    fields={
        "dtype": TYPE,
        _CLASSES: Field("i", "number of classes, the first being background"),
        **_FIELDS,
        _SCORE: Field("d", "least score"),
    },
    infer=_infer_detection,
    evaluate=_evaluate_detection,
    to_onnx=_detection_to_onnx,
    plugin=as_it_is,
    chooses=True,
    examples=tuple(
        Example(
            (_random(4, 2, 40, 12, 1, 1) * 4 - 2, _random(5, 2, 40, 3, 1, 1), _ROIS),
            {_CLASSES: 3, _KEEP: keep, _OVERLAP: 0.2, _SCORE: least},
        )
        for keep, least in ((8, 0.6), (50, 0.0), (4, 2.0))
    ),
)
