"""How links are drawn, whichever way they run: their curves, and their heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ufkit.viewer.graph.direction import Direction
from ufkit.viewer.graph.scene import HEAD
from ufkit.viewer.layout.diagram import Point

_HALF = 3.5  # of the width of a head

Piece = tuple[Point, ...]


def curve(points: Sequence[Point], direction: Direction) -> Iterator[Piece]:
    """The pieces of a way after its first point: the end of a straight piece, or both handles and
    the end of an S, which leaves and arrives along the direction."""
    turned = direction.turned
    for (x, y), (to_x, to_y) in pairwise(map(turned, points)):
        if x == to_x or y == to_y:
            yield (turned((to_x, to_y)),)
        else:
            middle = (y + to_y) / 2
            yield turned((x, middle)), turned((to_x, middle)), turned((to_x, to_y))


def head(points: Sequence[Point], direction: Direction) -> tuple[Point, Point, Point]:
    """The corners of the arrow head at the end of a way."""
    (_, before), (x, y) = map(direction.turned, points[-2:])
    back = y - HEAD if y >= before else y + HEAD
    a, b, c = map(direction.turned, ((x, y), (x - _HALF, back), (x + _HALF, back)))
    return a, b, c
