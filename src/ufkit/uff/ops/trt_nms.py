"""How TensorRT's detection plugins choose among boxes: non-maximum suppression, class by class.

Of each class the `top` best boxes above a score are looked at, best first; each takes out those
behind it that lie on it. Of all that is left in an image, the `keep` best are the result. Of equal
scores the earlier box comes first, then the lower class. After NVIDIA's common/kernels
sortScoresPerClass.cu, allClassNMS.cu, sortScoresPerImage.cu and gatherTopDetections.cu in
https://github.com/NVIDIA/TensorRT/tree/release/8.6/plugin.

Boxes that are not normalized count pixels: their last column and row belong to them. The plugin
lets two such boxes that do not touch share one pixel, which decides something only for boxes
smaller than that; here they share none.

Where scores are sigmoids, the order is that of the numbers they are taken of: the sigmoids of two
good boxes are often nearer than the digits in which one machine differs from the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, show, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call
from ufkit.uff.rules import FIELD_VALUE, KEPT_BEYOND

_LOWEST = float(np.finfo(np.float32).min)  # the score of what is out
_MOST_TOP = 4096  # that TensorRT's kernel takes
_MOST = 1 << 20

_CLASSES, _TOP, _KEEP = "numClasses_u_int", "topK_u_int", "keepTopK_u_int"

SHARED, BACKGROUND = "shareLocation_u_int", "backgroundLabelId_u_int"
NORMALIZED = "isNormalized_u_int"
FIELDS = {
    SHARED: Field("i", "1: all classes have one box; 0: each has its own", 1),
    BACKGROUND: Field("i", "class that is never reported; -1 for none", -1),
    _CLASSES: Field("i", "how many classes have scores, the background included"),
    _TOP: Field("i", "most boxes of a class that are looked at"),
    _KEEP: Field("i", "most boxes of an image that are reported"),
    NORMALIZED: Field(
        "i", "1: coordinates are parts of the image; 0: pixels, the last one included", 1
    ),
    "scoreBits_u_int": Field("i", "has no effect: for TensorRT's sorting of float16", 16),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What decides which boxes are chosen.

    classes      how many there are
    boxes        how many boxes a class has
    own          whether each class has boxes of its own
    background   class that is left out
    score        what a score must be above, at least
    overlap      intersection over union above which the worse box is out
    top, keep    most boxes of a class and of an image
    pixels       whether the last column and row belong to a box
    sigmoid      whether the scores are the sigmoids of what is given
    """

    classes: int
    boxes: int
    own: bool
    background: int
    score: float
    overlap: float
    top: int
    keep: int
    pixels: bool
    sigmoid: bool


def classes(call: Call) -> int:
    """How many classes there are. Raises FormatError (UFF208)."""
    count: int = _number(call, _CLASSES)
    return count


def boxes_each(call: Call) -> int:
    """How many boxes there are for a place: one, or one of each class."""
    return 1 if call[SHARED] else classes(call)


def kept(call: Call) -> int:
    """How many boxes of an image are reported. Raises FormatError (UFF208)."""
    return _number(call, _KEEP)


def _number(call: Call, name: str) -> int:
    number: int = call[name]
    if not 1 <= number <= _MOST:
        call.fail(FIELD_VALUE, f"{name} is {number}; 1 to {_MOST} are possible", name)
    return number


def check_limits(call: Call, overlap: str) -> None:
    """Fail (UFF208) or note (UFF326) what cannot be done with the numbers in the fields."""
    top, keep = _number(call, _TOP), _number(call, _KEEP)
    if not 0 <= call[overlap] <= 1:
        call.fail(FIELD_VALUE, f"{overlap} is {call[overlap]}; 0 to 1 are possible", overlap)
    if keep > top:
        call.note(KEPT_BEYOND, f"{_KEEP} is {keep}, {_TOP} {top}")
    if top > _MOST_TOP:
        call.note(KEPT_BEYOND, f"{_TOP} is {top}; {_MOST_TOP} are the most")


