"""Parts of a graph cut out, and what nothing needs swept away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ufkit
from graphs import X, small_net, values
from random_graphs import dags
from ufkit.uff.data import Ref
from ufkit.uff.edit.cut import extract
from ufkit.uff.edit.sweep import sweep, sweep_data


@given(dags(), st.data())
def test_a_part_computes_what_the_whole_does(b: ufkit.Builder, data: st.DataObject) -> None:
    whole = values(b.graph, n0=X)
    ids = sorted(whole)
    out = data.draw(st.sampled_from(ids))
    starts = data.draw(st.lists(st.sampled_from(ids), max_size=3, unique=True))
    try:
        assert extract(b.graph, starts, [out]) == []
    except ufkit.RequestError:
        assume(False)
    assert b.graph.outputs == [out]
    fed = {node.id: whole[node.id] for node in b.graph.inputs}
    assert set(starts) <= fed.keys() <= {*starts, "n0"}
    assert np.array_equal(ufkit.run(b.graph, fed)[out], whole[out])
    assert not [d for d in ufkit.check(b.meta) if d.code in ("UFF105", "UFF211", "UFF102")]


def test_shape_type_and_open_sizes_of_the_cut_are_recorded() -> None:
    b = small_net()
    extract(b.graph, ["relu"], ["dense"])
    (start,) = b.graph.inputs
    assert (start.id, start.fields["shape"]) == ("relu", [-1, 8, 8, 4])
    assert "conv/kernel" not in b.graph
    assert "weights_conv/kernel" not in b.meta.referenced_data


def test_either_side_may_be_empty() -> None:
    front, back = small_net(), small_net()
    extract(front.graph, [], ["pool"])
    assert [node.id for node in front.graph.inputs] == ["image"]
    assert front.graph.outputs == ["pool"]
    extract(back.graph, ["pool"], [])
    assert back.graph.outputs == ["probabilities"]
    image = np.random.default_rng(0).standard_normal((2, 8, 8, 3), np.float32)
    middle = ufkit.run(front.graph, {"image": image})["pool"]
    whole = ufkit.run(small_net().graph, {"image": image})
    halves = ufkit.run(back.graph, {"pool": middle})
    assert np.array_equal(halves["probabilities"], whole["probabilities"])


def test_an_unknown_shape_is_allowed_and_said() -> None:
    b = ufkit.Builder()
    b.input("x", [-1, 4])
    b.op("plugin", "_Plugin_TRT", ["x"])
    b.op("y", "Activation", ["plugin"], func="relu")
    b.output("y")
    (finding,) = extract(b.graph, ["plugin"], [])
    assert finding.code == "UFF301"
    assert "--set-shape plugin=" in finding.hint
    result = ufkit.run(b.graph, {"plugin": -np.ones((2, 5), np.float32)})
    assert result["y"].shape == (2, 5)


def test_disorder_in_front_of_the_cut_does_not_matter() -> None:
    b = small_net()
    b.graph["conv"].inputs = ("gone", "conv/kernel")
    extract(b.graph, ["relu"], [])
    assert [node.id for node in b.graph.inputs] == ["relu"]


@pytest.mark.parametrize(
    ("starts", "ends", "said"),
    [
        (["rleu"], [], "has no node 'rleu'"),
        ([], ["MarkOutput_0"], "has no value"),
        (["dense"], ["relu"], "'dense' is not needed for 'relu'"),
        (["conv", "relu"], ["dense"], "'conv' is not needed for 'dense', given the others"),
    ],
)
def test_what_cannot_be_cut_is_refused(starts: list[str], ends: list[str], said: str) -> None:
    b = small_net()
    with pytest.raises(ufkit.RequestError) as caught:
        extract(b.graph, starts, ends)
    assert said in str(caught.value)
    assert len(b.graph) == len(small_net().graph)


@given(dags())
def test_sweeping_changes_no_output(b: ufkit.Builder) -> None:
    before = ufkit.run(b.graph, {"n0": X})
    sweep(b.graph)
    after = ufkit.run(b.graph, {"n0": X} if b.graph.inputs else {})
    assert all(np.array_equal(after[id_], before[id_]) for id_ in before)
    assert not [d for d in ufkit.check(b.meta) if d.code in ("UFF105", "UFF211")]


def test_data_that_only_unused_data_refers_to_goes_too() -> None:
    b = small_net()
    data = b.meta.referenced_data
    data["a"], data["b"], data["c"] = Ref("b"), Ref("c"), [1, 2]
    assert sweep_data(b.meta) == ["a", "b", "c"]
    assert "weights_conv/kernel" in data


def test_a_real_net_in_two_parts(corpus: Path) -> None:
    path = corpus / "uff" / "netvlad_short.uff"
    out = "net_vlad_layer_1/l2_normalize_1"
    whole = ufkit.open(path).graph
    at = next(node.id for node in whole if node.operation == "Activation" and "pw_3" in node.id)
    image = np.random.default_rng(0).standard_normal((1, 240, 320, 3), np.float32)
    expected = ufkit.run(whole, {"input_1": image})[out]
    front, back = ufkit.open(path).graph, ufkit.open(path).graph
    extract(front, [], [at])
    extract(back, [at], [])
    middle = ufkit.run(front, {"input_1": image})[at]
    assert np.array_equal(ufkit.run(back, {at: middle})[out], expected)
    assert max(len(front), len(back)) < len(whole) * 0.6
