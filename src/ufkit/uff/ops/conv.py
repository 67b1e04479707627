"""Conv and ConvTranspose."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.uff.dims import Dim, Shape, product, show, static, unify, whole
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import ONES, ORDERS, OUTPUT_ORDERS, ZEROS, Field
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.windows import (
    SAME,
    canonical_result,
    canonical_value,
    ends,
    extents,
    is_same,
    onnx_padding,
    pad,
    padding_of,
    taps,
)
from ufkit.uff.orders import inverse

_FIELDS = {
    "inputs_orders": ORDERS,
    "outputs_orders": OUTPUT_ORDERS,
    "strides": Field("i_list", "step per spatial axis, in elements", ONES),
    "dilation": Field("i_list", "distance between kernel elements per spatial axis", ONES),
    "padding": Field("i_list", "zeros at both ends of each spatial axis", ZEROS),
    "implicit_padding": SAME,
    "number_groups": Field("i", "groups the channels are divided into", 1),
}


def _kernel(call: Call) -> tuple[int, ...]:
    """Spatial sizes of the kernel, which must be numbers."""
    sizes = static(call.canonical(1)[2:])
    if sizes is None:
        call.conflict(f"the kernel's size is not known: {show(call.shape(1))}")
    return sizes


def _is_depthwise(call: Call) -> bool:
    """Whether the kernel is TensorFlow's depthwise one: (spatial..., C, multiplier).

    Its canonical form is (multiplier, C, spatial...) with one group per channel, where any other
    grouped kernel holds C / groups channels.
    """
    groups = call["number_groups"]
    map_fits = unify(groups, call.canonical(0)[1]) is not None
    return bool(groups > 1 and call.canonical(1)[1] == groups and map_fits)


def _filters(call: Call) -> Any:
    """Number of output channels."""
    filters = call.canonical(1)[0]
    return filters * call["number_groups"] if _is_depthwise(call) else filters


def _check_ranks(call: Call) -> None:
    if call.rank(0) != call.rank(1):
        call.conflict(f"kernel {show(call.shape(1))} on a map {show(call.shape(0))}: ranks differ")
    if call.rank(0) < 3:
        call.conflict(f"a map needs a spatial axis; this one is {show(call.shape(0))}")


def _check_groups(call: Call, divided: int | Dim, what: str) -> None:
    groups = call["number_groups"]
    if groups < 1 or (isinstance(divided, int) and divided % groups):
        call.conflict(f"{divided} {what} cannot be divided into {groups} groups")


def _check_channels(call: Call) -> None:
    _check_ranks(call)
    _check_groups(call, _filters(call), "filters")
    groups, taken, given = call["number_groups"], call.canonical(1)[1], call.canonical(0)[1]
    wanted = taken if _is_depthwise(call) else taken * groups
    if unify(wanted, given) is None:
        call.conflict(
            f"the kernel {show(call.shape(1))} in {groups} groups takes {wanted} channels, "
            f"the map {show(call.shape(0))} has {given}"
        )


def _infer(call: Call) -> Facts:
    _check_channels(call)
    sizes = extents(call, _kernel(call), call.spatial("dilation"))
    shape = (call.canonical(0)[0], _filters(call), *sizes)
    return Facts(call.from_canonical(shape), call.inputs[0].dtype)


def _grouped(call: Call, kernel: Array) -> Array:
    """The canonical kernel (K, C / groups, spatial...), whatever form it is stored in."""
    kernel = call.to_canonical(1, kernel)
    if _is_depthwise(call):  # output channel c * multiplier + m reads channel c
        kernel = kernel.swapaxes(0, 1).reshape(-1, 1, *kernel.shape[2:])
    return kernel


def _evaluate(call: Call, x: Array, kernel: Array) -> Array:
    """y[n, k, p] = sum over c, t of x[n, c, stride p + dilation t - before] * kernel[k, c, t]."""
    x = call.to_canonical(0, x)
    weights = _grouped(call, kernel).astype(np.float64)
    size, strides, dilation = weights.shape[2:], call.spatial("strides"), call.spatial("dilation")
    out = extents(call, size, dilation)
    padded = pad(call, x.astype(np.float64), padding_of(call, size, dilation, x.shape[2:]))
    groups, batch = call["number_groups"], x.shape[0]
    weights = weights.reshape(groups, -1, *weights.shape[1:])
    result: Any = 0
    for place, seen in taps(call, padded, size, strides, dilation, out):  # type: ignore[arg-type]
        columns = seen.reshape(batch, groups, seen.shape[1] // groups, -1)
        result = result + weights[place] @ columns
    return call.back(result.reshape(batch, -1, *out).astype(x.dtype))


def _macs(call: Call, facts: Facts) -> int | Dim:
    """Each element of the output is a sum over the kernel's elements for one filter."""
    _, channels, *size = call.canonical(1)
    taps = product((*(facts.shape or ()), *size))
    return taps if _is_depthwise(call) else taps * channels


