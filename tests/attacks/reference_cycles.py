"""References to themselves, in circles of 3, in chains of 500, and into nothing."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import blob, file, graph, mark, net, node, ref


def cases() -> Iterator[bytes]:
    fields = {"shape": (1,), "values": ref("a")}
    yield net(node("y", "Const", **fields), a=ref("a"))
    yield net(node("y", "Const", **fields), a=ref("b"), b=ref("c"), c=ref("a"))
    yield net(node("y", "Const", **fields))
    yield net(node("y", "Const", **fields), a=ref(""))
    chain = {f"r{i}": ref(f"r{i + 1}") for i in range(500)}
    yield net(node("y", "Const", **fields), a=ref("r0"), r500=blob(b"\0" * 4), **chain)
    many = [node(f"n{i}", "Const", **fields) for i in range(500)]
    yield file(graph(*many, mark(*(f"n{i}" for i in range(500)))), a=ref("r400"), **chain)
