"""TensorFlow's resizing of maps, passed on by the converter unchanged.

Their meaning: https://www.tensorflow.org/api_docs/python/tf/raw_ops
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ufkit.core.dtypes import FLOAT32
from ufkit.uff.dims import Dim, show, static
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.select import known_numbers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE
from ufkit.uff.orders import expand, inverse, parse


def _target(call: Call) -> list[int | Dim]:
    numbers = known_numbers(call, 1)
    if call.rank(0) != 4 or len(numbers) != 2:
        call.conflict(f"a map of four axes and two sizes are needed, not {call.inputs[0]}")
    return numbers


def _sizes(call: Call) -> list[int]:
    return [int(size) for size in _target(call) if not isinstance(size, Dim)]


def _infer_resize(call: Call) -> Facts:
    batch, _, _, channels = call.shape(0) if call.rank(0) == 4 else (0, 0, 0, 0)
    return Facts((batch, *_target(call), channels), call.inputs[0].dtype)


def _infer_float(call: Call) -> Facts:
    return replace(_infer_resize(call), dtype=FLOAT32)


def _places(call: Call, size: int, wanted: int) -> Array:
    """Where each element of the result falls on an axis of `size`, in its elements.

    align_corners: i (size - 1) / (wanted - 1); half_pixel_centers: (i + 1/2) size / wanted - 1/2;
    else i size / wanted. In single precision, as TensorFlow computes them.
    """
    i = np.arange(wanted, dtype=np.float32)
    if call["align_corners"] and wanted > 1:
        return i * np.float32((size - 1) / (wanted - 1))
    scale = np.float32(size / wanted)
    return (i + np.float32(0.5)) * scale - np.float32(0.5) if _half(call) else i * scale


def _half(call: Call) -> bool:
    return bool(call["half_pixel_centers"])


def _nearest(call: Call, size: int, wanted: int) -> Array:
    places = _places(call, size, wanted)
    turned = call["align_corners"] or _half(call)  # these round half up, the other one down
    whole = np.floor(places + np.float32(0.5)) if turned else np.floor(places)
    return np.clip(whole, 0, size - 1).astype(np.int64)


def _evaluate_nearest(call: Call, x: Array, _: Array) -> Array:
    rows, columns = (
        _nearest(call, size, n) for size, n in zip(x.shape[1:3], _sizes(call), strict=True)
    )
    return x[:, rows][:, :, columns]


def _evaluate_bilinear(call: Call, x: Array, _: Array) -> Array:
    result = x.astype(np.float64)
    for axis, wanted in zip((1, 2), _sizes(call), strict=True):
        size = x.shape[axis]
        places = _places(call, size, wanted).astype(np.float64)
        below = np.floor(places)
        share = (places - below).reshape([-1 if at == axis else 1 for at in range(4)])
        low = np.clip(below, 0, size - 1).astype(np.int64)
        high = np.clip(below + 1, 0, size - 1).astype(np.int64)
        result = result.take(low, axis) * (1 - share) + result.take(high, axis) * share
    return np.asarray(result, np.float32)


def _resize_to_onnx(mode: str) -> Callable[[Call, Emitter], None]:
    def lower(call: Call, emit: Emitter) -> None:
        order = inverse(expand(parse("N+C"), 4))
        wanted = _target(call)
        if any(isinstance(size, Dim) for size in wanted):
            emit.refuse("the size wanted is not known before the model runs")
        turn, rounding = "asymmetric", "floor"
        if call["align_corners"] or _half(call):
            turn = "align_corners" if call["align_corners"] else "half_pixel"
            rounding = "round_prefer_ceil"
        value = emit.value(0, order)
        outer = emit.node(
            "Slice", emit.node("Shape", value), emit.constant([0]), emit.constant([2])
        )
        sizes = emit.node("Concat", outer, emit.constant(wanted), axis=0)
        more = {"nearest_mode": rounding} if mode == "nearest" else {}
        name = emit.node(
            "Resize",
            value,
            "",
            "",
            sizes,
            mode=mode,
            coordinate_transformation_mode=turn,
            **more,
        )
        dtype = call.inputs[0].dtype
        emit.result(
            name if mode == "nearest" or dtype is FLOAT32 else emit.cast(name, FLOAT32), order
        )

    return lower


_RESIZE_FIELDS = {
    "T": TYPE,
    "align_corners": Field("b", "whether the corners of both maps lie on each other", False),
    "half_pixel_centers": Field("b", "whether elements are squares with a middle", False),
}
_SMALLER, _LARGER = np.array([3, 2], np.int32), np.array([8, 10], np.int32)


def _resize(name: str, doc: str, evaluate: Callable[..., Array], mode: str) -> OpSpec:
    examples = tuple(
        Example(((2, 4, 5, 3), size), flags, const=(1,))
        for size in (_SMALLER, _LARGER)
        for flags in ({}, {"align_corners": True}, {"half_pixel_centers": True})
    )
    infer = _infer_resize if mode == "nearest" else _infer_float
    inputs, lower = ("x", "size"), _resize_to_onnx(mode)
    return OpSpec(name, doc, inputs, _RESIZE_FIELDS, infer, evaluate, lower, examples)


RESAMPLED = (
    _resize(
        "_ResizeNearestNeighbor",
        "The map in another size, each element the nearest one. `size` is (height, width).",
        _evaluate_nearest,
        "nearest",
    ),
    _resize(
        "_ResizeBilinear",
        "The map in another size, elements mixed from four, as float32. `size` is (height, width).",
        _evaluate_bilinear,
        "linear",
    ),
)

# -- as products with matrices ---------------------------------------------------------------

_MOST = 1 << 21  # weights in a matrix that is put into a model
_TAPS = 16  # elements that one of the result may take, when memory is reckoned
_STEPS = 1024  # in which TensorFlow tabulates the cubic's weights between two elements


def _weights(call: Call, size: int, wanted: int) -> Array:
    """How much each element of an axis counts in each of the result: [wanted, size]."""
    call.bound((wanted, size))
    compute = _area if call.spec.name == "_ResizeArea" else _cubic
    numbers, shares = compute(call, size, wanted)
    weights = np.zeros((wanted, size))
    places = np.clip(numbers, 0, size - 1).astype(np.int64)
    np.add.at(weights, (np.arange(wanted)[:, None], places), shares)
    return weights


def _cubic(call: Call, size: int, wanted: int) -> tuple[Array, Array]:
    """Four elements and their shares, by Keys' cubic. Half pixels leave out what is beyond."""
    a = -0.5 if _half(call) else -0.75
    places = _places(call, size, wanted).astype(np.float64)
    first = np.floor(places)
    away = np.rint((places - first) * _STEPS) / _STEPS
    distance = np.stack([1 + away, away, 1 - away, 2 - away], 1)
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    shares = np.where([False, True, True, False], near, far)
    numbers = first[:, None] + np.arange(-1, 3)
    if _half(call):
        shares = np.where((numbers >= 0) & (numbers < size), shares, 0)
        shares /= shares.sum(1, keepdims=True)
    return numbers, shares


