"""Field number 0, and numbers beyond 2^29 - 1."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, varint


def cases() -> Iterator[bytes]:
    for number in (0, 1 << 29, 1 << 40, (1 << 61) - 1):
        for wire in range(6):
            tag = varint(number << 3 | wire)
            yield file() + tag + b"\x00" * 9
            yield file(graph(tag + b"\x00" * 9))
