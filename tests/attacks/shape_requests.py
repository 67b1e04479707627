"""Reshape to 2^60, to several -1, below -1, to floats, to matrices, to what is not known."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INT64, const, given, net, node, numbers


def cases() -> Iterator[bytes]:
    for target in (
        (1 << 60,),
        (-1, 1 << 60),
        (1 << 62, 1 << 62),
        (-1, -1),
        (-1, -1, -1),
        (-2,),
        (-(1 << 63),),
        (0,),
        (0, -1),
        (),
        (1,) * 100,
        (1,) * 1_024,
        (1,) * 1_025,
        (6,),
        (2, 3),
        (-1, 2),
        (4, -1),
    ):
        for source in ((2, 3), (-1, 3), (-1, -1), ()):
            yield net(
                given("x", *source),
                numbers("s", *target, type_=INT64),
                node("y", "Reshape", ["x", "s"]),
            )
        yield net(
            const("x", [2, 3], b"\0" * 24),
            numbers("s", *target, type_=INT64),
            node("y", "Reshape", ["x", "s"]),
        )
    yield net(given("x", 2, 3), const("s", [2], b"\0" * 8), node("y", "Reshape", ["x", "s"]))
    yield net(
        given("x", 2, 3),
        const("s", [1, 2], b"\6\0\0\0\1\0\0\0", 0x10020),
        node("y", "Reshape", ["x", "s"]),
    )
    yield net(given("x", 2, 3), given("s", 2), node("y", "Reshape", ["x", "s"]))
    yield net(given("x", 2, 3), given("s", -1), node("y", "Reshape", ["x", "s"]))
    yield net(given("x", 2, 3), given("s", 1 << 40), node("y", "Reshape", ["x", "s"]))
    yield net(
        given("x", 2, 3), given("s", 100_000, type_=0x10020), node("y", "Reshape", ["x", "s"])
    )
