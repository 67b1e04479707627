"""A hundred thousand nodes: no recursion, and an end within the time that proportion allows."""

from __future__ import annotations

import io

import pytest

import ufkit
from attacks.forge import Raw, given, ints, net, node, put
from ufkit.core.files import Source
from ufkit.uff.io import write_to


def chain(count: int) -> bytes:
    nodes = [node(f"n{i}", "Identity", [f"n{i - 1}" if i else "x"]) for i in range(count)]
    return net(given("x", 2), *reversed(nodes), out=f"n{count - 1}")


@pytest.mark.timeout(120)  # in proportion it takes seconds, with all pairs days
def test_a_chain_of_a_hundred_thousand_nodes() -> None:
    assert [*ufkit.check(ufkit.open(Source(chain(100_000))))] == []


@pytest.mark.timeout(60)
def test_an_edit_of_what_is_given_many_times() -> None:
    """Its occurrences merge; the edited one takes the place of all."""
    count = 20_000
    meta = ufkit.open(Source(net(node("y", "Input", shape=Raw(put(8, ints([2])) * count)))))
    shape = meta.graph["y"].fields.data("shape").get("i_list")
    assert len(shape.all("val")) == count
    shape.set("val", [1, 2])
    out = io.BytesIO()
    write_to(meta, out)
    assert ufkit.open(Source(out.getvalue())).graph["y"].fields["shape"] == [1, 2]
