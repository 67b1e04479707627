"""Bytes that look like the beginning of a node or of data again and again, to whoever looks for
whole parts behind damage."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, graph, node, put, varint

_SIZE = 1 << 15


def cases() -> Iterator[bytes]:
    head = file(graph(node("a", "Input")))
    one = put(2, node("a", "Const", shape=[1]))
    for lure in (
        b"\x12\x05\x0a",
        b"\x12\x0a",
        b"\x22\x0a",
        b"\x2a\x0a\x0a\x02ab\x12",
        b"\x22\x90\x4e\x0a\x01a",
        b"\x08\x01",
        one,
        one + b"\xff",
        one + b"\x30\x01",
        b"\x22\x90\x4e\x0a\x01a" + one[:-1],
    ):
        yield head + b"\xff" + lure * (_SIZE // len(lure))
        yield lure * (_SIZE // len(lure)) + b"\xff"
    for tail in (b"a" * _SIZE + b"\xff", b"\xc3\xa9" * (_SIZE // 2) + b"\xc3"):
        yield head + b"\xff" + _nested(tail)
    yield head + b"\xff" + _shared()


def _nested(tail: bytes) -> bytes:
    """Nodes that each have all that is behind them as an input, whose last byte is wrong."""
    heads, size = [], len(tail)
    for _ in range(4_000):
        body = put(1, "x") + put(3, "y") + b"\x12" + varint(size)
        heads.append(b"\x12" + varint(len(body) + size) + body)
        size += len(heads[-1])
    return b"".join(reversed(heads)) + tail


def _shared() -> bytes:
    """Nodes whose ids all end in the same place, before many small fields that end badly."""
    heads, at = b"", 0
    while at < 3_980:
        one = b"\x12" + varint(_SIZE) + b"\x0a" + varint(4_000 - at - 6)
        heads, at = heads + one, at + len(one)
    return heads + b"z" * (4_000 - at) + b"\x0a\x00" * (_SIZE // 2) + b"\xff" * 10
