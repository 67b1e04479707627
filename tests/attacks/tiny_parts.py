"""Nodes, graphs and entries of two bytes each, which cost the reader an object."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, mark, node, put


def cases() -> Iterator[bytes]:
    yield file(put(2, b"") * 10_000)
    yield file() + put(4, b"") * 10_000
    yield file(graph(mark("a"))) + put(5, b"") * 20_000
    yield file(graph(node("a", "b", [""] * 50_000), mark("a")))
