"""Element types that do not exist, that say one width and hold another, and that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import blob, const, dtype, net, node


def cases() -> Iterator[bytes]:
    for number in (0, 1, 7, 123, -1, 0x7FFFFFFF, -0x80000000, 0x10008, 0x30040):
        for data in (b"", b"\1", b"\1" * 4, b"\1" * 8, b"\1" * 24):
            for shape in ([], [2], [0]):
                yield net(const("y", shape, data, number))
        wide = const("a", [2], b"\1" * 8, number)
        for operation, fields in (
            ("Identity", {}),
            ("Shape", {}),
            ("Unary", {"func": "neg"}),
            ("Activation", {"func": "relu"}),
            ("Reduce", {"func": "sum"}),
            ("ArgMax", {}),
            ("ExpandDims", {"axis": 0}),
            ("Stack", {}),
            ("LeakyRelu", {}),
            ("Softmax", {}),
        ):
            yield net(wide, node("y", operation, ["a"], **fields))
        yield net(wide, node("y", "Binary", ["a", "a"], func="sub"))
    yield net(node("y", "Const", shape=(2,), values=blob(b"\0" * 8)))
    yield net(node("y", "Const", shape=(2,), values=blob(b"\0" * 8), dtype=dtype(7)))
