"""Unknown fields that hold messages in messages: nobody is to follow them."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, put


def cases() -> Iterator[bytes]:
    inner = b""
    for _ in range(2_000):
        inner = put(50, inner)
    yield file() + inner
    yield file(graph() + inner)
