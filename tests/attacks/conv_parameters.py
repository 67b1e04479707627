"""Conv with strides, dilation, padding, groups of 0, below it, enormous, too few, too many."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INC, const, given, net, node, orders

HUGE = (0, -1, -(1 << 63), 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1)


def cases() -> Iterator[bytes]:
    spelt = orders((0, 2, INC, 1), (2, INC, 1, 0))
    kernel = const("k", [3, 3, 2, 4], b"\0" * 288)
    for image in ((1, 8, 8, 2), (-1, 8, 8, 2), (-1, -1, -1, 2)):
        x = given("x", *image)
        for name in ("strides", "dilation", "padding"):
            for value in HUGE:
                for more in ({}, {"implicit_padding": "same"}):
                    fields = {"inputs_orders": spelt, name: (value, value), **more}
                    yield net(x, kernel, node("y", "Conv", ["x", "k"], **fields))
            for values in ((), (1,), (1, 1, 1), (1,) * 1_000):
                yield net(
                    x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=spelt, **{name: values})
                )
        for value in HUGE:
            yield net(
                x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=spelt, number_groups=value)
            )
        for big in (1 << 20, 1 << 40, (1 << 62) - 1):
            both = {"padding": (big, big), "dilation": (big, big)}
            yield net(x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=spelt, **both))
            both = {"padding": (big, big), "strides": (big, big)}
            yield net(x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=spelt, **both))
