"""Orders with unknown axes, two runs, repeated axes, a run without an axis, none, thousands."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import DEC, INC, Raw, const, given, net, node, orders, put, ref


def cases() -> Iterator[bytes]:
    kernel, x = const("k", [3, 3, 2, 2], bytes(144)), given("x", 1, 8, 8, 2)
    usual = (2, INC, 1, 0)
    for odd in (
        (),
        (0,),
        (0, 2, 3, 1, 4),
        (0, 0, 0, 0),
        (0, 1, 1, 2),
        (0, 2, INC, INC, 1),
        (0, 2, INC, 3, INC, 1),
        (0, DEC, 2, 1),
        (DEC, 2, INC, 0, 1),
        (DEC,),
        (INC,),
        (INC, 0),
        (0, 1, DEC),
        (0, 9, INC, 1),
        (0, -5, INC, 1),
        (0, 1 << 62, INC, 1),
        (-(1 << 63), INC),
        (DEC, -(1 << 63)),
        (0, 2, 4, 1),
        tuple(range(2_000)),
        (0, 2, INC, 1) * 100,
    ):
        for spelt in (orders(odd, usual), orders(usual, odd), orders(odd), orders(*[odd] * 5)):
            yield net(x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=spelt))
            yield net(x, node("y", "Pool", ["x"], func="max", kernel=(2, 2), inputs_orders=spelt))
        fits = orders((0, 2, INC, 1), usual)
        yield net(
            x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=fits, outputs_orders=orders(odd))
        )
        matrix = given("x", 2, 2)
        yield net(
            matrix,
            const("k", [2, 2], bytes(16)),
            node(
                "y",
                "FullyConnected",
                ["x", "k"],
                inputs_orders=orders(odd, odd),
                outputs_orders=orders(odd),
            ),
        )
        yield net(x, node("y", "Softmax", ["x"], inputs_orders=orders(odd)))
        yield net(x, node("y", "LRN", ["x"], inputs_orders=orders(odd)))
    for raw in (
        b"",
        put(104, b""),
        put(104, put(1, b"")),
        put(104, put(1, put(1, put(1, 3)))),
        put(103, b""),
    ):
        yield net(x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=Raw(raw)))
    yield net(x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=ref("orders_N+C_+CK")))
    yield net(x, kernel, node("y", "Conv", ["x", "k"]))
