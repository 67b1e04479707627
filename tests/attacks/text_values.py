"""Text: numbers, strings and names that do not end, do not fit or are too many."""

from __future__ import annotations

from collections.abc import Iterator


def cases() -> Iterator[bytes]:
    head = b"version: 1\n"
    for value in (
        b"9" * 100_000,
        b"-" * 100_000,
        b"0x" + b"f" * 100_000,
        b"1e" + b"9" * 1_000,
        b'"' + b"a" * 100_000,
        b'"' + b"\\" * 100_001,
        b"'a' " * 50_000,
        b"inf",
        b"",
        b"[",
        b"[1, 2]",
        b"1 2 3",
        b"{",
    ):
        yield head + b"descriptor_core_version: " + value
        yield head + b"graphs { id: " + value + b" }"
        yield head + b'graphs { nodes { fields { key: "a" value { d: ' + value + b" } } } }"
        yield (
            head
            + b'graphs { nodes { fields { key: "a" value { i_list { val: '
            + value
            + b" } } } } }"
        )
        yield head + b'referenced_data { key: "a" value { blob: ' + value + b" } }"
    yield head + b"x" * 100_000 + b": 1"
    yield head + b"#" * 100_000
    yield head + b"#\n" * 100_000
    yield head + b" " * 1_000_000
    yield head + b";" * 100_000
    yield head + b"\xff\xfe"
    yield b"\xef\xbb\xbf" + head
    yield head * 50_000
    yield head + b'graphs { nodes { id: "a" operation: "b" } }' * 10_000
