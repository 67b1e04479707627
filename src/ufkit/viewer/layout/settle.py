"""Horizontal places: columns near to what they are joined to, none on another."""

from __future__ import annotations

from collections.abc import Sequence

from ufkit.viewer.layout.columns import Columns

_WORK = 400_000  # distances looked at in all rounds
_ROUNDS = 24
_STILL = 0.5  # pixels: less than that is no move
_STEP = 0.7  # of the way to where a column is pulled
_SPARE = 600.0  # pixels more than the least width
_PULL = (1.0, 2.0, 8.0)  # of a piece by how many of its ends are bends: those shall be straight

Gaps = Sequence[tuple[int, int, float]]  # as of columns
Pieces = Sequence[tuple[int, int, float, float]]  # two columns, how far apart they shall be, pull


def settle(columns: Columns) -> list[float]:
    """The middle of each vertex.

    Columns are pulled towards each other and pushed apart again, then each is moved so that its
    best piece is vertical where there is room. The width stays about the least: frames in frames
    would add up.
    """
    lowest, highest = columns.lowest, _highest(columns)
    x = [(p + q) / 2 for p, q in zip(lowest, highest, strict=True)]
    if pieces := [(a, b, far, _PULL[bends]) for a, b, far, bends in columns.loose()]:
        x = _pulled(columns.gaps, pieces, x, lowest, highest)
        _snap(columns.gaps, pieces, x, lowest, highest)
    return [x[head] + offset for head, offset in zip(columns.head, columns.offset, strict=True)]


def _highest(columns: Columns) -> list[float]:
    """How far right each column may be."""
    most = columns.width + min(columns.width / 2, _SPARE)
    high = [most] * columns.count
    for a, b, gap in reversed(columns.gaps):
        if high[b] - gap < high[a]:
            high[a] = high[b] - gap
    return high


def _pulled(
    gaps: Gaps, pieces: Pieces, x: list[float], lowest: list[float], highest: list[float]
) -> list[float]:
    weight = [0.0] * len(x)
    for a, b, _, pull in pieces:
        weight[a] += pull
        weight[b] += pull
    step = [_STEP / value if value else 0.0 for value in weight]
    for _ in range(max(3, min(_ROUNDS, _WORK // (2 * (len(x) + len(gaps)) + 1)))):
        force = [0.0] * len(x)
        for a, b, far, pull in pieces:
            lean = pull * (x[b] - x[a] - far)
            force[a] += lean
            force[b] -= lean
        wish = [
            low if (to := place + part * push) < low else min(to, high)
            for place, part, push, low, high in zip(x, step, force, lowest, highest, strict=True)
        ]
        before = x
        x = _pushed(gaps, wish)
        if all(abs(p - q) < _STILL for p, q in zip(x, before, strict=True)):
            break
    return x


def _pushed(gaps: Gaps, wish: list[float]) -> list[float]:
    """Places near those wished for that keep all distances.

    Pushing to the right as far as needed does, and so does pushing to the left; then so does the
    middle of both.
    """
    low, high = wish[:], wish
    for a, b, gap in gaps:
        if low[a] + gap > low[b]:
            low[b] = low[a] + gap
    for a, b, gap in reversed(gaps):
        if high[b] - gap < high[a]:
            high[a] = high[b] - gap
    return [(p + q) / 2 for p, q in zip(low, high, strict=True)]


def _snap(
    gaps: Gaps, pieces: Pieces, x: list[float], lowest: list[float], highest: list[float]
) -> None:
    """Move each column, one after the other, so that its best piece is vertical if it can."""
    near: list[list[tuple[int, float, float]]] = [[] for _ in x]
    for a, b, far, pull in pieces:
        near[a].append((b, -far, pull))
        near[b].append((a, far, pull))
    left: list[list[tuple[int, float]]] = [[] for _ in x]
    right: list[list[tuple[int, float]]] = [[] for _ in x]
    for a, b, gap in gaps:
        left[b].append((a, gap))
        right[a].append((b, gap))
    moving = [c for c, joined in enumerate(near) if joined]
    for c in (*moving, *reversed(moving)):
        low, high = lowest[c], highest[c]
        for a, gap in left[c]:
            if x[a] + gap > low:
                low = x[a] + gap
        for b, gap in right[c]:
            if x[b] - gap < high:
                high = x[b] - gap
        if high - low > _STILL:
            x[c] = min(max(_median(x, near[c]), low), high)


def _median(x: list[float], near: list[tuple[int, float, float]]) -> float:
    """The weighted median of the places where a piece is vertical: the shortest in sum."""
    if len(near) == 1:
        return x[near[0][0]] + near[0][1]
    wishes = sorted([(x[other] + far, pull) for other, far, pull in near])
    half = sum([pull for _, pull in wishes]) / 2
    for wish, pull in wishes:
        half -= pull
        if half <= 0:
            return wish
    return wishes[-1][0]
