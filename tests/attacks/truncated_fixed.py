"""Fixed-size values and packed doubles that end in their middle."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import Raw, file, graph, node


def cases() -> Iterator[bytes]:
    for tail in (
        b"\x19",
        b"\x19\x00\x00",
        b"\x22\x09\x0a\x07\x00\x00\x00\x00\x00\x00\x00",
        b"\x1d\x00",
    ):
        yield file(graph(node("a", "LeakyRelu", alpha=Raw(tail))))
        yield file() + tail
