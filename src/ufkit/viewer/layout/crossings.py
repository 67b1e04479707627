"""How many pairs of lines cross: between two ranks, and in a finished drawing."""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence

from ufkit.viewer.layout.diagram import Point, Route

_FEW = 8_000  # numbers that are sorted into a list as fast as NumPy counts them


def inversions(values: Sequence[int]) -> int:
    """Pairs of which the first is the greater; equal ones do not count."""
    if len(values) > _FEW:
        return _many_inversions(values)
    seen: list[int] = []
    found = 0
    for value in values:
        if seen and value < seen[-1]:
            found += len(seen) - bisect_right(seen, value)
            insort(seen, value)
        else:
            seen.append(value)
    return found


def _many_inversions(numbers: Sequence[int]) -> int:
    """The same by bits, from the highest: pairs of equal higher bits where a 1 precedes a 0."""
    import numpy as np  # few graphs need it, and it takes long to load

    values = np.asarray(numbers, np.int64)
    found = 0
    for bit in range(int(values.max()).bit_length() - 1, -1, -1):
        order = np.argsort(values >> (bit + 1), kind="stable")
        group, ones = (values >> (bit + 1))[order], ((values >> bit) & 1)[order]
        before = np.cumsum(ones)
        first = np.searchsorted(group, group, "left")  # where each one's group begins
        zero = ones == 0
        found += int((before - (before[first] - ones[first]))[zero].sum())
    return found


def crossings(routes: Iterable[Route]) -> int:
    """Crossings of a drawing, each S taken as a straight line; meeting at an end is none.

    What several links share, such as the end of jumps at a box, counts once.
    """
    lines = {tuple(line) for route in routes for line in (route.points, route.landing) if line}
    return count_crossings(sorted(lines))


def count_crossings(lines: Sequence[Sequence[Point]]) -> int:
    """Proper crossings of the segments of different polylines, every one counted."""
    import numpy as np

    ends = np.array(
        [(*a, *b, at) for at, line in enumerate(lines) for a, b in itertools.pairwise(line)],
        float,
    ).reshape(-1, 5)
    down = ends[:, 1] > ends[:, 3]
    ends[down] = ends[down][:, [2, 3, 0, 1, 4]]
    ends = ends[np.argsort(ends[:, 1], kind="stable")]
    found = 0
    for at in range(len(ends) - 1):
        x0, y0, x1, y1, owner = ends[at]
        stop = np.searchsorted(ends[:, 1], y1, "left")  # those that begin before this one ends
        other = ends[at + 1 : stop]
        other = other[
            (other[:, 4] != owner)
            & (np.minimum(other[:, 0], other[:, 2]) <= max(x0, x1))
            & (np.maximum(other[:, 0], other[:, 2]) >= min(x0, x1))
        ]
        if len(other):
            ax, ay, bx, by = other[:, 0], other[:, 1], other[:, 2], other[:, 3]
            a = (x1 - x0) * (ay - y0) - (y1 - y0) * (ax - x0)
            b = (x1 - x0) * (by - y0) - (y1 - y0) * (bx - x0)
            c = (bx - ax) * (y0 - ay) - (by - ay) * (x0 - ax)
            d = (bx - ax) * (y1 - ay) - (by - ay) * (x1 - ax)
            found += int(np.count_nonzero((a * b < 0) & (c * d < 0)))
    return found
