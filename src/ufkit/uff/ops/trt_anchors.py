"""TensorRT's plugins that make the anchors of SSD detectors: GridAnchor and PriorBox.

The formulas follow NVIDIA's plugin/gridAnchorPlugin/gridAnchorPlugin.cpp, priorBoxPlugin.cpp and
common/kernels/gridAnchorLayer.cu, priorBoxLayer.cu (https://github.com/NVIDIA/TensorRT). Anchors
depend on fields and shapes only: they are computed once, when a model is converted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, show
from ufkit.uff.ops.spec import Array, Call, Emitter, Example, Facts, Field, OpSpec
from ufkit.uff.ops.trt_maps import order_of
from ufkit.uff.orders import Order, identity, inverse
from ufkit.uff.rules import ANCHORS_WITHOUT_INPUT, FIELD_VALUE, TOO_LARGE

_SQUARE, _RECT = "_GridAnchor_TRT", "_GridAnchorRect_TRT"
_FIRST = 3  # aspect ratios of the first layer of a GridAnchor, and so its boxes a cell
_MOST = 1 << 18  # anchors; a detector has thousands

DTYPE = Field("dtype", "element type; has no effect", None)
_VARIANCE = Field("d_list", "the four numbers that boxes are scaled by: x, y, width, height")


def _boxes(centers: Array, sizes: Array) -> Array:
    """Corners [H, W, A, 4] as x, y, x, y from centers [H, W, 2] and sizes [A, 2] (x, y)."""
    half = sizes / 2
    middle = centers[:, :, None]
    return np.concatenate([middle - half, middle + half], -1)


def _centers(height: int, width: int, offset: float = 0.5) -> Array:
    """The places [H, W, 2] (x, y) of the cells of a map, counted in cells."""
    y, x = np.meshgrid(np.arange(height) + offset, np.arange(width) + offset, indexing="ij")
    return np.stack([x, y], -1)


def _result(call: Call, layers: Sequence[Array]) -> Array:
    """[1, 2, P * 4, 1]: the boxes, and as often the variances."""
    boxes = np.concatenate([layer.reshape(-1) for layer in layers])
    variances = np.tile(np.array(call["variance_u_flist"], np.float64), boxes.size // 4)
    return np.stack([boxes, variances]).astype(np.float32)[None, :, :, None]


def _to_onnx(call: Call, emit: Emitter) -> None:
    anchors = emit.constant(call.spec.evaluate(call), "float32")
    emit.result(emit.node("Identity", anchors))


def _facts(call: Call, total: int) -> Facts:
    """What is known of so many anchors and their variances."""
    variance = call["variance_u_flist"]
    if len(variance) != 4:
        message = f"{variance} are {len(variance)} numbers; 4 are needed"
        call.fail(FIELD_VALUE, message, "variance_u_flist")
    if total > _MOST:
        call.fail(TOO_LARGE, f"{total} anchors; {_MOST} are the most")
    return Facts((1, 2, total * 4, 1), FLOAT32)


# -- GridAnchor --------------------------------------------------------------------------------


def layer_sizes(call: Call) -> list[tuple[int, int]]:
    """Height and width of the map of each layer. Raises FormatError (UFF208)."""
    name, count = "featureMapShapes_u_ilist", call["numLayers_u_int"]
    numbers: list[int] = call[name]
    each, other = (2, _SQUARE) if call.node.operation == _RECT else (1, _RECT)
    if len(numbers) != each * count:
        message = f"{len(numbers)} numbers for {count} layers; {each} a layer is needed"
        if len(numbers) == (3 - each) * count:
            message += f"; {other} takes them as they are"
        call.fail(FIELD_VALUE, message, name)
    if any(number < 1 for number in numbers):
        call.fail(FIELD_VALUE, f"maps of the sizes {numbers}; 1 is the least possible", name)
    rows = np.reshape(numbers, (count, each))
    return [(int(row[0]), int(row[-1])) for row in rows]


def boxes_a_cell(call: Call) -> list[int]:
    """How many anchors each cell of each layer has."""
    further = len(call["aspectRatios_u_flist"]) + 1
    return [_FIRST, *[further] * (call["numLayers_u_int"] - 1)]


def _infer_grid(call: Call) -> Facts:
    if not call.inputs:
        call.note(ANCHORS_WITHOUT_INPUT, f"{call.node.operation} has no input")
    count, ratios = call["numLayers_u_int"], call["aspectRatios_u_flist"]
    if count < 2:
        message = f"{count} layers; the sizes of two or more are spread over the scales"
        call.fail(FIELD_VALUE, message, "numLayers_u_int")
    if len(ratios) < _FIRST or any(ratio <= 0 for ratio in ratios):
        message = f"{ratios}; {_FIRST} or more numbers above 0 are needed"
        call.fail(FIELD_VALUE, message, "aspectRatios_u_flist")
    cells = [height * width for height, width in layer_sizes(call)]
    total = sum(a * b for a, b in zip(cells, boxes_a_cell(call), strict=True))
    return _facts(call, total)


def _evaluate_grid(call: Call, *_: Array) -> Array:
    """Per layer a scale s_i; sizes are s_i sqrt(ratio) by s_i / sqrt(ratio), and in all layers
    but the first one more of sqrt(s_i s_(i+1)), square."""
    count, ratios = call["numLayers_u_int"], call["aspectRatios_u_flist"]
    scales = np.linspace(call["minSize_u_float"], call["maxSize_u_float"], count)
    following = [*scales[1:], 1.0]
    layers = []
    for at, (height, width) in enumerate(layer_sizes(call)):
        sides = [scales[at]] * len(ratios) + [np.sqrt(scales[at] * following[at])]
        shapes = [*ratios, 1.0]
        if at == 0:
            sides, shapes = [0.1, scales[0], scales[0]], ratios[:_FIRST]
        root = np.sqrt(np.array(shapes, np.float64))
        sizes = np.stack([sides * root, sides / root], -1)
        layers.append(_boxes(_centers(height, width) / (width, height), sizes))
    return _result(call, layers)


def _grid_plugin(call: Call, emit: Emitter) -> None:
    """TensorRT's plugin gives one result a layer; UFF names them once, and means all."""
    inputs = [emit.value(i) for i in range(len(call.inputs))]
    layers = emit.plugin(*inputs, outputs=call["numLayers_u_int"])
    emit.result(emit.node("Concat", *layers, axis=2))


