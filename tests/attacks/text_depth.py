"""Text: a million braces, unclosed, of other kinds, in lists."""

from __future__ import annotations

from collections.abc import Iterator


def cases() -> Iterator[bytes]:
    head = b"version: 1\ndescriptor_core_version: 1\n"
    for count in (100, 1_000_000):
        yield head + b"graphs {" * count
        yield head + b"graphs <" * count + b">" * count
        yield head + b"graphs { nodes {" * count
        yield head + b"graphs [" * count
        yield head + b"graphs: {" + b"}" * count
        yield head + b"}" * count
        yield head + b"graphs {} " * min(count, 10_000)
