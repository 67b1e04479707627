"""Axis orders: what a file's lists mean for a tensor of some rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufkit.uff.orders import DEC, INC, compose, expand, inverse, parse, spell


@pytest.mark.parametrize(
    ("spelt", "rank", "axes"),
    [
        ("N+C", 4, (0, 2, 3, 1)),
        ("N+C", 3, (0, 2, 1)),
        ("N+C", 5, (0, 2, 3, 4, 1)),
        ("N+C", 2, (0, 1)),
        ("NC+", 4, (0, 1, 2, 3)),
        ("+CK", 4, (2, 3, 1, 0)),
        ("+KC", 4, (2, 3, 0, 1)),
        ("NC", 2, (0, 1)),
        ("CN", 2, (1, 0)),
        ("N-C", 4, (0, 3, 2, 1)),
        ("N-C", 5, (0, 4, 3, 2, 1)),
    ],
)
def test_orders_seen_in_files(spelt: str, rank: int, axes: tuple[int, ...]) -> None:
    assert expand(parse(spelt), rank) == axes


def test_numbers_as_files_hold_them() -> None:
    assert parse("N+C") == [0, 2, INC, 1]
    assert parse("N-C") == [0, DEC, 2, 1]


@pytest.mark.parametrize("spelt", ["N+C", "NC+", "N-C", "NC", "CN"])
def test_spelling_and_parsing_are_inverse(spelt: str) -> None:
    assert spell(parse(spelt)) == spelt


@pytest.mark.parametrize("spelt", ["+CK", "+KC", "KC", "CK"])
def test_spelling_of_kernels(spelt: str) -> None:
    assert spell(parse(spelt), head="K") == spelt


@pytest.mark.parametrize(
    ("order", "rank", "why"),
    [
        ([0, 1], 3, "no run to fill the third axis"),
        ([0, 1, 2], 2, "more axes than the tensor"),
        ([0, 0], 2, "an axis twice"),
        ([0, 5], 2, "an axis that is none"),
        ([0, 2, INC, 2, INC], 6, "two runs"),
        ([INC], 1, "a run of nothing"),
    ],
)
def test_orders_that_do_not_fit(order: list[int], rank: int, why: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        expand(order, rank)


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_compose_is_transposing_twice(first: list[int], second: list[int]) -> None:
    array = np.arange(120).reshape(2, 3, 4, 5)
    twice = array.transpose(first).transpose(second)
    np.testing.assert_array_equal(array.transpose(compose(first, second)), twice)
    np.testing.assert_array_equal(array.transpose(first).transpose(inverse(first)), array)
