"""Pools with windows of 0, of 2^62, larger than the map, and of 2^40 places on one element."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INC, given, net, node, orders

HUGE = (0, -1, -(1 << 63), 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1)


def cases() -> Iterator[bytes]:
    for func in ("max", "avg"):
        for image in ((1, 8, 8, 2), (-1, -1, -1, 2)):
            x = given("x", *image)
            fields = {"func": func, "inputs_orders": orders((0, 2, INC, 1))}
            for name in ("kernel", "strides", "padding"):
                for value in HUGE:
                    for more in ({}, {"implicit_padding": "same"}):
                        yield net(
                            x,
                            node(
                                "y",
                                "Pool",
                                ["x"],
                                **{"kernel": (2, 2), **fields, name: (value, value), **more},
                            ),
                        )
            for size in (100, 3_000, 1 << 20, 1 << 40):
                yield net(
                    x,
                    node(
                        "y", "Pool", ["x"], kernel=(size, size), implicit_padding="same", **fields
                    ),
                )
                yield net(
                    x, node("y", "Pool", ["x"], kernel=(size, size), padding=(size, size), **fields)
                )
                yield net(
                    x, node("y", "Pool", ["x"], kernel=(1, 1), padding=(size, size), **fields)
                )
    for rank in range(7):
        yield net(given("x", *[2] * rank), node("y", "Pool", ["x"], func="max", kernel=(1,) * rank))
