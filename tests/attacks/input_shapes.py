"""Inputs whose recorded shapes are absurd, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INC, const, given, net, node, numbers, orders


def cases() -> Iterator[bytes]:
    spelt = orders((0, 2, INC, 1), (2, INC, 1, 0))
    kernel = const("k", [3, 3, 2, 2], bytes(144))
    for shape in (
        (),
        (0,),
        (-2,),
        (-1, -1, -1, -1),
        (1 << 40,),
        (1 << 62, 1 << 62),
        ((1 << 63) - 1,),
        (-(1 << 63),),
        (1 << 31, 1 << 31, 1 << 31, 2),
        (1, 1 << 40, 1 << 40, 2),
        (-1, 1 << 62, 1 << 62, 2),
        (8, 8, 2),
        (2, 8, 8),
        (1,) * 50,
    ):
        x = given("x", *shape)
        yield net(x, out="x")
        yield net(x, node("y", "Shape", ["x"]))
        yield net(x, kernel, node("y", "Conv", ["x", "k"], inputs_orders=spelt))
        yield net(x, node("y", "Pool", ["x"], func="avg", kernel=(2, 2), inputs_orders=spelt))
        yield net(x, node("y", "Flatten", ["x"]))
        yield net(x, node("y", "Softmax", ["x"]))
        yield net(x, node("y", "FullyConnected", ["x", "x"]))
        yield net(x, node("y", "Stack", ["x", "x"], axis=1))
        yield net(x, numbers("s", -1, 2), node("y", "Reshape", ["x", "s"]))
        yield net(x, numbers("i", 0), node("y", "Gather", ["x", "i"]))
