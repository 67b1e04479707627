"""Arrays as something to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import ufkit
from ufkit.core.diag import Where
from ufkit.datasets.planes import planes, viewable

_any = arrays.arrays(
    st.one_of(
        arrays.integer_dtypes(),
        arrays.unsigned_integer_dtypes(),
        arrays.floating_dtypes(),
        st.just(np.dtype(bool)),
    ),
    arrays.array_shapes(min_dims=0, max_dims=5, max_side=4),
)


@given(array=_any)
def test_any_numbers_can_be_looked_at(array: Any) -> None:
    stack = planes(array)
    assert stack.ndim == 3
    assert stack.size == array.size
    if array.ndim > 1:
        assert stack.shape[1:] == array.shape[-2:]
    shown = viewable(stack, Where())
    assert shown.dtype == np.uint8
    assert shown.shape == stack.shape[1:] + ((3,) if len(stack) == 3 else ())
    assert viewable(stack, Where(), len(stack) - 1).shape == stack.shape[1:]


def test_bytes_are_shown_as_they_are() -> None:
    array = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
    assert np.array_equal(viewable(planes(array), Where()), array.transpose(1, 2, 0))
    assert np.array_equal(viewable(planes(array), Where(), 2), array[2])


def test_other_numbers_are_stretched_and_what_is_not_finite_is_left_out() -> None:
    array = np.array([[-1.0, 0.0, 1.0, np.nan, np.inf, -np.inf]], np.float32)
    assert viewable(planes(array), Where()).tolist() == [[0, 127, 255, 127, 127, 127]]


def test_the_largest_and_the_smallest_floats_are_stretched() -> None:
    largest = np.finfo(np.float64).max
    assert viewable(planes(np.array([[-largest, 0, largest]])), Where()).tolist() == [[0, 127, 255]]
    assert viewable(planes(np.array([[0, 5e-324]])), Where()).tolist() == [[0, 0]]


@pytest.mark.parametrize("array", [np.zeros((3, 0, 4), np.uint8), np.array([["a"]]), np.zeros(0)])
def test_what_has_no_numbers_is_no_picture(array: Any) -> None:
    with pytest.raises(ufkit.NotSupportedError) as refused:
        viewable(planes(array), Where("file", "key"))
    assert refused.value.diagnostic.code == "DAT103"
    assert refused.value.diagnostic.where.node == "key"
