"""Ids that are no UTF-8, hold control characters, are long, or like those conversion makes."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import const, file, given, graph, mark, net, node, put


def cases() -> Iterator[bytes]:
    for name in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"a\xfe", b"\xc0\x80"):
        yield file(graph(node(name, "Input")))
        yield file(graph(node("x", name)))
        yield file(graph(node("x", "Identity", [name])))
        yield file(graph(node("x", "Input") + put(4, put(1, name))))
        yield file(put(1, name))
        yield file() + put(5, put(1, name))
        yield file() + put(3, put(1, name))
    for name in (
        "\0",
        "a\nb",
        "\r\n",
        "\x1b[31m",
        "\u202e",
        "\ud7ff",
        "\U0010ffff",
        "x" * 10_000,
        "/",
        ":",
        "",
        " ",
        "x/Relu",
        "x:2",
    ):
        y = node(name, "Activation", ["x"], func="relu")
        yield file(graph(given("x", 2), y, mark(name)))
        yield file(graph(given(name, 2), node("y", "Activation", [name], func="relu"), mark("y")))
        yield file(graph(given("x", 2), node("y", name, ["x"]), mark("y")))
        yield file(graph(given("x", 2), mark("x"), id_=name))
        yield net(given("x", 2), node("y", "Activation", ["x"], func=name))
        yield net(given("x", 2), node("y", "Activation", ["x"], **{name: 1}))
    made = (
        "const_int64_0",
        "y/Relu",
        "y:2",
        "y/Identity",
        "y:10",
        "x:expanded",
        "y:inner",
        "k:3201",
    )
    for name in made:
        yield net(
            given(name, 2, 3),
            const("const_int64_1", [3], bytes(12)),
            node("y", "Binary", [name, "const_int64_1"], func="add"),
        )
