"""TensorRT's plugins GridAnchor and GridAnchorRect: the anchors of all maps of an SSD detector.

The formulas follow NVIDIA's plugin/gridAnchorPlugin/gridAnchorPlugin.cpp and common/kernels/
gridAnchorLayer.cu (https://github.com/NVIDIA/TensorRT). Anchors depend on fields and shapes only:
they are computed once, when a model is converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.rules import ANCHORS_WITHOUT_INPUT, FIELD_VALUE, TOO_LARGE

_SQUARE, _RECT = "_GridAnchor_TRT", "_GridAnchorRect_TRT"
_FIRST = 3  # aspect ratios of the first layer of a GridAnchor, and so its boxes a cell
_MOST = 1 << 18  # anchors; a detector has thousands

DTYPE = Field("dtype", "element type; has no effect", None)
VARIANCE = Field("d_list", "the four numbers that boxes are scaled by: x, y, width, height")


def around(middles: Array, sizes: Array) -> Array:
    """Corners [H, W, A, 4] as x, y, x, y about middles [H, W, 2] and sizes [A, 2] (x, y)."""
    half = sizes / 2
    middle = middles[:, :, None]
    return np.concatenate([middle - half, middle + half], -1)


def cell_middles(height: int, width: int, offset: float = 0.5) -> Array:
    """The places [H, W, 2] (x, y) of the cells of a map, counted in cells."""
    y, x = np.meshgrid(np.arange(height) + offset, np.arange(width) + offset, indexing="ij")
    return np.stack([x, y], -1)


def stacked(call: Call, layers: Sequence[Array]) -> Array:
    """[1, 2, P * 4, 1]: the boxes, and as often the variances."""
    boxes = np.concatenate([layer.reshape(-1) for layer in layers])
    variances = np.tile(np.array(call["variance_u_flist"], np.float64), boxes.size // 4)
    return np.stack([boxes, variances]).astype(np.float32)[None, :, :, None]


def above_zero(call: Call, name: str, numbers: Sequence[float]) -> None:
    """Fail (UFF208) where a number of that field is none above 0."""
    if not all(0 < number < inf for number in numbers):
        call.fail(FIELD_VALUE, f"{name} is {numbers}; numbers above 0 are needed", name)


def as_constant(call: Call, emit: Emitter) -> None:
    """The anchors, which need no input."""
    with np.errstate(all="ignore"):
        value = emit.constant(call.spec.evaluate(call), "float32")
    emit.result(emit.node("Identity", value))


def anchor_facts(call: Call, total: int) -> Facts:
    """What is known of so many anchors and their variances."""
    variance = call["variance_u_flist"]
    if len(variance) != 4:
        message = f"{variance} are {len(variance)} numbers; 4 are needed"
        call.fail(FIELD_VALUE, message, "variance_u_flist")
    if total > _MOST:
        call.fail(TOO_LARGE, f"{total} anchors; {_MOST} are the most")
    return Facts((1, 2, total * 4, 1), FLOAT32)


def layer_sizes(call: Call) -> list[tuple[int, int]]:
    """Height and width of the map of each layer. Raises FormatError (UFF208)."""
    name, count = "featureMapShapes_u_ilist", call["numLayers_u_int"]
    numbers: list[int] = call[name]
    each, other = (2, _SQUARE) if call.node.operation == _RECT else (1, _RECT)
    if len(numbers) != each * count:
        message = f"{len(numbers)} numbers for {count} layers; {each * count} are needed"
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
    for name in ("minSize_u_float", "maxSize_u_float"):
        above_zero(call, name, [call[name]])
    above_zero(call, "aspectRatios_u_flist", ratios)
    if count < 2:
        message = f"{count} layers; the sizes of two or more are spread over the scales"
        call.fail(FIELD_VALUE, message, "numLayers_u_int")
    if len(ratios) < _FIRST:
        message = f"{ratios}; {_FIRST} or more numbers are needed"
        call.fail(FIELD_VALUE, message, "aspectRatios_u_flist")
    cells = [height * width for height, width in layer_sizes(call)]
    total = sum(a * b for a, b in zip(cells, boxes_a_cell(call), strict=True))
    return anchor_facts(call, total)


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
        layers.append(around(cell_middles(height, width) / (width, height), sizes))
    return stacked(call, layers)


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
    "variance_u_flist": VARIANCE,
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
        to_onnx=as_constant,
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

TRT_GRID_ANCHORS = (GRID_ANCHOR, GRID_ANCHOR_RECT)
