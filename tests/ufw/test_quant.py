"""The arithmetic of quantised layers: literal numbers, properties, and the vendor's own net."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ufkit.core.diag import RequestError
from ufkit.ufw import quant
from ufkit.ufw.integer import convolved, inner_product
from ufkit.ufw.quant import BM1880, INT8, INT16, INT32, UFW, UINT8, UINT16, Number

NUMBERS = (INT8, UINT8, INT16, UINT16, INT32)
reals = st.floats(-1e4, 1e4, allow_subnormal=False)
thresholds = st.floats(1e-3, 1e3)


def weights_of(*shape: int) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float32, shape, elements=st.floats(-4, 4, width=32))


# -- full scales and steps -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "low", "high", "ufw", "bm1880"),
    [
        (INT8, -128, 127, 127, 128),
        (UINT8, 0, 255, 255, 256),
        (INT16, -32768, 32767, 32767, 32768),
        (UINT16, 0, 65535, 65535, 65536),
        (INT32, -(1 << 31), (1 << 31) - 1, (1 << 31) - 1, 1 << 31),
    ],
)
def test_ends_and_full_scales(number: Number, low: int, high: int, ufw: int, bm1880: int) -> None:
    assert (number.low, number.high) == (low, high)
    assert (np.iinfo(number.dtype).min, np.iinfo(number.dtype).max) == (low, high)
    assert UFW.full_scale_of(number) == ufw
    assert BM1880.full_scale_of(number) == bm1880


def test_a_step_is_exact() -> None:
    assert UFW.step(2.54) == Fraction(2.54) / 127
    assert UFW.step(2.54, UINT8) == Fraction(2.54) / 255
    assert BM1880.step(0.5, INT16) == Fraction(1, 65536)
    # equal kinds of integers: the quotient of the thresholds, whatever the full scale
    assert quant.ratio_of(UFW.step(0.1), UFW.step(0.3)) == 0.1 / 0.3
    # signed in, unsigned out: 255/127 more
    assert quant.ratio_of(UFW.step(1.0), UFW.step(1.0, UINT8)) == 255 / 127


@pytest.mark.parametrize("threshold", [0.0, -1.0, float("nan"), float("inf")])
def test_a_threshold_is_positive(threshold: float) -> None:
    with pytest.raises(RequestError, match="UFW201") as caught:
        UFW.step(threshold)
    assert repr(threshold) in str(caught.value)


# -- rounding --------------------------------------------------------------------------------


def test_halves_go_away_from_zero() -> None:
    x = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, -0.49999999999999994, 4503599627370497.0]
    assert quant.rounded(x).tolist() == [1, 2, 3, -1, -2, 0, 0, 4503599627370497]


@given(st.floats(-1e15, 1e15))
def test_rounding_is_that_of_exact_numbers(x: float) -> None:
    exact = abs(Fraction(x)) + Fraction(1, 2)
    assert abs(quant.rounded(x)) == exact.numerator // exact.denominator


def test_requantisation_rounds_halves_up() -> None:
    # 10/4 = 2.5 -> 3, -10/4 = -2.5 -> -2, 9/4 = 2.25 -> 2, -11/4 = -2.75 -> -3
    assert quant.requantized([10, -10, 9, -11], 2).tolist() == [3, -2, 2, -3]
    assert quant.requantized([10, -10, 300, -300], 0).tolist() == [10, -10, 127, -128]
    assert quant.requantized([-1, 1023], 2, UINT8).tolist() == [0, 255]
    per_channel = quant.requantized([[8, 8], [8, 8]], np.array([[1], [3]]))
    assert per_channel.tolist() == [[4, 4], [1, 1]]
    for shift in (-1, 32):
        with pytest.raises(RequestError, match="UFW205"):
            quant.requantized([1], shift)


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(0, 31), st.sampled_from(NUMBERS))
def test_requantisation_is_exact_rounding(total: int, shift: int, number: Number) -> None:
    exact = Fraction(total, 1 << shift) + Fraction(1, 2)
    expected = exact.numerator // exact.denominator  # floor
    got = int(quant.requantized(total, shift, number))
    assert got == min(max(expected, number.low), number.high)


# -- values ----------------------------------------------------------------------------------


@given(arrays(np.float64, 20, elements=reals), thresholds, st.sampled_from(NUMBERS))
def test_dequantised_values_are_within_half_a_step(
    x: np.ndarray, threshold: float, number: Number
) -> None:
    step = UFW.step(threshold, number)
    integers = quant.quantize(x, step, number)
    assert integers.dtype == number.dtype
    back = integers.astype(np.float64) * float(step)
    inside = (x >= number.low * float(step)) & (x <= number.high * float(step))
    slack = 1e-12 * np.abs(x)  # of the division and the product
    assert np.all(np.abs(back - x)[inside] <= float(step) / 2 + slack[inside])
    assert np.all(integers[x > number.high * float(step)] == number.high)
    assert np.all(integers[x < number.low * float(step)] == number.low)
    np.testing.assert_array_equal(quant.dequantize(integers, step), back.astype(np.float32))


def test_an_input_scale_of_a_public_net() -> None:
    # mobilenet_deploy_int8_unique_top.prototxt has int8_scale: 46.774544, which is 127 / th
    step = UFW.step(127 / 46.774544)
    assert quant.quantize([1.0, -2.0, 100.0], step).tolist() == [47, -94, 127]


# -- shifts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("largest", "ratio", "ufw", "bm1880"),
    [
        (1.0, 1.0, 6, 6),  # 64 < 127, 128 is not
        (0.9, 1.0, 7, 7),  # 115.2
        (0.995, 1.0, 6, 7),  # 127.36: below 128, not below 127
        (127 / 128, 1.0, 6, 7),  # 127 is not below 127
        (100.0, 0.5, 1, 1),  # 50, 100
        (130.0, 1.0, -1, -1),  # 65
        (1e-12, 1.0, 31, 31),  # the cap
        (0.0, 1.0, 31, 31),
    ],
)
def test_right_shift(largest: float, ratio: float, ufw: int, bm1880: int) -> None:
    assert quant.right_shift(largest, ratio, UFW) == ufw
    assert quant.right_shift(largest, ratio, BM1880) == bm1880
    assert quant.right_shift([largest, 1.0], ratio, UFW)[0] == ufw


@given(st.floats(1e-6, 1e6), st.sampled_from([UFW, BM1880]))
def test_the_shift_is_that_of_counted_doublings(largest: float, profile: quant.Profile) -> None:
    """As the vendor's loops have it."""
    value, doublings = Fraction(largest), 0
    while value < profile.full_scale:
        value, doublings = value * 2, doublings + 1
    expected = doublings - 1
    if largest < profile.full_scale:
        assert quant.right_shift(largest, 1.0, profile) == min(expected, 31)
    else:
        assert quant.right_shift(largest, 1.0, profile) < 0


