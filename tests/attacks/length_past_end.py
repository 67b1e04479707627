"""A length that points past the end, at every level."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, node, put


def cases() -> Iterator[bytes]:
    for cut in (b"\x22\x7f", b"\x22\xff\xff\xff\xff\x0f", b"\x2a\x05ab"):
        yield file() + cut
    inner = b"\x0a\x40short"  # an id of 64 bytes
    yield file(inner)
    yield file(graph(inner))
    yield file(graph(node("a", "Input") + b"\x22\x10\x0a\x7f"))
    yield file(graph(node("a", "Input") + put(4, put(1, "shape") + put(2, b"\x42\x10\x0a\x7f"))))
