"""TensorRT's plugin PriorBox: the anchors of one map of a detector made with Caffe's SSD.

The formulas follow NVIDIA's plugin/priorBoxPlugin/priorBoxPlugin.cpp and common/kernels/
priorBoxLayer.cu (https://github.com/NVIDIA/TensorRT).
"""

from __future__ import annotations

import numpy as np

from ufkit.uff.dims import show
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.maps import order_of
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.trt_anchors import (
    DTYPE,
    VARIANCE,
    above_zero,
    anchor_facts,
    around,
    as_constant,
    cell_middles,
    stacked,
)
from ufkit.uff.orders import Order, identity, inverse
from ufkit.uff.rules import FIELD_VALUE, TOO_LARGE

_MOST_RATIOS = 64  # each is held against all others


def _ratios(call: Call) -> list[float]:
    """1 and the ratios of the field that are not there yet, each with its inverse if flipped."""
    found = [1.0]
    for ratio in call["aspectRatios_u_flist"]:
        if all(abs(ratio - other) >= 1e-6 for other in found):
            found += [ratio, 1 / ratio] if call["flip_u_int"] else [ratio]
    return found


def _prior_sizes(call: Call) -> Array:
    """Width and height [A, 2] in pixels of the boxes of a cell."""
    smallest, largest = call["minSize_u_flist"], call["maxSize_u_flist"]
    sizes = []
    for at, low in enumerate(smallest):
        sizes.append((low, low))
        if largest:
            sizes.append((np.sqrt(low * largest[at]),) * 2)
        sizes += [(low * np.sqrt(r), low / np.sqrt(r)) for r in _ratios(call)[1:]]
    return np.array(sizes, np.float64)


def _turn(call: Call, i: int) -> Order:
    """The axes of the map or the image as N, C, H, W. An image of which nothing is known is taken
    to be as the map."""
    graph, rank = call.node.graph, call.rank(i)
    order = order_of(graph, call.node.inputs[i], rank)
    if order == identity(rank) and rank == call.rank(0):
        order = order_of(graph, call.node.inputs[0], rank)
    return inverse(order)


def _prior_grid(call: Call) -> tuple[list[int], list[float], list[float]]:
    """Height and width of the map, of the image, and of a step in the image."""
    sizes = [[call.shape(i)[axis] for axis in _turn(call, i)[2:]] for i in (0, 1)]
    known = all(isinstance(size, int) and size > 0 for pair in sizes for size in pair)
    if not known or any(len(pair) != 2 for pair in sizes):
        call.conflict(f"{show(call.shape(0))} and {show(call.shape(1))} must be maps of known size")
    cells, image = ([int(n) for n in pair if isinstance(n, int)] for pair in sizes)
    given = [call["imgH_u_int"], call["imgW_u_int"]]
    pixels = [float(n) for n in (given if all(given) else image)]
    steps = [call["stepH_u_float"], call["stepW_u_float"]]
    if not all(steps):
        steps = [pixel / cell for pixel, cell in zip(pixels, cells, strict=True)]
    return cells, pixels, steps


def _infer_prior(call: Call) -> Facts:
    smallest, largest = call["minSize_u_flist"], call["maxSize_u_flist"]
    for name in ("minSize_u_flist", "maxSize_u_flist", "aspectRatios_u_flist"):
        above_zero(call, name, call[name])
    if not smallest:
        call.fail(FIELD_VALUE, "no size is given", "minSize_u_flist")
    if largest and len(largest) != len(smallest):
        message = f"{len(largest)} numbers; minSize_u_flist has {len(smallest)}"
        call.fail(FIELD_VALUE, message, "maxSize_u_flist")
    if any(high <= low for low, high in zip(smallest, largest, strict=False)):
        call.fail(FIELD_VALUE, f"{largest} must be above {smallest}", "maxSize_u_flist")
    if len(call["aspectRatios_u_flist"]) > _MOST_RATIOS:
        message = f"{len(call['aspectRatios_u_flist'])} numbers; {_MOST_RATIOS} are the most"
        call.fail(TOO_LARGE, message, "aspectRatios_u_flist")
    height, width = _prior_grid(call)[0]
    each = len(smallest) * (len(_ratios(call)) + bool(largest))
    return anchor_facts(call, height * width * each)


def _evaluate_prior(call: Call, *_: Array) -> Array:
    (height, width), pixels, steps = _prior_grid(call)
    middles = cell_middles(height, width, call["offset_u_float"]) * steps[::-1]
    boxes = around(middles, _prior_sizes(call)) / (*pixels[::-1], *pixels[::-1])
    return stacked(call, [np.clip(boxes, 0, 1) if call["clip_u_int"] else boxes])


def _prior_plugin(call: Call, emit: Emitter) -> None:
    """TensorRT's plugin looks for the heights and widths where NCHW has them."""
    emit.result(emit.plugin(*(emit.value(i, _turn(call, i)) for i in (0, 1)))[0])


PRIOR_BOX = OpSpec(
    name="_PriorBox_TRT",
    doc="The anchors of one map of an SSD detector of Caffe. Value [1, 2, P * 4, 1]: xmin, ymin, "
    "xmax, ymax of each anchor as parts of the image, row by row; then as many variances. Only "
    "the sizes of the inputs matter.",
    inputs=("map", "image"),
    fields={
        "minSize_u_flist": Field("d_list", "sides of the square boxes, in pixels"),
        "maxSize_u_flist": Field(
            "d_list", "as many, in pixels: a square of sqrt(minSize * maxSize) each", []
        ),
        "aspectRatios_u_flist": Field("d_list", "width by height of further boxes", []),
        "flip_u_int": Field("i", "1 adds the inverse of each ratio", 1),
        "clip_u_int": Field("i", "1 cuts the boxes off at the edges of the image", 0),
        "variance_u_flist": VARIANCE,
        "imgH_u_int": Field("i", "height of the image in pixels; 0 asks the image", 0),
        "imgW_u_int": Field("i", "width of the image in pixels; 0 asks the image", 0),
        "stepH_u_float": Field("d", "pixels from row to row; 0: as they fit the image", 0.0),
        "stepW_u_float": Field("d", "pixels from column to column; 0: as they fit", 0.0),
        "offset_u_float": Field("d", "place of the center in its cell, as a part of it", 0.5),
        "dtype": DTYPE,
    },
    infer=_infer_prior,
    evaluate=_evaluate_prior,
    to_onnx=as_constant,
    examples=(
        Example(
            ((1, 5, 2, 3), (1, 3, 20, 30)),
            {
                "minSize_u_flist": [4.0, 6.0],
                "maxSize_u_flist": [9.0, 10.0],
                "aspectRatios_u_flist": [1.0, 2.0, 3.0],
                "variance_u_flist": [0.1, 0.1, 0.2, 0.2],
                "clip_u_int": 1,
            },
        ),
        Example(
            ((2, 5, 3, 2), (2, 3, 8, 8)),
            {
                "minSize_u_flist": [4.0],
                "aspectRatios_u_flist": [2.0],
                "flip_u_int": 0,
                "variance_u_flist": [0.1, 0.1, 0.2, 0.2],
                "imgH_u_int": 30,
                "imgW_u_int": 20,
                "stepH_u_float": 8.0,
                "stepW_u_float": 9.0,
                "offset_u_float": 0.25,
            },
        ),
    ),
    plugin=_prior_plugin,
)
