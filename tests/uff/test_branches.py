"""Conditionals left over from training: which branch inference takes."""

from __future__ import annotations

import numpy as np
import pytest

import ufkit
from ufkit.uff.branches import for_inference
from ufkit.uff.build import Builder

X = np.ones((1, 2, 2, 3), np.float32)


def _start(phase: bool = False) -> Builder:
    b = Builder()
    b.input("x", [-1, 2, 2, 3])
    b.const("phase/input", np.array(phase))
    b.op("phase", "_PlaceholderWithDefault", ["phase/input"], dtype=None, shape=[])
    return b


def _switched(b: Builder, name: str, source: str) -> str:
    return b.op(name, "_Switch", [source, "phase"])


def _merged(b: Builder, *sources: str) -> ufkit.Graph:
    b.op("merge", "_Merge", sources, N=2)
    b.output("merge")
    return b.graph


def _taken(graph: ufkit.Graph) -> str:
    resolved, _ = for_inference(graph)
    return resolved["merge"].inputs[0]


def _batch_norm(b: Builder, *, first: bool) -> ufkit.Graph:
    """Keras' BatchNorm under a learning phase: both sides, and a Switch behind the training one."""
    for name, value in (("gamma", 2.0), ("beta", 1.0), ("mean", 0.5), ("variance", 4.0)):
        b.const(name, np.full(3, value, np.float32))
        _switched(b, f"cond/{name}", name)
    for name in ("lost_mean", "lost_variance"):
        b.const(name, np.zeros(0, np.float32))
    moments = ["gamma", "beta", "lost_mean", "lost_variance"]
    b.op("training", "BatchNorm", ["x", *moments], "N+C", epsilon=0.0)
    _switched(b, "cond/x", "x")
    moments = [f"cond/{name}" for name in ("gamma", "beta", "mean", "variance")]
    b.op("cond/inference", "BatchNorm", ["cond/x", *moments], "N+C", epsilon=0.0)
    _switched(b, "cond/training", "training")
    sides = ("cond/inference", "cond/training")
    return _merged(b, *(sides if first else sides[::-1]))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("phase", [True, False])
def test_the_side_with_real_moments_is_taken_wherever_it_stands(phase: bool, first: bool) -> None:
    graph = _batch_norm(_start(phase), first=first)
    assert _taken(graph) == "cond/inference"
    value = ufkit.run(graph, {"x": X})["merge"]
    np.testing.assert_allclose(value, 2 * (X - 0.5) / 2 + 1)


def test_the_side_that_draws_random_numbers_is_left() -> None:
    b = _start()
    _switched(b, "off", "x")
    _switched(b, "on", "x")
    b.const("shape", np.array([1, 2, 2, 3], np.int32))
    b.op("noise", "_RandomUniform", ["shape"])
    b.op("dropped", "Binary", ["on", "noise"], func="mul")
    assert _taken(_merged(b, "dropped", "off")) == "off"


@pytest.mark.parametrize(("phase", "taken"), [(False, "left"), (True, "right")])
def test_a_constant_predicate_decides_where_nothing_else_does(phase: bool, taken: str) -> None:
    b = _start(phase)
    for name, func in (("left", "relu"), ("right", "tanh")):
        _switched(b, f"{name}/in", "x")
        b.op(name, "Activation", [f"{name}/in"], func=func)
    assert _taken(_merged(b, "left", "right")) == taken


def test_the_file_is_not_edited_and_says_what_was_taken() -> None:
    graph = _batch_norm(_start(), first=True)
    resolved, notes = for_inference(graph)
    assert graph["merge"].operation == "_Merge"
    assert resolved["merge"].operation == "Identity"
    (note,) = notes
    assert note.code == "UFF310"
    assert "training" in note.message


def test_a_graph_without_conditionals_is_given_back_itself() -> None:
    b = Builder()
    b.input("x", [1])
    b.output("x")
    assert for_inference(b.graph)[0] is b.graph


def test_conditionals_in_a_circle_end() -> None:
    b = _start()
    b.op("a", "_Switch", ["b", "phase"])
    b.op("b", "_Switch", ["a", "phase"])
    _merged(b, "a", "b")
    with pytest.raises(ufkit.FormatError, match="wait for each other"):
        ufkit.run(b.graph, {"x": X})
