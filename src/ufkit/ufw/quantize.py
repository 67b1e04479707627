"""Nets from floats to integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError, RequestError, Where
from ufkit.ufw import quant
from ufkit.ufw.blob import Blob
from ufkit.ufw.error import Errors, errors
from ufkit.ufw.net import NEW, Layer, Net
from ufkit.ufw.quant import BM1880, INT8, INT16, UFW, Array, Profile, blocks
from ufkit.ufw.rules import (
    CANNOT_SHIFT,
    NO_THRESHOLD,
    NOT_FINITE,
    NOT_FLOATS,
    NOTHING_TO_DO,
    ONE_SHIFT,
    SATURATED_BIAS,
    STAYS_FLOAT,
    TOO_LARGE,
)
from ufkit.ufw.schema import BLOB
from ufkit.ufw.table import Shifted, Table
from ufkit.ufw.thresholds import Thresholds
from ufkit.wire.numbers import Numbers
from ufkit.wire.schema import EnumType

CONVOLUTIONS = frozenset({"Convolution", "ConvolutionDepthwise", "DepthwiseConvolution"})
INNER_PRODUCT, DECONVOLUTION, POOLING = "InnerProduct", "Deconvolution", "Pooling"
MOST_BLOBS = 2  # weights and biases
QUANTISED = CONVOLUTIONS | {INNER_PRODUCT, DECONVOLUTION}

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Part:
    """The weights or biases of a layer as integers, and what they cost.

    floats    as they were; output channels along axis 0, but in a Deconvolution
    integers  of the same shape
    scale     what the integer 1 stands for, of all or of each channel
    """

    floats: Array
    integers: Array
    scale: Array
    errors: Errors


@dataclass(frozen=True)
class Quantised:
    """A layer in integers. `shift` is one, or one for each channel; `parts` by their names."""

    name: str
    type: str
    thresholds: tuple[float, float]
    shift: Array
    parts: dict[str, Part]


@dataclass
class Report:
    """What became of a net.

    layers       those in integers, in the net's order
    table        the thresholds, and the shifts of all layers that have one for all channels
    diagnostics  what stays in floats, and what does not fit well
    """

    layers: list[Quantised] = field(default_factory=list)
    table: Table = field(default_factory=Table)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def quantize(
    net: Net,
    table: Table,
    profile: Profile = UFW,
    *,
    per_channel: bool = False,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Put integers in place of the weights of a net, for layers that compute in integers.

    Convolution, Deconvolution and InnerProduct are quantised; what else has weights stays in
    floats, and so does a layer whose weights are too large; the report says so. With `per_channel`
    each output channel has a shift of its own, where outputs are along axis 0.

    UFW keeps integers in int32_data, with all that says what they stand for. (That scaleToFloat is
    the factor back to floats is our reading of its name; confidence low.) The BM1880 keeps them as
    floats in `data`, and the shifts in its table, which `report.table` then has.

    The net is edited, and nothing written. Raises RequestError with all there is to say, before
    anything is edited: blobs without a threshold (UFW202), weights that are integers already
    (UFW209), a net without any such layer (UFW210); FormatError for weights that are NaN (UFW106).
    """
    if per_channel and profile is not UFW:
        message = f"the table of {profile.name} has one shift for all channels of a layer"
        raise RequestError(CANNOT_SHIFT.at(Where(net.source.name), message))
    thresholds = Thresholds(net, table.thresholds)
    layers = quantisable(net)
    problems = list(problems_of(layers, thresholds, table))
    if not layers:
        known = ", ".join(sorted(QUANTISED))
        message = f"none of its {len(net.layers)} layers is a {known} with weights"
        problems.append(NOTHING_TO_DO.at(Where(net.source.name), message))
    if problems:
        raise RequestError(*problems)
    report = Report(table=Table(dict(table.thresholds), {}, table.name, table.tree))
    for layer in net.layers:
        if layer.type not in QUANTISED and layer.blobs:
            message = f"the weights of a {layer.type} are left as they are"
            report.diagnostics.append(STAYS_FLOAT.at(layer.where(), message))
        elif layer.type == POOLING and profile is BM1880 and not any(thresholds.missing(layer)):
            multiplier, shift = quant.pool_multiplier(_ratio(thresholds.of(layer), profile))
            report.table.shifts[layer.name] = Shifted(shift, multiplier)
    made = []
    for done, layer in enumerate(layers):
        progress(done, len(layers))
        found = in_integers(layer, thresholds.of(layer), profile, per_channel, report.diagnostics)
        if found is not None:
            made.append((layer, found))
    for layer, found in made:  # nothing is edited before all went well
        for blob, part in zip(layer.blobs, found.parts.values(), strict=True):
            _PUT[profile](blob, part, found.shift)
        if not found.shift.ndim:
            report.table.shifts[layer.name] = Shifted(int(found.shift))
    progress(len(layers), len(layers))
    report.layers += [found for _, found in made]
    return report


def quantisable(net: Net) -> list[Layer]:
    """The layers of a net that integers can stand for."""
    return [layer for layer in net.layers if layer.type in QUANTISED and layer.blobs]


def problems_of(layers: list[Layer], thresholds: Thresholds, table: Table) -> Iterator[Diagnostic]:
    """What keeps these layers from being quantised: blobs without a threshold (UFW202), weights
    that are integers already (UFW209)."""
    said = set()
    for layer in layers:
        for message, hint in thresholds.missing(layer):
            if message not in said:  # several layers may take one blob
                said.add(message)
                named = f"{message}; the table names {len(table.thresholds)} blobs"
                yield NO_THRESHOLD.at(layer.where(), named, hint=hint or None)
        for blob in layer.blobs:
            if blob.storage not in ("data", "double_data"):
                message = f"it holds {blob.storage or 'nothing'} where floats are to be quantised"
                yield NOT_FLOATS.at(blob.where, message)
        if len(layer.blobs) > MOST_BLOBS:
            message = f"it has {len(layer.blobs)} blobs; weights and biases are {MOST_BLOBS}"
            yield NOT_FLOATS.at(layer.where(), message)


