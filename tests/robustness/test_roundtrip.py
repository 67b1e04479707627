"""Whatever a file holds comes back, and what was not edited comes back byte for byte."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ufkit
from ufkit.core.dtypes import DTYPES
from ufkit.core.files import Source, Span
from ufkit.uff.data import DataMap, Orders, Ref
from ufkit.uff.io import JSON, TEXT, write_to
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import MetaGraph
from ufkit.wire.message import Message
from ufkit.wire.values import encode_varint

texts = st.text(max_size=6)
integers = st.integers(-(1 << 63), (1 << 63) - 1)
floats = st.floats()
dtypes = st.sampled_from(DTYPES)
orders = st.lists(integers, max_size=5).map(lambda axes: Orders(tuple(axes)))


def lists(item: Any) -> Any:
    return st.lists(item, min_size=1, max_size=4)


KINDS = {
    "none": st.none(),
    "s": texts,
    "s_list": lists(texts),
    "d": floats,
    "d_list": lists(floats),
    "b": st.booleans(),
    "b_list": lists(st.booleans()),
    "i": integers,
    "i_list": lists(integers),
    "blob": st.binary(max_size=40),
    "ref": texts.map(Ref),
    "dtype": dtypes,
    "dtype_list": lists(dtypes),
    "dim_orders": orders,
    "dim_orders_list": lists(orders),
}
values = st.one_of(*KINDS.values())
maps = st.dictionaries(texts, values, max_size=4)
unknown = st.lists(st.tuples(st.integers(200, 300), st.binary(max_size=5)), max_size=2)


@st.composite
def files(draw: st.DrawFn) -> MetaGraph:
    """Several graphs of nodes with fields of all kinds, references, unknown fields."""
    meta = MetaGraph.new()
    for name in draw(st.lists(texts, max_size=2)):
        meta.add_descriptor(name, draw(integers))
    for _ in range(draw(st.integers(1, 3))):
        graph = meta.add_graph(draw(texts))
        for _ in range(draw(st.integers(0, 3))):
            id_, operation, inputs = draw(texts), draw(texts), draw(st.lists(texts, max_size=3))
            node = graph.add(id_, operation, inputs)
            node.fields.update(draw(maps))
            node.extra_fields.update(draw(maps))
        graph.extra_fields.update(draw(maps))
    meta.referenced_data.update(draw(maps))
    meta.extra_fields.update(draw(maps))
    return reread(binary(meta) + _unknown(draw(unknown)))


def _unknown(fields: list[tuple[int, bytes]]) -> bytes:
    return b"".join(
        encode_varint(number << 3 | 2) + encode_varint(len(data)) + data for number, data in fields
    )


def binary(meta: MetaGraph) -> bytes:
    out = io.BytesIO()
    write_to(meta, out)
    return out.getvalue()


def reread(data: bytes) -> MetaGraph:
    return open_uff(Source(data))


def plain(value: Any) -> Any:
    """Values that can be compared: bytes for spans, text for what is no number."""
    if isinstance(value, Message):
        fields = [*value.known()]
        names = [(f.name, value.all(f.name) if f.repeated else value.get(f.name)) for f in fields]
        return [(name, plain(item)) for name, item in names]
    if isinstance(value, list):
        return [*map(plain, value)]
    if isinstance(value, Span):
        return bytes(value.view())
    if isinstance(value, float):
        return repr(value) if math.isnan(value) else (value, math.copysign(1, value))
    return value


def held(entries: DataMap) -> dict[str, Any]:
    return {key: plain(entries.data(key)) for key in entries}


def content(meta: MetaGraph) -> Any:
    return (
        [(item.id, item.version) for item in meta.descriptors],
        [
            (
                graph.id,
                held(graph.extra_fields),
                [
                    (n.id, n.operation, n.inputs, held(n.fields), held(n.extra_fields))
                    for n in graph
                ],
            )
            for graph in meta.graphs
        ],
        held(meta.referenced_data),
        held(meta.extra_fields),
    )


@given(files())
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_saved_and_opened_it_is_the_same(meta: MetaGraph) -> None:
    once = binary(meta)
    again = reread(once)
    assert content(again) == content(meta)
    assert binary(again) == once


@given(files(), st.sampled_from([TEXT, JSON]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_through_text_and_json_it_is_the_same(meta: MetaGraph, form: str) -> None:
    out = io.BytesIO()
    write_to(meta, out, form=form, full=True)
    again = reread(out.getvalue())
    assert content(again)[0] == content(meta)[0]
    assert sorted(content(again)[2].items()) == sorted(content(meta)[2].items())
    for there, here in zip(again.graphs, meta.graphs, strict=True):
        assert [n.id for n in there] == [n.id for n in here]
        assert [held(n.fields) for n in there] == [held(n.fields) for n in here]


@given(maps)
@settings(max_examples=60)
def test_values_come_back_as_they_were_put_in(fields: dict[str, Any]) -> None:
    meta = MetaGraph.new()
    meta.add_graph().add("n", "_Op").fields.update(fields)
    node = reread(binary(meta)).graph["n"]
    for key, value in fields.items():
        if not isinstance(value, Ref):
            assert plain(node.fields[key]) == plain(value)


@given(files(), st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_an_edit_rewrites_the_edited_message_only(meta: MetaGraph, data: st.DataObject) -> None:
    nodes = [node for graph in meta.graphs for node in graph]
    if not nodes:
        return
    edited = data.draw(st.sampled_from(nodes))
    bodies = {id(node): bytes(node.message.span.view()) for node in nodes}
    rest = bytes(meta.source.view(0, meta.source.size))
    edited.operation = edited.operation + "X"
    again = reread(binary(meta))
    for old, new in zip(nodes, [n for graph in again.graphs for n in graph], strict=True):
        if old is edited:
            assert new.operation == edited.operation
        else:
            assert bytes(new.message.span.view()) == bodies[id(old)]
    assert binary(again).endswith(rest[meta.graphs[-1].message.span.stop :])


def test_an_edit_changes_as_many_bytes_as_it_must(tmp_path: Path) -> None:
    from graphs import small_net

    path = tmp_path / "net.uff"
    ufkit.save(small_net().meta, path)
    before = path.read_bytes()
    with ufkit.open(path) as meta:
        meta.graph["relu"].fields["func"] = "tanh"
        ufkit.save(meta, path)
    after = path.read_bytes()
    assert len(after) == len(before)
    assert sum(a != b for a, b in zip(after, before, strict=True)) == 4
