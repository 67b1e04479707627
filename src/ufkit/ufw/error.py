"""How far numbers are from what was meant: of a whole array, and of each channel."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from ufkit.ufw.quant import Array, along, blocks


@dataclass(frozen=True, slots=True)
class Errors:
    """Sums over channels, one element each, and what follows from them.

    count        how many numbers
    max_abs      the largest difference
    difference   the sum of all differences squared
    meant, got   the sums of the numbers themselves squared
    product      the sum of one times the other
    beyond       how many are off by more than rounding: they saturated
    """

    count: Array
    max_abs: Array
    difference: Array
    meant: Array
    got: Array
    product: Array
    beyond: Array

    @property
    def mse(self) -> Array:
        """The mean of the differences squared."""
        return np.asarray(self.difference / np.maximum(self.count, 1))

    @property
    def sqnr(self) -> Array:
        """Signal over noise of quantisation, in dB; infinite where there is no noise."""
        noise = np.where(self.difference > 0, self.difference, 1)
        with np.errstate(divide="ignore"):
            decibels = 10 * np.log10(self.meant / noise)
        return np.where(self.difference > 0, decibels, np.inf)

    @property
    def cosine(self) -> Array:
        """Of the angle between the two; 1 where both are all zeros, 0 where one is."""
        lengths = np.sqrt(self.meant) * np.sqrt(self.got)
        alike = np.where(self.meant == self.got, 1.0, 0.0)
        return np.where(lengths > 0, self.product / np.where(lengths > 0, lengths, 1), alike)

    @property
    def saturated(self) -> Array:
        """The share of numbers that saturated."""
        return np.asarray(self.beyond / np.maximum(self.count, 1))

    @property
    def whole(self) -> Errors:
        """Those of all channels together, as one."""
        sums = [np.sum(values, keepdims=True) for values in astuple(self)]
        sums[1] = self.max_abs.max(initial=0, keepdims=True)
        return Errors(*sums)

    def rows(self) -> list[dict[str, float]]:
        """For each channel the five numbers by name."""
        names = ("max_abs", "mse", "sqnr", "cosine", "saturated")
        columns = [getattr(self, name).tolist() for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def errors(x: Any, integers: Any, scale: Array) -> Errors:
    """What it costs that `integers` times `scale` stand for the numbers `x`.

    Axis 0 of x is that of channels; `scale` is one, or one for each of them.
    """
    x, integers = np.atleast_1d(x), np.atleast_1d(integers)
    scale = np.broadcast_to(np.asarray(scale, np.float64), x.shape[:1])
    parts = [_block(x[rows], integers[rows], scale[rows]) for rows in blocks(x)]
    columns = zip(*parts, strict=True)
    return Errors(*map(np.concatenate, columns)) if parts else Errors(*[np.zeros(0)] * 7)


def _block(x: Array, integers: Array, scale: Array) -> tuple[Array, ...]:
    meant = x.reshape(len(x), -1).astype(np.float64)
    got = integers.reshape(len(x), -1) * along(scale, 2)
    difference = np.abs(got - meant)
    beyond = difference > along(scale, 2) * 0.500001  # rounding alone stays within a half
    products = ((difference, difference), (meant, meant), (got, got), (meant, got))
    return (
        np.full(len(x), meant.shape[1]),
        difference.max(1, initial=0),
        *(np.einsum("ij,ij->i", a, b) for a, b in products),
        beyond.sum(1),
    )
