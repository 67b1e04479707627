"""Shapes whose product is enormous, negative or overflows, over a small blob."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import const, given, net, node


def cases() -> Iterator[bytes]:
    for shape in (
        [1 << 62, 1 << 62],
        [1 << 31, 1 << 31],
        [1 << 32, 1 << 32],
        [(1 << 63) - 1],
        [-1],
        [-1, -4],
        [-(1 << 63)] * 2,
        [0, 1 << 62],
        [1 << 62, 0],
        [1 << 62] * 4 + [0],
        [0] * 5,
        [],
        [1 << 40],
    ):
        for data in (b"", b"\0" * 4, b"\0" * 16):
            yield net(const("y", shape, data))
            yield net(const("a", shape, data), node("y", "Activation", ["a"], func="relu"))
            yield net(
                const("a", shape, data), node("b", "Shape", ["a"]), node("y", "Identity", ["b"])
            )
            yield net(const("a", shape, data), node("y", "Flatten", ["a"]))
            yield net(
                given("x", 2, 2),
                const("a", shape, data),
                node("y", "Binary", ["x", "a"], func="add"),
            )
