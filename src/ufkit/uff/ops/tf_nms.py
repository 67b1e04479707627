"""TensorFlow's NonMaxSuppression: of boxes that lie on each other the best one stays.

Its versions differ in what comes as an input, what as a field, and in how many values they have.
Their meaning:
https://www.tensorflow.org/api_docs/python/tf/raw_ops/NonMaxSuppressionV5
"""

from __future__ import annotations

import numpy as np

from ufkit.core.dtypes import FLOAT32, INT32
from ufkit.uff.dims import Dim, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.select import known_integers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE

_PADDED = "pad_to_max_output_size"
_NUMBERS, _KEPT, _COUNT = "selected_indices", "selected_scores", "valid_outputs"  # values
_IOU, _SCORE, _SIGMA = "iou_threshold", "score_threshold", "soft_nms_sigma"


def _place(call: Call, name: str) -> int | None:
    """Which input is called so; None where this version has none."""
    names = call.spec.inputs
    return names.index(name) if name in names else None


_VALUES = {"V4": (_NUMBERS, _COUNT), "V5": (_NUMBERS, _KEPT, _COUNT)}


def _value(call: Call) -> str:
    """Which value is wanted."""
    return _VALUES.get(call.spec.name[-2:], (_NUMBERS,))[call.output]


def _is_padded(call: Call) -> bool:
    return _PADDED in call.spec.fields and bool(call[_PADDED])


def _infer(call: Call) -> Facts:
    boxes, scores = call.shape(0), call.shape(1)
    fits = len(boxes) == 2 and len(scores) == 1 and unify(boxes[0], scores[0]) is not None
    if not fits or unify(boxes[1], 4) is None:
        call.conflict(
            f"boxes [n, 4] and scores [n] are needed, not {call.inputs[0]} and scores "
            f"{call.inputs[1]}"
        )
    for i in range(2, len(call.inputs)):
        if call.inputs[i].shape not in (None, (), (1,)):
            call.conflict(f"{call.input_name(i)} must be one number, not {call.inputs[i]}")
    if _value(call) == _COUNT:
        return Facts((), INT32)
    length: int | Dim = Dim.unknown()
    if _is_padded(call) and call.inputs[2].value is not None:
        (length,) = known_integers(call, 2, 1)
    return Facts((length,), call.inputs[1].dtype if _value(call) == _KEPT else INT32)


def _overlap(boxes: Array, at: int) -> Array:
    """Intersection over union of box `at` and all; 0 with those that have no area."""
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    high = np.maximum(boxes[:, :2], boxes[:, 2:])
    area = np.prod(high - low, axis=1)
    sides = np.minimum(high, high[at]) - np.maximum(low, low[at])
    common = np.prod(np.maximum(sides, 0), axis=1)
    union = area + area[at] - common
    exists = (area > 0) & (area[at] > 0)
    return np.where(exists, common / np.where(exists, union, 1), 0)


def _selected(call: Call, arrays: tuple[Array, ...]) -> tuple[Array, Array]:
    """Numbers of the boxes that stay, best first, and their scores as they were by then.

    In single precision, as TensorFlow compares them.
    """
    boxes, scores = (array.astype(np.float32) for array in arrays[:2])
    given = {
        name: float(arrays[at].item())
        for name in (_IOU, _SCORE, _SIGMA)
        if (at := _place(call, name)) is not None
    }
    most, sigma = int(arrays[2].item()), given.get(_SIGMA, 0.0)
    limit = np.float32(given[_IOU] if _IOU in given else call[_IOU])
    least = np.float32(given.get(_SCORE, -np.inf))
    if most < 0 or not 0 <= limit <= 1:
        call.conflict(f"max_output_size is {most} and iou_threshold {limit}")
    alive = scores > least
    found: list[int] = []
    kept: list[float] = []
    while len(found) < most and alive.any():
        best = int(np.argmax(np.where(alive, scores, -np.inf)))
        found.append(best)
        kept.append(scores[best])
        overlap = _overlap(boxes, best)
        if sigma > 0:
            scores = scores * np.exp(np.float32(-0.5 / sigma) * overlap**2)
            alive &= scores > least
        else:
            alive &= overlap <= limit
        alive[best] = False
    return np.array(found, np.int32), np.array(kept, np.float32)


def _evaluate(call: Call, *arrays: Array) -> Array:
    found, kept = _selected(call, arrays)
    if _value(call) == _COUNT:
        return np.array(len(found), np.int32)
    value = kept.astype(arrays[1].dtype) if _value(call) == _KEPT else found
    if _is_padded(call):
        call.bound((int(arrays[2].item()),))
        value = np.pad(value, (0, int(arrays[2].item()) - len(value)))
    return value


