"""Thousands of outputs, of Inputs behind one chain, of consumers of one value."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import file, given, graph, mark, node


def cases() -> Iterator[bytes]:
    count = 800
    names = [f"n{i}" for i in range(count)]
    chain = [
        node(name, "Activation", [names[i - 1] if i else "x"], func="relu")
        for i, name in enumerate(names)
    ]
    yield file(graph(given("x", 2), *chain, mark(*names)))
    inputs = [given(f"x{i}", 2) for i in range(count)]
    sums = [
        node(name, "Binary", [f"x{i}", names[i - 1] if i else "x0"], func="add")
        for i, name in enumerate(names)
    ]
    yield file(graph(*inputs, *sums, mark(names[-1])))
    star = [node(name, "Activation", ["x"], func="relu") for name in names]
    yield file(graph(given("x", 2), *star, mark(*names)))
    marks = [node(f"m{i}", "MarkOutput", [name]) for i, name in enumerate(names)]
    yield file(graph(given("x", 2), *star, *marks))
    shapes = [node(name, "Shape", ["x"]) for name in names]
    yield file(graph(given("x", 2), *shapes, mark(*names)))
    doubled = [
        node(name, "Binary", [names[i - 1] if i else "x"] * 2, func="add")
        for i, name in enumerate(names)
    ]
    yield file(graph(given("x", 2), *doubled, mark(names[-1])))
