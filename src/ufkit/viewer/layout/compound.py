"""A whole diagram: groups in order from the outside in, and in place from the inside out."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from functools import partial

from ufkit.viewer.layout.blocks import Block, Blocks
from ufkit.viewer.layout.diagram import Diagram, Placement, Point, Route, Spacing
from ufkit.viewer.layout.levels import Level, levels_of
from ufkit.viewer.layout.packing import packed
from ufkit.viewer.layout.parts import Box, Part, straightened

_WORK = 250_000  # vertices and links looked at while they are put in order
_LOOP = 12.0  # pixels that a loop stands out


def lay_out(diagram: Diagram, spacing: Spacing | None = None) -> Placement:
    """A place for each box, a frame for each group, a route for each link.

    Links lead down where they can; boxes do not overlap, nor do frames of groups that do not lie in
    each other. The same diagram always gives the same placement: how hard crossings are fought
    depends on the number of boxes and links, not on a clock.
    """
    with _no_collection():
        return _Compound(diagram, spacing or Spacing()).placement()


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing here refers to itself, and looking for what does takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Frame:
    """A level on its way to its place.

    parts    what links join; `ported` is the one that links from outside lead to
    loners   items without links
    corners  of each item, from the corner of the frame; ways of links likewise
    ports    x of each link that passes the frame
    """

    def __init__(self, level: Level) -> None:
        self.level = level
        self.parts, self.ported, self.loners = _divided(level)
        self.part = {item: part for part in self.parts for item in part.items}
        self.corners: dict[int, Point] = {}
        self.ways: dict[int, list[Point]] = {}
        self.ports: dict[int, float] = {}
        self.stubs: dict[int, tuple[float, float]] = {}  # x of a jump's ends at a box, right of x
        self.width = self.height = 0.0
        self.ordered = False

    def port_place(self, link: int) -> int:
        """Where among its ports the one of this link is."""
        assert self.ported is not None
        return self.ported.graph.place[self.ported.port(link)]


def _divided(level: Level) -> tuple[list[Part], Part | None, list[int]]:
    """Connected items together, those that links from outside lead to all in the first part."""
    near: dict[int, list[int]] = {item: [] for item in level.items}
    for a, b in level.near:
        near[a].append(b)
        near[b].append(a)
    outer = list(dict.fromkeys(item for _, item in (*level.upward, *level.downward)))
    home: dict[int, int] = {}
    clusters: list[list[int]] = []
    for start in (outer, *([item] for item in level.items)):
        waiting = [item for item in start if item not in home]
        if not waiting:
            continue
        cluster = []
        while waiting:
            item = waiting.pop()
            if item not in home:
                home[item] = len(clusters)
                cluster.append(item)
                waiting += near[item]
        clusters.append(sorted(cluster))
    links: list[list[tuple[int, int, int]]] = [[] for _ in clusters]
    for a, b, link in level.links:
        links[home[a]].append((a, b, link))
    parts, loners = [], []
    for at, cluster in enumerate(clusters):
        if at == 0 and outer:
            parts.append(Part(cluster, level.ranks, links[0], level.upward, level.downward))
        elif len(cluster) > 1:
            parts.append(Part(cluster, level.ranks, links[at], (), ()))
        else:
            loners += cluster
    return parts, parts[0] if outer else None, loners


class _Compound:
    def __init__(self, diagram: Diagram, spacing: Spacing) -> None:
        self.diagram, self.spacing = diagram, spacing
        self.boxes = len(diagram.widths)
        self.levels = levels_of(diagram, spacing.longest)
        self.leaving = {diagram.links[link][0] for link in self.levels.jumps}
        self.arriving = {diagram.links[link][1] for link in self.levels.jumps}
        self.looped = {a for a, b in diagram.links if a == b}
        self.frames: dict[int, _Frame] = {}  # of each group, -1 for the whole
        fixed = self.leaving | self.arriving | self.looped
        self.blocks = Blocks(self.levels.levels, fixed, diagram, spacing)

    def placement(self) -> Placement:
        for level in self.levels.levels:
            self.frames[level.group] = _Frame(level)
        size = sum([part.graph.size for frame in self.frames.values() for part in frame.parts])
        for frame in self.frames.values():
            for part in frame.parts:
                keys = self._keys(frame) if part is frame.ported else {}
                part.order(keys, _WORK / size)
            frame.ordered = True
        for frame in reversed(self.frames.values()):
            self._place(frame)
        return self._absolute()

    def _keys(self, frame: _Frame) -> dict[int, tuple[int, ...]]:
        """In which order links come to a frame from outside."""
        item = self.boxes + frame.level.group
        outer = self.frames[self.diagram.group_parents[frame.level.group]]
        part = outer.part[item]
        keys: dict[int, tuple[int, ...]] = {}
        for below in (False, True):
            for link, v in part.neighbours(item, below=below):
                keys[link] = part.graph.place[v], self._tie(part, v, link)
        return keys

    def _tie(self, part: Part, v: int, link: int) -> int:
        """Of links that lead to the same vertex, the order in which they are fixed there."""
        item = part.items[v] if v < len(part.items) else -1
        if item >= self.boxes and item not in self.blocks:
            frame = self.frames[item - self.boxes]
            return frame.port_place(link) if frame.ordered else 0
        return 0

    def _box(self, item: int) -> Box:
        diagram = self.diagram
        if item in self.blocks:
            block = self.blocks[item]
            half = block.width / 2
            return Box(block.width, block.height, half, half, None, (False, False))
        if item >= self.boxes:
            frame = self.frames[item - self.boxes]
            half = frame.width / 2
            ends = {link: x - half for link, x in frame.ports.items()}
            return Box(frame.width, frame.height, half, half, ends, (False, False))
        width, height = diagram.widths[item], diagram.heights[item]
        right = width / 2 + (_LOOP if item in self.looped else 0.0)
        stubs = item in self.leaving, item in self.arriving
        return Box(width, height, width / 2, right, None, stubs)

    def _place(self, frame: _Frame) -> None:
        """Parts beside each other, items without links in rows."""
        spacing = self.spacing
        whole = frame.level.group < 0
        foot = spacing.padding
        left, head = (foot + (0.0 if whole else room) for room in spacing.title)
        blocks: list[tuple[float, float]] = []
        inner: list[dict[int, Point]] = []
        ways: list[dict[int, list[Point]]] = []
        width = bottom = 0.0
        for part in frame.parts:
            top = 0.0 if part is not frame.ported or part.upward else head
            boxes = [self._box(item) for item in part.items]
            placed = part.place(boxes, partial(self._tie, part), spacing, top, (head, foot))
            corners = dict(zip(part.items, zip(placed.x, placed.y, strict=True), strict=True))
            frame.stubs |= dict(zip(part.items, placed.stubs, strict=True))
            if part is frame.ported:
                width = placed.width
                bottom = placed.bottom + (0.0 if part.downward else foot)
                frame.ports = {link: left + x for link, x in placed.ports.items()}
                self._put(frame, corners, placed.ways, left, 0.0)
            else:
                blocks.append((placed.width, placed.bottom))
                inner.append(corners)
                ways.append(placed.ways)
        if frame.loners:
            sizes = []
            for item in frame.loners:
                box = self._box(item)
                right = max(box.right, spacing.jump) if any(box.stubs) else box.right
                sizes.append((box.left + right, box.height))
                frame.stubs[item] = box.width / 2, box.width / 2
            high = max([bottom, *(h for _, h in blocks)], default=0.0)
            places, *block = packed(sizes, spacing.beside, high)
            blocks.append((block[0], block[1]))
            inner.append(dict(zip(frame.loners, places, strict=True)))
            ways.append({})
        order = list(range(len(blocks)))  # the largest part first, items without links last
        last = len(blocks) if frame.loners else -1
        order.sort(key=lambda at: (at + 1 == last, -blocks[at][0] * blocks[at][1]))
        places, wide, high = packed([blocks[at] for at in order], spacing.apart, bottom)
        start = left + (width + spacing.apart if frame.ported else 0.0)
        for at, (x, y) in zip(order, places, strict=True):
            self._put(frame, inner[at], ways[at], start + x, head + y)
        if blocks:
            width = start - left + wide
            bottom = max(bottom, head + high + foot)
        least = self.diagram.frame_sizes
        wide, high = least[frame.level.group] if least and not whole else (0.0, 0.0)
        frame.width = left + max(width, wide) + spacing.padding
        frame.height = max(bottom, head + high + foot)
        if frame.ported:
            for link in frame.ported.downward:
                x, _ = frame.ways[link].pop()
                frame.ways[link].append((x, frame.height))
        for item in frame.level.items:
            if item in self.blocks:
                self._fill(frame, self.blocks[item], *frame.corners.pop(item))

    def _put(
        self,
        frame: _Frame,
        corners: dict[int, Point],
        ways: dict[int, list[Point]],
        dx: float,
        dy: float,
    ) -> None:
        for link, points in ways.items():
            frame.ways[link] = [(x + dx, y + dy) for x, y in points]
        for item, (x, y) in corners.items():
            frame.corners[item] = x + dx, y + dy

    def _fill(self, frame: _Frame, block: Block, left: float, top: float) -> None:
        """Put the boxes of a block at its corner, and the ways of their links in it."""
        for box, (x, y) in block.corners.items():
            frame.corners[box] = x + left, y + top
        before = [(x - left, y - top) for x, y in frame.ways.get(block.above, ())]
        after = [(x - left, y - top) for x, y in frame.ways.get(block.below, ())]
        for link, points in block.ways(before, after):
            frame.ways[link] = straightened([(x + left, y + top) for x, y in points])

    def _absolute(self) -> Placement:
        count = self.boxes
        corners: list[Point] = [(0.0, 0.0)] * (count + len(self.diagram.group_parents))
        origins: dict[int, Point] = {}
        stubs: dict[int, tuple[float, float]] = {}
        for group, frame in self.frames.items():
            x, y = origins[group] = corners[count + group] if group >= 0 else (0.0, 0.0)
            stubs |= frame.stubs
            for item, (left, top) in frame.corners.items():
                corners[item] = x + left, y + top
        frames = [
            (*corners[count + group], self.frames[group].width, self.frames[group].height)
            for group in range(len(self.diagram.group_parents))
        ]
        whole = self.frames[-1]
        routes = [
            self._route(link, corners, origins, stubs) for link in range(len(self.diagram.links))
        ]
        lefts, tops = [x for x, _ in corners[:count]], [y for _, y in corners[:count]]
        return Placement(whole.width, whole.height, lefts, tops, frames, routes)

    def _route(
        self,
        link: int,
        corners: Sequence[Point],
        origins: dict[int, Point],
        stubs: dict[int, tuple[float, float]],
    ) -> Route:
        a, b = self.diagram.links[link]
        if a == b:
            return Route(self._loop(a, corners[a]), [])
        if link in self.levels.jumps:
            length = self.spacing.stub
            x, y = corners[a][0] + stubs[a][0], corners[a][1] + self.diagram.heights[a]
            to, top = corners[b][0] + stubs[b][1], corners[b][1]
            return Route([(x, y), (x, y + length)], [(to, top - length), (to, top)])
        points: list[Point] = []
        passed = self.levels.ways[link]
        for level in passed:
            dx, dy = origins[level.group]
            ways = self.frames[level.group].ways
            way = ways[link if link in ways else self.blocks.stands[link]]
            points += [(x + dx, y + dy) for x, y in way]
        if len(passed) > 1:
            points = straightened(points)
        return Route(points[::-1] if self.levels.rising[link] else points, [])

    def _loop(self, box: int, corner: Point) -> list[Point]:
        x, y = corner
        side = x + self.diagram.widths[box]
        start, far = side - min(8.0, self.diagram.widths[box] / 4), side + _LOOP - 2
        low, high = y + self.diagram.heights[box], y
        return [
            (start, low),
            (start, low + 8),
            (far, low + 8),
            (far, high - 8),
            (start, high - 8),
            (start, high),
        ]
