"""The arithmetic of quantised nets: arrays in, arrays out, nothing of files.

A *step* is the number that the integer 1 of an array stands for: its threshold over the full
scale of its integers. A *ratio* is the step of what goes into a layer over the step of what comes
out; where both have the same kind of integers, it is th_in / th_out. Shifts are powers of two that
integers were multiplied with, and come one for all or, per channel, one for each output channel.

Numbers have to be finite. What is computed in floats is computed in double precision. Where a
formula is from, and how far it is known, its docstring says:

high      stated in a source, or checked number by number on files of the vendor
medium    follows from the vendor's other programs for the same chip
low       read off the names of the fields

Sources: tpu-mlir, the vendor's open compiler (lib/Conversion/TopToTpu/BM1684, lib/Support); ONNC's
calibration tool for the BM1880 (onnc-umbrella, src/tools/calibration); the LeNet that Bitmain's
tool quantised for the BM1880, all of whose 430,500 weights, 580 biases and 6 shifts these
functions reproduce.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.core.diag import RequestError, Where
from ufkit.ufw.rules import BAD_THRESHOLD, CANNOT_SHIFT

Array = NDArray[Any]
Step = Fraction | float
Shift = int | Array

MAX_SHIFT = 31
_BLOCK = 1 << 17  # elements computed at a time


@dataclass(frozen=True, slots=True)
class Number:
    """A kind of integers, and the name that `dtype` of a blob has for it."""

    name: str
    bits: int
    signed: bool = True

    @property
    def low(self) -> int:
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << self.bits - self.signed) - 1

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.name.lower())


INT8, UINT8 = Number("INT8", 8), Number("UINT8", 8, signed=False)
INT16, UINT16 = Number("INT16", 16), Number("UINT16", 16, signed=False)
INT32, UINT32 = Number("INT32", 32), Number("UINT32", 32, signed=False)


@dataclass(frozen=True, slots=True)
class Profile:
    """How a family of chips counts.

    full_scale  the integer of 8 bits that a threshold stands for
    overflow    share of a layer's biases that may saturate before its shift is made smaller
    """

    name: str
    full_scale: int
    overflow: float

    def full_scale_of(self, number: Number) -> int:
        """The integer that a threshold stands for: 127 of INT8, 255 of UINT8, 32767 of INT16.

        Or 128, 256, 32768. (For 8 bits high: 127 follows from the log of a calibration by UFW's
        tool and is in tpu-mlir, 128 is the BM1880's. For more bits low.)
        """
        return number.high + 1 - (128 - self.full_scale)

    def step(self, threshold: float, number: Number = INT8) -> Fraction:
        """What the integer 1 stands for, exactly. Raises RequestError (UFW201)."""
        if not is_threshold(threshold):
            message = f"a threshold is a positive number that float32 holds, not {threshold!r}"
            raise RequestError(BAD_THRESHOLD.at(Where(), message))
        return Fraction(threshold) / self.full_scale_of(number)


UFW = Profile("ufw", 127, 0.03)
BM1880 = Profile("bm1880", 128, 1.0)  # ONNC's tool has no rule for biases that saturate
PROFILES = {profile.name: profile for profile in (UFW, BM1880)}


def is_threshold(value: float) -> bool:
    """Whether it is positive, and not too large or small for the tables, which are of float32."""
    with np.errstate(over="ignore"):
        return bool(0 < np.float32(value) < np.inf)


# -- rounding --------------------------------------------------------------------------------


def rounded(x: Any) -> Array:
    """The nearest whole numbers, halves away from zero, as doubles.

    (Medium: tpu-mlir. ONNC rounds halves up; no number of the vendor's LeNet is a half.)
    """
    x = np.asarray(x, np.float64)
    whole = np.trunc(x)
    # x - whole is exact; x + 0.5 is not, and takes 0.49999999999999994 to 1
    return np.asarray(whole + np.copysign(np.abs(x - whole) >= 0.5, x))


def saturated(x: Any, number: Number = INT8) -> Array:
    """Whole numbers as integers of that kind; what is beyond its ends is put there."""
    return np.asarray(np.clip(x, number.low, number.high)).astype(number.dtype)


def requantized(sums: Any, shift: Shift, number: Number = INT8) -> Array:
    """What a layer gives out: (sum + 2^(shift-1)) >> shift, saturated. That rounds halves up.

    A `shift` per channel must broadcast against the sums. (High for the BM1684: tpu-mlir,
    applyMultiplierAndRShift.) Raises RequestError (UFW205) for a shift that is not 0 to 31.
    """
    sums, by = np.asarray(sums, np.int64), np.asarray(shift, np.int64)
    if by.min(initial=0) < 0 or by.max(initial=0) > MAX_SHIFT:
        message = f"a shift is 0 to {MAX_SHIFT} bits, not {by.min()} to {by.max()}"
        raise RequestError(CANNOT_SHIFT.at(Where(), message))
    return saturated((sums + ((1 << by) >> 1)) >> by, number)


# -- values ----------------------------------------------------------------------------------


def quantize(x: Any, step: Step, number: Number = INT8) -> Array:
    """Values of a blob as integers: x / step, rounded and saturated.

    (High for signed 8 bits: tpu-mlir, and `int8_scale` of public nets, which is 1 / step.)
    """
    return saturated(rounded(np.asarray(x, np.float64) / float(step)), number)


def dequantize(integers: Any, scale: Step | Array) -> Array:
    """What integers stand for: times `scale`, as float32; the way back of all of these.

    `scale` is a blob's step, or what `weight_scale`, `bias_scale` or `coefficients` give. One for
    each channel counts along axis 0.
    """
    integers = np.asarray(integers)
    scale = np.asarray(scale, np.float64)
    return np.asarray(integers * along(scale, integers.ndim)).astype(np.float32)


def along(values: Array, rank: int) -> Array:
    """One value, or one for each element of axis 0 of an array of that rank, to broadcast."""
    return values.reshape(-1, *[1] * (rank - 1)) if values.ndim else values


def blocks(array: Array) -> Iterator[slice]:
    """Parts of axis 0 of a bounded size: what is computed in doubles needs not all be there."""
    rows = max(_BLOCK * len(array) // max(array.size, 1), 1)
    return (slice(at, at + rows) for at in range(0, len(array), rows))


# -- layers with weights ---------------------------------------------------------------------


def ratio_of(step_in: Step, step_out: Step) -> float:
    """The step of a layer's input over that of its output, rounded once."""
    return float(Fraction(step_in) / Fraction(step_out))


def right_shift(largest: Any, ratio: float, profile: Profile = UFW) -> Array:
    """The shift of weights whose largest is that, apart from sign; of each channel for several.

    As many doublings of `largest * ratio` as stay below full scale, 31 at most. Negative where
    that is too large as it is: such a layer stays in floats. (High: tpu-mlir's calRightShiftNum
    for 127, ONNC's getRightShift for 128, and the vendor's LeNet.)
    """
    return _doublings(np.asarray(largest, np.float64) * ratio, profile.full_scale)


def _doublings(value: Array, limit: float) -> Array:
    """The greatest shifts, 31 at most, for which value * 2^shift < limit."""
    (mantissa, exponent), (most, power) = np.frexp(value), np.frexp(limit)
    shift = np.where(value > 0, power - exponent - (mantissa >= most), MAX_SHIFT)
    return np.asarray(np.minimum(shift, MAX_SHIFT), np.int64)


def quantize_weights(weights: Any, ratio: float, shift: Shift, number: Number = INT8) -> Array:
    """Weights as integers: weight * 2^shift * ratio, rounded and saturated.

    (High: tpu-mlir, and all 430,500 weights of the vendor's LeNet.)
    """
    weights = np.asarray(weights)
    factor = along(np.ldexp(ratio, np.asarray(shift)), weights.ndim)
    factor = np.broadcast_to(factor, (*weights.shape[:1], *[1] * (weights.ndim - 1)))
    out = np.empty(weights.shape, number.dtype)
    for rows in blocks(weights):
        out[rows] = saturated(rounded(weights[rows] * factor[rows]), number)
    return out


def quantize_bias(bias: Any, step_out: Step, shift: Shift, number: Number = INT16) -> Array:
    """Biases as integers, which are added to the sums: bias * 2^shift / step_out, and so on.

    (High: tpu-mlir, and all 580 biases of the vendor's LeNet.)
    """
    return saturated(_bias(bias, step_out, shift), number)


def _bias(bias: Any, step_out: Step, shift: Shift) -> Array:
    return rounded(np.ldexp(np.asarray(bias, np.float64), shift) * float(1 / Fraction(step_out)))


def bias_shift(bias: Any, step_out: Step, shift: Array, profile: Profile = UFW) -> Array:
    """The shift, made smaller while too many biases would saturate, and it is above 0.

    Too many are more than 3 % of them; per channel, one. (Medium: tpu-mlir for the BM1684. The
    profile of the BM1880 leaves the shift alone.)
    """
    shift = np.array(shift)
    while True:
        wide = _bias(bias, step_out, shift)
        beyond = (wide < INT16.low) | (wide > INT16.high)
        over = beyond if shift.ndim else np.mean(beyond)
        lower = (over > profile.overflow) & (shift > 0)
        if not lower.any():
            return shift
        shift = shift - lower


def weight_scale(ratio: float, shift: Shift) -> Array:
    """What the integer 1 of a layer's weights stands for: 2^-shift * th_out / th_in.

    (High as arithmetic. That `scaleToFloat` holds it is our choice: low.)
    """
    return np.asarray(np.ldexp(1 / ratio, -np.asarray(shift)))


def bias_scale(step_out: Step, shift: Shift) -> Array:
    """What the integer 1 of a layer's biases stands for: 2^-shift * step_out. As `weight_scale`."""
    return np.asarray(np.ldexp(float(step_out), -np.asarray(shift)))


def coefficients(weights: Any) -> tuple[Array, np.float32]:
    """INT8 coefficients for a layer that computes in floats, and `fscale_int8_to_float`.

    The largest becomes 127 or -127. (Medium: a comment of the schema, and the field's name.)
    """
    weights = np.asarray(weights, np.float64)
    scale = np.float32(np.abs(weights).max(initial=0) / INT8.high) or np.float32(1)
    return quantize(weights, float(scale)), scale


# -- layers without weights ------------------------------------------------------------------


def multipliers(factors: Any, profile: Profile = UFW) -> tuple[Array, Array]:
    """Multipliers of 8 bits and their shifts, for what Eltwise and ReLU do to each input.

    `factors` are a coefficient times a ratio for each input. The shift is floor(log2(full scale /
    factor)), 31 at most. (Medium: tpu-mlir's Add and calRightShiftNumUseCblas; the ReLU in the
    table of the vendor's LeNet has the same numbers.) Raises RequestError (UFW205) where a factor
    is too large for any.
    """
    factors = np.asarray(factors, np.float64)
    limit = min(np.nextafter(profile.full_scale, np.inf), INT8.high + 1)  # 127 fits, 128 does not
    shift = _doublings(np.abs(factors), limit)
    if shift.min(initial=0) < 0:
        message = f"a factor of {np.abs(factors).max():g} is above {profile.full_scale}"
        raise RequestError(CANNOT_SHIFT.at(Where(), message))
    return saturated(rounded(np.ldexp(factors, shift))), shift


def pool_multiplier(ratio: float) -> tuple[int, int]:
    """`threshold_x_quantized` and `right_shift_width` of a BM1880's pooling layer.

    The greatest shift, 0 at least, for which ratio * 2^shift < 256, and that product rounded.
    (High: ONNC's getMultiplier, and both pools of the vendor's LeNet.)
    """
    shift = max(int(_doublings(np.asarray(ratio), 256)), 0)
    return int(rounded(np.ldexp(ratio, shift))), shift
