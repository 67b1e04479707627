"""Axis orders: which canonical axis each axis of a tensor is.

Canonical is N (batch) or K (filters) = 0, C = 1, spatial axes 2 and up. A file gives a list such
as [0, 2, INC, 1], spelt `N+C`: batch, spatial axes increasing, channels.
"""

from __future__ import annotations

from collections.abc import Sequence

INC = 0x7FFF_FFFF
DEC = -0x8000_0000

Order = tuple[int, ...]


def expand(order: Sequence[int], rank: int) -> Order:
    """The canonical axis of each of `rank` axes.

    `expand([0, 2, INC, 1], 4) == (0, 2, 3, 1)`; with rank 2 the spatial run is empty: (0, 1).
    Raises ValueError when the order does not fit the rank.
    """
    runs = [n for n in order if n in (INC, DEC)]
    if len(runs) > 1:
        raise ValueError(f"{len(runs)} runs of axes in one order")
    fixed = len(order) - 2 * len(runs)
    extra = rank - fixed
    if extra < 0 or (extra and not runs):
        raise ValueError(f"it has {fixed}{' or more' if runs else ''} axes, the tensor {rank}")
    axes: list[int] = []
    at = 0
    while at < len(order):
        if order[at] == DEC and at + 1 < len(order):
            axes += range(order[at + 1] + extra - 1, order[at + 1] - 1, -1)
            at += 2
        elif at + 1 < len(order) and order[at + 1] == INC:
            axes += range(order[at], order[at] + extra)
            at += 2
        else:
            axes.append(order[at])
            at += 1
    if sorted(axes) != list(range(rank)):
        raise ValueError(f"it names the axes {axes}, not each of 0 to {rank - 1} once")
    return tuple(axes)


def inverse(order: Sequence[int]) -> Order:
    """The permutation that undoes one: `transpose(inverse(order))` brings canonical order."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def identity(rank: int) -> Order:
    """The order that leaves everything in place."""
    return tuple(range(rank))


def compose(first: Sequence[int], second: Sequence[int]) -> Order:
    """The permutation of transposing by `first`, then by `second`."""
    return tuple(first[axis] for axis in second)


def spell(order: Sequence[int], head: str = "N") -> str:
    """The way names spell an order: `N+C`, `+CK`. `head` is the letter of axis 0, N or K."""
    out = ""
    at = 0
    while at < len(order):
        if order[at] == DEC:
            out, at = out + "-", at + 2
        elif at + 1 < len(order) and order[at + 1] == INC:
            out, at = out + "+", at + 2
        else:
            out, at = out + {0: head, 1: "C"}.get(order[at], str(order[at])), at + 1
    return out


def parse(text: str) -> list[int]:
    """The order that a name spells. Raises KeyError for a letter that is none of N K C + -."""
    parts = {"N": [0], "K": [0], "C": [1], "+": [2, INC], "-": [DEC, 2]}
    return [number for letter in text for number in parts[letter]]
