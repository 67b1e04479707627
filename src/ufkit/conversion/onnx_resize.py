"""ONNX's Resize and Upsample: as gathered elements, TensorRT's plugin, or TensorFlow's bilinear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ufkit.conversion.onnx_graph import OnnxCall
from ufkit.conversion.onnx_shapes import taken
from ufkit.conversion.onnx_walk import Entry, Refused, Walk, axes_of, bounded
from ufkit.core.dtypes import FLOAT32
from ufkit.uff.draft import Value
from ufkit.uff.ops.spec import Array

_OLD = 10  # the last opset whose Resize has no modes of coordinates
_HALF = np.float32(0.5)
_LARGEST = 1 << 16  # times that a map may grow
_WHOLE = 1e-3  # how far from a whole number single precision may be


@dataclass(frozen=True, slots=True)
class Line:
    """One axis of a map that changes.

    places   where each element of the result falls on the axis of `size`, in its elements
    """

    axis: int
    size: int
    wanted: int
    scale: np.float32
    places: Array


def _resize(walk: Walk, node: OnnxCall) -> Value:
    x, mode = walk.input(node), node.text("mode", "nearest")
    if x.rank == 0:
        raise Refused("a scalar has no size")
    lines = _lines(walk, node, x)
    if not lines:
        return x
    if mode == "nearest":
        return _nearest(walk, node, x, lines)
    if mode != "linear" or node.whole("antialias"):
        kind = f"{mode}, antialiased" if node.whole("antialias") else mode
        raise Refused(f"its mode is {kind}; UFF has nearest and linear")
    return _linear(walk, x, lines)


# -- how an axis changes ---------------------------------------------------------------------


def _lines(walk: Walk, node: OnnxCall, x: Value) -> list[Line]:
    """The axes that change. Raises Refused where their sizes are not known."""
    if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise Refused("it keeps the aspect ratio; give sizes that do")
    given, scales, sizes = node.wholes("axes"), _scales(walk, node), _sizes(walk, node)
    axes = [*range(x.rank)] if given is None else [axis % x.rank for axis in given]
    axes_of(axes, x.rank)
    if len(scales or sizes or ()) != len(axes):
        raise Refused(f"it has {len(scales or sizes or ())} scales or sizes for {len(axes)} axes")
    lines = []
    for number, axis in enumerate(axes):
        size = x.shape[axis]
        if scales:
            scale = np.float32(scales[number])
            if not 0 < scale < _LARGEST:
                raise Refused(f"its scale {scale} of axis {axis}")
            if scale == 1:
                continue
        elif sizes and size == sizes[number]:
            continue
        if not isinstance(size, int) or not size:
            raise Refused(f"the size of axis {axis}, which it changes, is not known")
        if scales:
            wanted = int(np.floor(np.float32(size) * scale))
        else:
            wanted = (sizes or [])[number]
            if not isinstance(wanted, int):
                raise Refused(f"the size wanted of axis {axis} is not known")
            scale = np.float32(wanted / size)
        if wanted < 1:
            raise Refused(f"nothing is left of axis {axis}")
        bounded([size, wanted], f"axis {axis}")
        places = _places(node, size, wanted, scale)
        lines.append(Line(axis, size, wanted, scale, places))
    return lines


def _scales(walk: Walk, node: OnnxCall) -> list[float]:
    if "scales" in node.attributes:
        return node.reals("scales") or []
    place = 1 if node.op == "Upsample" or node.opset <= _OLD else 2
    given = walk.maybe(node, place)
    return [] if given is None else [*map(float, walk.elements(given, "scales").ravel())]


def _sizes(walk: Walk, node: OnnxCall) -> list[int]:
    given = walk.maybe(node, 3)
    return [] if given is None else walk.numbers(given, "sizes")


def _places(node: OnnxCall, size: int, wanted: int, scale: np.float32) -> Array:
    """https://onnx.ai/onnx/operators/onnx__Resize.html, in single precision as run times do."""
    old = node.op == "Upsample" or node.opset <= _OLD
    manner = node.text("coordinate_transformation_mode", "asymmetric" if old else "half_pixel")
    i = np.arange(wanted, dtype=np.float32)
    if manner == "asymmetric":
        return i / scale
    if manner == "align_corners" and abs(size * float(scale) - wanted) > _WHOLE:
        raise Refused(
            "it aligns corners for a size that is no whole number, which has two meanings"
        )
    if manner == "align_corners":
        return i * np.float32((size - 1) / (wanted - 1)) if wanted > 1 else i
    if manner == "tf_half_pixel_for_nn":
        return (i + _HALF) / scale
    if manner == "pytorch_half_pixel" and wanted == 1:
        return np.zeros(1, np.float32)
    if manner in ("half_pixel", "pytorch_half_pixel"):
        return (i + _HALF) / scale - _HALF
    if manner == "half_pixel_symmetric":
        adjusted = np.float32(wanted) / (np.float32(size) * scale)
        offset = np.float32(size / 2) * (np.float32(1) - adjusted)
        return offset + (i + _HALF) / scale - _HALF
    raise Refused(f"its coordinates are {manner!r}, which UFF cannot say")