def _to_onnx(call: Call, emit: Emitter) -> None:
    size, dilation = _kernel(call), call.spatial("dilation")
    order = inverse(call.order(1))
    if _is_depthwise(call):
        swapped = (order[1], order[0], *order[2:])
        shape = emit.constant([_filters(call), 1, *size])
        weights = emit.node("Reshape", emit.value(1, swapped), shape)
    else:
        weights = emit.value(1, order)
    name = emit.node(
        "Conv",
        canonical_value(call, emit),
        weights,
        kernel_shape=size,
        strides=call.spatial("strides"),
        dilations=dilation,
        group=call["number_groups"],
        **onnx_padding(call, size, dilation),
    )
    canonical_result(call, emit, name)


CONV = OpSpec(
    name="Conv",
    doc="Slides `kernel` over the spatial axes of `input` (cross-correlation). Canonical shapes: "
    "input (N, C, spatial...), kernel (K, C / number_groups, spatial...). A depthwise kernel is "
    "TensorFlow's (spatial..., C, multiplier) in order `+CK` with number_groups = C.",
    inputs=("input", "kernel"),
    fields=_FIELDS,
    infer=_infer,
    evaluate=_evaluate,
    to_onnx=_to_onnx,
    macs=_macs,
    examples=(
        Example(
            ((2, 7, 6, 4), (3, 2, 4, 5)),
            {"strides": [2, 1], "implicit_padding": "same"},
            "N+C_+CK",
            const=(1,),
        ),
        Example(
            ((1, 4, 9), (6, 2, 3)),
            {"padding": [2], "dilation": [2], "number_groups": 2},
            "NC+_KC+",
            const=(1,),
        ),
        Example(
            ((1, 8, 8, 3), (3, 3, 3, 2)),
            {"number_groups": 3, "strides": [2, 2]},
            "N+C_+CK",
            const=(1,),
        ),
    ),
)


def _target(call: Call) -> Shape:
    """The output's shape as the third input asks for, in UFF's order."""
    value = call.inputs[2].value
    if value is None or len(whole(value)) != call.rank(0):
        call.conflict(
            f"the output shape must be known and have {call.rank(0)} numbers; "
            f"it is {call.inputs[2]}"
        )
    return tuple(whole(value))


def _infer_transpose(call: Call) -> Facts:
    _check_ranks(call)
    _check_groups(call, call.canonical(0)[1], "channels")
    if unify(call.canonical(1)[1], call.canonical(0)[1]) is None:
        call.conflict(
            f"the kernel {show(call.shape(1))} takes {call.canonical(1)[1]} channels, "
            f"the map {show(call.shape(0))} has {call.canonical(0)[1]}"
        )
    order = call.output_order(call.rank(0))
    target = _target(call)
    sizes = tuple(target[axis] for axis in inverse(order))[2:]
    if static(call.canonical(0)[2:]) and static(sizes):
        _margins(call, sizes)  # fails where no convolution leads from the one to the other
    filters = call.canonical(1)[0] * call["number_groups"]
    return Facts(call.from_canonical((call.canonical(0)[0], filters, *sizes)), call.inputs[0].dtype)


