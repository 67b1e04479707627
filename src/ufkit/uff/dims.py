"""Dimensions that are not known: the batch, or a size left open."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

MAX_RANK = 32  # axes; NumPy's own limit before version 2
_MAX_SYMBOLS = MAX_RANK
_fresh = itertools.count()


class Dim:
    """A size known by name only: a factor times a product of symbols, 196*N.

    Products and exact quotients stay exact, so that a shape computed in a graph can be compared
    with another. Whatever else is computed of it becomes a symbol of its own, equal to nothing.
    """

    __slots__ = ("factor", "symbols")

    def __init__(self, symbols: tuple[str, ...], factor: int = 1) -> None:
        self.symbols = symbols
        self.factor = factor

    @classmethod
    def unknown(cls) -> Dim:
        """A size equal to no other."""
        return cls((f"?{next(_fresh)}",))

    @property
    def known(self) -> bool:
        """Whether every symbol in it was given a name."""
        return not any(symbol.startswith("?") for symbol in self.symbols)

    @classmethod
    def _bounded(cls, symbols: tuple[str, ...], factor: int) -> Dim:
        """A Dim, unknown where it has grown beyond what any shape needs."""
        if len(symbols) > _MAX_SYMBOLS or abs(factor) >= 1 << 63:
            return cls.unknown()
        return cls(symbols, factor)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Dim):
            symbols = tuple(sorted(self.symbols + other.symbols))
            return Dim._bounded(symbols, self.factor * other.factor)
        return Dim._bounded(self.symbols, self.factor * int(other)) if other else 0

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return exact_quotient(self, other) or Dim.unknown()

    def __rfloordiv__(self, other: Any) -> Any:
        return Dim.unknown()

    __truediv__ = __floordiv__
    __rtruediv__ = __rfloordiv__

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Dim):
            if other.symbols == self.symbols:
                total = self.factor + other.factor
                return Dim._bounded(self.symbols, total) if total else 0
        elif other == 0:
            return self
        return Dim.unknown()

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Dim(self.symbols, -self.factor)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dim):
            return False
        return self.symbols == other.symbols and self.factor == other.factor

    def __hash__(self) -> int:
        return hash((self.symbols, self.factor))

    def __str__(self) -> str:
        if not self.known:
            return "?"
        return "*".join([str(self.factor)] * (self.factor != 1) + list(self.symbols))

    def __repr__(self) -> str:
        return str(self)


Shape = tuple[int | Dim, ...]


def exact_quotient(dividend: int | Dim, divisor: int | Dim) -> int | Dim | None:
    """`dividend / divisor` where it is whole whatever the symbols stand for, else None."""
    above = dividend if isinstance(dividend, Dim) else Dim((), dividend)
    below = divisor if isinstance(divisor, Dim) else Dim((), divisor)
    rest = list(above.symbols)
    for symbol in below.symbols:
        if symbol not in rest:
            return None
        rest.remove(symbol)
    if below.factor == 0 or above.factor % below.factor:
        return None
    factor = above.factor // below.factor
    return Dim(tuple(rest), factor) if rest else factor


def unify(left: int | Dim, right: int | Dim) -> int | Dim | None:
    """The size both must have: None when they are two different numbers."""
    if isinstance(left, int) and isinstance(right, int):
        return left if left == right else None
    if isinstance(left, Dim) and isinstance(right, Dim):
        return left if left.known or not right.known else right
    return left if isinstance(left, int) else right


def whole(array: Any) -> list[Any]:
    """The elements of an integer array as Python numbers; symbolic ones stay Dims."""
    return [item if isinstance(item, Dim) else int(item) for item in array.ravel().tolist()]


def product(shape: Shape) -> int | Dim:
    """Number of elements."""
    result: int | Dim = 1
    for size in shape:
        result = result * size
    return result


def impossible(shape: Sequence[int | Dim]) -> str | None:
    """Why no machine can hold a tensor of that shape; None where one might.

    An empty axis does not make up for the others: neither NumPy nor ONNX lets it.
    """
    if len(shape) > MAX_RANK:
        return f"it has {len(shape)} axes, {MAX_RANK} are the most"
    sizes = [size for size in shape if isinstance(size, int)]
    if sizes and min(sizes) < 0:
        return f"a size of {min(sizes)}"
    if prod(max(size, 1) for size in sizes) >= 1 << 60:
        return "the number of its elements exceeds 60 bits"
    return None


def show(shape: Shape | None) -> str:
    """A shape as people read it: [N, 28, 28, 1]."""
    return "[?]" if shape is None else f"[{', '.join(map(str, shape))}]"


def static(shape: Shape) -> tuple[int, ...] | None:
    """The shape when every size is a number, else None."""
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None
