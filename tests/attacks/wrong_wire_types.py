"""Every field of the outer messages with every wire type."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, varint


def cases() -> Iterator[bytes]:
    bodies = (b"\x01", b"\x00" * 8, b"\x01a", b"\x4c", b"", b"\x00" * 4)
    for number in (1, 2, 3, 4, 5, 100):
        for wire, body in enumerate(bodies):
            field = varint(number << 3 | wire) + body
            yield file() + field
            yield file(graph() + field)
            yield file(graph(b"\x12" + bytes([len(field)]) + field))
