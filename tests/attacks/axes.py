"""Axes of 2^63 - 1, -2^63, beyond the rank, repeated, for every operation that has any."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from attacks.forge import const, given, net, node

AXES = (0, 3, -4, 1 << 31, (1 << 63) - 1, -(1 << 63))


def cases() -> Iterator[bytes]:
    for sizes in ((2, 3, 4), (), (-1, 3)):
        for x in (
            given("x", *sizes),
            const("x", [*map(abs, sizes)], bytes(4 * abs(prod(sizes)))),
        ):
            for axis in AXES:
                for operation in ("Softmax", "ArgMax", "ArgMin", "ExpandDims", "Concat", "Stack"):
                    yield net(x, node("y", operation, ["x"], axis=axis))
                yield net(x, node("y", "Concat", ["x", "x"], axis=axis))
                for keep in (True, False):
                    yield net(
                        x, node("y", "Reduce", ["x"], func="max", axes=(axis,), keepdims=keep)
                    )
                yield net(x, node("y", "Reduce", ["x"], func="sum", axes=(axis, axis, 0)))
                yield net(x, node("y", "Squeeze", ["x"], axes=(axis,)))
                yield net(x, node("y", "Transpose", ["x"], permutation=(axis,)))
                yield net(x, node("y", "Transpose", ["x"], permutation=(axis, 0, 1)))
            for permutation in (
                (),
                (0, 0, 0),
                (0, 1, 1),
                (2, 1, 0),
                (-1, -2, -3),
                (0, 1, 2, 3),
                tuple(range(10_000)),
            ):
                yield net(x, node("y", "Transpose", ["x"], permutation=permutation))