def choice(call: Call, boxes: int, score: str, overlap: str, *, sigmoid: bool = False) -> Choice:
    """The choice among so many boxes; `score` and `overlap` name the thresholds' fields."""
    return Choice(
        classes=classes(call),
        boxes=boxes,
        own=not call[SHARED],
        background=call[BACKGROUND],
        score=call[score],
        overlap=call[overlap],
        top=min(call[_TOP], boxes),
        keep=call[_KEEP],
        pixels=not call[NORMALIZED],
        sigmoid=sigmoid,
    )


class Kept(NamedTuple):
    """The chosen of each image, best first; what is missing has no score and class -1.

    number   [N, 1], how many there are
    labels   [N, keep], their classes
    scores   [N, keep]
    corners  [N, keep, 4]
    """

    number: Array
    labels: Array
    scores: Array
    corners: Array


def chosen(what: Choice, boxes: Array, scores: Array) -> Kept:
    """The boxes chosen of [N, boxes, 1 or classes, 4] by their scores [N, boxes, classes]."""
    images, keep = len(scores), what.keep
    given, scores = scores, _sigmoid(scores) if what.sigmoid else scores
    number = np.zeros((images, 1), np.int32)
    labels = np.full((images, keep), -1, np.float32)
    best = np.zeros((images, keep), np.float32)
    corners = np.zeros((images, keep, 4), np.float32)
    for image in range(images):
        found = list(_survivors(what, boxes[image], given[image], scores[image]))
        found.sort(key=lambda pair: -given[image, pair[1], pair[0]])
        number[image] = len(found[:keep])
        for at, (label, place) in enumerate(found[:keep]):
            labels[image, at] = label
            best[image, at] = scores[image, place, label]
            corners[image, at] = boxes[image, place, label if what.own else 0]
    return Kept(number, labels, best, corners)


def _sigmoid(array: Array) -> Array:
    return (1 / (1 + np.exp(-array.astype(np.float64)))).astype(np.float32)


def _survivors(
    what: Choice, boxes: Array, given: Array, scores: Array
) -> Iterator[tuple[int, int]]:
    """Class and place of each box of an image that no better one lies on, class by class."""
    for label in range(what.classes):
        if label == what.background:
            continue
        order = np.argsort(-given[:, label], kind="stable")[: what.top]
        order = order[scores[order, label] > np.float32(what.score)]
        corners = boxes[order, label if what.own else 0].astype(np.float64)
        low = np.minimum(corners[:, :2], corners[:, 2:])
        high = np.maximum(corners[:, :2], corners[:, 2:]) + what.pixels
        out = np.zeros(len(order), bool)
        for at, place in enumerate(order):
            if not out[at]:
                yield label, int(place)
                out[at + 1 :] |= _overlaps(low[at:], high[at:]) > what.overlap


def _overlaps(low: Array, high: Array) -> Array:
    """Intersection over union of the first box with each other one; 0 where they do not touch."""
    sides = np.minimum(high[1:], high[0]) - np.maximum(low[1:], low[0])
    common = np.prod(np.maximum(sides, 0), 1)
    areas = np.prod(high - low, 1)
    union = np.where(common > 0, areas[1:] + areas[0] - common, 1)
    result: Array = common / union
    return result


class KeptNames(NamedTuple):
    """`Kept` in ONNX."""

    number: str
    labels: str
    scores: str
    corners: str


