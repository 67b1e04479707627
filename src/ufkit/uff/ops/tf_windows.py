"""TensorFlow convolutions and pools that came through the converter unchanged.

Their attributes speak of all axes (strides [1, 2, 2, 1]) and of `data_format`. Their meaning:
https://www.tensorflow.org/api_docs/python/tf/raw_ops
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ufkit.uff.data import Orders
from ufkit.uff.ops.conv import CONV, CONV_TRANSPOSE
from ufkit.uff.ops.fields import REQUIRED, Field
from ufkit.uff.ops.pool import POOL
from ufkit.uff.ops.rearranged import rearranged
from ufkit.uff.ops.spec import Call, Example
from ufkit.uff.ops.tf_math import stands_for
from ufkit.uff.orders import parse
from ufkit.uff.rules import FIELD_VALUE

LAYOUT = Field("s", "where the channels are, NHWC or NCHW and the like", "NHWC")
_PADDING = Field("s", "how maps are padded", REQUIRED, ("SAME", "VALID", "EXPLICIT"))
_STEPS = Field("i_list", "step per axis, batch and channels included")
_DILATIONS = Field("i_list", "distance between kernel elements per axis", [])
_PADDINGS = Field("i_list", "zeros before and behind each axis, for the padding EXPLICIT", [])
_WINDOW = Field("i_list", "size of the window per axis, batch and channels included")


def map_order(call: Call) -> Orders:
    """The axis order of a map, as `data_format` says."""
    return Orders(tuple(parse("NC+" if call.own("data_format")[1:2] == "C" else "N+C")))


def _spatial(call: Call, name: str) -> list[int]:
    """The numbers of a list over all axes that concern the spatial ones."""
    numbers: list[int] = call.own(name)
    return numbers[2:] if call.own("data_format")[1:2] == "C" else numbers[1:-1]


def _window(call: Call) -> dict[str, Any]:
    same = "same" if call.own("padding") == "SAME" else None
    return {"strides": _spatial(call, "strides"), "implicit_padding": same}


def _explicit(call: Call) -> list[int]:
    """Zeros before and behind each spatial axis, where the node says how many."""
    if call.own("padding") != "EXPLICIT":
        return []
    numbers: list[int] = call.own("explicit_paddings")
    if len(numbers) != 2 * len(axes := call.own("strides")):
        message = f"explicit_paddings has {len(numbers)} numbers for {len(axes)} axes"
        call.fail(FIELD_VALUE, message, "explicit_paddings")
    return numbers[4:] if call.own("data_format")[1:2] == "C" else numbers[2:-2]


def _convolution(kernel: str) -> Callable[[Call], dict[str, Any]]:
    def values(call: Call) -> dict[str, Any]:
        orders = [map_order(call), Orders(tuple(parse(kernel)))]
        found = {"inputs_orders": orders, "explicit_padding": _explicit(call), **_window(call)}
        if call.own("dilations"):
            found["dilation"] = _spatial(call, "dilations")
        return found

    return values


def _depthwise(call: Call) -> dict[str, Any]:
    if call.rank(1) != 4:
        call.conflict(f"a depthwise kernel has 4 axes, this one is {call.inputs[1]}")
    return {**_convolution("+CK")(call), "number_groups": call.shape(1)[2]}


def _pooling(func: str) -> Callable[[Call], dict[str, Any]]:
    def values(call: Call) -> dict[str, Any]:
        if call.own("padding") == "EXPLICIT":
            call.conflict("explicit paddings of a pool are not understood here")
        window = {"func": func, "kernel": _spatial(call, "ksize"), **_window(call)}
        return {"inputs_orders": [map_order(call)], **window}

    return values


_CONV_FIELDS = {
    "strides": _STEPS,
    "padding": _PADDING,
    "data_format": LAYOUT,
    "dilations": _DILATIONS,
    "explicit_paddings": _PADDINGS,
}
_POOL_FIELDS = {
    "ksize": _WINDOW,
    "strides": _STEPS,
    "padding": _PADDING,
    "data_format": LAYOUT,
}

_EXPLICIT = {"explicit_padding": Field("i_list", "zeros before and behind each spatial axis", [])}
PADDED_CONV, _TRANSPOSED = (
    replace(core, fields={**core.fields, **_EXPLICIT}) for core in (CONV, CONV_TRANSPOSE)
)

_THREE = {"strides": [1, 1, 2, 1, 1], "padding": "b'SAME'", "data_format": "b'NDHWC'"}
CONVOLUTIONS = (
    stands_for(
        "_Conv2D",
        PADDED_CONV,
        "Conv with a kernel (H, W, C, K).",
        _convolution("+CK"),
        _CONV_FIELDS,
        (
            Example(
                ((1, 5, 5, 2), (3, 3, 2, 4)),
                {"strides": [1, 2, 2, 1], "padding": "SAME"},
                const=(1,),
            ),
            Example(
                ((1, 5, 5, 2), (3, 3, 2, 4)),
                {
                    "strides": [1, 2, 1, 1],
                    "padding": "EXPLICIT",
                    "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0],
                },
                const=(1,),
            ),
        ),
    ),
    stands_for(
        "_Conv3D",
        PADDED_CONV,
        "Conv over three axes with a kernel (D, H, W, C, K).",
        _convolution("+CK"),
        _CONV_FIELDS,
        (Example(((1, 4, 5, 4, 2), (3, 3, 2, 2, 3)), _THREE, const=(1,)),),
    ),
    stands_for(
        "_DepthwiseConv2dNative",
        PADDED_CONV,
        "Conv of each channel with kernels of its own, (H, W, C, multiplier).",
        _depthwise,
        _CONV_FIELDS,
        (
            Example(
                ((1, 6, 5, 3), (3, 3, 3, 2)),
                {"strides": [1, 1, 1, 1], "padding": "VALID"},
                const=(1,),
            ),
        ),
    ),
)

_STRIDED = {"strides": [1, 2, 2, 1]}
_SIZES = np.array([2, 8, 9, 4], np.int32)
_VOLUME = np.array([1, 4, 5, 3, 2], np.int32)
TRANSPOSED = tuple(
    rearranged(
        stands_for(
            name,
            _TRANSPOSED,
            f"ConvTranspose with a kernel ({axes}, K, C): the map of `input_sizes` whose "
            "convolution with the kernel would have the shape of `out_backprop`.",
            _convolution("+KC"),
            _CONV_FIELDS,
            examples,
        ),
        ("input_sizes", "filter", "out_backprop"),
        lambda count: (2, 1, 0),
    )
    for name, axes, examples in (
        (
            "_Conv2DBackpropInput",
            "H, W",
            (
                Example(
                    (_SIZES, (3, 3, 4, 2), (2, 4, 5, 2)),
                    {**_STRIDED, "padding": "SAME"},
                    const=(0, 1),
                ),
                Example(
                    (_SIZES, (2, 3, 4, 2), (2, 4, 4, 2)),
                    {**_STRIDED, "padding": "VALID"},
                    const=(0, 1),
                ),
                Example(
                    (_SIZES, (3, 4, 4, 2), (2, 5, 4, 2)),
                    {
                        **_STRIDED,
                        "padding": "EXPLICIT",
                        "explicit_paddings": [0, 0, 2, 1, 0, 1, 0, 0],
                    },
                    const=(0, 1),
                ),
            ),
        ),
        (
            "_Conv3DBackpropInputV2",
            "D, H, W",
            (
                Example(
                    (_VOLUME, (2, 3, 1, 2, 3), (1, 2, 3, 3, 3)),
                    {"strides": [1, 2, 2, 1, 1], "padding": "SAME"},
                    const=(0, 1),
                ),
            ),
        ),
    )
)

POOLS = tuple(
    stands_for(
        name,
        POOL,
        f"Pool with func `{func}`.",
        _pooling(func),
        _POOL_FIELDS,
        (example,),
    )
    for func, what in (("max", "_MaxPool"), ("avg", "_AvgPool"))
    for name, example in (
        (
            what,
            Example(
                ((2, 5, 6, 3),),
                {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
            ),
        ),
        (
            f"{what}3D",
            Example(
                ((1, 4, 5, 4, 2),),
                {
                    "ksize": [1, 2, 3, 2, 1],
                    "strides": [1, 2, 2, 1, 1],
                    "padding": "SAME",
                    "data_format": "NDHWC",
                },
            ),
        ),
    )
)

TF_WINDOWS = (*CONVOLUTIONS, *TRANSPOSED, *POOLS)
