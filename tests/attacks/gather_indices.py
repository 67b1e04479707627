"""Gather with indices out of range, of floats, and more of them than memory holds."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INT64, const, given, net, node, numbers


def cases() -> Iterator[bytes]:
    x, table = given("x", 4, 3), const("x", [4, 3], bytes(48))
    for source in (x, table, numbers("x", 1, 2, 3, 4)):
        for index in (0, 3, 4, -1, -4, -5, (1 << 63) - 1, -(1 << 63)):
            for operation, fields in (
                ("Gather", {}),
                ("GatherV2", {"axis": 0}),
                ("GatherV2", {"axis": -1}),
            ):
                indices = numbers("i", index, type_=INT64)
                yield net(source, indices, node("y", operation, ["x", "i"], **fields))
        for axis in (2, -3, (1 << 63) - 1, -(1 << 63)):
            yield net(source, numbers("i", 0), node("y", "GatherV2", ["x", "i"], axis=axis))
        yield net(source, const("i", [1], bytes(4)), node("y", "Gather", ["x", "i"]))
        yield net(source, const("i", [4], b"\1\0\1\0", 7), node("y", "Gather", ["x", "i"]))
    wide = const("x", [1, 1 << 16], bytes(1 << 18))
    yield net(wide, const("i", [1 << 16], bytes(1 << 18), 0x10020), node("y", "Gather", ["x", "i"]))
    rows = [node(f"n{i}", "Gather", [f"n{i - 1}" if i else "i", "i"]) for i in range(40)]
    yield net(numbers("i", 0, 0), *rows, out="n39")
    deep = [node(f"n{i}", "Gather", [f"n{i - 1}" if i else "i"] * 2) for i in range(40)]
    yield net(const("i", [2, 2], bytes(16), 0x10020), *deep, out="n39")
