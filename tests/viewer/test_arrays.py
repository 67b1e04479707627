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
from ufkit.viewer.graph.pair import apart


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


@pytest.mark.parametrize(
    "array",
    [
        np.full((1, 4), 5e20, np.float32),
        np.array([3e38, -3e38, 1e-45], np.float32),
        np.array([1.7e308, -1.7e308, 1.0]),
        np.full(5, 1.7e308),
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
        np.array([1e300, np.nextafter(1e300, np.inf)]),
    ],
)
def test_numbers_of_any_size_have_statistics_that_are_numbers(array: Any) -> None:
    found = statistics(array)
    assert sum(found.counts) == array.size
    assert np.isfinite([found.mean, found.deviation, *found.edges]).all()
    assert found.mean == pytest.approx(float((array / array.size).sum()))


def test_ranges_of_channels_leave_out_what_is_not_finite() -> None:
    array = np.array([[1, np.nan], [2, np.inf], [np.nan, np.nan]], np.float32)
    found = statistics(array, channel=0)
    assert (found.lows, found.highs) == ([1, 2, None], [1, 2, None])


def test_shades_of_a_piece_are_of_what_is_finite() -> None:
    found = window(np.array([[1, -2, np.inf, -np.inf, np.nan]], np.float32), [], 0, 0)
    assert found["shades"] == [[50, -100, 100, -100, 0]]
    assert window(np.array([[3 + 4j, 0]]), [], 0, 0)["shades"] == [[100, 0]]
    signalling = np.array([[0x7F800001, 0x3F800000]], np.uint32).view(np.float32)
    assert window(signalling, [], 0, 0)["shades"] == [[0, 100]]


def test_arrays_side_by_side_are_told_apart_where_both_are_finite() -> None:
    a = np.array([[1, np.inf, 3, np.nan]], np.float32)
    b = np.array([[2, -np.inf, 3, 0]], np.float32)
    found = apart(a, b, None)
    assert [sum(counts) for counts in found["counts"]] == [2, 3]
    assert found["difference"]["not_finite"] == 2
    assert (found["difference"]["greatest"], sum(found["difference"]["counts"])) == (1, 2)
    assert found["difference"]["root_mean_square"] == pytest.approx(np.sqrt(0.5))


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