_GRID_FIELDS = {
    "minSize_u_float": Field("d", "scale of the first layer, as a part of the image", 0.2),
    "maxSize_u_float": Field("d", "scale of the last layer, as a part of the image", 0.95),
    "aspectRatios_u_flist": Field(
        "d_list", "width by height of the boxes of a cell; the first layer takes the first three"
    ),
    "featureMapShapes_u_ilist": Field("i_list", "height and width of each layer's map, in cells"),
    "numLayers_u_int": Field("i", "how many maps there are", 6),
    "variance_u_flist": _VARIANCE,
    "dtype": DTYPE,
}
_GRID_EXAMPLE = {
    "minSize_u_float": 0.2,
    "maxSize_u_float": 0.9,
    "aspectRatios_u_flist": [1.0, 2.0, 0.5, 3.0],
    "numLayers_u_int": 3,
    "variance_u_flist": [0.1, 0.1, 0.2, 0.2],
}


def _grid(name: str, doc: str, maps: list[int], inputs: tuple[Example, ...]) -> OpSpec:
    fields = dict(_GRID_FIELDS)
    if name == _SQUARE:
        doc_of_maps = "side of each layer's map, which is square, in cells"
        fields["featureMapShapes_u_ilist"] = Field("i_list", doc_of_maps)
    return OpSpec(
        name=name,
        doc=doc + " Value [1, 2, P * 4, 1]: xmin, ymin, xmax, ymax of each anchor as parts of the "
        "image, layer by layer, row by row; then as many variances. The inputs have no effect.",
        inputs=("inputs*",),
        fields=fields,
        infer=_infer_grid,
        evaluate=_evaluate_grid,
        to_onnx=_to_onnx,
        examples=tuple(
            Example(
                example.inputs,
                {**_GRID_EXAMPLE, "featureMapShapes_u_ilist": maps},
                const=example.const,
            )
            for example in inputs
        ),
        plugin=_grid_plugin,
    )


