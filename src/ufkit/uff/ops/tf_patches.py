"""TensorFlow's ExtractImagePatches: what each window sees, laid out as channels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ufkit.uff.data import Orders
from ufkit.uff.dims import Dim, product
from ufkit.uff.ops.conv import CONV
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import REQUIRED, Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts
from ufkit.uff.ops.tf_math import stands_for
from ufkit.uff.ops.windows import (
    canonical_result,
    canonical_value,
    extents,
    onnx_padding,
    pad,
    padding_of,
    taps,
)
from ufkit.uff.orders import parse

_MOST = 1 << 20  # elements of the kernels that are put into a model


def _values(call: Call) -> dict[str, Any]:
    """The fields of the convolution whose windows these are."""
    same = "same" if call.own("padding") == "SAME" else None
    return {
        "inputs_orders": [Orders(tuple(parse("N+C")))],
        "strides": call.own("strides")[1:-1],
        "dilation": call.own("rates")[1:-1],
        "implicit_padding": same,
    }


def _window(call: Call) -> list[int]:
    """Height and width of a window."""
    sizes: list[int] = call.own("ksizes")[1:-1]
    if call.rank(0) != 4 or len(sizes) != 2 or min(sizes) < 1:
        call.conflict(f"windows of {sizes} on {call.inputs[0]}; a map (N, H, W, C) is needed")
    return sizes


def _infer(call: Call) -> Facts:
    window = _window(call)
    batch, channels = call.canonical(0)[:2]
    sizes = extents(call, window, call.spatial("dilation"))
    shape = (batch, channels * product(tuple(window)), *sizes)
    return Facts(call.from_canonical(shape), call.inputs[0].dtype)


def _evaluate(call: Call, x: Array) -> Array:
    window, strides, rates = _window(call), call.spatial("strides"), call.spatial("dilation")
    x = call.to_canonical(0, x)
    out: Any = extents(call, window, rates)
    padded = pad(call, x, padding_of(call, window, rates, x.shape[2:]))
    seen = [part for _, part in taps(call, padded, window, strides, rates, out)]
    return call.back(np.concatenate(seen, axis=1))


def _to_onnx(call: Call, emit: Emitter) -> None:
    """A convolution of each channel, whose kernels see one place each; sorted by place then."""
    window, rates = _window(call), call.spatial("dilation")
    kind, channels = call.inputs[0].dtype, call.canonical(0)[1]
    if isinstance(channels, Dim) or not kind.name.startswith("float"):
        emit.refuse(f"patches of {call.inputs[0]}")
    places = window[0] * window[1]
    if places * max(places, channels) > _MOST:
        emit.refuse(f"windows of {window} see too many places of {channels} channels")
    kernels = np.eye(places).reshape(places, 1, *window)
    name = emit.node(
        "Conv",
        canonical_value(call, emit),
        emit.node("Tile", emit.constant(kernels, kind.name), emit.constant([channels, 1, 1, 1])),
        kernel_shape=window,
        strides=call.spatial("strides"),
        dilations=rates,
        group=channels,
        **onnx_padding(call, window, rates),
    )
    if channels > 1:
        by_place = np.arange(channels * places).reshape(channels, places).T.ravel()
        name = emit.node("Gather", name, emit.constant(by_place), axis=1)
    canonical_result(call, emit, name)


EXTRACT_IMAGE_PATCHES = replace(
    stands_for(
        "_ExtractImagePatches",
        CONV,
        "What each window sees, in the channels: all channels of its first place, then of the "
        "next. Zeros lie around the map.",
        _values,
        {
            "ksizes": Field("i_list", "size of the window per axis, batch and channels included"),
            "strides": Field("i_list", "step per axis, batch and channels included"),
            "rates": Field("i_list", "distance between the elements of a window per axis"),
            "padding": Field("s", "SAME or VALID", REQUIRED, ("SAME", "VALID")),
        },
        tuple(
            Example(
                ((2, 6, 5, 3),),
                {
                    "ksizes": [1, 2, 3, 1],
                    "strides": [1, 2, 1, 1],
                    "rates": [1, *rates, 1],
                    "padding": padding,
                },
            )
            for padding, rates in (("VALID", (1, 1)), ("SAME", (1, 2)))
        ),
    ),
    inputs=("images",),
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
)
