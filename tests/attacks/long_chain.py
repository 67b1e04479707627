"""20,000 nodes in a row, in order and backwards: no recursion, time in proportion."""

from __future__ import annotations

from collections.abc import Iterator

from attacks.forge import given, net, node


def cases() -> Iterator[bytes]:
    count = 20_000
    chain = [node(f"n{i}", "Identity", [f"n{i - 1}" if i else "x"]) for i in range(count)]
    yield net(*reversed(chain), given("x", 2), out=f"n{count - 1}")
    count = 2_000
    yield net(given("x", 2), *chain[:count], out=f"n{count - 1}")
    chain = [
        node(f"n{i}", "Activation", [f"n{i - 1}" if i else "x"], func="relu") for i in range(count)
    ]
    yield net(given("x", 2), *chain, out=f"n{count - 1}")
