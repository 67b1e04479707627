"""JSON: depth, numbers of a million digits, names given twice, values of other types."""

from __future__ import annotations

from collections.abc import Iterator


def cases() -> Iterator[bytes]:
    head = b'{"version": "1", "graphs": '
    yield from (
        b'{"version": ' + value + b"}"
        for value in (
            b"[" * 1_000_000,
            b'{"a":' * 1_000_000,
            b"9" * 1_000_000,
            b"1e400",
            b"1e999999999",
            b"-1e-999999999",
            b"NaN",
            b'"' + b"9" * 100_000 + b'"',
            b"null",
            b"true",
            b"{}",
            b"[]",
            b"1.5",
            b'"\\ud800"',
        )
    )
    for value in (
        b"[]",
        b"[null]",
        b"[[]]",
        b"{}",
        b"1",
        b'"a"',
        b'[{"nodes": [{}]}]',
        b'[{"nodes": [null]}]',
    ):
        yield head + value + b"}"
        yield b'\n  {"graphs": ' + value + b"}"
    data = b'[{"nodes": [{"fields": {"a": {%s}}}]}]'
    for value in (
        b'"i": "x"',
        b'"blob": "!"',
        b'"blob": "A"',
        b'"blob": 1',
        b'"dtype": "DT_NONE"',
        b'"dtype": 1e30',
        b'"i": 1, "d": 2',
        b'"i_list": {"val": [[]]}',
        b'"s": "\\ud800"',
        b'"b": 1',
        b'"d": "Infinity"',
        b'"nope": 1',
    ):
        yield head + data % value + b"}"
    yield b'{"version": "1", "version": "2"}'
    yield b'{"version": "1"'
    yield b'{"version": "1"}' * 2
    yield b'{"version": "1", ' + b'"graphs": [], ' * 50_000 + b'"graphs": []}'
