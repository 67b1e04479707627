"""Horizontal places: straight columns, near to what they are joined to, none on another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ufkit.viewer.layout.layers import Layers

_WORK = 2_000_000  # distances looked at in all rounds
_ROUNDS = 24
_STILL = 0.5  # pixels: less than that is no move
_SPARE = 600.0  # pixels more than the least width, for links to be straight
_PULL = (1.0, 2.0, 8.0)  # of a piece by how many of its ends are bends: those shall be straight


class Columns:
    """Vertices that stand below each other move as one.

    head    column of each vertex
    offset  of each vertex from the place of its column, so that the ends of aligned pieces meet
    """

    def __init__(
        self,
        graph: Layers,
        under: Sequence[int],
        starts: Sequence[float],
        stops: Sequence[float],
    ) -> None:
        """`starts`, `stops`: of each link, how far right of its vertex' middle it is fixed."""
        self.graph = graph
        size = len(graph.rank)
        self.head = [-1] * size
        self.offset = [0.0] * size
        shift: dict[tuple[int, int], float] = {}
        ends: list[tuple[int, int, float, int]] = []
        for u, v, link in graph.segments():
            right = 0.0
            if u < graph.count:
                right += starts[link]
            if v < graph.count:
                right -= stops[link]
            if under[u] == v and (u, v) not in shift:
                shift[u, v] = right
            else:
                ends.append((u, v, right, (u >= graph.count) + (v >= graph.count)))
        self.count = 0
        for layer in graph.layers:
            for v in layer:
                if self.head[v] < 0:
                    self._descend(v, under, shift)
        self.loose = [end for end in ends if self.head[end[0]] != self.head[end[1]]]

    def _descend(self, v: int, under: Sequence[int], shift: dict[tuple[int, int], float]) -> None:
        column, offset = self.count, 0.0
        self.count += 1
        while True:
            self.head[v], self.offset[v] = column, offset
            if (w := under[v]) < 0:
                return
            offset += shift[v, w]
            v = w

    def place(self, apart: dict[tuple[int, int], float]) -> list[float]:
        """The middle of each vertex. `apart`: least distance of middles of neighbours in a rank."""
        head, offset = self.head, self.offset
        gaps: dict[tuple[int, int], float] = {}
        for (u, v), distance in apart.items():
            pair = head[u], head[v]
            gap = distance + offset[u] - offset[v]
            if gaps.get(pair, -np.inf) < gap:
                gaps[pair] = gap
        order, left, right = self._neighbours(gaps)
        x = self._settle(order, left, right)
        return [x[head[v]] + offset[v] for v in range(len(head))]

    def _neighbours(
        self, gaps: dict[tuple[int, int], float]
    ) -> tuple[list[int], list[list[tuple[int, float]]], list[list[tuple[int, float]]]]:
        """The columns from left to right, and those to the left and right of each with the gap."""
        left: list[list[tuple[int, float]]] = [[] for _ in range(self.count)]
        right: list[list[tuple[int, float]]] = [[] for _ in range(self.count)]
        for (a, b), gap in gaps.items():
            left[b].append((a, gap))
            right[a].append((b, gap))
        waiting = [len(item) for item in left]
        order = [column for column in range(self.count) if not waiting[column]]
        for a in order:  # grows while it is walked
            for b, _ in right[a]:
                waiting[b] -= 1
                if not waiting[b]:
                    order.append(b)
        return order, left, right

    def _settle(
        self,
        order: list[int],
        left: list[list[tuple[int, float]]],
        right: list[list[tuple[int, float]]],
    ) -> list[float]:
        """Pull columns towards each other, a bit less each time, and push them apart again.

        Whatever places are wished for, pushing to the right as far as needed keeps all distances,
        and so does pushing to the left; then so does the middle of both.
        """
        backwards = order[::-1]

        def pushed(wish: list[float]) -> list[float]:
            low, high = wish[:], wish[:]
            for b in order:
                value = low[b]
                for a, gap in left[b]:
                    if low[a] + gap > value:
                        value = low[a] + gap
                low[b] = value
            for a in backwards:
                value = high[a]
                for b, gap in right[a]:
                    if high[b] - gap < value:
                        value = high[b] - gap
                high[a] = value
            return [(p + q) / 2 for p, q in zip(low, high, strict=True)]

        lowest, highest = self._packed(order, left, right)
        x = [(p + q) / 2 for p, q in zip(lowest, highest, strict=True)]
        links = len(order) + sum(map(len, left))
        if self.loose:
            u, v, at, bends = (np.array(item) for item in zip(*self.loose, strict=True))
            head, offset = np.array(self.head), np.array(self.offset)
            a, b = head[u], head[v]
            far = at + offset[u] - offset[v]  # of b from a when the piece is vertical
            pull = np.array(_PULL)[bends]
            weight = np.bincount(a, pull, self.count) + np.bincount(b, pull, self.count)
            fixed = weight == 0
            weight[fixed] = 1
            for _ in range(max(3, min(_ROUNDS, _WORK // (2 * links + 1)))):
                now = np.array(x)
                force = pull * (now[b] - now[a] - far)
                move = np.bincount(a, force, self.count) - np.bincount(b, force, self.count)
                wish = np.clip(now + 0.7 * move / weight, lowest, highest)
                following = pushed(wish.tolist())
                still = max(abs(p - q) for p, q in zip(x, following, strict=True)) < _STILL
                x = following
                if still:
                    break
            self._snap(x, left, right, lowest, highest)
        return x

    def _packed(
        self,
        order: list[int],
        left: list[list[tuple[int, float]]],
        right: list[list[tuple[int, float]]],
    ) -> tuple[list[float], list[float]]:
        """How far left and how far right each column may be: the width stays about the least."""
        low = [0.0] * self.count
        for b in order:
            low[b] = max([low[a] + gap for a, gap in left[b]], default=0.0)
        most = max(low, default=0.0)
        most += min(most / 2, _SPARE)
        high = [most] * self.count
        for a in reversed(order):
            high[a] = min([high[b] - gap for b, gap in right[a]], default=most)
        return low, high

    def _snap(
        self,
        x: list[float],
        left: list[list[tuple[int, float]]],
        right: list[list[tuple[int, float]]],
        lowest: list[float],
        highest: list[float],
    ) -> None:
        """Move each column, one after the other, so that its best piece is vertical if it can."""
        head, offset = self.head, self.offset
        near: list[list[tuple[int, float, float]]] = [[] for _ in range(self.count)]
        for u, v, at, bends in self.loose:
            a, b = head[u], head[v]
            far = at + offset[u] - offset[v]
            near[a].append((b, -far, _PULL[bends]))
            near[b].append((a, far, _PULL[bends]))
        for columns in (range(self.count), range(self.count - 1, -1, -1)):
            for c in columns:
                if near[c]:
                    low = max([x[a] + gap for a, gap in left[c]], default=lowest[c])
                    high = min([x[b] - gap for b, gap in right[c]], default=highest[c])
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