def _to_onnx(call: Call, emit: Emitter) -> None:
    if (at := _place(call, _SIGMA)) is not None:
        sigma = emit.known(at)
        if sigma is None or sigma.item() > 0:
            emit.refuse("scores that decay (soft_nms_sigma above 0) have no equivalent")
    boxes = emit.node("Unsqueeze", emit.cast(emit.value(0), FLOAT32), emit.constant([0]))
    scores = emit.node("Unsqueeze", emit.cast(emit.value(1), FLOAT32), emit.constant([0, 1]))
    most = emit.cast(emit.value(2), "int64")
    iou, least = _place(call, _IOU), _place(call, _SCORE)
    limits = [
        emit.constant(call[_IOU], "float32") if iou is None else emit.cast(emit.value(iou), FLOAT32)
    ]
    if least is not None:
        limits.append(emit.cast(emit.value(least), FLOAT32))
    found = emit.node("NonMaxSuppression", boxes, scores, most, *limits)
    value = emit.node("Gather", found, emit.constant(2), axis=1)
    count = emit.node("Shape", value)
    if _value(call) == _COUNT:
        emit.result(emit.cast(emit.node("Squeeze", count, emit.constant([0])), INT32))
        return
    if _value(call) == _KEPT:
        value = emit.node("Gather", emit.value(1), value)
    if _is_padded(call):
        length = emit.node("Reshape", most, emit.constant([1]))
        ends = emit.node("Concat", emit.constant([0]), emit.node("Sub", length, count), axis=0)
        value = emit.node("Pad", value, ends)
    emit.result(value if _value(call) == _KEPT else emit.cast(value, INT32))


_ALL = ("boxes", "scores", "max_output_size", _IOU, _SCORE, _SIGMA)
_TYPES = {"T": TYPE, "T_threshold": TYPE}
_PAD = {_PADDED: Field("b", "whether the result is filled up with zeros", False)}
_LIMIT = {_IOU: Field("d", "share of two boxes in common above which one is left out", 0.5)}
_BOXES = np.array(
    [
        [0, 0, 2, 2],
        [0, 0.2, 2, 2],
        [3, 3, 1, 1],
        [4, 4, 5, 5],
        [0, 0, 2, 1.9],
        [4, 4, 4, 6],
        [4, 4, 5, 5.1],
    ],
    np.float32,
)
_SCORES = np.array([0.5, 0.9, 0.5, 0.4, 0.1, 0.3, 0.4], np.float32)


def _inputs(*limits: float, most: int = 5) -> tuple[Array, ...]:
    numbers = (np.array(number, np.float32) for number in limits)
    return (_BOXES, _SCORES, np.array(most, np.int32), *numbers)


def _version(
    name: str, count: int, fields: dict[str, Field], examples: tuple[Example, ...]
) -> OpSpec:
    more = ", filled up with zeros on request" * (_PADDED in fields)
    values = _VALUES.get(name[-2:], ())
    told = f" Values: {', '.join(values)}." if values else ""
    return OpSpec(
        name,
        "Numbers of the boxes (y, x of two corners) that stay, best first: no two of them share "
        f"more than `iou_threshold` of their union{more}. Equal scores: the lower number first."
        + told,
        _ALL[:count],
        {**_TYPES, **fields},
        _infer,
        _evaluate,
        _to_onnx,
        examples,
        outputs=(lambda call: len(values)) if values else None,
        chooses=True,
    )


TF_NMS = (
    _version("_NonMaxSuppression", 3, _LIMIT, (Example(_inputs(), {_IOU: 0.7}, const=(2,)),)),
    _version("_NonMaxSuppressionV2", 4, {}, (Example(_inputs(0.6, most=3)),)),
    _version(
        "_NonMaxSuppressionV3", 5, {}, (Example(_inputs(0.3, 0.4)), Example(_inputs(1.0, 0.05)))
    ),
    _version(
        "_NonMaxSuppressionV4",
        5,
        _PAD,
        (
            Example(_inputs(0.5, 0.2), {_PADDED: True}, const=(2, 3, 4)),
            Example(_inputs(0.5, 0.2, most=2), {_PADDED: False}),
            Example(_inputs(0.5, 0.2), {_PADDED: True}, const=(2, 3, 4), output=1),
        ),
    ),
    _version(
        "_NonMaxSuppressionV5",
        6,
        _PAD,
        (
            *(Example(_inputs(0.5, 0.2, 0.0), const=(2, 5), output=k) for k in range(3)),
            Example(_inputs(0.5, 0.2, 0.0), {_PADDED: True}, const=(2, 5), output=1),
        ),
    ),
)