# -- layers with weights ---------------------------------------------------------------------


def test_weights_and_biases_worked_out() -> None:
    # th_in 2, th_out 4: ratio 1/2. Largest 0.7 * 1/2 = 0.35; 0.35 * 2^8 = 89.6 < 127: shift 8
    weights = np.array([[0.7, -0.35], [0.01, 0.0]], np.float32)
    shift = quant.right_shift(0.7, 0.5)
    assert shift == 8
    # 0.7 * 128 = 89.6, -0.35 * 128 = -44.8, 0.01 * 128 = 1.28
    assert quant.quantize_weights(weights, 0.5, 8).tolist() == [[90, -45], [1, 0]]
    # 0.1 * 256 * 127 / 4 = 812.8; with full scale 128, 819.2
    assert quant.quantize_bias([0.1, -0.1], UFW.step(4.0), 8).tolist() == [813, -813]
    assert quant.quantize_bias([0.1, -0.1], BM1880.step(4.0), 8).tolist() == [819, -819]
    # the way back: 2^-8 * 4 / 2, and 2^-8 * 4 / 127
    assert quant.weight_scale(0.5, 8) == 1 / 128
    assert quant.bias_scale(UFW.step(4.0), 8) == pytest.approx(4 / 127 / 256, rel=1e-15)


def test_per_channel() -> None:
    weights = np.array([[1.0, -0.5], [0.1, 0.05]], np.float32)
    shift = quant.right_shift(np.abs(weights).max(1), 1.0)
    assert shift.tolist() == [6, 10]  # 64; 0.1 * 1024 = 102.4
    integers = quant.quantize_weights(weights, 1.0, shift)
    assert integers.tolist() == [[64, -32], [102, 51]]
    back = quant.dequantize(integers, quant.weight_scale(1.0, shift))
    np.testing.assert_allclose(back, [[1, -0.5], [102 / 1024, 51 / 1024]])
    # 0.01 * 2^6 * 127 = 81.28; 0.01 * 2^10 * 127 = 1300.48
    assert quant.quantize_bias([0.01, 0.01], UFW.step(1.0), shift).tolist() == [81, 1300]


@given(weights_of(3, 4), thresholds, thresholds, st.booleans())
def test_weights_come_back_within_half_a_unit(
    weights: np.ndarray, th_in: float, th_out: float, each: bool
) -> None:
    ratio = quant.ratio_of(UFW.step(th_in), UFW.step(th_out))
    shift = quant.right_shift(np.abs(weights).max(1 if each else None), ratio)
    if shift.min() < 0:
        return
    integers = quant.quantize_weights(weights, ratio, shift)
    assert np.abs(integers).max() <= 127
    scale = quant.weight_scale(ratio, shift)
    back = integers * quant.along(scale, 2)
    half = quant.along(scale, 2) / 2
    assert np.all(np.abs(back - weights) <= half + 1e-12 * np.abs(weights))


