"""Sizes that are squared again and again: their factors and symbols double each time."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import given, net, node


def cases() -> Iterator[bytes]:
    for sizes in ((-1,), (-1, 3), (1 << 40,), (7,)):
        squares = [
            node(f"n{i}", "Unary", [f"n{i - 1}" if i else "s"], func="square") for i in range(60)
        ]
        yield net(given("x", *sizes), node("s", "Shape", ["x"]), *squares, out="n59")
        yield net(
            given("x", *sizes),
            node("s", "Shape", ["x"]),
            *squares,
            node("y", "Reshape", ["x", "n59"]),
        )
        powers = [
            node(f"n{i}", "Binary", [f"n{i - 1}" if i else "s"] * 2, func="mul") for i in range(60)
        ]
        yield net(given("x", *sizes), node("s", "Shape", ["x"]), *powers, out="n59")
        power = [
            node(f"n{i}", "Binary", [f"n{i - 1}" if i else "s"] * 2, func="pow") for i in range(60)
        ]
        yield net(given("x", *sizes), node("s", "Shape", ["x"]), *power, out="n59")
        doubled = [
            node(f"n{i}", "Binary", [f"n{i - 1}" if i else "s"] * 2, func="add") for i in range(300)
        ]
        yield net(
            given("x", *sizes),
            node("s", "Shape", ["x"]),
            *doubled,
            node("y", "Reshape", ["x", "n299"]),
        )
    flat = [node(f"n{i}", "Concat", [f"n{i - 1}" if i else "s"] * 2, axis=0) for i in range(60)]
    yield net(given("x", -1, 3), node("s", "Shape", ["x"]), *flat, out="n59")
    yield net(
        given("x", -1, 3),
        *[node(f"n{i}", "Concat", [f"n{i - 1}" if i else "x"] * 2, axis=0) for i in range(80)],
        out="n79",
    )
    yield net(
        given("x", 2, 3),
        *[node(f"n{i}", "Concat", [f"n{i - 1}" if i else "x"] * 2, axis=0) for i in range(80)],
        out="n79",
    )
    yield net(
        given("x", 2, 3),
        *[node(f"n{i}", "Stack", [f"n{i - 1}" if i else "x"] * 2) for i in range(80)],
        out="n79",
    )
