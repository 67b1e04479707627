"""Thousands of nodes behind one chain of references as long as is allowed."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import blob, file, graph, mark, node, ref


def cases() -> Iterator[bytes]:
    chain = {f"r{i}": ref(f"r{i + 1}") for i in range(15)}
    fields = {"shape": ref("r0"), "values": ref("r0"), "dtype": ref("r0")}
    names = [f"n{i}" for i in range(500)]
    nodes = [node(name, "Const", **fields) for name in names]
    yield file(graph(*nodes, mark(*names)), r15=blob(b"\0" * 4), **chain)