def choose(what: Choice, emit: Emitter, boxes: str, scores: str) -> KeptNames:
    """The nodes that choose of boxes [N, boxes * (1 or classes), 4] by scores [N, boxes, classes].

    ONNX's NonMaxSuppression takes the boxes out; the numbers of boxes are kept by sorting before
    and after it. What is out has the lowest score there is.
    """
    of, each, total = what.classes, what.top, what.classes * what.top
    lowest = emit.constant(_LOWEST, "float32")
    by_class = emit.node("Transpose", scores, perm=[0, 2, 1])
    if 0 <= what.background < of:
        out = emit.constant(np.arange(of)[:, None] == what.background, "bool")
        by_class = emit.node("Where", out, lowest, by_class)
    sorted_, places = emit.nodes("TopK", by_class, emit.constant([each]), outputs=2)
    if what.own:
        places = emit.node("Mul", places, emit.constant(of))
        places = emit.node("Add", places, emit.constant(np.arange(of)[:, None]))
    candidates = _taken(emit, boxes, emit.node("Reshape", places, emit.constant([-1, total, 1])))

    corners = emit.node("Reshape", candidates, emit.constant([-1, each, 4]))
    if what.pixels:
        corners = _with_last_pixel(emit, corners)
    ranked = emit.node("Reshape", sorted_, emit.constant([-1, 1, each]))
    limits = [emit.constant(limit, "float32") for limit in (what.overlap, _least(what))]
    survivors = emit.node("NonMaxSuppression", corners, ranked, emit.constant([each]), *limits)
    blank = emit.node("Expand", lowest, emit.node("Shape", ranked))
    left = emit.node("GatherND", ranked, survivors)
    left = emit.node("ScatterND", blank, survivors, left)

    left = emit.node("Reshape", left, emit.constant([-1, total]))
    if total < what.keep:
        left = emit.node("Pad", left, emit.constant([0, 0, 0, what.keep - total]), lowest)
    best, places = emit.nodes("TopK", left, emit.constant([what.keep]), outputs=2)
    if total < what.keep:
        places = emit.node("Min", places, emit.constant(total - 1))
    exists = emit.node("Greater", best, lowest)
    zero, column = emit.constant(0, "float32"), emit.constant([-1])
    if what.sigmoid:
        best = emit.node("Sigmoid", best)
    labels = emit.cast(emit.node("Div", places, emit.constant(each)), "float32")
    corners = _taken(emit, candidates, emit.node("Unsqueeze", places, column))
    return KeptNames(
        emit.reduce("ReduceSum", emit.cast(exists, "int32"), [1], keep=True),
        emit.node("Where", exists, labels, emit.constant(-1, "float32")),
        emit.node("Where", exists, best, zero),
        emit.node("Where", emit.node("Unsqueeze", exists, column), corners, zero),
    )


def _least(what: Choice) -> float:
    """What must be exceeded by the numbers given, for their scores to exceed the least one."""
    if not what.sigmoid:
        return min(max(what.score, _LOWEST), -_LOWEST)
    if not 0 < what.score < 1:
        return _LOWEST if what.score <= 0 else -_LOWEST
    return float(np.log(what.score / (1 - what.score)))


def _taken(emit: Emitter, boxes: str, places: str) -> str:
    """The boxes [N, M, 4] of each image at places [N, M, 1]."""
    return emit.node("GatherND", boxes, places, batch_dims=1)


def _with_last_pixel(emit: Emitter, corners: str) -> str:
    """The larger coordinates of boxes [M, each, 4] one further."""
    first, second = emit.nodes("Split", corners, emit.constant([2, 2]), outputs=2, axis=-1)
    high = emit.node("Add", emit.node("Max", first, second), emit.constant(1, "float32"))
    return emit.node("Concat", emit.node("Min", first, second), high, axis=-1)


def fixed(call: Call, size: int | Dim, what: str) -> int:
    """A size that must be known. Raises FormatError (UFF302)."""
    if isinstance(size, Dim):
        call.conflict(f"how many {what} there are, {size}, must be known")
    return size


def float32_only(call: Call, places: list[int]) -> None:
    """Fail (UFF302) where one of these inputs has another element type."""
    for i in places:
        if call.inputs[i].dtype is not FLOAT32:
            call.conflict(f"input {i} is {call.inputs[i].dtype}; it must be float32")


def samples(call: Call, places: list[int]) -> int | Dim:
    """The batch, which the inputs at these places share."""
    first, second = (call.shape(i)[0] for i in places)
    both = unify(first, second)
    if both is None:
        shapes = " and ".join(show(call.shape(i)) for i in places)
        call.conflict(f"{shapes} are not as many samples")
    return both


def shaped(emit: Emitter, name: str, sizes: list[int]) -> str:
    """A value under another shape."""
    return emit.node("Reshape", name, emit.constant(sizes))


def clipped(emit: Emitter, corners: str) -> str:
    """Corners within 0 to 1."""
    return emit.node("Clip", corners, emit.constant(0, "float32"), emit.constant(1, "float32"))