def _margins(call: Call, out: Any) -> list[tuple[int, int, int]]:
    """Per spatial axis: cut off before, cut off behind, added behind.

    The output is the map whose convolution would have given the input, so its padding is what
    that convolution pads: https://www.tensorflow.org/api_docs/python/tf/nn/conv2d_transpose
    """
    sizes, kernel = static(call.canonical(0)[2:]), _kernel(call)
    if sizes is None or static(out) is None:
        call.conflict("sizes of a ConvTranspose must be known: its padding follows from them")
    margins = []
    for size, k, stride, step, target, given in zip(
        sizes,
        kernel,
        call.spatial("strides"),
        call.spatial("dilation"),
        out,
        [(0, 0)] * len(sizes) if is_same(call) else ends(call),
        strict=True,
    ):
        surplus = (size - 1) * stride + step * (k - 1) + 1 - target
        before, behind = given
        if is_same(call) and surplus > 0:
            before, behind = surplus // 2, surplus - surplus // 2
        added = before + behind - surplus
        if not 0 <= added < max(stride, step):
            call.conflict(f"a map of {size} cannot have come from one of {target}")
        margins.append((before, behind, added))
    return margins


def _spatial_target(call: Call) -> Shape:
    shape = _infer_transpose(call).shape or ()
    return tuple(shape[axis] for axis in inverse(call.output_order(len(shape))))[2:]


def _evaluate_transpose(call: Call, x: Array, kernel: Array, _: Array) -> Array:
    """Adds x[n, c, p] * kernel[k, c, t] to y[n, k, stride p + dilation t - before]."""
    x = call.to_canonical(0, x)
    weights = call.to_canonical(1, kernel).astype(np.float64)
    strides, dilation = call.spatial("strides"), call.spatial("dilation")
    out = [int(size) for size in _spatial_target(call)]  # type: ignore[arg-type]
    margins = _margins(call, out)
    room = [size + before + behind for size, (before, behind, _) in zip(out, margins, strict=True)]
    groups, batch = call["number_groups"], x.shape[0]
    per_group = x.reshape(batch, groups, x.shape[1] // groups, -1).astype(np.float64)
    weights = weights.reshape(weights.shape[0], groups, -1, *weights.shape[2:])
    call.bound((batch, groups * weights.shape[0], *room))
    full = np.zeros((batch, groups * weights.shape[0], *room))
    for place, spot in taps(call, full, weights.shape[3:], strides, dilation, x.shape[2:]):
        part = weights[place].transpose(1, 0, 2) @ per_group
        spot += part.reshape(spot.shape)
    cut: Any = tuple(
        slice(before, before + size) for (before, *_), size in zip(margins, out, strict=True)
    )
    return call.back(full[..., *cut].astype(x.dtype))


def _to_onnx_transpose(call: Call, emit: Emitter) -> None:
    order = inverse(call.order(1))
    margins = _margins(call, _spatial_target(call))
    name = emit.node(
        "ConvTranspose",
        canonical_value(call, emit),
        emit.value(1, (order[1], order[0], *order[2:])),
        kernel_shape=_kernel(call),
        strides=call.spatial("strides"),
        dilations=call.spatial("dilation"),
        group=call["number_groups"],
        pads=[before for before, _, _ in margins] + [behind for _, behind, _ in margins],
        output_padding=[added for _, _, added in margins],
    )
    canonical_result(call, emit, name)


def _macs_transpose(call: Call, facts: Facts) -> int | Dim:
    """Each element of the input meets every kernel element of each filter of its group."""
    filters, _, *size = call.canonical(1)
    return product((*call.shape(0), filters, *size))


CONV_TRANSPOSE = OpSpec(
    name="ConvTranspose",
    doc="The transpose of a convolution: `output_shape` is the map whose convolution with "
    "`kernel` would have the shape of `input`. Canonical kernel: (K, C, spatial...), C being the "
    "channels of `input`.",
    inputs=("input", "kernel", "output_shape"),
    fields=_FIELDS,
    infer=_infer_transpose,
    evaluate=_evaluate_transpose,
    to_onnx=_to_onnx_transpose,
    macs=_macs_transpose,
    examples=(
        Example(
            ((2, 4, 5, 3), (3, 3, 2, 3), np.array([2, 8, 9, 2], np.int32)),
            {"strides": [2, 2], "implicit_padding": "same"},
            "N+C_+KC",
            const=(1, 2),
        ),
        Example(
            ((1, 3, 4), (3, 2, 4), np.array([1, 8, 2], np.int32)),
            {"strides": [2]},
            "N+C_+KC",
            const=(1, 2),
        ),
    ),
)
