"""Groups: 100,000 deep, never closed, closed by another number, closed without being open."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph


def cases() -> Iterator[bytes]:
    start, end = b"\x4b", b"\x4c"
    for depth in (1, 100, 101, 100_000):
        yield file() + start * depth + end * depth
        yield file() + start * depth
        yield file(graph() + start * depth + end * depth)
    yield file() + start + b"\x54"
    yield file() + end
    yield file() + start + b"\x08\x01" * 100_000 + end
    yield file() + (start + end) * 100_000
