"""One connected part of a level: in ranks, in order, then in place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ufkit.viewer.layout.align import align
from ufkit.viewer.layout.columns import columns_of
from ufkit.viewer.layout.diagram import Point, Spacing
from ufkit.viewer.layout.layers import Layers
from ufkit.viewer.layout.order import order
from ufkit.viewer.layout.settle import settle

_STEEP = 0.06  # height for each pixel that a link goes aside
_ROUNDING = 1e-6  # pixels
_HIGHEST = 120.0  # of a room between ranks


@dataclass(slots=True)
class Box:
    """What a part knows of an item when it is put in place.

    left, right   room it needs on both sides of its middle, loops included
    ends          where each link is fixed, right of the middle; None: spread as they come
    stubs         whether a jump leaves at the bottom, and whether one arrives at the top
    """

    width: float
    height: float
    left: float
    right: float
    ends: Mapping[int, float] | None
    stubs: tuple[bool, bool]


Sides = tuple[float, float]  # room left and right of the middle of an item


def _sides(box: Box, leaving: float, arriving: float, jump: float) -> Sides:
    """The room a box needs with what is written at its jumps, on the side where each one is."""
    left, right = box.left, box.right
    for stub, x in zip(box.stubs, (leaving, arriving), strict=True):
        if stub and x < 0:
            left = max(left, jump - x)
        elif stub:
            right = max(right, jump + x)
    return left, right


class Part:
    """Items, and ports where links pass the frame of their group, in ranks.

    items      vertices of `graph`, first of all
    upward     links that have a port at the top, the vertices after those; `downward` likewise
    """

    def __init__(
        self,
        items: Sequence[int],
        ranks: Mapping[int, int],
        links: Sequence[tuple[int, int, int]],
        upward: Sequence[tuple[int, int]],
        downward: Sequence[tuple[int, int]],
    ) -> None:
        self.items = list(items)
        self.vertex = {item: at for at, item in enumerate(self.items)}
        least = min(ranks[item] for item in self.items) - bool(upward)
        most = max(ranks[item] for item in self.items) - least + 1
        heights = [ranks[item] - least for item in self.items]
        first = len(self.items)
        self.upward = {link: first + at for at, (link, _) in enumerate(upward)}
        first += len(upward)
        self.downward = {link: first + at for at, (link, _) in enumerate(downward)}
        of = self.vertex
        ends = [(of[a], of[b]) for a, b, _ in links]
        ends += [(self.upward[link], of[item]) for link, item in upward]
        ends += [(of[item], self.downward[link]) for link, item in downward]
        self.links = [link for *_, link in links]
        self.links += [link for link, _ in (*upward, *downward)]
        heights += [0] * len(upward) + [most] * len(downward)
        self.graph = Layers(heights, ends)
        self.downs: list[list[int]] = [[] for _ in self.items]  # paths that begin at each item
        self.ups: list[list[int]] = [[] for _ in self.items]  # and those that end there
        for at, path in enumerate(self.graph.paths):
            if path[0] < len(self.items):
                self.downs[path[0]].append(at)
            if path[-1] < len(self.items):
                self.ups[path[-1]].append(at)

    def order(self, keys: Mapping[int, tuple[int, ...]], effort: float) -> None:
        """Few crossings; `keys` tell the order of the ports of links, `effort` as in `order`."""
        ports = {self.upward[link]: keys[link] for link in self.upward}
        ports |= {self.downward[link]: keys[link] for link in self.downward}
        order(self.graph, ports, effort)

    def port(self, link: int) -> int:
        """The vertex where a link passes the frame."""
        return self.upward[link] if link in self.upward else self.downward[link]

    def neighbours(self, item: int, *, below: bool) -> list[tuple[int, int]]:
        """The links below or above an item, and the vertex that each leads to from there."""
        v = self.vertex[item]
        ends, beside = (self.downs[v], 1) if below else (self.ups[v], -2)
        return [(self.links[at], self.graph.paths[at][beside]) for at in ends]

    def place(
        self,
        boxes: Sequence[Box],
        tie: Callable[[int, int], int],
        spacing: Spacing,
        top: float,
        margins: tuple[float, float],
    ) -> Placed:
        """Everything in its place, from x = 0 and y = `top`.

        boxes     of each item
        tie       sorts links that lead to the same vertex: of a vertex and a link
        margins   least room between the ports and the items, at the top and at the bottom
        """
        graph = self.graph
        under = align(graph, range(len(boxes), graph.count))
        starts = [0.0] * len(self.links)
        stops = [0.0] * len(self.links)
        over = [-1] * len(under)
        for v, w in enumerate(under):
            if w >= 0:
                over[w] = v
        fix = partial(self._fix, spacing=spacing, tie=tie)
        stubs = []
        sides = []
        for v, box in enumerate(boxes):
            downs, ups = self.downs[v], self.ups[v]
            leaving = arriving = 0.0  # as it is for a single link, in the middle
            if len(downs) > 1 or box.stubs[0] or box.ends is not None:
                leaving = fix(downs, 1, under[v], box, stub=box.stubs[0], into=starts)
            if len(ups) > 1 or box.stubs[1] or box.ends is not None:
                arriving = fix(ups, -2, over[v], box, stub=box.stubs[1], into=stops)
            stubs.append((box.width / 2 + leaving, box.width / 2 + arriving))
            sides.append(_sides(box, leaving, arriving, spacing.jump))
        apart = self._distances(sides, spacing)
        middles = settle(columns_of(graph, under, starts, stops, apart))
        left = min(x - (sides[v][0] if v < len(boxes) else 0) for v, x in enumerate(middles))
        middles = [x - left for x in middles]
        ends = (
            [middles[path[0]] + start for path, start in zip(graph.paths, starts, strict=True)],
            [middles[path[-1]] + stop for path, stop in zip(graph.paths, stops, strict=True)],
        )
        tops, bottoms = self._heights(boxes, middles, ends, spacing, top, margins)
        return self._placed(boxes, sides, stubs, middles, ends, tops, bottoms)

    def _fix(
        self,
        paths: list[int],
        beside: int,
        straight: int,
        box: Box,
        *,
        stub: bool,
        into: list[float],
        tie: Callable[[int, int], int],
        spacing: Spacing,
    ) -> float:
        """Where links end at one side of a box: in the order of where they lead, the straight one
        in the middle. Gives the place of a jump, at the end where fewer others are."""
        if box.ends is not None:
            for at in paths:
                into[at] = box.ends[self.links[at]]
            return 0.0
        graph = self.graph
        if len(paths) > 1:
            paths.sort(
                key=lambda at: (
                    graph.place[v := graph.paths[at][beside]],
                    tie(v, self.links[at]),
                    at,
                )
            )
        count = len(paths)
        middle = (count - 1) / 2
        for place, at in enumerate(paths):
            if graph.paths[at][beside] == straight:
                middle = place
                break
        jump = (-1 if middle < (count - 1) / 2 else count) if stub and count else middle
        side = max(middle - min(jump, 0), max(jump, count - 1) - middle)
        step = min(spacing.lines, max(box.width / 2 - 10, box.width / 4) / side) if side else 0.0
        for place, at in enumerate(paths):
            into[at] = (place - middle) * step
        return (jump - middle) * step

    def _distances(self, sides: Sequence[Sides], spacing: Spacing) -> list[list[float]]:
        """The least distance of the middles of neighbours, in each rank from left to right."""
        real, beside, lines = len(sides), spacing.beside, spacing.lines
        apart: list[list[float]] = []
        for layer in self.graph.layers:
            row = []
            for u, v in itertools.pairwise(layer):
                if u < real:
                    room = sides[u][1]
                    room += sides[v][0] + beside if v < real else lines
                else:
                    room = sides[v][0] + lines if v < real else lines
                row.append(room)
            apart.append(row)
        return apart

    def _heights(
        self,
        boxes: Sequence[Box],
        middles: Sequence[float],
        ends: tuple[list[float], list[float]],
        spacing: Spacing,
        top: float,
        margins: tuple[float, float],
    ) -> tuple[list[float], list[float]]:
        """Top and bottom of each rank: as high as its highest box, with room to turn between."""
        layers = self.graph.layers
        aside = [0.0] * len(layers)  # the farthest that a link goes between this rank and the next
        rank = self.graph.rank
        for path, x, last in zip(self.graph.paths, *ends, strict=True):
            r = rank[path[0]]
            for v in path[1:-1]:
                if abs(x - middles[v]) > aside[r]:
                    aside[r] = abs(x - middles[v])
                x = middles[v]
                r += 1
            if abs(x - last) > aside[r]:
                aside[r] = abs(x - last)
        tops, bottoms = [], []
        y = top
        for r, layer in enumerate(layers):
            tops.append(y)
            y += max([boxes[v].height for v in layer if v < len(boxes)], default=0.0)
            bottoms.append(y)
            room = spacing.ranks
            if r == 0 and self.upward:
                room = margins[0]
            elif r == len(layers) - 2 and self.downward:
                room = margins[1]
            y += turning(room, aside[r])
        return tops, bottoms

    def _placed(
        self,
        boxes: Sequence[Box],
        sides: Sequence[Sides],
        stubs: list[tuple[float, float]],
        middles: list[float],
        ends: tuple[list[float], list[float]],
        tops: list[float],
        bottoms: list[float],
    ) -> Placed:
        graph = self.graph
        lefts = [middles[v] - box.width / 2 for v, box in enumerate(boxes)]
        y = []
        for v, box in enumerate(boxes):
            r = graph.rank[v]
            y.append((tops[r] + bottoms[r] - box.height) / 2)
        ways = {}
        for at, (link, path) in enumerate(zip(self.links, graph.paths, strict=True)):
            r, stop = graph.rank[path[0]], graph.rank[path[-1]]
            first, last = ends[0][at], ends[1][at]
            up, low = path[0], path[-1]
            points = [(first, y[up] + boxes[up].height if up < len(boxes) else bottoms[r])]
            x, foot = first, bottoms[r]  # how far down it is straight
            for v in path[1:-1]:
                r += 1
                if middles[v] != x:
                    points += [(x, foot), (middles[v], tops[r])]
                    x = middles[v]
                foot = bottoms[r]
            if last != x:
                points += [(x, foot), (last, tops[stop])]
            points.append((last, y[low] if low < len(boxes) else tops[stop]))
            ways[link] = straightened(points) if len(points) > 2 else points
        rights = [middles[v] + right for v, (_, right) in enumerate(sides)]
        width = max([*rights, *middles])
        ports = {link: middles[v] for link, v in (self.upward | self.downward).items()}
        return Placed(width, bottoms[-1], lefts, y, stubs, ways, ports)


@dataclass(frozen=True, slots=True)
class Placed:
    """A part in place: its extent, the corner of each item, the points of each link from top to
    bottom, and the x of each port."""

    width: float
    bottom: float
    x: list[float]
    y: list[float]
    stubs: list[tuple[float, float]]
    ways: dict[int, list[Point]]
    ports: dict[int, float]


def turning(room: float, aside: float) -> float:
    """The height of a room, of at least `room`, in which a link goes so far aside."""
    return min(max(room, _HIGHEST), room + _STEEP * aside)


def straightened(points: Sequence[Point]) -> list[Point]:
    """The same way without points on a vertical line between two others, and without doubles.

    Points that differ by rounding only are one: parts of a way were added up in different orders.
    """
    kept: list[Point] = []
    add = kept.append
    x = y = before = math.inf  # of the last one kept, and x of the one before it
    for point in points:
        to, down = point
        if abs(down - y) < _ROUNDING and abs(to - x) < _ROUNDING:
            continue
        if before == x == to and len(kept) > 1:
            kept.pop()
            before, y = (kept[-2][0] if len(kept) > 1 else math.inf), kept[-1][1]
            if abs(down - y) < _ROUNDING:
                continue
        add(point)
        before, x, y = x, to, down
    return kept
