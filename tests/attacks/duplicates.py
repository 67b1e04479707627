"""Singular messages, map keys and members of a oneof given 8,000 times."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import Raw, data, entry, file, given, graph, ints, mark, net, node, put


def cases() -> Iterator[bytes]:
    count = 8_000
    yield net(node("y", "Input", shape=Raw(put(8, ints([2])) * count)))
    yield net(node("y", "Input", shape=Raw((put(8, ints([2])) + put(7, 3)) * count)))
    yield net(
        node(
            "y",
            "Input",
            shape=Raw((put(1, "a") + put(9, "b") + put(103, b"") + put(104, b"")) * (count // 4)),
        )
    )
    yield net(node("y", "Input") + put(4, put(1, "shape") + put(2, data((2,))) * count))
    yield net(node("y", "Input") + put(4, put(1, "shape") * count + put(2, data((2,)))))
    yield net(node("y", "Input") + put(4, entry("shape", (2,))) * count)
    yield net(node("y", "Input") + put(4, b"") * count)
    yield net(put(1, "y") * count + put(3, "Input") * count)
    yield file(graph(given("x", 2), mark("x")), x=None) + put(5, entry("x", 1)) * count
    yield file(graph(given("x", 2), mark("x"))) + put(3, b"") * count
    yield (put(1, 1) + put(2, 1)) * count
