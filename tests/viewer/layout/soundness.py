"""What every placement keeps, whatever was laid out."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

from ufkit.viewer.layout.diagram import Diagram, Placement, Point, Route

_NEAR = 1e-6
Rectangle = tuple[float, float, float, float]


def faults(diagram: Diagram, placement: Placement) -> list[str]:
    """What is wrong with a placement, one line each; small ones only, as all pairs are compared."""
    found: list[str] = []
    count = len(diagram.widths)
    parents = list(diagram.parents) or [-1] * count
    boxes = [
        (placement.x[at], placement.y[at], diagram.widths[at], diagram.heights[at])
        for at in range(count)
    ]
    whole = (0.0, 0.0, placement.width, placement.height)
    numbers = [value for rectangle in (*boxes, *placement.frames, whole) for value in rectangle]
    for route in placement.routes:
        numbers += [value for point in (*route.points, *route.landing) for value in point]
    if not all(map(math.isfinite, numbers)):
        found.append("a number is not finite")
    for a, b in combinations(range(count), 2):
        if _overlap(boxes[a], boxes[b]):
            found.append(f"boxes {a} and {b} overlap")
    around = [_ancestors(parent, diagram) for parent in parents]
    for at, box in enumerate(boxes):
        if not _inside(box, whole):
            found.append(f"box {at} is outside the drawing")
        for group, frame in enumerate(placement.frames):
            if group in around[at]:
                if not _inside(box, frame):
                    found.append(f"box {at} is outside its frame {group}")
            elif _overlap(box, frame):
                found.append(f"box {at} lies in frame {group}")
    for a, b in combinations(range(len(placement.frames)), 2):
        first, second = placement.frames[a], placement.frames[b]
        if a in _ancestors(b, diagram) or b in _ancestors(a, diagram):
            inner, outer = (second, first) if a in _ancestors(b, diagram) else (first, second)
            if not _inside(inner, outer):
                found.append(f"frames {a} and {b} stick out of each other")
        elif _overlap(first, second):
            found.append(f"frames {a} and {b} overlap")
    if len(placement.routes) != len(diagram.links):
        found.append("a link has no route")
    for (a, b), route in zip(diagram.links, placement.routes, strict=True):
        found += [f"link {a} to {b}: {fault}" for fault in _route_faults(route, boxes[a], boxes[b])]
        if not route.jump and a != b:
            others = [box for at, box in enumerate(boxes) if at not in (a, b)]
            found += [f"link {a} to {b} crosses a box" for box in others if _meets(route, box)]
    return found


def _route_faults(route: Route, first: Rectangle, second: Rectangle) -> list[str]:
    found = []
    if not _on_border(route.points[0], first):
        found.append("does not begin at its box")
    if not _on_border((route.landing or route.points)[-1], second):
        found.append("does not end at its box")
    for points in (route.points, route.landing):
        if points and len(points) < 2:
            found.append("is a point")
        if any(a == b for a, b in pairwise(points)):
            found.append("has a double point")
    return found


def _ancestors(group: int, diagram: Diagram) -> set[int]:
    found = set()
    while group >= 0:
        found.add(group)
        group = diagram.group_parents[group]
    return found


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    return (
        a[0] < b[0] + b[2] - _NEAR
        and b[0] < a[0] + a[2] - _NEAR
        and a[1] < b[1] + b[3] - _NEAR
        and b[1] < a[1] + a[3] - _NEAR
    )


def _inside(inner: Rectangle, outer: Rectangle) -> bool:
    return (
        inner[0] >= outer[0] - _NEAR
        and inner[1] >= outer[1] - _NEAR
        and inner[0] + inner[2] <= outer[0] + outer[2] + _NEAR
        and inner[1] + inner[3] <= outer[1] + outer[3] + _NEAR
    )


def _on_border(point: Point, box: Rectangle) -> bool:
    """Whether it is on the top or bottom edge."""
    x, y = point
    across = box[0] - _NEAR <= x <= box[0] + box[2] + _NEAR
    return across and min(abs(y - box[1]), abs(y - box[1] - box[3])) <= _NEAR


def _meets(route: Route, box: Rectangle) -> bool:
    """Whether a way goes through a box: its vertical pieces, and the whole room of each S."""
    for (x0, y0), (x1, y1) in pairwise(route.points):
        if x0 == x1:
            if box[0] + _NEAR < x0 < box[0] + box[2] - _NEAR:
                top, bottom = min(y0, y1), max(y0, y1)
                if top < box[1] + box[3] - _NEAR and bottom > box[1] + _NEAR:
                    return True
        elif _overlap((min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)), box):
            return True
    return False