def _ratio(thresholds: tuple[float, float], profile: Profile) -> float:
    step_in, step_out = map(profile.step, thresholds)
    return quant.ratio_of(step_in, step_out)


def in_integers(
    layer: Layer,
    thresholds: tuple[float, float],
    profile: Profile,
    per_channel: bool,
    diagnostics: list[Diagnostic],
) -> Quantised | None:
    """The layer in integers, itself left alone; None where it has to stay as it is.

    What does not fit well goes to `diagnostics`. Raises as `quantize` for weights that cannot be.
    """
    weights, *biases = floats_of(layer)
    step_out, ratio = profile.step(thresholds[1]), _ratio(thresholds, profile)
    along = not _transposed(layer) and all(len(bias) == len(weights) for bias in biases)
    if per_channel and not along:
        message = f"a {layer.type} of {list(weights.shape)} has not its outputs along axis 0"
        diagnostics.append(ONE_SHIFT.at(layer.where(), message))
    each = tuple(range(1, weights.ndim)) if per_channel and along else None
    largest = np.maximum(weights.max(each), -weights.min(each))
    shift = quant.right_shift(largest, ratio, profile)
    if shift.min() < 0:
        message = (
            f"the largest weight is {largest.max():g}; times th_in / th_out, {ratio:g}, that is "
            f"{largest.max() * ratio:g}, and the largest integer {INT8.high}"
        )
        diagnostics.append(TOO_LARGE.at(layer.where(), message))
        return None
    for bias in biases:
        shift = quant.bias_shift(bias, step_out, shift, profile)
    integers = quant.quantize_weights(weights, ratio, shift)
    parts = {"weights": part_of(weights, integers, quant.weight_scale(ratio, shift))}
    for bias in biases:
        integers = quant.quantize_bias(bias, step_out, shift)
        parts["bias"] = part_of(bias, integers, quant.bias_scale(step_out, shift))
        if beyond := int(parts["bias"].errors.whole.beyond[0]):
            message = f"{beyond} of {bias.size} do not fit into {INT16.bits} bits"
            diagnostics.append(SATURATED_BIAS.at(layer.blobs[1].where, message))
    return Quantised(layer.name, layer.type, thresholds, shift, parts)


def _transposed(layer: Layer) -> bool:
    """Whether output channels are along axis 1 of the weights."""
    if layer.style == NEW and (param := layer.message.get("inner_product_param")):
        return bool(param.get("transpose"))
    return layer.type == DECONVOLUTION


def part_of(floats: Array, integers: Array, scale: Array) -> Part:
    """Floats and the integers that stand for them, held against each other."""
    return Part(floats, integers, scale, errors(floats, integers, scale))


def floats_of(layer: Layer) -> list[Array]:
    """Weights and biases, output channels along axis 0.

    Older files have four axes for all: those of a matrix are the last two.
    Raises FormatError (UFW106) where one is not finite, RequestError (UFW209) for integers.
    """
    weights, *biases = (np.atleast_1d(blob.array()) for blob in layer.blobs)
    for blob, array in zip(layer.blobs, (weights, *biases), strict=True):
        if not (isfinite(array.min()) and isfinite(array.max())):
            message = (
                f"of {array.size} numbers {np.count_nonzero(~np.isfinite(array))} are no numbers"
            )
            raise FormatError(NOT_FINITE.at(blob.where, message))
    if are_integers(weights):
        message = f"all {weights.size} are whole numbers, as the BM1880's nets have integers"
        raise RequestError(NOT_FLOATS.at(layer.blobs[0].where, message))
    if layer.type == INNER_PRODUCT and weights.ndim > 2:
        weights = weights.reshape(-1, weights.shape[-1])
    return [weights, *(bias.reshape(-1) for bias in biases)]


def are_integers(weights: Array) -> bool:
    """Whether they look quantised: whole numbers, the largest of which a shift brought near 127."""
    largest = max(weights.max(), -weights.min())
    near = INT8.high // 2 <= largest <= -INT8.low
    return near and not any(np.any(weights[rows] % 1) for rows in blocks(weights))


# -- where integers are kept -----------------------------------------------------------------


def _put_ufw(blob: Blob, part: Part, shift: Array) -> None:
    blob.put(part.integers)
    values: dict[str, Any] = {
        "bit_width": _BIT_WIDTH.numbers[f"bitWidth_{part.integers.itemsize * 8}"],
        "factor_inverse_full_scale": UFW.full_scale,
        "fixed_sign_type": _SIGN.numbers["SIGNED"],
    }
    if shift.ndim:
        field_ = BLOB.fields["scaleToFloatPerChannel"]
        values |= {"scaleToFloatPerChannel": Numbers(field_, part.scale), "per_channel_en": True}
    else:
        values |= {"right_shift_num": int(shift), "scaleToFloat": float(part.scale)}
    for name, value in values.items():
        blob.message.set(name, value)


def _put_bm1880(blob: Blob, part: Part, shift: Array) -> None:
    blob.put(part.integers.astype(np.float32))


_BIT_WIDTH: EnumType = BLOB.fields["bit_width"].type
_SIGN: EnumType = BLOB.fields["fixed_sign_type"].type
_PUT = {UFW: _put_ufw, BM1880: _put_bm1880}
