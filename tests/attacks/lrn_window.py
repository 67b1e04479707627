"""LRN whose window, exponent and factor are 0, negative, enormous, infinite, not a number."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import given, net, node


def cases() -> Iterator[bytes]:
    for window in (0, -1, -(1 << 63), 1 << 20, 1 << 31, 1 << 62, (1 << 63) - 1):
        yield net(given("x", 1, 4, 4, 8), node("y", "LRN", ["x"], window_size=window))
    for value in (0.0, -1.0, 1e308, float("inf"), float("nan")):
        for name in ("alpha", "beta", "k"):
            yield net(given("x", 1, 4, 4, 8), node("y", "LRN", ["x"], **{name: value}))
        yield net(given("x", 2), node("y", "LeakyRelu", ["x"], alpha=value))
