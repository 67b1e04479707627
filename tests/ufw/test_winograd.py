"""Winograd's form of 3x3 kernels: into it, out of it, and convolutions through it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ufkit.ufw import quant
from ufkit.ufw.integer import convolved
from ufkit.ufw.winograd import convolved as wino_convolved
from ufkit.ufw.winograd import kernels, transformed

small = arrays(np.int64, (3, 2, 3, 3), elements=st.integers(-31, 31))
inputs = arrays(np.int8, (2, 2, 6, 8), elements=st.integers(-128, 127))


def test_a_kernel_of_ones() -> None:
    # rows of G sum to 1, 1.5, 0.5, 1: U of ones is their outer product
    sums = np.array([1, 1.5, 0.5, 1])
    np.testing.assert_array_equal(transformed(np.ones((3, 3))), np.outer(sums, sums))


@given(arrays(np.float32, (2, 3, 3), elements=st.floats(-4, 4, width=16)))
def test_back_is_exact(g: np.ndarray) -> None:
    np.testing.assert_array_equal(kernels(transformed(g)), g.astype(np.float64))


@given(inputs, small)
def test_the_same_sums_exactly_where_nothing_is_rounded(x: np.ndarray, g: np.ndarray) -> None:
    """Four times a kernel of integers has an U of integers."""
    np.testing.assert_array_equal(wino_convolved(x, transformed(4 * g)), 4 * convolved(x, g))


@given(inputs, arrays(np.float32, (3, 2, 3, 3), elements=st.floats(-1, 1, width=16)))
def test_quantised_kernels_within_their_rounding(x: np.ndarray, g: np.ndarray) -> None:
    u = transformed(g)
    shift = quant.right_shift(np.abs(u).max(), 1.0)
    integers = quant.quantize_weights(u, 1.0, shift)
    assert np.abs(integers).max() <= 127
    unit = float(quant.weight_scale(1.0, shift))
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), (3, 3), (2, 3))
    exact = np.einsum("nchwij,ocij->nohw", windows, g.astype(float))
    # each of 16 products is off by half a unit times a difference of inputs, of which a row of
    # the transforms has 2; a result takes 3 rows and 3 columns: 9 products of up to 4 * 128
    bound = g.shape[1] * 9 * 4 * 128 * unit / 2
    assert np.abs(wino_convolved(x, integers) * unit - exact).max() <= bound
    # and a kernel comes back within 2 of the units that U was rounded to
    assert np.abs(kernels(integers.astype(int)) * unit - g).max() <= 2 * unit
