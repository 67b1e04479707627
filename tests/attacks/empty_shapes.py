"""Sizes of 0 everywhere: divisions by them, windows over them, reductions of nothing."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INC, const, given, net, node, numbers, orders


def cases() -> Iterator[bytes]:
    each = (
        ("Activation", {"func": "relu"}),
        ("Flatten", {}),
        ("Squeeze", {}),
        ("Shape", {}),
        ("Softmax", {}),
        ("ArgMax", {"axis": 0}),
        ("ArgMin", {"axis": -1}),
        ("ExpandDims", {"axis": 0}),
        ("Concat", {"axis": 0}),
        ("LRN", {}),
        ("Pool", {"func": "max", "kernel": (2, 2)}),
        ("Pool", {"func": "avg", "kernel": (2, 2), "implicit_padding": "same"}),
        *(("Reduce", {"func": func}) for func in ("sum", "prod", "max", "min", "mean")),
    )
    for shape in (
        [0],
        [0, 0],
        [2, 0],
        [0, 2],
        [0, 4, 4, 3],
        [1, 0, 4, 3],
        [1, 4, 4, 0],
        [1, 4, 0, 3],
    ):
        for operation, fields in each:
            yield net(given("x", *shape), node("y", operation, ["x"], **fields))
            yield net(const("x", shape, b""), node("y", operation, ["x"], **fields))
        spelt = orders((0, 2, INC, 1), (2, INC, 1, 0))
        yield net(
            given("x", *shape),
            const("k", [3, 3, 0, 4], b""),
            node("y", "Conv", ["x", "k"], inputs_orders=spelt),
        )
        yield net(
            given("x", *shape),
            const("k", [0, 3, 3, 4], b""),
            node("y", "Conv", ["x", "k"], inputs_orders=spelt),
        )
        for target in ((-1,), (0, -1), (-1, 0), (0,), (2, -1)):
            yield net(given("x", *shape), numbers("s", *target), node("y", "Reshape", ["x", "s"]))
        yield net(given("x", *shape), numbers("i", 0), node("y", "Gather", ["x", "i"]))
        yield net(given("x", *shape), numbers("i"), node("y", "Gather", ["x", "i"]))
