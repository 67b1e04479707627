"""What quantisation costs, in numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ufkit.ufw import quant
from ufkit.ufw.error import errors


def test_worked_out() -> None:
    x = np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]], np.float32)
    got = errors(x, np.array([[2, 4, 5], [0, 0, 0]], np.int8), np.array(0.5))
    # differences 0, 0, 0.5; squares 0.25; of the numbers 9, of what is got 1 + 4 + 6.25
    first, second = got.rows()
    assert first["max_abs"] == 0.5
    assert first["mse"] == pytest.approx(0.25 / 3)
    assert first["sqnr"] == pytest.approx(10 * math.log10(9 / 0.25))
    assert first["cosine"] == pytest.approx((1 + 4 + 5) / math.sqrt(9 * 11.25))
    assert first["saturated"] == pytest.approx(1 / 3)  # off by a whole unit: no rounding does that
    assert second == {"max_abs": 0, "mse": 0, "sqnr": math.inf, "cosine": 1, "saturated": 0}
    (whole,) = got.whole.rows()
    assert whole["mse"] == pytest.approx(0.25 / 6)
    assert whole["max_abs"] == 0.5


def test_nothing_left_of_a_signal() -> None:
    (row,) = errors(np.array([[0.1]]), np.array([[0]]), np.array(1.0)).rows()
    assert row["cosine"] == 0
    assert row["sqnr"] == 0
    (row,) = errors(np.array([[0.0]]), np.array([[1]]), np.array(1.0)).rows()
    assert row["sqnr"] == -math.inf


@given(arrays(np.float32, (5, 3, 2), elements=st.floats(-4, 4, width=32)), st.booleans())
def test_as_numpy_has_it(x: np.ndarray, each: bool) -> None:
    shift = quant.right_shift(np.abs(x).max((1, 2) if each else None), 1.0) + 1  # one too many
    scale = quant.weight_scale(1.0, shift)
    integers = quant.quantize_weights(x, 1.0, shift)
    y = integers * quant.along(scale, 3)
    got = errors(x, integers, scale)
    (whole,) = got.whole.rows()
    assert whole["max_abs"] == pytest.approx(np.abs(x - y).max())
    assert whole["mse"] == pytest.approx(np.mean((x - y) ** 2), rel=1e-9)
    channels = [np.abs(a - b).max() for a, b in zip(x.astype(float), y, strict=True)]
    np.testing.assert_allclose([row["max_abs"] for row in got.rows()], channels)
    units = x / quant.along(scale, 3)
    surely, perhaps = np.abs(units - integers) > 0.51, quant.rounded(units) != integers
    assert surely.mean() <= whole["saturated"] <= perhaps.mean()


def test_arrays_larger_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).standard_normal((7, 50)).astype(np.float32)
    integers, scale = quant.quantize_weights(x, 1.0, 5), quant.weight_scale(1.0, 5)
    at_once = errors(x, integers, scale).rows()
    monkeypatch.setattr(quant, "_BLOCK", 100)  # two rows at a time
    assert errors(x, integers, scale).rows() == at_once
    np.testing.assert_array_equal(quant.quantize_weights(x, 1.0, 5), integers)
