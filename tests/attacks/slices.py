"""Slices with strides of 0, masks of 2^63 - 1, bounds at the ends of int64, lists too long."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INT64, const, given, net, node, numbers


def cases() -> Iterator[bytes]:
    edge = (1 << 63) - 1
    for begin, end, step in (
        ((0,), (1,), (0,)),
        ((-edge - 1,), (edge,), (1,)),
        ((edge,), (-edge - 1,), (-1,)),
        ((0,), (edge,), (edge,)),
        ((edge,), (edge,), (-edge - 1,)),
        ((0, 0, 0, 0), (1, 1, 1, 1), (1, 1, 1, 1)),
        ((), (), ()),
        ((0,), (), (1,)),
        ((0,) * 1_000, (1,) * 1_000, (1,) * 1_000),
    ):
        for mask in (0, 1, edge, -1):
            for x in (
                given("x", 3, 4),
                given("x", -1, 4),
                const("x", [3], bytes(12)),
                const("x", [], bytes(4)),
            ):
                parts = [
                    numbers(name, *values, type_=INT64)
                    for name, values in (("b", begin), ("e", end), ("s", step))
                ]
                masks = {"begin_mask": mask, "end_mask": mask}
                yield net(x, *parts, node("y", "StridedSlice", ["x", "b", "e", "s"], **masks))
                yield net(
                    x,
                    *parts,
                    node("y", "StridedSlice", ["x", "b", "e", "s"], shrink_axis_mask=mask),
                )
