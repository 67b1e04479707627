"""Pads of 2^40 elements, negative, symbolic, of the wrong count, of small integers."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INT32, INT64, const, given, net, node, numbers


def cases() -> Iterator[bytes]:
    for amount in (1, -1, 1 << 20, 1 << 28, 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63)):
        pads = numbers("p", amount, amount, type_=INT64)
        yield net(given("x", 1), pads, node("y", "Pad", ["x", "p"]))
        yield net(const("x", [1], b"\0" * 4), pads, node("y", "Pad", ["x", "p"]))
        yield net(numbers("x", 1), pads, node("y", "Pad", ["x", "p"]))
        yield net(const("x", [1], b"\1", 7), pads, node("y", "Pad", ["x", "p"]))
        both = node("y", "Pad", ["x", "p"])
        yield net(const("x", [1, 1], b"\0" * 4), numbers("p", *[amount] * 4, type_=INT64), both)
    for count in (0, 1, 3, 1_000, 100_000):
        yield net(given("x", 1), numbers("p", *[1] * count), node("y", "Pad", ["x", "p"]))
    sizes = node("p", "Shape", ["x"])
    yield net(given("x", -1, -1), sizes, node("y", "Pad", ["x", "p"]))
    yield net(given("x", -1, 2), sizes, given("z", 3), node("y", "Pad", ["z", "p"]))
    yield net(given("x", 2, 2), given("p", 2, 2, type_=INT32), node("y", "Pad", ["x", "p"]))