GRID_ANCHOR = _grid(
    _SQUARE,
    "The anchors of an SSD detector with square maps.",
    [4, 2, 1],
    (Example(((1, 3),)), Example((np.array([1, 1], np.float32),), const=(0,)), Example(())),
)
GRID_ANCHOR_RECT = _grid(
    _RECT,
    "The anchors of an SSD detector with maps of any size.",
    [3, 4, 2, 2, 1, 2],
    (Example(((1, 3),)),),
)


# -- PriorBox ----------------------------------------------------------------------------------


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
    if any(len(pair) != 2 or any(isinstance(n, Dim) for n in pair) for pair in sizes):
        call.conflict(f"{show(call.shape(0))} and {show(call.shape(1))} must be known maps")
    cells, image = ([int(n) for n in pair if isinstance(n, int)] for pair in sizes)
    given = [call["imgH_u_int"], call["imgW_u_int"]]
    pixels = [float(n) for n in (given if all(given) else image)]
    steps = [call["stepH_u_float"], call["stepW_u_float"]]
    if not all(steps):
        steps = [pixel / cell for pixel, cell in zip(pixels, cells, strict=True)]
    return cells, pixels, steps


def _infer_prior(call: Call) -> Facts:
    smallest, largest = call["minSize_u_flist"], call["maxSize_u_flist"]
    if not smallest or any(low <= 0 for low in smallest):
        call.fail(FIELD_VALUE, f"{smallest}: sizes above 0 are needed", "minSize_u_flist")
    if largest and len(largest) != len(smallest):
        message = f"{len(largest)} numbers; minSize_u_flist has {len(smallest)}"
        call.fail(FIELD_VALUE, message, "maxSize_u_flist")
    if any(high <= low for low, high in zip(smallest, largest, strict=False)):
        call.fail(FIELD_VALUE, f"{largest} must be above {smallest}", "maxSize_u_flist")
    if any(ratio <= 0 for ratio in call["aspectRatios_u_flist"]):
        call.fail(FIELD_VALUE, "a ratio that is not above 0", "aspectRatios_u_flist")
    height, width = _prior_grid(call)[0]
    return _facts(call, height * width * len(_prior_sizes(call)))


def _evaluate_prior(call: Call, *_: Array) -> Array:
    (height, width), pixels, steps = _prior_grid(call)
    centers = _centers(height, width, call["offset_u_float"]) * steps[::-1]
    boxes = _boxes(centers, _prior_sizes(call)) / (*pixels[::-1], *pixels[::-1])
    return _result(call, [np.clip(boxes, 0, 1) if call["clip_u_int"] else boxes])


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
        "variance_u_flist": _VARIANCE,
        "imgH_u_int": Field("i", "height of the image in pixels; 0 asks the image", 0),
        "imgW_u_int": Field("i", "width of the image in pixels; 0 asks the image", 0),
        "stepH_u_float": Field("d", "pixels from row to row; 0: as they fit the image", 0.0),
        "stepW_u_float": Field("d", "pixels from column to column; 0: as they fit", 0.0),
        "offset_u_float": Field("d", "place of the center in its cell, as a part of it", 0.5),
        "dtype": DTYPE,
    },
    infer=_infer_prior,
    evaluate=_evaluate_prior,
    to_onnx=_to_onnx,
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

TRT_ANCHORS = (GRID_ANCHOR, GRID_ANCHOR_RECT, PRIOR_BOX)
