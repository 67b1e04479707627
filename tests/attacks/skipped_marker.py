"""What a text twin writes for a blob it left out, with absurd numbers."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import const, net, node


def cases() -> Iterator[bytes]:
    for count in (b"4", b"16", b"0", b"99999999999999999999", b"1152921504606846976"):
        marker = b"(...%s bytes skipped...)" % count
        for shape in ([], [4], [1 << 60], [0], [1 << 62, 1 << 62]):
            yield net(const("y", shape, marker))
            yield net(const("a", shape, marker), node("y", "Activation", ["a"], func="relu"))