def test_the_shift_yields_to_biases() -> None:
    # step 1/127 * ..: 40 * 2^r * 127 / 1 <= 32767 needs 2^r <= 6.45: from 6 down to 2
    bias = np.array([40.0] + [0.0] * 9)  # one of ten overflows, which is above 3 %
    assert quant.bias_shift(bias, UFW.step(1.0), np.array(6), UFW) == 2
    assert quant.bias_shift(bias, UFW.step(1.0), np.array(6), BM1880) == 6
    few = np.array([40.0] + [0.0] * 99)  # one of a hundred is let saturate
    assert quant.bias_shift(few, UFW.step(1.0), np.array(6), UFW) == 6
    assert quant.quantize_bias(few, UFW.step(1.0), 6)[0] == 32767
    shifts = quant.bias_shift(bias[:2], UFW.step(1.0), np.array([6, 6]), UFW)
    assert shifts.tolist() == [2, 6]  # per channel, only that of the large one
    assert quant.bias_shift([1e9], UFW.step(1.0), np.array(3), UFW) == 0  # and no further


def test_coefficients() -> None:
    weights = np.array([[-2.54, 1.27], [0.01, 0.0]], np.float32)
    integers, scale = quant.coefficients(weights)
    assert scale == np.float32(0.02)
    assert integers.tolist() == [[-127, 64], [1, 0]]  # 63.5 -> 64, 0.5 -> 1
    assert quant.coefficients(np.zeros(3))[1] == 1


# -- layers without weights ------------------------------------------------------------------


def test_eltwise_multipliers() -> None:
    # 127 / 1 -> 2^6 = 64; 127 / 0.1 = 1270 -> 2^10, 102.4; 127 / 127 -> 2^0
    values, shifts = quant.multipliers([1.0, 0.1, -0.5, 127.0])
    assert values.tolist() == [64, 102, -64, 127]
    assert shifts.tolist() == [6, 10, 7, 0]
    with pytest.raises(RequestError, match="200 is above 127"):
        quant.multipliers([200.0])


def test_pool_multipliers() -> None:
    # thresholds of the vendor's LeNet, and what it makes of them: (160, 8) and (135, 7)
    assert quant.pool_multiplier(1.3900346756 / 2.22405552864) == (160, 8)
    assert quant.pool_multiplier(3.76545572281 / 3.56166100502) == (135, 7)
    assert quant.pool_multiplier(300.0) == (300, 0)


# -- whole layers on integers ----------------------------------------------------------------


def test_convolution_on_integers() -> None:
    x = np.arange(16, dtype=np.int8).reshape(1, 1, 4, 4)
    weights = np.array([[[[1, 0], [0, -1]]]], np.int8)
    # x[i, j] - x[i+1, j+1] = -5 everywhere
    assert convolved(x, weights, np.array([3])).tolist() == [[[[-2] * 3] * 3]]
    assert convolved(x, weights, stride=(2, 2)).shape == (1, 1, 2, 2)
    assert convolved(x, weights, pad=(1, 1))[0, 0, 0].tolist() == [0, -1, -2, -3, 0]
    # dilated: x[i, j] - x[i+2, j+2] = -10
    assert convolved(x, weights, dilation=(2, 2)).tolist() == [[[[-10] * 2] * 2]]


def test_depthwise_convolution_on_integers() -> None:
    x = np.arange(8, dtype=np.int8).reshape(1, 2, 2, 2)
    weights = np.array([[[[2]]], [[[3]]]], np.int8)
    expected = [[[[0, 2], [4, 6]], [[12, 15], [18, 21]]]]
    assert convolved(x, weights, groups=2).tolist() == expected


@given(weights_of(4, 6), weights_of(2, 6), st.booleans())
def test_an_integer_layer_is_near_the_float_layer(
    weights: np.ndarray, x: np.ndarray, each: bool
) -> None:
    """Within half an output step, and what the roundings of inputs and weights add up to."""
    bias = np.linspace(-1, 1, 4)
    exact = x.astype(np.float64) @ weights.T.astype(np.float64) + bias
    th_in, th_out = float(np.abs(x).max()) or 1.0, float(np.abs(exact).max())
    step_in, step_out = UFW.step(th_in), UFW.step(th_out)
    ratio = quant.ratio_of(step_in, step_out)
    shift = quant.right_shift(np.abs(weights).max(1 if each else None), ratio)
    if shift.min() < 0:
        return
    shift = quant.bias_shift(bias, step_out, shift)
    w = quant.quantize_weights(weights, ratio, shift)
    b = quant.quantize_bias(bias, step_out, shift)
    integers = quant.quantize(x, step_in)
    y = quant.requantized(inner_product(integers, w, b), shift)
    unit_w = np.broadcast_to(quant.weight_scale(ratio, shift), 4)
    got = y * float(step_out)
    error_w = unit_w / 2 * np.abs(x).sum(1, keepdims=True)
    error_x = float(step_in) / 2 * (np.abs(weights) + unit_w[:, None]).sum(1)
    error_b = np.broadcast_to(quant.bias_scale(step_out, shift), 4) / 2
    saturating = np.abs(b.astype(int)) >= 32767
    bound = (error_w + error_x + error_b + float(step_out) / 2) * (1 + 1e-9)
    assert np.all((np.abs(got - exact) <= bound) | saturating)
