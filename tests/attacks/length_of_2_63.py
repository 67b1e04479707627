"""Lengths near 2^63 and 2^64: sums that overflow 64 bits must not come out small."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, put, varint


def cases() -> Iterator[bytes]:
    for size in ((1 << 31) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        yield file() + b"\x22" + varint(size) + b"rest"
        yield file(graph() + b"\x12" + varint(size) + b"rest")
        yield file(graph(put(1, "a") + b"\x22" + varint(size)))
        yield file() + b"\x4b\x0a" + varint(size) + b"\x4c"  # inside a group
