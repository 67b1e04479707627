"""Varints of 10, 11 and a million bytes, as tag, value, length and packed element."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, node, put


def cases() -> Iterator[bytes]:
    for count in (9, 10, 11, 1 << 20):
        long = b"\xff" * count + b"\x01"
        yield b"\x08" + long + b"\x10\x01"
        yield file() + long
        yield file() + b"\x22" + long
        values = put(8, b"\x0a" + b"\x0b" + long[:10] + b"\x01")
        yield file(graph(node("a", "Input") + put(4, put(1, "shape") + put(2, values))))
    yield b"\x08\x81\x80\x80\x00\x10\x01"  # padded with zeros, which is allowed
