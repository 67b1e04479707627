"""TensorRT's Proposal: the boxes of a region proposal network, the best that overlap least.

Its meaning is that of https://github.com/NVIDIA/TensorRT/tree/release/8.6/plugin:
common/kernels/proposalKernel.cu and proposalPlugin/proposalPlugin.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import static, unify
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.maps import map_order, only_floats
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.orders import inverse
from ufkit.uff.rules import FIELD_VALUE

_COUNTS = (
    "input_height_u_int",
    "input_width_u_int",
    "rpn_stride_u_int",
    "pre_nms_top_n_u_int",
    "post_nms_top_n_u_int",
)
_LARGEST = 1 << 16  # side of a map
_SIZES, _RATIOS = "anchor_sizes_u_flist", "anchor_ratios_u_flist"


def _map_shape(call: Call, i: int) -> tuple[Any, ...]:
    """Shape of a map as (N, C, H, W)."""
    return tuple(call.shape(i)[axis] for axis in inverse(map_order(call, i)))


def _infer(call: Call) -> Facts:
    for name in (*_COUNTS, "nms_iou_threshold_u_float"):
        if not call[name] > 0:
            call.fail(FIELD_VALUE, f"{name} is {call[name]}; it must be positive", name)
    for name in (_SIZES, _RATIOS):
        if not all(0 < number < np.inf for number in call[name]):
            call.fail(FIELD_VALUE, f"{name} is {call[name]}; all must be positive", name)
    only_floats(call)
    if call.rank(0) != 4 or call.rank(1) != 4:
        call.conflict(f"maps of four axes are needed, not {call.inputs[0]} and {call.inputs[1]}")
    (batch, anchors, *size), (_, deltas, *other) = _map_shape(call, 0), _map_shape(call, 1)
    wanted = len(call[_SIZES]) * len(call[_RATIOS])
    if unify(anchors, wanted) is None or unify(deltas, 4 * wanted) is None:
        call.conflict(
            f"{len(call[_SIZES])} anchor sizes and {len(call[_RATIOS])} ratios make {wanted} "
            f"anchors; there are {anchors} channels of scores and {deltas} of deltas"
        )
    if None in map(unify, size, other):
        call.conflict(f"the maps of scores and deltas are {size} and {other}")
    return Facts((batch, call["post_nms_top_n_u_int"], 4, 1), FLOAT32)


def _anchors(call: Call) -> tuple[Array, Array]:
    """Width and height of each anchor, (A, 1, 1): sizes outside, ratios inside."""
    sizes = np.array(call[_SIZES], np.float32)[:, None]
    roots = np.sqrt(np.array(call[_RATIOS], np.float32))
    return (sizes * roots).reshape(-1, 1, 1), (sizes / roots).reshape(-1, 1, 1)


def _centres(call: Call, count: int) -> Array:
    return (np.arange(count, dtype=np.float32) + np.float32(0.5)) * np.float32(
        call["rpn_stride_u_int"]
    )


def _evaluate(call: Call, scores: Array, deltas: Array) -> Array:
    scores = scores.transpose(inverse(map_order(call, 0)))
    deltas = deltas.transpose(inverse(map_order(call, 1)))
    batch, anchors, height, width = scores.shape
    moves = deltas.reshape(batch, anchors, 4, height, width).astype(np.float64)
    wide, high = _anchors(call)
    x = _centres(call, width) + wide * moves[:, :, 0]
    y = _centres(call, height)[:, None] + high * moves[:, :, 1]
    half_x, half_y = np.exp(moves[:, :, 2]) * wide / 2, np.exp(moves[:, :, 3]) * high / 2
    last = call["input_width_u_int"] - 1, call["input_height_u_int"] - 1
    edges = (x - half_x, y - half_y, x + half_x, y + half_y)
    boxes = np.stack([np.clip(edge, 0, last[k % 2]) for k, edge in enumerate(edges)], -1)
    small = ((boxes[..., 2:] - boxes[..., :2]) <= call["roi_min_size_u_float"]).any(-1)
    ranked = np.where(small, -np.inf, scores).reshape(batch, -1)
    result = np.zeros((batch, call["post_nms_top_n_u_int"], 4))
    for found, mine, rank in zip(result, boxes.reshape(batch, -1, 4), ranked, strict=True):
        kept = _kept(call, mine[np.argsort(-rank, kind="stable")])
        found[: len(kept)] = np.array(kept).reshape(-1, 4)[:, [1, 0, 3, 2]]
    return np.asarray(result / [*last[::-1], *last[::-1]], np.float32)[..., None]


def _kept(call: Call, boxes: Array) -> list[Array]:
    """Of boxes in order of their score, those that overlap no better one too much.

    Boxes are pixels, so each is one longer than its ends are apart.
    """
    left = boxes[: call["pre_nms_top_n_u_int"]]
    kept: list[Array] = []
    while len(left) and len(kept) < call["post_nms_top_n_u_int"]:
        best, left = left[0], left[1:]
        kept.append(best)
        low, high = np.maximum(left[:, :2], best[:2]), np.minimum(left[:, 2:], best[2:])
        common = np.maximum(high - low + 1, 0).prod(1)
        areas = (left[:, 2:] - left[:, :2] + 1).prod(1) + (best[2:] - best[:2] + 1).prod()
        left = left[common / (areas - common) <= np.float32(call["nms_iou_threshold_u_float"])]
    return kept


# -- as ONNX ---------------------------------------------------------------------------------


def _to_onnx(call: Call, emit: Emitter) -> None:
    size = static(_map_shape(call, 0)[2:])
    if size is None:
        emit.refuse("the size of its maps is not known", "give it: --shape NAME=...")
    if max(size) > _LARGEST:
        emit.refuse(f"maps of {size[0]} x {size[1]}; {_LARGEST} is the most on a side")
    scores, edges = _decoded(call, emit, size)
    most = min(call["pre_nms_top_n_u_int"], _anchors(call)[0].size * size[0] * size[1])
    best, places = emit.nodes("TopK", scores, emit.constant([most]), outputs=2, axis=1)
    y1, x1, y2, x2 = (emit.node("GatherElements", edge, places, axis=1) for edge in edges)
    one = emit.constant(1, "float32")
    ends = [emit.node("Add", edge, one) for edge in (y2, x2)]  # boxes are pixels
    pixels = _joined(emit, [y1, x1, *ends])
    selected = emit.node(
        "NonMaxSuppression",
        pixels,
        emit.node("Unsqueeze", best, emit.constant([1])),
        emit.constant(call["post_nms_top_n_u_int"]),
        emit.constant(min(call["nms_iou_threshold_u_float"], 1), "float32"),
    )
    numbers = [emit.node("Gather", selected, emit.constant([k]), axis=1) for k in (0, 2)]
    boxes = emit.node("GatherND", _joined(emit, [y1, x1, y2, x2]), _pair(emit, *numbers))
    rows = _pair(emit, numbers[0], _rows(emit, numbers[0]))
    target = emit.node("ScatterND", _zeros(call, emit), rows, boxes)
    height, width = (call[name] - 1 for name in _COUNTS[:2])
    share = emit.constant([height, width, height, width], "float32")
    emit.result(emit.node("Unsqueeze", emit.node("Div", target, share), emit.constant([3])))


def _decoded(call: Call, emit: Emitter, size: Sequence[int]) -> tuple[str, list[str]]:
    """Scores and the edges y1, x1, y2, x2 of all boxes, each [N, boxes]."""
    scores = emit.value(0, inverse(map_order(call, 0)))
    deltas = emit.value(1, inverse(map_order(call, 1)))
    moves = emit.node("Reshape", deltas, emit.constant([0, -1, 4, *size]))
    parts = emit.nodes("Split", moves, emit.constant([1] * 4), outputs=4, axis=2)
    flat = emit.constant([2])
    move_x, move_y, grow_x, grow_y = (emit.node("Squeeze", part, flat) for part in parts)
    wide, high = _anchors(call)
    across = _ends(call, emit, move_x, grow_x, wide, _centres(call, size[1]), 1)
    down = _ends(call, emit, move_y, grow_y, high, _centres(call, size[0])[:, None], 0)
    least = emit.constant(call["roi_min_size_u_float"], "float32")
    lengths = (emit.node("Sub", high, low) for low, high in (across, down))
    small = emit.node("Or", *(emit.node("LessOrEqual", length, least) for length in lengths))
    ranked = emit.node("Where", small, emit.constant(-np.inf, "float32"), scores)
    rows = emit.constant([0, -1])
    edges = (down[0], across[0], down[1], across[1])
    return (
        emit.node("Reshape", ranked, rows),
        [emit.node("Reshape", edge, rows) for edge in edges],
    )


def _ends(
    call: Call, emit: Emitter, move: str, grow: str, length: Array, centre: Array, which: int
) -> tuple[str, str]:
    """Both ends of all boxes on one axis, clipped to the image: [N, A, H, W]."""
    anchor = emit.constant(length, "float32")
    middle = emit.node("Add", emit.constant(centre, "float32"), emit.node("Mul", anchor, move))
    full = emit.node("Mul", emit.node("Exp", grow), anchor)
    half = emit.node("Div", full, emit.constant(2, "float32"))
    low = emit.node("Sub", middle, half)
    edges = (0, call[_COUNTS[which]] - 1)
    zero, last = (emit.constant(edge, "float32") for edge in edges)
    first, second = (
        emit.node("Clip", end, zero, last) for end in (low, emit.node("Add", low, full))
    )
    return first, second


def _joined(emit: Emitter, edges: Sequence[str]) -> str:
    axis = emit.constant([2])
    return emit.node("Concat", *(emit.node("Unsqueeze", edge, axis) for edge in edges), axis=2)


def _pair(emit: Emitter, first: str, second: str) -> str:
    return emit.node("Concat", first, second, axis=1)


def _rows(emit: Emitter, images: str) -> str:
    """The row of each box kept, [kept, 1]: they come image by image, so all but those before."""
    earlier = emit.node("Less", emit.node("Transpose", images, perm=[1, 0]), images)
    before = emit.reduce("ReduceSum", emit.cast(earlier, "int64"), [1], keep=True)
    count = emit.node("Shape", images)
    ones = emit.node("Expand", emit.constant([[1]]), count)
    counted = emit.node("CumSum", ones, emit.constant(0), exclusive=1)
    return emit.node("Sub", counted, before)


def _zeros(call: Call, emit: Emitter) -> str:
    scores = emit.value(0, inverse(map_order(call, 0)))
    batch = emit.node("Gather", emit.node("Shape", scores), emit.constant([0]), axis=0)
    rows = emit.constant([call["post_nms_top_n_u_int"], 4])
    zero = emit.constant([[[0]]], "float32")
    return emit.node("Expand", zero, emit.node("Concat", batch, rows, axis=0))


def _plugin(call: Call, emit: Emitter) -> None:
    """ProposalDynamic: the plugin as it is where the batch is an axis, as in ONNX it is."""
    maps = (emit.value(i, inverse(map_order(call, i))) for i in (0, 1))
    emit.result(emit.plugin(*maps, name="ProposalDynamic")[0])


_EXAMPLE = {
    "input_height_u_int": 64,
    "input_width_u_int": 96,
    "rpn_stride_u_int": 16,
    "roi_min_size_u_float": 4.0,
    "nms_iou_threshold_u_float": 0.5,
    "pre_nms_top_n_u_int": 40,
    "post_nms_top_n_u_int": 12,
    _SIZES: [16.0, 40.0],
    _RATIOS: [1.0, 0.5, 2.0],
}

PROPOSAL = OpSpec(
    name="_Proposal",
    doc="The best boxes of a region proposal network, [N, post_nms_top_n, 4, 1]: y1, x1, y2, x2 "
    "as shares of the image's last row and column, best first; rows left over are zero. Anchors "
    "sit in the middle of each cell, all ratios of the first size first, and are `size * "
    "sqrt(ratio)` wide and `size / sqrt(ratio)` high. Boxes not larger than the least size come "
    "last.",
    inputs=("scores", "deltas"),
    fields={
        "dtype": TYPE,
        "input_height_u_int": Field("i", "height of the image"),
        "input_width_u_int": Field("i", "width of the image"),
        "rpn_stride_u_int": Field("i", "pixels of the image to a cell of the maps"),
        "roi_min_size_u_float": Field("d", "least width and height of a box, in pixels"),
        "nms_iou_threshold_u_float": Field("d", "overlap beyond which the lesser box is dropped"),
        "pre_nms_top_n_u_int": Field("i", "best boxes that are looked at"),
        "post_nms_top_n_u_int": Field("i", "boxes that are given"),
        _SIZES: Field("d_list", "sizes of the anchors, in pixels"),
        _RATIOS: Field("d_list", "their width against their height"),
    },
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    plugin=_plugin,
    chooses=True,
    examples=(
        Example(((2, 6, 4, 6), (2, 24, 4, 6)), _EXAMPLE),
        Example(  # fewer boxes than are to be given, and all of them looked at
            ((2, 6, 2, 2), (2, 24, 2, 2)),
            {**_EXAMPLE, "pre_nms_top_n_u_int": 6000, "post_nms_top_n_u_int": 30},
        ),
        Example(  # all scores equal, all boxes too small
            (np.full((1, 6, 2, 3), 0.5, np.float32), np.full((1, 24, 2, 3), 0.25, np.float32)),
            {**_EXAMPLE, "roi_min_size_u_float": 200.0, "nms_iou_threshold_u_float": 0.3},
        ),
    ),
)