def _area(call: Call, size: int, wanted: int) -> tuple[Array, Array]:
    """All elements that an element of the result covers, and how much of it each fills."""
    aligned = call["align_corners"] and wanted > 1
    scale = np.float32((size - 1) / (wanted - 1) if aligned else size / wanted)
    edges = np.arange(wanted + 1, dtype=np.float32)[:, None] * scale
    begin, end = edges[:-1], edges[1:]
    count = int(np.ceil(scale)) + 1
    call.bound((wanted, count))
    numbers = np.floor(begin) + np.arange(count)
    covered = np.minimum(numbers + 1, end) - np.maximum(numbers, begin)
    return numbers, np.maximum(covered, 0) / scale


def _evaluate_weighted(call: Call, x: Array, _: Array) -> Array:
    rows, columns = (
        _weights(call, size, n) for size, n in zip(x.shape[1:3], _sizes(call), strict=True)
    )
    turned = x.astype(np.float64).transpose(0, 3, 1, 2)
    return np.asarray((rows @ turned @ columns.T).transpose(0, 2, 3, 1), np.float32)


def _weighted_to_onnx(call: Call, emit: Emitter) -> None:
    """ONNX's own cubic has other weights; products with matrices have exactly these."""
    order = inverse(expand(parse("N+C"), 4))
    sizes, wanted = static(call.shape(0)[1:3]), static(tuple(_target(call)))
    if sizes is None or wanted is None:
        emit.refuse(f"the size of the map {show(call.shape(0))} or of the result is not known")
    if any(n * max(size, _TAPS) > _MOST for size, n in zip(sizes, wanted, strict=True)):
        emit.refuse(f"the weights from {list(sizes)} to {list(wanted)} elements are too many")
    rows, columns = (_weights(call, size, n) for size, n in zip(sizes, wanted, strict=True))
    value = emit.value(0, order)
    if call.inputs[0].dtype is not FLOAT32:
        value = emit.cast(value, FLOAT32)
    name = emit.node("MatMul", emit.constant(rows, "float32"), value)
    emit.result(emit.node("MatMul", name, emit.constant(columns.T, "float32")), order)


def _weighted(name: str, doc: str, flags: tuple[str, ...]) -> OpSpec:
    fields = {name: field for name, field in _RESIZE_FIELDS.items() if name in ("T", *flags)}
    examples = tuple(
        Example(((2, 4, 5, 3), size), {flag: True} if flag else {}, const=(1,))
        for size in (_SMALLER, _LARGER)
        for flag in ("", *flags)
    )
    return OpSpec(
        name,
        f"{doc} `size` is (height, width).",
        ("x", "size"),
        fields,
        _infer_float,
        _evaluate_weighted,
        _weighted_to_onnx,
        examples,
    )


WEIGHTED = (
    _weighted(
        "_ResizeBicubic",
        "The map in another size, elements mixed from sixteen, as float32.",
        ("align_corners", "half_pixel_centers"),
    ),
    _weighted(
        "_ResizeArea",
        "The map in another size, each element the mean of the area it covers, as float32.",
        ("align_corners",),
    ),
)

TF_RESIZE = (*RESAMPLED, *WEIGHTED)
