"""TensorRT's plugin NMS: the detections of an SSD net.

Boxes are decoded as in NVIDIA's plugin/common/kernels/decodeBBoxes.cu, results laid out as in
gatherTopDetections.cu in https://github.com/NVIDIA/TensorRT; `ufkit.uff.ops.trt_nms` chooses among
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.core.dtypes import FLOAT32, INT32
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.trt_anchors import DTYPE
from ufkit.uff.ops.trt_nms import (
    BACKGROUND,
    FIELDS,
    NORMALIZED,
    SHARED,
    Choice,
    boxes_each,
    check_limits,
    choice,
    choose,
    chosen,
    classes,
    clipped,
    float32_only,
    kept,
    samples,
    shaped,
)
from ufkit.uff.ops.trt_roles import ORDER, anchor_count, note_stray, roles, three
from ufkit.uff.rules import FIELD_VALUE

_SCORE, _OVERLAP = "confidenceThreshold_u_float", "nmsThreshold_u_float"
_CODE, _ENCODED = "codeType_u_int", "varianceEncodedInTarget_u_int"
_CORNER, _CENTER_SIZE, _CORNER_SIZE, _TF_CENTER = range(4)
_FIRST_ANCHORS, _SIGMOID = "isBatchAgnostic_u_int", "confSigmoid_u_int"


def _infer_nms(call: Call) -> Facts:
    check_limits(call, _OVERLAP)
    note_stray(call)
    if not 0 <= call[_CODE] <= _TF_CENTER:
        call.fail(FIELD_VALUE, f"{_CODE} is {call[_CODE]}; 0 to {_TF_CENTER} are possible", _CODE)
    place = roles(call)
    float32_only(call, list(place))
    batch = samples(call, [place.boxes, place.scores])
    if not call[_FIRST_ANCHORS] and call.shape(place.anchors)[0] != 1:
        samples(call, [place.boxes, place.anchors])
    if call.output:
        return Facts((batch, 1, 1, 1), INT32)
    return Facts((batch, 1, kept(call), 7), FLOAT32)


def _choice(call: Call, count: int) -> Choice:
    return choice(call, count, _SCORE, _OVERLAP, sigmoid=bool(call[_SIGMOID]))


def _decoded(call: Call, code: Array, anchors: Array, variances: Array) -> Array:
    """Corners [N, P, C, 4] of the boxes that `code` says, from anchors [N, P, 1, 4]."""
    kind = call[_CODE]
    if kind == _TF_CENTER:
        code = code[..., [1, 0, 3, 2]]
    if kind == _TF_CENTER or not call[_ENCODED]:
        code = code * variances
    low, high = anchors[..., :2], anchors[..., 2:]
    size = high - low
    corners: Array
    if kind == _CORNER:
        corners = anchors + code
    elif kind == _CORNER_SIZE:
        corners = anchors + code * np.concatenate([size, size], -1)
    else:
        center = code[..., :2] * size + (low + high) / 2
        half = np.exp(code[..., 2:]) * size / 2
        corners = np.concatenate([center - half, center + half], -1)
    return corners


def _evaluate_nms(call: Call, *arrays: Array) -> Array:
    place = roles(call)
    count = anchor_count(call, place.anchors) or 0
    images = len(arrays[place.boxes])
    code = arrays[place.boxes].reshape(images, count, boxes_each(call), 4).astype(np.float64)
    priors = arrays[place.anchors].reshape(-1, 2, count, 1, 4).astype(np.float64)
    if call[_FIRST_ANCHORS]:
        priors = priors[:1]
    boxes = _decoded(call, code, priors[:, 0], priors[:, 1]).astype(np.float32)
    scores = arrays[place.scores].reshape(images, count, classes(call))
    found = chosen(_choice(call, count), boxes, scores)
    if call.output:
        return found.number[:, :, None, None]
    image = np.broadcast_to(np.arange(images)[:, None], found.labels.shape)
    head = np.stack([image, found.labels, found.scores], -1)
    rows = np.concatenate([head, np.clip(found.corners, 0, 1)], -1)
    return rows.astype(np.float32)[:, None]


def _decode_to_onnx(call: Call, emit: Emitter, code: str, priors: str) -> str:
    """The corners in ONNX, of the same shapes as in `_decoded`."""
    kind = call[_CODE]
    anchors, variances = (
        emit.node("Gather", priors, emit.constant(number), axis=1) for number in (0, 1)
    )
    if kind == _TF_CENTER:
        code = emit.node("Gather", code, emit.constant([1, 0, 3, 2]), axis=-1)
    if kind == _TF_CENTER or not call[_ENCODED]:
        code = emit.node("Mul", code, variances)
    if kind == _CORNER:
        return emit.node("Add", anchors, code)
    low, high = _halves(emit, anchors)
    size = emit.node("Sub", high, low)
    if kind == _CORNER_SIZE:
        sides = emit.node("Concat", size, size, axis=-1)
        return emit.node("Add", anchors, emit.node("Mul", code, sides))
    two = emit.constant(2, "float32")
    shift, growth = _halves(emit, code)
    middle = emit.node("Div", emit.node("Add", low, high), two)
    center = emit.node("Add", emit.node("Mul", shift, size), middle)
    half = emit.node("Div", emit.node("Mul", emit.node("Exp", growth), size), two)
    corners = [emit.node(op_type, center, half) for op_type in ("Sub", "Add")]
    return emit.node("Concat", *corners, axis=-1)


def _halves(emit: Emitter, name: str) -> tuple[str, ...]:
    return emit.nodes("Split", name, emit.constant([2, 2]), outputs=2, axis=-1)


def _nms_to_onnx(call: Call, emit: Emitter) -> None:
    place = roles(call)
    count, each = anchor_count(call, place.anchors) or 0, boxes_each(call)
    code = shaped(emit, emit.value(place.boxes), [-1, count, each, 4])
    priors = shaped(emit, emit.value(place.anchors), [-1, 2, count, 1, 4])
    if call[_FIRST_ANCHORS] and call.shape(place.anchors)[0] != 1:
        priors = emit.node("Gather", priors, emit.constant([0]), axis=0)
    boxes = shaped(emit, _decode_to_onnx(call, emit, code, priors), [-1, count * each, 4])
    scores = shaped(emit, emit.value(place.scores), [-1, count, classes(call)])
    found = choose(_choice(call, count), emit, boxes, scores)
    if call.output:
        emit.result(emit.node("Unsqueeze", found.number, emit.constant([2, 3])))
        return
    label, score = (
        emit.node("Unsqueeze", name, emit.constant([-1])) for name in (found.labels, found.scores)
    )
    ones = emit.node("Expand", emit.constant(1, "float32"), emit.node("Shape", label))
    image = emit.node("CumSum", ones, emit.constant(0), exclusive=1)  # how many are before it
    rows = emit.node("Concat", image, label, score, clipped(emit, found.corners), axis=-1)
    emit.result(emit.node("Unsqueeze", rows, emit.constant([1])))


def _nms_plugin(call: Call, emit: Emitter) -> None:
    inputs, place = three(call), roles(call)
    if [inputs.index(i) for i in place] != call[ORDER]:
        emit.refuse(f"{ORDER} counts an Input that the plugin does not take", "take the Input out")
    emit.result(emit.plugin(*map(emit.value, inputs), outputs=2)[call.output])


_NMS_FIELDS = {
    **FIELDS,
    _SCORE: Field("d", "what a score must be above, after the sigmoid"),
    _OVERLAP: Field("d", "intersection over union above which the worse box is out, 0 to 1"),
    ORDER: Field("i_list", "places of boxes, scores and anchors among the inputs", [0, 2, 1]),
    _SIGMOID: Field("i", "1: the sigmoid of the scores is taken first", 0),
    _CODE: Field(
        "i",
        "how boxes are told by anchors: 0 corners, 1 center and size (x, y, w, h), 2 corners as "
        "parts of the anchor's size, 3 center and size as TensorFlow has them (y, x, h, w)",
        _TF_CENTER,
    ),
    _ENCODED: Field("i", "1: without the variances, which code 3 always takes", 0),
    _FIRST_ANCHORS: Field("i", "1: all images have the anchors of the first; 0: their own", 1),
    "dtype": DTYPE,
}
_RANDOM = np.random.default_rng(11)
_EXAMPLE = {
    "numClasses_u_int": 3,
    "topK_u_int": 5,
    "keepTopK_u_int": 4,
    _SCORE: 0.3,
    _OVERLAP: 0.5,
    ORDER: [0, 1, 2],
}


def _anchors(images: int = 1) -> Array:
    """Anchors of 6 boxes, which lie on each other in part."""
    low = np.array([[0, 0], [0.1, 0], [0.5, 0.5], [0.5, 0.6], [0.2, 0.3], [0, 0.05]])
    boxes = np.concatenate([low, low + 0.4], 1).ravel()
    each = np.stack([boxes, np.tile([0.1, 0.1, 0.2, 0.2], 6)])[None, :, :, None]
    return np.concatenate([each + 0.1 * at for at in range(images)]).astype(np.float32)


def _code(images: int, each: int = 1) -> Array:
    return _RANDOM.standard_normal((images, 6 * each * 4, 1, 1), np.float32) / 4


def _scores(images: int) -> Array:
    return _RANDOM.random((images, 6 * 3, 1, 1), np.float32)


def _example(
    *inputs: Array, fields: dict[str, Any] | None = None, const: int | None = 2, output: int = 0
) -> Example:
    places = () if const is None else (const,)
    return Example(inputs, {**_EXAMPLE, **(fields or {})}, const=places, output=output)


NMS = OpSpec(
    name="_NMS_TRT",
    doc="The detections of an SSD net, from what it predicts for its anchors. Value 0 "
    "[N, 1, keepTopK, 7] has a row for each, best first: number of the image, class, score, xmin, "
    "ymin, xmax, ymax within 0 to 1; class -1 where there is none. Value 1 [N, 1, 1, 1] counts "
    "them. Inputs, in the order that inputOrder says: boxes [N, P * 4, ...], or with "
    "shareLocation 0 [N, P * classes * 4, ...]; scores [N, P * classes, ...]; anchors "
    "[1, 2, P * 4, 1].",
    inputs=("inputs...",),
    fields=_NMS_FIELDS,
    infer=_infer_nms,
    evaluate=_evaluate_nms,
    to_onnx=_nms_to_onnx,
    examples=(
        *(
            _example(_code(2), _scores(2), _anchors(), fields={BACKGROUND: 0}, output=output)
            for output in (0, 1)
        ),
        _example(_code(2), np.round(_scores(2) * 4) / 4, _anchors()),  # equal scores
        _example(_code(1), np.zeros_like(_scores(1)), _anchors()),  # none is kept
        _example(
            _scores(2) * 4 - 2,
            _anchors(2),
            _code(2, 3),
            fields={
                ORDER: [2, 0, 1],
                SHARED: 0,
                _SIGMOID: 1,
                "keepTopK_u_int": 40,
                "topK_u_int": 40,
                _FIRST_ANCHORS: 0,
                _CODE: _CENTER_SIZE,
            },
            const=None,
        ),
        _example(
            _code(2),
            _scores(2),
            _anchors(2),
            fields={_CODE: _CENTER_SIZE, _ENCODED: 1},
            const=None,
        ),
        _example(_code(1) / 4, _scores(1), _anchors(), fields={_CODE: _CORNER, NORMALIZED: 0}),
        _example(_code(1), _scores(1), _anchors(), fields={_CODE: _CORNER_SIZE, _ENCODED: 1}),
    ),
    outputs=lambda call: 2,
    plugin=_nms_plugin,
    chooses=True,
)
