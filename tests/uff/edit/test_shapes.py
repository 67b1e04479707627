"""Shapes and batches written into a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ufkit
from graphs import small_net
from ufkit.uff.edit.shapes import set_batch, set_shapes


def reshaped(target: list[int], *, batch: int = 1, shared: bool = False) -> ufkit.Builder:
    """A net that flattens [batch, 4, 6] into `target`, as exporters with a fixed batch do."""
    b = ufkit.Builder()
    b.input("x", [batch, 4, 6])
    b.const("target", np.array(target, np.int32))
    b.op("y", "Reshape", ["x", "target"])
    b.output("y")
    if shared:
        b.op("z", "Reshape", ["x", "target"])
        b.output("z", "target")
    return b


def test_a_shape_is_recorded() -> None:
    b = small_net()
    b.graph["image"].fields["shape"] = []
    assert [d.code for d in ufkit.check(b.meta)].count("UFF301") == 1
    set_shapes(b.graph, {"image": ["N", 8, 8, 3]})
    assert b.graph["image"].fields["shape"] == [-1, 8, 8, 3]
    assert "UFF301" not in [d.code for d in ufkit.check(b.meta)]


def test_a_shape_that_does_not_fit_is_refused() -> None:
    b = small_net()
    with pytest.raises(ufkit.RequestError) as caught:
        set_shapes(b.graph, {"image": [1, 16, 16, 3]})
    assert caught.value.diagnostic.code == "UFF302"
    assert "dense" in str(caught.value)
    assert b.graph["image"].fields["shape"] == [-1, 8, 8, 3]
    with pytest.raises(ufkit.RequestError, match="is no Input"):
        set_shapes(b.graph, {"imgae": [1, 8, 8, 3]})


@pytest.mark.parametrize("batch", [1, 3, -1])
def test_the_batch_of_a_net_without_reshapes(batch: int) -> None:
    b = small_net(batch=2)
    assert set_batch(b.graph, batch) == []
    assert b.graph["image"].fields["shape"] == [batch, 8, 8, 3]


@pytest.mark.parametrize("batch", [5, -1])
@pytest.mark.parametrize("target", [[1, 24], [1, -1], [1, 2, 12], [1, -1, 3]])
def test_a_reshape_with_the_batch_written_in_follows(target: list[int], batch: int) -> None:
    b = reshaped(target)
    assert set_batch(b.graph, batch) == ["y"]
    x = np.arange(120, dtype=np.float32).reshape(5, 4, 6)
    result = ufkit.run(b.graph, {"x": x})["y"]
    assert np.array_equal(result, x.reshape(5, *(x[0].reshape(target).shape[1:])))


def test_one_reshape_behind_another_follows_too() -> None:
    b = reshaped([1, 24])
    b.const("target2", np.array([1, 3, 8], np.int32))
    b.op("w", "Reshape", ["y", "target2"])
    b.output("w")
    assert set_batch(b.graph, 7) == ["y", "w"]
    x = np.zeros((7, 4, 6), np.float32)
    assert ufkit.run(b.graph, {"x": x})["w"].shape == (7, 3, 8)


def test_others_who_take_the_same_target_keep_it() -> None:
    b = reshaped([1, 24], shared=True)
    set_batch(b.graph, 2)
    assert ufkit.constant(b.graph["target"]).numpy().tolist() == [1, 24]
    assert ufkit.constant(b.graph["y/shape"]).numpy().tolist() == [2, 24]


def test_a_batch_that_would_go_into_another_axis_is_refused() -> None:
    b = reshaped([24, -1], batch=1)
    with pytest.raises(ufkit.RequestError) as caught:
        set_batch(b.graph, 3)
    assert caught.value.diagnostic.code == "UFF302"
    assert "a batch other than 24 would go into its other axes" in str(caught.value)


def test_an_open_batch_that_a_reshape_has_fixed_already() -> None:
    b = reshaped([1, -1], batch=-1)
    assert set_batch(b.graph, 1) == []
    with pytest.raises(ufkit.RequestError, match="a batch other than 1"):
        set_batch(reshaped([1, -1], batch=-1).graph, 4)


def test_a_graph_without_shapes_has_no_batch() -> None:
    b = small_net()
    b.graph["image"].fields["shape"] = []
    with pytest.raises(ufkit.RequestError) as caught:
        set_batch(b.graph, 2)
    assert caught.value.diagnostic.code == "UFF523"
    assert "--set-shape" in caught.value.diagnostic.hint


@pytest.mark.parametrize("name", ["lenet5", "mlp_mnist", "netvlad_short"])
def test_real_nets_on_four_at_once(corpus: Path, name: str) -> None:
    with ufkit.open(corpus / "uff" / f"{name}.uff") as model:
        graph = model.graph
        (start,) = graph.inputs
        tail = start.fields["shape"][1:]
        x = np.random.default_rng(0).standard_normal((4, *tail)).astype(np.float32)
        one = ufkit.run(graph, {start.id: x[2:3]}, shapes={start.id: [1, *tail]})
        set_batch(graph, 4)
        four = ufkit.run(graph, {start.id: x})
    for id_, value in one.items():
        assert np.allclose(four[id_][2:3], value, rtol=1e-4, atol=1e-6)
