"""Duplicate ids, empty ids, nodes that take themselves, outputs and inputs of every wrong kind."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import const, file, given, graph, mark, net, node


def cases() -> Iterator[bytes]:
    relu = {"func": "relu"}
    yield net(given("y", 2), given("y", 3))
    yield net(
        given("x", 2),
        node("y", "Activation", ["x"], **relu),
        node("y", "Activation", ["y"], **relu),
    )
    yield net(*[given("y", 2)] * 2_000)
    yield net(node("y", "Activation", ["y"], **relu))
    yield net(node("a", "Identity", ["y"]), node("y", "Identity", ["a"]))
    yield net(
        *[node(f"n{i}", "Identity", [f"n{(i + 1) % 10_000}"]) for i in range(10_000)], out="n0"
    )
    yield net(given("", 2), out="")
    yield net(out="missing")
    yield file(graph(given("x", 2)))
    yield file(graph(given("x", 2), mark()))
    yield file(graph(given("x", 2), mark("x")))
    yield file(graph(const("c", [1], bytes(4)), mark("c")))
    yield file(graph(const("c", [1], bytes(4)), mark("c", "c", "c")))
    yield file(graph(given("x", 2), mark("MarkOutput_0")))
    yield file(graph(given("x", 2), node("a", "MarkOutput", ["x"]), node("b", "MarkOutput", ["a"])))
    yield file(graph(given("x", 2), node("a", "MarkOutput", ["b"]), node("b", "MarkOutput", ["a"])))
    yield file(
        graph(
            given("x", 2), node("a", "MarkOutput", ["x"]), node("b", "Identity", ["a"]), mark("b")
        )
    )
    yield file(graph(node("x", "Input", ["x"], shape=(2,)), mark("x")))
    yield file(graph(node("x", "Input", ["z"], shape=(2,)), mark("x")))
    yield file(graph(given("z", 1), node("c", "Const", ["z"], shape=(1,)), mark("c")))
    yield file(graph(), graph(), graph(given("x", 2), mark("x")))
    yield file(*[graph(given("x", 2), mark("x"))] * 100)
    yield file(graph(id_=""))
    yield file(*[b""] * 1_000)
    yield file(graph(b"", b"", mark("")))
