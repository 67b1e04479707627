"""Hundreds of nodes, each of which would be folded into a constant of tens of megabytes."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INT64, const, file, graph, mark, node, numbers


def cases() -> Iterator[bytes]:
    names = [f"n{i}" for i in range(200)]
    pads = [numbers(f"p{i}", 0, 4_000_000 + i, type_=INT64) for i in range(200)]
    grown = [node(name, "Pad", ["a", f"p{i}"]) for i, name in enumerate(names)]
    total = node("y", "Concat", names, axis=0)
    one = const("a", [1], bytes(4))
    yield file(graph(one, *pads, *grown, mark(*names)))
    yield file(graph(one, *pads, *grown, total, mark("y")))
    chain = [
        node(name, "Unary", [names[i - 1] if i else "b"], func="neg")
        for i, name in enumerate(names)
    ]
    yield file(graph(one, pads[0], node("b", "Pad", ["a", "p0"]), *chain, mark(names[-1])))
