"""How far two values are apart, and how far they may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.uff.model import Graph

Array = NDArray[Any]

# Largest |a - b| against the largest |b|. A run time that folds BatchNorm into convolutions is
# some 2e-5 off on a real net of 16 of them, as TensorFlow itself is 1e-5; mistakes of a
# conversion show in the first digits. Half precision keeps 11 bits.
TOLERANCE = {"float16": 5e-3}
DEFAULT_TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two values of one output are apart.

    max_abs   largest |a - b|
    error     that, against the largest |b| (b: the reference); of integers, the share that differs
    """

    id: str
    operation: str
    shape: list[int]
    dtype: str
    max_abs: float
    error: float
    tolerance: float

    @property
    def ok(self) -> bool:
        return self.error <= self.tolerance


def difference(
    graph: Graph, id_: str, value: Array, expected: Array, tolerance: float | None
) -> Difference:
    """How far a node's value is from the reference; a wrong shape or type is infinitely far."""
    dtype = expected.dtype.name
    allowed = TOLERANCE.get(dtype, DEFAULT_TOLERANCE) if tolerance is None else tolerance
    max_abs, error = _distance(value, expected)
    operation = graph[id_].operation
    return Difference(id_, operation, [*expected.shape], dtype, max_abs, error, allowed)


def _distance(value: Array, expected: Array) -> tuple[float, float]:
    if value.shape != expected.shape or value.dtype != expected.dtype:
        return np.inf, np.inf
    if expected.size == 0:
        return 0.0, 0.0
    if expected.dtype.kind != "f":
        wide = np.abs(value.astype(np.float64) - expected.astype(np.float64))
        return float(wide.max()), float((value != expected).mean())
    a, b = value.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    if (
        not np.array_equal(a[~finite], b[~finite], equal_nan=True)
        or not np.isfinite(a[finite]).all()
    ):
        return np.inf, np.inf
    if not finite.any():
        return 0.0, 0.0
    max_abs = float(np.abs(a[finite] - b[finite]).max())
    largest = float(np.abs(b[finite]).max())
    return max_abs, max_abs / largest if largest else max_abs
