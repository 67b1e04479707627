"""Shapes of thousands of axes: their products have millions of digits."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import const, given, net, node, numbers


def cases() -> Iterator[bytes]:
    for rank in (32, 33, 64, 65, 300, 5_000):
        for size in (1, 2, 1 << 62):
            yield net(const("y", [size] * rank, b"\0" * 4))
            yield net(given("x", *[size] * rank), node("y", "Flatten", ["x"]))
            yield net(given("x", *[size] * rank), node("y", "Activation", ["x"], func="relu"))
    axes = [numbers(f"a{i}", 1) for i in range(2)]
    grown = [node("n0", "ExpandDims", ["a0"], axis=0)]
    grown += [node(f"n{i}", "ExpandDims", [f"n{i - 1}"], axis=0) for i in range(1, 300)]
    yield net(*axes, *grown, out="n299")
    yield net(given("a0", 2, 3), *grown, out="n299")
