"""Fields that the schema does not have, 10,000 of them, at every level."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, given, graph, mark, put


def cases() -> Iterator[bytes]:
    extra = (put(9, 1) + put(77, "abc")) * 10_000
    yield file(graph(given("x", 2), mark("x"))) + extra
    yield file(graph(given("x", 2), mark("x")) + extra)
    yield file(graph(given("x", 2) + extra, mark("x")))
    yield file(graph(given("x", 2) + put(4, put(1, "shape") + extra), mark("x")))
    yield file(graph(given("x", 2), mark("x"))) + b"".join(put(1_000 + i, 1) for i in range(5_000))
