"""Nodes with 5,000 and 20,000 inputs, all the same, all different, all missing."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import const, file, given, graph, mark, net, node


def cases() -> Iterator[bytes]:
    count = 20_000
    for operation, fields in (
        ("Concat", {"axis": 0}),
        ("MarkOutput", {}),
        ("_Custom", {}),
    ):
        yield net(given("x", 2), node("y", operation, ["x"] * count, **fields))
        yield net(given("x", 2), node("y", operation, [f"m{i}" for i in range(count)], **fields))
    yield net(given("x", 2), node("y", "Stack", ["x"] * 5_000))
    few = 1_000
    each = [given(f"x{i}", 2) for i in range(few)]
    names = [f"x{i}" for i in range(few)]
    yield net(*each, node("y", "Concat", names, axis=0))
    yield net(*each, node("y", "Stack", names, axis=0))
    yield file(graph(*each, mark(*names)))
    yield net(const("c", [1], bytes(4)), node("y", "Stack", ["c"] * few, axis=0))
