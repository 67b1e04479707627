"""Integer constants that overflow, are divided by zero, raised to negative powers."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import INT8, INT64, const, net, node


def cases() -> Iterator[bytes]:
    for type_, least, size in ((INT64, -(1 << 63), 8), (0x10020, -(1 << 31), 4), (INT8, -128, 1)):
        for left in (least, -1, 0, 1, -least - 1):
            for right in (least, -1, 0, 1, -least - 1):
                a = const("a", [1], left.to_bytes(size, "little", signed=True), type_)
                b = const("b", [1], right.to_bytes(size, "little", signed=True), type_)
                for func in ("div", "pow", "mul"):
                    yield net(a, b, node("y", "Binary", ["a", "b"], func=func))
        a = const("a", [1], least.to_bytes(size, "little", signed=True), type_)
        for func in ("neg", "abs", "square", "exp", "sqrt"):
            yield net(a, node("y", "Unary", ["a"], func=func))
        for func in ("sum", "prod", "mean"):
            yield net(a, node("y", "Reduce", ["a"], func=func))
