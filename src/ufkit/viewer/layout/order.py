"""An order of the vertices in each rank with few crossings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from ufkit.viewer.layout.crossings import inversions
from ufkit.viewer.layout.layers import Layers

_SWEEPS = 24
_PATIENCE = 4  # sweeps without gain
_ROUNDS = 6  # of exchanges after each sweep

Keys = Mapping[int, tuple[int, ...]]


def order(graph: Layers, ports: Keys, effort: float) -> None:
    """Sort `graph.layers` so that few links cross.

    Barycentres downwards and upwards, neighbours exchanged where that helps, the best kept
    (Sugiyama, Tagawa and Toda 1981; Gansner and others, "A technique for drawing directed graphs",
    1993). A rank of one vertex divides the work: what is above and what is below do not see each
    other.
    `ports` are vertices whose order is given by a key; equal keys are free. `effort` is how often
    each vertex and link may be looked at.
    """
    _begin(graph, ports)
    layers = graph.layers
    cuts = [0, *(r for r in range(1, len(layers) - 1) if len(layers[r]) == 1), len(layers) - 1]
    for top, bottom in itertools.pairwise(cuts):
        if bottom - top > 1 or len(layers[top]) > 1 or len(layers[bottom]) > 1:
            _Stretch(graph, ports, top, bottom).improve(effort)


def _begin(graph: Layers, ports: Keys) -> None:
    """Vertices as a walk in depth meets them: what hangs together starts out together."""
    found: list[list[int]] = [[] for _ in graph.layers]
    seen = [False] * len(graph.rank)
    rank, below = graph.rank, graph.below
    for layer in graph.layers:
        roots = sorted(layer, key=lambda v: ports.get(v, ())) if ports else layer
        for root in roots:
            if seen[root]:
                continue
            stack = [root]
            while stack:
                v = stack.pop()
                if seen[v]:
                    continue
                seen[v] = True
                found[rank[v]].append(v)
                stack.extend([w for w in reversed(below[v]) if not seen[w]])
    graph.layers[:] = found
    for layer in found:
        if layer and layer[0] in ports:
            layer.sort(key=ports.__getitem__)
        graph.put(layer)


class _Stretch:
    """The ranks `top` to `bottom` of a graph, which no others concern."""

    def __init__(self, graph: Layers, ports: Keys, top: int, bottom: int) -> None:
        self.graph, self.ports = graph, ports
        self.top, self.bottom = top, bottom
        self.between = [0] * len(graph.layers)  # crossings of each rank with the one below
        self.unknown = set(range(top, bottom))  # ranks of which they are to be counted
        self.size = 0  # vertices and links
        for layer in graph.layers[top : bottom + 1]:
            self.size += len(layer) + sum([len(graph.below[v]) for v in layer])

    def improve(self, effort: float) -> None:
        graph, span = self.graph, slice(self.top, self.bottom + 1)
        best, kept = self._count(), [layer[:] for layer in graph.layers[span]]
        self.left = effort * self.size
        idle = 0
        for sweep in range(_SWEEPS):
            if not best or idle == _PATIENCE or (sweep > 1 and self.left < 0):
                break
            self._sweep(down=sweep % 2 == 0, mirrored=sweep % 4 > 1)
            self._count()
            self.left -= self.size
            self._exchange()
            if (now := sum(self.between)) < best:
                best, kept, idle = now, [layer[:] for layer in graph.layers[span]], 0
            else:
                idle += 1
        graph.layers[span] = kept
        for layer in kept:
            graph.put(layer)

    def _count(self) -> int:
        for r in self.unknown:
            self.between[r] = self._crossings(r)
        self.unknown.clear()
        return sum(self.between)

    def _crossings(self, r: int) -> int:
        place, below = self.graph.place, self.graph.below
        ends: list[int] = []
        for u in self.graph.layers[r]:
            targets = below[u]
            if len(targets) == 1:
                ends.append(place[targets[0]])
            elif targets:
                ends += sorted([place[v] for v in targets])
        return inversions(ends)

    def _sweep(self, *, down: bool, mirrored: bool) -> None:
        graph = self.graph
        ranks = range(self.top + 1, self.bottom + 1)
        beside = graph.above
        if not down:
            ranks, beside = range(self.bottom - 1, self.top - 1, -1), graph.below
        for r in ranks:
            layer = graph.layers[r]
            if len(layer) > 1:
                before = layer[:]
                self._sort(layer, beside, mirrored)
                if layer != before:
                    graph.put(layer)
                    self.unknown.update(range(max(r - 1, self.top), min(r + 1, self.bottom)))

    def _sort(self, layer: list[int], beside: list[list[int]], mirrored: bool) -> None:
        """By the mean place of neighbours; those without any stay where they are."""
        place, ports = self.graph.place, self.ports
        keys: dict[int, float] = {}
        for v in layer:
            near = beside[v]
            if len(near) == 1:
                keys[v] = place[near[0]]
            elif near:
                keys[v] = sum([place[u] for u in near]) / len(near)
        if layer[0] in ports:
            layer.sort(key=lambda v: (ports[v], keys.get(v, 0.0)))
        elif len(keys) == len(layer):
            if mirrored:
                layer.reverse()
            layer.sort(key=keys.__getitem__)
        else:
            moving = [v for v in layer if v in keys]
            if mirrored:
                moving.reverse()
            moving.sort(key=keys.__getitem__)
            following = iter(moving)
            layer[:] = [next(following) if v in keys else v for v in layer]

    def _exchange(self) -> None:
        """Swap neighbours as long as that takes crossings away."""
        between, graph = self.between, self.graph
        waiting = set(range(self.top, self.bottom + 1))
        for _ in range(_ROUNDS):
            following = set()
            for r in sorted(waiting):
                layer = graph.layers[r]
                crossed = between[r] or (r > self.top and between[r - 1])
                if not crossed or len(layer) < 2 or layer[0] in self.ports or self.left < 0:
                    continue
                if self._exchange_in(r, layer):
                    following |= {r - 1, r, r + 1}
            waiting = {r for r in following if self.top <= r <= self.bottom}

    def _exchange_in(self, r: int, layer: list[int]) -> bool:
        graph = self.graph
        place = graph.place
        up = [_sorted(place, graph.above[v]) if r > self.top else [] for v in layer]
        down = [_sorted(place, graph.below[v]) if r < self.bottom else [] for v in layer]
        self.left -= 2 * len(layer) + sum(map(len, up)) + sum(map(len, down))
        moved = False
        for way in (range(len(layer) - 1), range(len(layer) - 2, -1, -1)):
            for at in way:
                to = at + 1
                gain_up, gain_down = _gain(up[at], up[to]), _gain(down[at], down[to])
                if gain_up + gain_down > 0:
                    layer[at], layer[to] = layer[to], layer[at]
                    up[at], up[to] = up[to], up[at]
                    down[at], down[to] = down[to], down[at]
                    self.between[r - 1] -= gain_up
                    self.between[r] -= gain_down
                    moved = True
            if not moved:
                break
        if moved:
            graph.put(layer)
        return moved


def _sorted(place: list[int], near: list[int]) -> list[int]:
    return [place[near[0]]] if len(near) == 1 else sorted([place[v] for v in near])


def _gain(left: list[int], right: list[int]) -> int:
    """Crossings that two neighbours lose when they change places; both lists are sorted."""
    if not left or not right:
        return 0
    if left[-1] < right[0]:
        return -len(left) * len(right)
    if left[0] > right[-1]:
        return len(left) * len(right)
    gain = 0
    size = len(right)
    less = equal = 0  # of `right`: how many are below this one of `left`, how many up to it
    for a in left:
        while less < size and right[less] < a:
            less += 1
        while equal < size and right[equal] <= a:
            equal += 1
        gain += less - (size - equal)
    return gain
