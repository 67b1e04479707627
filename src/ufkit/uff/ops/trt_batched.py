"""TensorRT's plugin BatchedNMS: the best of boxes that are decoded already.

Results are laid out as in NVIDIA's plugin/batchedNMSPlugin/gatherNMSOutputs.cu in
https://github.com/NVIDIA/TensorRT; `ufkit.uff.ops.trt_nms` chooses among the boxes.
"""

from __future__ import annotations

import numpy as np

from ufkit.core.dtypes import FLOAT32, INT32
from ufkit.uff.dims import Shape, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec, as_it_is
from ufkit.uff.ops.trt_anchors import DTYPE
from ufkit.uff.ops.trt_nms import (
    FIELDS,
    NORMALIZED,
    Choice,
    boxes_each,
    check_limits,
    choice,
    choose,
    chosen,
    classes,
    clipped,
    fixed,
    float32_only,
    kept,
    samples,
    shaped,
)
from ufkit.uff.rules import FIELD_VALUE

_RANDOM = np.random.default_rng(12)

_SCORE, _OVERLAP = "scoreThreshold_u_float", "iouThreshold_u_float"
_CAFFE, _CLIP = "caffeSemantics_u_int", "clipBoxes_u_int"


def _infer(call: Call) -> Facts:
    check_limits(call, _OVERLAP)
    float32_only(call, [0, 1])
    boxes, scores, number = call.shape(0), call.shape(1), classes(call)
    if len(boxes) != 4 or unify(boxes[2], boxes_each(call)) is None or boxes[3] != 4:
        wanted = f"[N, boxes, {boxes_each(call)}, 4]"
        call.conflict(f"boxes are {show(boxes)}; with these fields they must be {wanted}")
    fits = len(scores) == 3 or (len(scores) == 4 and scores[3] == 1)
    if not fits or unify(scores[1], boxes[1]) is None or unify(scores[2], number) is None:
        call.conflict(f"scores are {show(scores)}; they must be [N, {boxes[1]}, {number}]")
    if fixed(call, boxes[1], "boxes") == 0:
        call.conflict("there are no boxes")
    if not call[_CAFFE] and not call[NORMALIZED]:
        message = f"0 with {NORMALIZED} 0: boxes in pixels whose overlaps are not"
        call.fail(FIELD_VALUE, message, _CAFFE)
    batch, keep = samples(call, [0, 1]), kept(call)
    shapes: tuple[Shape, ...] = ((batch, 1), (batch, keep, 4), (batch, keep), (batch, keep))
    return Facts(shapes[call.output], FLOAT32 if call.output else INT32)


def _choice(call: Call) -> Choice:
    return choice(call, fixed(call, call.shape(0)[1], "boxes"), _SCORE, _OVERLAP)


def _evaluate(call: Call, boxes: Array, scores: Array) -> Array:
    found = chosen(_choice(call), boxes, scores.reshape(scores.shape[:3]))
    corners = np.clip(found.corners, 0, 1) if call[_CLIP] else found.corners
    return (found.number, corners, found.scores, found.labels)[call.output]


def _to_onnx(call: Call, emit: Emitter) -> None:
    what = _choice(call)
    boxes = shaped(emit, emit.value(0), [-1, what.boxes * boxes_each(call), 4])
    scores = shaped(emit, emit.value(1), [-1, what.boxes, what.classes])
    found = choose(what, emit, boxes, scores)
    if call.output == 1 and call[_CLIP]:
        emit.result(clipped(emit, found.corners))
        return
    emit.result((found.number, found.corners, found.scores, found.labels)[call.output])


def _example(output: int, each: int = 1, **fields: int) -> Example:
    low = _RANDOM.random((2, 6, each, 2), np.float32)
    boxes = np.concatenate([low, low + np.float32(0.4)], -1)
    scores = np.round(_RANDOM.random((2, 6, 3), np.float32) * 8) / 8
    limits = {"numClasses_u_int": 3, "topK_u_int": 5, "keepTopK_u_int": 4}
    thresholds = {_SCORE: 0.25, _OVERLAP: 0.4}
    return Example((boxes, scores), {**limits, **thresholds, **fields}, output=output)


BATCHED_NMS = OpSpec(
    name="_BatchedNMS_TRT",
    doc="The best boxes, class by class, of those [N, boxes, 1 or classes, 4] with scores "
    "[N, boxes, classes]. Value 0 [N, 1]: how many there are; 1 [N, keepTopK, 4]: their corners; "
    "2 [N, keepTopK]: their scores; 3 [N, keepTopK]: their classes, -1 where there is none.",
    inputs=("boxes", "scores"),
    fields={
        **FIELDS,
        _SCORE: Field("d", "what a score must be above"),
        _OVERLAP: Field("d", "intersection over union above which the worse box is out, 0 to 1"),
        _CLIP: Field("i", "1 cuts the boxes off at 0 and 1", 1),
        _CAFFE: Field("i", "1: boxes in pixels overlap as in Caffe, the last pixel included", 1),
        "dtype": DTYPE,
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    examples=(
        *(_example(output, backgroundLabelId_u_int=1) for output in range(4)),
        _example(1, 3, shareLocation_u_int=0, clipBoxes_u_int=0),
        _example(3, shareLocation_u_int=1, keepTopK_u_int=5, isNormalized_u_int=0),
    ),
    outputs=lambda call: 4,
    plugin=as_it_is,
    chooses=True,
)
