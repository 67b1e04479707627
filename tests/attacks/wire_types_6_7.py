"""The wire types that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, varint


def cases() -> Iterator[bytes]:
    for wire in (6, 7):
        for number in (1, 4, 9, 1 << 28):
            yield file() + varint(number << 3 | wire) + b"\x01\x01"
            yield file(graph() + varint(number << 3 | wire) + b"\x01\x01")
            yield varint(number << 3 | wire) * 1000
