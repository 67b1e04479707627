"""Conditionals behind one long branch: following it anew for each of them is too much."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, given, graph, mark, node


def cases() -> Iterator[bytes]:
    count = 400
    names = [f"m{i}" for i in range(count)]
    chain = [node(f"n{i}", "Identity", [f"n{i - 1}" if i else "x"]) for i in range(count)]
    end = f"n{count - 1}"
    merges = [node(name, "_Merge", [end, f"n{i}"]) for i, name in enumerate(names)]
    yield file(graph(given("x", 2), *chain, *merges, mark(*names)))
    norms = [node(f"b{i}", "BatchNorm", ["x", "x", "x", end, end]) for i in range(count)]
    merges = [node(name, "_Merge", [f"b{i}", "x"]) for i, name in enumerate(names)]
    yield file(graph(given("x", 2), *chain, *norms, *merges, mark(*names)))
    yield file(graph(node("y", "_Merge"), mark("y")))
    yield file(graph(node("y", "_Merge", ["y", "y"]), mark("y")))
    yield file(graph(node("y", "_Switch", ["z"]), node("z", "_Switch", ["y"]), mark("y")))
    yield file(graph(given("x", 2), node("y", "_Switch", ["x"]), mark("y")))
