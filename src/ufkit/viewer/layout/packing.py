"""Rectangles side by side in rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

_WIDE = 1.6  # width to height that is aimed at


def packed(
    sizes: Sequence[tuple[float, float]], gap: float, height: float = 0.0
) -> tuple[list[tuple[float, float]], float, float]:
    """The top left corner of each rectangle, and the width and height of all.

    In their order, in rows about as wide as suits a screen, or `height` if that is given.
    """
    area = sum([(w + gap) * (h + gap) for w, h in sizes])
    wide = area / height if height else sqrt(area * _WIDE)
    wide = max(wide, max([w for w, _ in sizes], default=0.0))
    corners = []
    x = y = high = width = 0.0
    for w, h in sizes:
        if x and x + w > wide:
            x, y, high = 0.0, y + high + gap, 0.0
        corners.append((x, y))
        high = max(high, h)
        width = max(width, x + w)
        x += w + gap
    return corners, width, y + high
