"""Small constants that broadcast to 2^40 elements: folding them must not allocate."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INT32, const, given, net, node


def cases() -> Iterator[bytes]:
    def column(id_: str, count: int, type_: int) -> bytes:
        return const(id_, [count, 1], bytes(count * (1 if type_ == 7 else 4)), type_)

    def row(id_: str, count: int, type_: int) -> bytes:
        return const(id_, [1, count], bytes(count * (1 if type_ == 7 else 4)), type_)

    for type_ in (0x20020, INT32, 7):
        for count in (16, 32, 33, 1 << 10, 1 << 14, 1 << 16):
            grid = node("y", "Binary", ["a", "b"], func="add")
            yield net(column("a", count, type_), row("b", count, type_), grid)
            yield net(
                const("one", [1, 1], bytes(4 if type_ != 7 else 1), type_),
                column("a", count, type_),
                row("b", count, type_),
                node("c", "Binary", ["one", "a"], func="mul"),
                node("y", "Binary", ["c", "b"], func="mul"),
            )
    axes = [
        const(f"a{i}", [32 if i == j else 1 for j in range(12)], bytes(128), INT32)
        for i in range(12)
    ]
    tower = [
        node(f"n{i}", "Binary", [f"n{i - 1}" if i > 1 else "a0", f"a{i}"], func="add")
        for i in range(1, 12)
    ]
    yield net(*axes, *tower, out="n11")
    yield net(
        given("x", 1 << 20, 1), given("z", 1, 1 << 20), node("y", "Binary", ["x", "z"], func="add")
    )
    yield net(
        const("a", [1 << 14, 1], bytes(1 << 16)),
        const("b", [1, 1 << 14], bytes(1 << 16)),
        node("y", "FullyConnected", ["a", "b"]),
    )
