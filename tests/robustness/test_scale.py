"""A hundred thousand nodes: no recursion, and time in proportion to their number."""

from __future__ import annotations

import time

import ufkit
from attacks.forge import given, net, node
from ufkit.core.files import Source


def chain(count: int) -> bytes:
    nodes = [node(f"n{i}", "Identity", [f"n{i - 1}" if i else "x"]) for i in range(count)]
    return net(given("x", 2), *reversed(nodes), out=f"n{count - 1}")


def seconds(count: int) -> float:
    """Processor time to open and check a chain, in which nothing is wrong."""
    data = chain(count)
    begin = time.process_time()
    assert [*ufkit.check(ufkit.open(Source(data)))] == []
    return time.process_time() - begin


def test_a_chain_of_a_hundred_thousand_nodes() -> None:
    assert seconds(100_000) < 20 * max(seconds(10_000), 0.05)
