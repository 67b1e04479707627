"""The axis order in which another program has stored weights, told from the weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.uff.orders import Order, identity

_MOST_AXES = 5  # orders of so many are tried: 120 of them
_SAMPLE = 512  # elements that tell an order from the others; each brings pages into memory


def fitting_order(a: NDArray[Any], b: NDArray[Any]) -> Order:
    """The order for which `a.transpose(order)` has its elements in the sequence of those of b.

    Both have as many elements; where none fits exactly, the order that comes nearest. Orders are
    judged by a sample, those first whose shape is that of b but for axes of length 1; others
    only where there is none: kernels of depthwise convolutions have two axes made one.
    """
    orders = _orders(a.shape, b.shape)
    if len(orders) == 1 or not a.size:
        return orders[0]
    places = np.random.default_rng(0).integers(0, a.size, min(a.size, _SAMPLE))
    wanted = b.reshape(-1)[places]

    def gap(order: Order) -> float:
        turned = a.transpose(order)
        found = turned[np.unravel_index(places, turned.shape)]
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = np.abs(found.astype(np.float64) - wanted.astype(np.float64))
        return float(np.nan_to_num(gaps, posinf=0.0).sum())

    return min(orders, key=gap)  # the first of equals


def _orders(a: Sequence[int], b: Sequence[int]) -> list[Order]:
    if not 0 < len(a) <= _MOST_AXES:
        return [identity(len(a))]
    every = list(permutations(range(len(a))))
    wanted = [size for size in b if size != 1]
    alike = [o for o in every if [a[axis] for axis in o if a[axis] != 1] == wanted]
    return alike or every
