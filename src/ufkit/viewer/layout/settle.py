"""Horizontal places: columns near to what they are joined to, none on another."""

from __future__ import annotations

import numpy as np

from ufkit.viewer.layout.columns import Columns

_WORK = 400_000  # distances looked at in all rounds
_ROUNDS = 24
_STILL = 0.5  # pixels: less than that is no move
_STEP = 0.7  # of the way to where a column is pulled
_SPARE = 600.0  # pixels more than the least width
_PULL = (1.0, 2.0, 8.0)  # of a piece by how many of its ends are bends: those shall be straight


def settle(columns: Columns) -> list[float]:
    """The middle of each vertex.

    Columns are pulled towards each other and pushed apart again, then each is moved so that its
    best piece is vertical where there is room. The width stays about the least: frames in frames
    would add up.
    """
    lowest, highest = columns.lowest, _highest(columns)
    x = [(p + q) / 2 for p, q in zip(lowest, highest, strict=True)]
    if columns.loose:
        x = _pulled(columns, x, lowest, highest)
        _snap(columns, x, lowest, highest)
    return [x[head] + offset for head, offset in zip(columns.head, columns.offset, strict=True)]


def _highest(columns: Columns) -> list[float]:
    """How far right each column may be."""
    most = columns.width + min(columns.width / 2, _SPARE)
    high = [most] * len(columns.members)
    for a in reversed(columns.order):
        for b, gap in columns.right[a]:
            if high[b] - gap < high[a]:
                high[a] = high[b] - gap
    return high


def _pulled(
    columns: Columns, x: list[float], lowest: list[float], highest: list[float]
) -> list[float]:
    size, bends = len(columns.members), columns.graph.count
    u, v, right = (np.array(item) for item in zip(*columns.loose, strict=True))
    head, offset = np.array(columns.head), np.array(columns.offset)
    a, b = head[u], head[v]
    far = right + offset[u] - offset[v]  # of b from a when the piece is vertical
    pull = np.array(_PULL)[(u >= bends).astype(int) + (v >= bends)]
    weight = np.bincount(a, pull, size) + np.bincount(b, pull, size)
    weight[weight == 0] = 1
    work = 2 * (size + sum(map(len, columns.left)))
    for _ in range(max(3, min(_ROUNDS, _WORK // (work + 1)))):
        now = np.array(x)
        force = pull * (now[b] - now[a] - far)
        move = np.bincount(a, force, size) - np.bincount(b, force, size)
        before = x
        x = _pushed(columns, np.clip(now + _STEP * move / weight, lowest, highest).tolist())
        if max(abs(p - q) for p, q in zip(x, before, strict=True)) < _STILL:
            break
    return x


def _pushed(columns: Columns, wish: list[float]) -> list[float]:
    """Places near those wished for that keep all distances.

    Pushing to the right as far as needed does, and so does pushing to the left; then so does the
    middle of both.
    """
    low, high = wish[:], wish
    for b in columns.order:
        value = low[b]
        for a, gap in columns.left[b]:
            if low[a] + gap > value:
                value = low[a] + gap
        low[b] = value
    for a in reversed(columns.order):
        value = high[a]
        for b, gap in columns.right[a]:
            if high[b] - gap < value:
                value = high[b] - gap
        high[a] = value
    return [(p + q) / 2 for p, q in zip(low, high, strict=True)]


def _snap(columns: Columns, x: list[float], lowest: list[float], highest: list[float]) -> None:
    """Move each column, one after the other, so that its best piece is vertical if it can."""
    head, offset, bends = columns.head, columns.offset, columns.graph.count
    near: list[list[tuple[int, float, float]]] = [[] for _ in columns.members]
    for u, v, right in columns.loose:
        a, b = head[u], head[v]
        far = right + offset[u] - offset[v]
        pull = _PULL[(u >= bends) + (v >= bends)]
        near[a].append((b, -far, pull))
        near[b].append((a, far, pull))
    every = range(len(near))
    for c in (*every, *reversed(every)):
        if near[c]:
            low = max([x[a] + gap for a, gap in columns.left[c]], default=lowest[c])
            high = min([x[b] - gap for b, gap in columns.right[c]], default=highest[c])
            if high - low > _STILL:
                x[c] = min(max(_median(x, near[c]), low), high)


def _median(x: list[float], near: list[tuple[int, float, float]]) -> float:
    """The weighted median of the places where a piece is vertical: the shortest in sum."""
    wishes = sorted([(x[other] + far, pull) for other, far, pull in near])
    half = sum([pull for _, pull in wishes]) / 2
    for wish, pull in wishes:
        half -= pull
        if half <= 0:
            return wish
    return wishes[-1][0]