# -- nearest ---------------------------------------------------------------------------------


def _nearest(walk: Walk, node: OnnxCall, x: Value, lines: Sequence[Line]) -> Value:
    """TensorRT's plugin where it takes the same elements, else the elements by number."""
    old = node.op == "Upsample" or node.opset <= _OLD
    manner = node.text("nearest_mode", "floor" if old else "round_prefer_floor")
    if manner not in _ROUNDED:
        raise Refused(f"its nearest_mode is {manner!r}; {', '.join(_ROUNDED)} are known")
    if old and any(line.scale < 1 and (line.places % 1).any() for line in lines):
        raise Refused("it makes a map smaller, which run times of old opsets round differently")
    numbers = [
        np.clip(_ROUNDED[manner](line.places), 0, line.size - 1).astype(np.int32) for line in lines
    ]
    scale = float(lines[0].scale)
    on_map = x.rank == 4 and [line.axis for line in lines] == [2, 3] and x.dtype is FLOAT32
    if on_map and _plugin(lines, numbers):
        return walk.op("_ResizeNearest_TRT", x, scale_u_float=scale)
    for line, taken_ in zip(lines, numbers, strict=True):
        x = taken(walk, x, walk.const(taken_), line.axis)
    return x


_ROUNDED: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda places: np.ceil(places - _HALF),
    "round_prefer_ceil": lambda places: np.floor(places + _HALF),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _plugin(lines: Sequence[Line], numbers: Sequence[Array]) -> bool:
    """Whether TensorRT's plugin takes the same elements: number int(i / scale), of one scale."""
    scale = lines[0].scale
    return all(
        line.scale == scale
        and line.wanted == int(np.float32(line.size) * scale)
        and np.array_equal(numbers_, (np.arange(line.wanted, dtype=np.float32) / scale).astype(int))
        for line, numbers_ in zip(lines, numbers, strict=True)
    )


# -- linear ----------------------------------------------------------------------------------

_LAST = [0, 2, 3, 1]  # channels last, as TensorFlow has maps
_FIRST = [0, 3, 1, 2]


def _linear(walk: Walk, x: Value, lines: Sequence[Line]) -> Value:
    """TensorFlow's bilinear resizing, where its elements fall on the same places."""
    first = x.rank - 2
    if x.rank not in (3, 4) or any(line.axis < 2 for line in lines):
        raise Refused("it mixes elements along other axes than the last two of a map")
    dtype, flat = x.dtype, first == 1
    if flat:
        x = walk.op("ExpandDims", x, axis=2)
    wanted = [*walk.sizes(x, (2, 3))]
    for line in lines:
        wanted[line.axis - 2 + flat] = line.wanted
    flags = next((f for f in _FLAGS if all(_alike(line, *f) for line in lines)), None)
    if flags is None:
        raise Refused("its elements fall on other places than those of UFF's bilinear resizing")
    y = walk.op(
        "_ResizeBilinear",
        walk.transpose(x, _LAST),
        walk.i32(wanted),
        align_corners=flags[0],
        half_pixel_centers=flags[1],
    )
    y = walk.cast(walk.transpose(y, _FIRST), dtype)
    return walk.op("Squeeze", y, axes=[2]) if flat else y


_FLAGS = [pair for pair in product((False, True), repeat=2) if not all(pair)]


def _alike(line: Line, align_corners: bool, half_pixels: bool) -> bool:
    """Whether TensorFlow has the elements of an axis on the same places, beyond its ends too."""
    i = np.arange(line.wanted, dtype=np.float32)
    scale = np.float32(line.size / line.wanted)
    places = (i + _HALF) * scale - _HALF if half_pixels else i * scale
    if align_corners and line.wanted > 1:
        places = i * np.float32((line.size - 1) / (line.wanted - 1))
    ends = (0, line.size - 1)
    return np.allclose(np.clip(places, *ends), np.clip(line.places, *ends), rtol=0, atol=1e-4)


RESIZES: dict[str, Entry] = {"Resize": _resize, "Upsample": _resize}
