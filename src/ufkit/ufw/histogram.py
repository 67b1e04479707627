"""How numbers lie, and what integers make of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ufkit.ufw.quant import INT8, INT16, Array, Number, along, blocks
from ufkit.ufw.quantize import Part

_LEAST, _MOST = 20, 200  # bins
_CODES = 256


@dataclass(frozen=True)
class Histogram:
    """Counts between edges, of the numbers that were meant and of what integers stand for.

    limits   least and greatest number that the largest integer stands for, of all channels
    """

    edges: Array
    meant: Array
    got: Array
    limits: tuple[float, float]


def number_of(part: Part) -> Number:
    """The kind of integers: of 8 bits where they fit, else of 16."""
    widest = max(int(part.integers.max(initial=0)), -int(part.integers.min(initial=0)) - 1)
    return INT8 if widest <= INT8.high else INT16


def by_value(part: Part) -> Histogram:
    """Along the numbers themselves."""
    high = number_of(part).high
    limits = np.atleast_1d(part.scale) * high
    low, top = float(limits.min()), float(limits.max())
    largest = float(np.abs(part.floats).max(initial=0))
    reach = 1.02 * max(largest, top if high == INT8.high else 0.0) or 1.0
    count = int(np.clip(part.floats.size // 5, _LEAST, _MOST))
    edges = np.linspace(-reach, reach, count + 1)
    meant, got = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for rows, scale in _rows(part):
        meant += np.histogram(part.floats[rows], edges)[0]
        got += np.histogram(part.integers[rows] * scale, edges)[0]
    return Histogram(edges, meant, got, (low, top))


def by_integer(part: Part) -> Histogram:
    """Along the integers: where each number would lie on the grid of its channel, and where it
    was put. Numbers beyond the last integer lie outside the limits; of 16 bits, where many are
    never used, only those that are."""
    number = number_of(part)
    used = max(int(part.integers.max(initial=0)), -int(part.integers.min(initial=0)))
    each = 1 if number is INT8 else max(1, -(-used // (_CODES // 2)))  # integers of one bin
    reach = _CODES // 2 + _CODES // 16
    edges = (np.arange(-reach, reach + 1) * each).astype(np.float64) - 0.5
    meant, got = np.zeros(len(edges) - 1, np.int64), np.zeros(len(edges) - 1, np.int64)
    for rows, scale in _rows(part):
        wide = np.clip(part.floats[rows] / scale, edges[0], edges[-1])
        meant += np.histogram(wide, edges)[0]
        got += np.histogram(part.integers[rows], edges)[0]
    return Histogram(edges, meant, got, (number.low - 0.5, number.high + 0.5))


def _rows(part: Part) -> list[tuple[slice, Array]]:
    """Parts of axis 0 that fit into memory as doubles, each with its scale to broadcast."""
    scale = np.asarray(part.scale, np.float64)
    scale = np.broadcast_to(scale, part.floats.shape[:1])
    return [(rows, along(scale[rows], part.floats.ndim)) for rows in blocks(part.floats)]
