"""Statistics of arrays, pieces of them, and files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ufkit.core.diag import RequestError
from ufkit.viewer.graph.arrays import npy, statistics, window


def test_statistics_of_a_kernel() -> None:
    kernel = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 10
    found = statistics(kernel, channel=2)
    assert (found.elements, found.zeros, found.not_finite) == (24, 1, 0)
    assert (found.least, found.greatest, found.mean) == (-10, 13, 1.5)
    assert found.deviation == pytest.approx(kernel.std())
    assert sum(found.counts) == 24
    assert (found.lows, found.highs) == ([-10, -9, -8, -7], [10, 11, 12, 13])


def test_what_is_not_finite_is_counted_and_left_out() -> None:
    found = statistics(np.array([1, np.nan, np.inf, -np.inf, 3], np.float32))
    assert (found.not_finite, found.least, found.greatest, found.mean) == (3, 1, 3, 2)
    assert sum(found.counts) == 2


@pytest.mark.parametrize(
    "array", [np.empty((0, 3), np.float32), np.full(4, np.nan, np.float32), np.array(["a"])]
)
def test_without_numbers_there_are_no_statistics(array: Any) -> None:
    assert statistics(array).counts == []
    assert statistics(array).mean is None


@given(
    arrays(
        np.float32, array_shapes(max_dims=3, max_side=5), elements=st.floats(-1e6, 1e6, width=32)
    )
)
def test_every_finite_element_is_in_the_histogram(array: Any) -> None:
    found = statistics(array)
    assert sum(found.counts) == array.size
    assert found.mean == pytest.approx(float(array.mean(dtype=np.float64)), abs=1e-3)


def test_a_piece_is_of_the_last_two_axes() -> None:
    array = np.arange(2 * 3 * 70 * 5).reshape(2, 3, 70, 5)
    found = window(array, [1, 2], 66, 1)
    assert (found["rows"], found["columns"]) == (70, 5)
    assert found["values"] == [[str(n) for n in row] for row in array[1, 2, 66:70, 1:5].tolist()]


def test_a_piece_is_never_larger_than_64_by_64() -> None:
    found = window(np.zeros((500, 500)), [], 0, 0)
    assert len(found["values"]) == 64
    assert len(found["values"][0]) == 64


@pytest.mark.parametrize(
    ("index", "row", "column"), [([2], 0, 0), ([], 0, 0), ([0], 9, 0), ([0], 0, -1)]
)
def test_a_piece_that_is_not_there_is_refused(index: list[int], row: int, column: int) -> None:
    with pytest.raises(RequestError) as caught:
        window(np.zeros((2, 3, 4)), index, row, column)
    assert caught.value.diagnostic.code == "VWR002"


def test_a_saved_array_is_the_array() -> None:
    array = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert np.array_equal(np.load(io.BytesIO(npy(array))), array)
