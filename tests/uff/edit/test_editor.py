"""The editor: nodes put in, replaced, rewired, renamed and taken out."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ufkit
from graphs import X, small_net, values
from random_graphs import dags
from ufkit.core.files import Source
from ufkit.uff.data import Ref
from ufkit.uff.io import write_to

IMAGE = np.random.default_rng(5).standard_normal((2, 8, 8, 3), np.float32)


def state(graph: ufkit.Graph) -> bytes:
    out = io.BytesIO()
    write_to(graph.meta, out)
    return out.getvalue()


def reopened(graph: ufkit.Graph) -> ufkit.Graph:
    return ufkit.open(Source(state(graph))).graph


def test_what_the_page_shows_works_on_a_file() -> None:
    edit = ufkit.Editor(reopened(small_net().graph))
    edit.insert("relu/limit", "Activation", "relu", func="tanh")
    edit.replace("relu", "LeakyRelu", alpha=0.5)
    graph = reopened(edit.graph)
    assert graph["pool"].inputs == ("relu/limit",)
    assert dict(graph["relu"].fields) == {"alpha": 0.5}
    before = values(graph, image=IMAGE)
    assert np.allclose(before["relu/limit"], np.tanh(before["relu"]))
    assert (before["relu"] < 0).any()


def test_insert_behind_some_takers_and_behind_an_output() -> None:
    b = ufkit.Builder()
    b.input("x", [2, 3])
    b.op("a", "Unary", ["x"], func="neg")
    b.op("b", "Binary", ["x", "a"], func="add")
    b.output("b")
    edit = ufkit.Editor(b.graph)
    edit.insert("twice", "Binary", "x", "x", takers=["b"], func="add")
    assert edit.graph["a"].inputs == ("x",)
    assert edit.graph["b"].inputs == ("twice", "a")
    edit.insert("last", "Identity", "b")
    assert edit.graph.outputs == ["last"]
    assert np.allclose(ufkit.run(edit.graph, {"x": X})["last"], X)
    assert [node.id for node in edit.takers("x")] == ["a", "twice"]


def test_custom_operations_are_declared() -> None:
    b = small_net()
    ufkit.Editor(b.graph).insert("p", "_Plugin_TRT", "relu")
    assert [d.id for d in b.meta.descriptors] == ["tensorflow_extension", "custom"]


@pytest.mark.parametrize(
    ("code", "ask"),
    [
        ("UFF521", lambda e: e.insert("new", "Identity", "nobody")),
        ("UFF521", lambda e: e.op("new", "Binary", ["relu", "nobody"], func="add")),
        ("UFF521", lambda e: e.rename({"nobody": "new"})),
        ("UFF521", lambda e: e.remove("relu", "nobody")),
        ("UFF522", lambda e: e.insert("conv", "Identity", "relu")),
        ("UFF522", lambda e: e.const("conv", np.ones(1, np.float32))),
        ("UFF522", lambda e: e.rename({"conv": "relu"})),
        ("UFF522", lambda e: e.rename({"conv": "same", "relu": "same"})),
        ("UFF523", lambda e: e.insert("new", "Identity", "relu", takers=["conv"])),
        ("UFF523", lambda e: e.remove("conv/kernel")),
        ("UFF523", lambda e: e.set_const("relu", [1.0])),
        ("UFF208", lambda e: e.set_const("conv/bias", ["text"])),
        ("UFF207", lambda e: e.replace("relu", "LeakyRelu", alpha=object())),
    ],
)
def test_an_error_leaves_everything_as_it_was(code: str, ask: Any) -> None:
    edit = ufkit.Editor(reopened(small_net().graph))
    before = state(edit.graph)
    with pytest.raises(ufkit.RequestError) as caught:
        ask(edit)
    assert caught.value.diagnostic.code == code
    assert state(edit.graph) == before


def test_an_id_used_twice_is_no_ground_to_stand_on() -> None:
    b = small_net()
    b.graph.add("relu", "Identity", ["pool"])
    with pytest.raises(ufkit.FormatError) as caught:
        ufkit.Editor(b.graph)
    assert caught.value.diagnostic.code == "UFF101"


def test_remove_forwards_the_first_input() -> None:
    edit = ufkit.Editor(small_net().graph)
    edit.remove("relu", "conv/add", "probabilities")
    assert edit.graph["pool"].inputs == ("conv",)
    assert edit.graph.outputs == ["dense"]
    edit.cleanup()
    assert "conv/bias" not in edit.graph
    assert "weights_conv/bias" not in edit.meta.referenced_data
    assert "orders_N+C" in edit.meta.referenced_data  # the Pool refers to it


def test_constants_of_one_are_not_those_of_another() -> None:
    b = small_net()
    graph = b.graph
    graph.add("bias2", "Const", **dict(graph["conv/bias"].fields) | {
        "values": Ref("weights_conv/bias")
    })  # fmt: skip
    edit = ufkit.Editor(graph)
    old = ufkit.constant(graph["bias2"]).numpy().copy()
    edit.set_const("conv/bias", np.zeros(4, np.float32))
    assert np.array_equal(ufkit.constant(graph["bias2"]).numpy(), old)
    assert not ufkit.constant(graph["conv/bias"]).numpy().any()
    edit.set_const("bias2", old + 1)  # now alone: in place, under the name it had
    assert graph["bias2"].fields.data("values").get("ref") == "weights_conv/bias"
    assert edit.set_const("dense/kernel", np.zeros((64, 7), np.float32)) == "dense/kernel"
    assert ufkit.constant(graph["dense/kernel"]).shape == (64, 7)


def test_data_that_is_shared_behind_a_reference_is_shared() -> None:
    b = small_net()
    b.meta.referenced_data["alias"] = Ref("weights_conv/bias")
    fields = dict(b.graph["conv/bias"].fields) | {"values": Ref("alias")}
    b.graph["conv/bias"].fields["values"] = Ref("alias")
    b.graph.add("bias2", "Const", **fields)
    ufkit.Editor(b.graph).set_const("conv/bias", np.zeros(4, np.float32))
    assert ufkit.constant(b.graph["bias2"]).numpy().any()
    assert not ufkit.constant(b.graph["conv/bias"]).numpy().any()


def test_shared_values_change_for_all_on_request() -> None:
    b = small_net()
    fields = dict(b.graph["conv/bias"].fields)
    b.graph.add("bias2", "Const", **fields | {"values": Ref("weights_conv/bias")})
    ufkit.Editor(b.graph).set_const("conv/bias", np.ones(4, np.float32), shared=True)
    assert ufkit.constant(b.graph["bias2"]).numpy().tolist() == [1, 1, 1, 1]


def test_orders_of_a_name_that_holds_others_are_kept_apart() -> None:
    b = small_net()
    pool = dict(b.graph["pool"].fields)["inputs_orders"]
    b.meta.referenced_data["orders_NC+"] = pool  # not what the name says
    edit = ufkit.Editor(b.graph)
    edit.op("pool2", "Pool", ["relu"], "NC+", func="max", kernel=[2, 2], strides=[2, 2])
    assert b.graph["pool2"].fields.data("inputs_orders").get("ref") == "orders_NC+_1"
    assert dict(b.graph["pool"].fields)["inputs_orders"] == pool


@given(dags(), st.data())
def test_putting_in_and_taking_out_changes_nothing(b: ufkit.Builder, data: st.DataObject) -> None:
    before = ufkit.run(b.graph, {"n0": X})
    order = [node.id for node in b.graph]
    names = st.sampled_from([node.id for node in b.graph if node.operation != "MarkOutput"])
    edit = ufkit.Editor(b.graph)
    for number, behind in enumerate(data.draw(st.lists(names, max_size=4))):
        edit.insert(f"new{number}", "Identity", behind)
    with_more = ufkit.run(edit.graph, {"n0": X})
    assert all(map(np.array_equal, with_more.values(), before.values()))
    added = [node.id for node in edit.graph if node.id.startswith("new")]
    edit.remove(*data.draw(st.permutations(added)))
    assert [node.id for node in edit.graph] == order
    after = ufkit.run(edit.graph, {"n0": X})
    assert after.keys() == before.keys()
    assert all(np.array_equal(after[id_], before[id_]) for id_ in before)


@given(dags(), st.randoms())
def test_renaming_all_gives_the_same(b: ufkit.Builder, random: Any) -> None:
    graph = reopened(b.graph)
    ids = [node.id for node in graph]
    shuffled = random.sample(ids, len(ids))  # exchanged with one another
    names = dict(zip(ids, shuffled, strict=True))
    before = values(graph, n0=X)
    ufkit.Editor(graph).rename(names)
    graph = reopened(graph)
    after = values(graph, **{names["n0"]: X})
    assert after.keys() == {names[id_] for id_ in before}
    assert all(np.array_equal(after[names[id_]], before[id_]) for id_ in before)
    constants = {node.id for node in graph if node.operation == "Const"}
    assert {f"weights_{id_}" for id_ in constants} == set(graph.meta.referenced_data)


def test_weights_that_others_refer_to_keep_their_name() -> None:
    b = small_net()
    fields = dict(b.graph["conv/bias"].fields)
    b.graph.add("bias2", "Const", **fields | {"values": Ref("weights_conv/bias")})
    ufkit.Editor(b.graph).rename({"conv/bias": "b", "conv/kernel": "k"})
    assert "weights_conv/bias" in b.meta.referenced_data
    assert "weights_k" in b.meta.referenced_data
    assert ufkit.constant(b.graph["b"]).shape == ufkit.constant(b.graph["bias2"]).shape == (4,)


def test_ten_thousand_edits_take_no_time() -> None:
    b = ufkit.Builder()
    b.input("x", [1])
    last = "x"
    for number in range(10_000):
        last = b.op(f"n{number}", "Identity", [last])
    b.output(last)
    edit = ufkit.Editor(b.graph)
    for number in range(10_000):
        edit.insert(f"m{number}", "Identity", f"n{number}")
    edit.remove(*[f"n{number}" for number in range(9_999)])
    assert ufkit.run(edit.graph, {"x": X[0, :1]})["m9999"] == X[0, 0]
