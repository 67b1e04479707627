"""Nets from integers back to floats."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError, RequestError, Where
from ufkit.ufw import quant
from ufkit.ufw.blob import NOT_SET, Blob
from ufkit.ufw.net import Layer, Net
from ufkit.ufw.quant import BM1880, MAX_SHIFT, UFW, Array, Profile
from ufkit.ufw.quantize import MOST_BLOBS, QUANTISED
from ufkit.ufw.rules import NO_SCALE, NOT_FINITE, NOTHING_TO_DO
from ufkit.ufw.table import Table
from ufkit.ufw.thresholds import Thresholds

# What a blob says of its integers, and has nothing to say of floats.
_OF_INTEGERS = (
    "fscale_int8_to_float", "right_shift_num", "bit_width", "factor_inverse_full_scale",
    "winograd_data_fixpoint", "winograd_right_shift_num", "fixed_sign_type", "scaleToFloat",
    "scaleToFloatPerChannel", "per_channel_en",
)  # fmt: skip


def dequantize(net: Net, table: Table | None = None, profile: Profile = UFW) -> list[str]:
    """Put floats (float32) in place of the integers of a net; the names of the layers so changed.

    Of UFW's blobs: INT8 coefficients and integers with scales by what the blob says; integers that
    have only a shift by the table's thresholds. Of the BM1880's: by the thresholds and shifts of
    its table; a layer without a shift there is in floats already.

    The net is edited, and nothing written. Raises RequestError with all there is to say, before
    anything is edited: integers that stand for nothing known (UFW208), a net without any (UFW210);
    FormatError where scales lead beyond float32 (UFW106).
    """
    problems: list[Diagnostic] = []
    found = list(integers_of(net, table or Table(), profile, problems))
    if not found and not problems:
        message = f"none of its {len(net.layers)} layers holds integers"
        hint = "" if profile is BM1880 else "if `data` holds the integers, they are the BM1880's"
        problems.append(NOTHING_TO_DO.at(Where(net.source.name), message, hint=hint))
    if problems:
        raise RequestError(*problems)
    floats = [_floats(blob, scale) for _, blob, scale in found]
    for (_, blob, _), array in zip(found, floats, strict=True):  # nothing is edited before
        blob.put(array)
        for name in _OF_INTEGERS:
            blob.message.clear(name)
    return list(dict.fromkeys(layer.name for layer, _, _ in found))


def _floats(blob: Blob, scale: Array | None) -> Array:
    with np.errstate(over="ignore"):
        array = blob.array() if scale is None else quant.dequantize(blob.array(), scale)
    if not np.isfinite(array).all():
        message = f"its scale turns {array.size} integers into numbers beyond float32"
        raise FormatError(NOT_FINITE.at(blob.where, message))
    return array


Found = Iterator[tuple[Layer, Blob, Array | None]]


def integers_of(net: Net, table: Table, profile: Profile, problems: list[Diagnostic]) -> Found:
    """Blobs of integers and what 1 stands for in each; None of what a blob knows itself.

    What stands for nothing known goes to `problems` (UFW208).
    """
    return (_bm1880 if profile is BM1880 else _ufw)(net, table, problems)


def _ufw(net: Net, table: Table, problems: list[Diagnostic]) -> Found:
    thresholds = Thresholds(net, table.thresholds)
    for layer in net.layers:
        for at, blob in enumerate(layer.blobs):
            if blob.storage == "int8_data" or (blob.storage == "int32_data" and _scaled(blob)):
                yield layer, blob, None
            elif blob.storage == "int32_data":
                shift = blob.message.get("right_shift_num")
                missing = [message for message, _ in thresholds.missing(layer)]
                if at >= MOST_BLOBS or not 0 <= shift <= MAX_SHIFT:
                    said = "none" if shift == NOT_SET else shift
                    missing = [f"it has no scales, and the shift is {said}"]
                if missing:
                    problems += [NO_SCALE.at(blob.where, message) for message in missing]
                else:
                    yield layer, blob, _scale(at, thresholds.of(layer), shift, UFW)


def _scaled(blob: Blob) -> bool:
    return blob.scales is not None


def _bm1880(net: Net, table: Table, problems: list[Diagnostic]) -> Found:
    thresholds = Thresholds(net, table.thresholds)
    for layer in net.layers:
        if layer.type not in QUANTISED or layer.name not in table.shifts:
            continue
        missing = [message for message, _ in thresholds.missing(layer)]
        problems += [NO_SCALE.at(layer.where(), message) for message in missing]
        for at, blob in enumerate(layer.blobs[:MOST_BLOBS] if not missing else ()):
            fractions = int(np.count_nonzero(np.trunc(blob.array()) != blob.array()))
            if fractions:
                message = f"{fractions} of {blob.array().size} numbers are no whole ones"
                problems.append(NO_SCALE.at(blob.where, message, hint="the net may be in floats"))
            shift = table.shifts[layer.name].shift
            yield layer, blob, _scale(at, thresholds.of(layer), shift, BM1880)


def _scale(at: int, thresholds: tuple[float, float], shift: int, profile: Profile) -> Array:
    """What 1 stands for in a layer's weights (0) or biases (1)."""
    step_in, step_out = map(profile.step, thresholds)
    if at == 0:
        return quant.weight_scale(quant.ratio_of(step_in, step_out), shift)
    return quant.bias_scale(step_out, shift)
