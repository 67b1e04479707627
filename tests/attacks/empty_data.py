"""Data without a member in every place, and entries without a value or a key."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import Raw, file, given, graph, mark, net, node, put
from ufkit.uff.ops import OPS


def cases() -> Iterator[bytes]:
    for spec in OPS.values():
        name = spec.name
        inputs = [f"x{i}" for i in range(len(spec.inputs))]
        sources = [given(id_, 2, 4, 4, 2) for id_ in inputs]
        yield net(*sources, node("y", name, inputs, **dict.fromkeys(spec.fields)))
        yield net(*sources, node("y", name, inputs))
        bare = b"".join(put(4, put(1, field)) for field in spec.fields)
        yield net(*sources, node("y", name, inputs) + bare)
        yield net(*sources, node("y", name, inputs) + put(4, b"") * 3)
        yield net(node("y", name))
        yield net(*sources, node("y", name, inputs * 2))
        for rank in (0, 1, 2, 3, 5):
            yield net(*[given(id_, *[2] * rank) for id_ in inputs], node("y", name, inputs))
    yield net(given("x", 2), out="x", a=Raw(b""), b=None)
    yield file(graph(mark("a"))) + put(5, put(2, b"")) + put(100, b"") + put(100, put(1, "k"))
