"""ONNX models: results far larger than the file, chains, circles, functions without end."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from attacks.forge import put, varint

FLOAT, INT64 = 1, 7
MANY = 2000
HUGE = (1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, -1, 0)


def attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    if isinstance(value, float):
        return put(5, put(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + put(20, 1))
    if isinstance(value, int):
        return put(5, put(1, name) + put(3, value) + put(20, 2))
    return put(5, put(1, name) + put(8, b"".join(map(varint, value))) + put(20, 7))


def node(
    op: str, inputs: Sequence[str], output: str, *attributes: bytes, domain: str = ""
) -> bytes:
    """A NodeProto, without its tag."""
    names = b"".join(put(1, name) for name in inputs) + put(2, output)
    return names + put(4, op) + b"".join(attributes) + (put(7, domain) if domain else b"")


def ints(name: str, *values: int) -> bytes:
    """An initializer of int64 in its graph."""
    packed = b"".join(map(varint, values))
    return put(5, put(1, len(values)) + put(2, INT64) + put(7, packed) + put(8, name))


def floats(name: str, shape: Sequence[int], raw: bytes = b"") -> bytes:
    dims = b"".join(put(1, size) for size in shape)
    return put(5, dims + put(2, FLOAT) + put(8, name) + put(9, raw))


def port(number: int, name: str, *shape: int) -> bytes:
    """An input (11) or output (12) of float32."""
    dims = b"".join(put(1, put(1, size)) for size in shape)
    return put(number, put(1, name) + put(2, put(1, put(1, FLOAT) + put(2, dims))))


def model(*parts: bytes, sizes: Sequence[int] = (1, 2, 8, 8), functions: bytes = b"") -> bytes:
    """A model that takes x and gives y; `parts` are encoded fields of its graph."""
    graph = put(2, "g") + port(11, "x", *sizes) + port(12, "y") + b"".join(parts)
    return put(1, 8) + put(7, graph) + put(8, put(2, 17)) + functions


def cases() -> Iterator[bytes]:
    for huge in HUGE:
        yield from _large(huge)
    yield from _windows()
    yield from _long()
    yield from _functions()


def _large(huge: int) -> Iterator[bytes]:
    """What one number of the file would make of the little that is there."""
    four = ints("n", 1, 2, huge, huge)
    for op in ("Reshape", "Expand", "Tile", "ConstantOfShape"):
        taken = ["n"] if op == "ConstantOfShape" else ["x", "n"]
        yield model(four, put(1, node(op, taken, "y")))
        yield model(four, put(1, node(op, taken, "z")), put(1, node("Neg", ["z"], "y")))
    yield model(ints("n", 0, 0, huge, huge, 0, 0, huge, huge), put(1, node("Pad", ["x", "n"], "y")))
    for mode in ("nearest", "linear"):
        text = put(5, put(1, "mode") + put(4, mode) + put(20, 3))
        yield model(four, put(1, node("Resize", ["x", "", "", "n"], "y", text)))
    yield model(ints("n", huge), put(1, node("TopK", ["x", "n"], "y")))
    yield model(ints("d", huge), ints("v", 0, 1), put(1, node("OneHot", ["v", "d", "v"], "y")))
    yield model(
        ints("a", 0), ints("b", huge), ints("c", 1), put(1, node("Range", ["a", "b", "c"], "y"))
    )
    yield model(floats("w", (huge, huge)), put(1, node("MatMul", ["x", "w"], "y")))
    yield model(put(1, node("DepthToSpace", ["x"], "y", attribute("blocksize", huge))))
    yield model(put(1, node("LRN", ["x"], "y", attribute("size", huge))))
    yield model(put(1, node("Trilu", ["x"], "y")), sizes=(1, huge, huge))
    yield model(put(1, node("Split", ["x"], "y", attribute("axis", huge))))


def _windows() -> Iterator[bytes]:
    for huge in HUGE:
        shape = attribute("kernel_shape", (2, 2))
        for name in ("pads", "strides", "dilations"):
            numbers = attribute(name, (huge,) * (4 if name == "pads" else 2))
            for op in ("MaxPool", "AveragePool"):
                yield model(put(1, node(op, ["x"], "y", shape, numbers)))
            kernel = floats("w", (2, 2, 1, 1), bytes(16))
            for op in ("Conv", "ConvTranspose"):
                yield model(kernel, put(1, node(op, ["x", "w"], "y", numbers)))
        pads = attribute("pads", (1, 1, 1, 1))
        for op in ("MaxPool", "AveragePool"):
            yield model(put(1, node(op, ["x"], "y", shape, pads)), sizes=(1, 2, huge, huge))
        yield model(put(1, node("MaxPool", ["x"], "y", attribute("kernel_shape", (huge, huge)))))


def _long() -> Iterator[bytes]:
    chain = [put(1, node("Neg", [f"v{i}"], f"v{i + 1}")) for i in range(MANY)]
    ends = put(1, node("Neg", ["x"], "v0")), put(1, node("Neg", [f"v{MANY}"], "y"))
    yield model(ends[0], *chain, ends[1])
    yield model(*chain[::-1], *ends)
    yield model(*chain, put(1, node("Add", [f"v{MANY}", "y"], "v0")), ends[1])
    doubled = [put(1, node("Concat", [f"v{i}"] * 2, f"v{i + 1}", attribute("axis", 0)))
               for i in range(60)]  # fmt: skip
    yield model(ints("v0", 1), *doubled, put(1, node("Neg", ["v60"], "y")))
    yield model(put(1, node("Max", ["x"] * MANY, "y")))
    yield model(put(1, node("Concat", ["x"] * MANY, "y", attribute("axis", 1))))


def _functions() -> Iterator[bytes]:
    def function(name: str, *nodes: bytes) -> bytes:
        body = put(1, name) + put(4, "a") + put(5, "b") + put(10, "own")
        return put(25, body + b"".join(put(7, item) for item in nodes))

    for depth in (20, 200):
        calls = [
            function(f"F{i}", node(f"F{i + 1}", ["a"], "t", domain="own"),
                     node(f"F{i + 1}", ["t"], "b", domain="own"))
            for i in range(depth)
        ]  # fmt: skip
        last = function(f"F{depth}", node("Neg", ["a"], "b"))
        yield model(
            put(1, node("F0", ["x"], "y", domain="own")), functions=b"".join([*calls, last])
        )
    itself = function("F", node("F", ["a"], "b", domain="own"))
    yield model(put(1, node("F", ["x"], "y", domain="own")), functions=itself)
