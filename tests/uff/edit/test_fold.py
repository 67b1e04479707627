"""Constants computed once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import ufkit
from graphs import X
from random_graphs import dags
from ufkit.uff.branches import RESOLVED
from ufkit.uff.edit.fold import fold


@given(dags())
def test_folding_changes_no_output(b: ufkit.Builder) -> None:
    before = ufkit.run(b.graph, {"n0": X})
    fold(b.graph)
    after = ufkit.run(b.graph, {"n0": X} if b.graph.inputs else {})
    assert after.keys() == before.keys()
    assert all(np.array_equal(after[id_], before[id_]) for id_ in before)
    constants = {node.id for node in b.graph if node.operation == "Const"}
    for node in b.graph:
        assert node.operation == "MarkOutput" or not node.inputs or set(node.inputs) - constants
    assert not [d for d in ufkit.check(b.meta) if d.code in ("UFF105", "UFF211")]


def test_a_shape_worked_out_from_known_sizes_is_a_constant() -> None:
    b = ufkit.Builder()
    b.input("x", [2, 3, 4])
    b.op("shape", "Shape", ["x"])
    for name, value in (("begin", [0]), ("end", [1]), ("step", [1]), ("rest", [-1])):
        b.const(name, np.array(value, np.int32))
    b.op("batch", "StridedSlice", ["shape", "begin", "end", "step"])
    b.op("target", "Concat", ["batch", "rest"], axis=0)
    b.op("y", "Reshape", ["x", "target"])
    b.output("y")
    report = fold(b.graph)
    assert report.constants == ["target"]
    assert ufkit.constant(b.graph["target"]).numpy().tolist() == [2, -1]
    assert sorted(node.id for node in b.graph) == ["MarkOutput_0", "target", "x", "y"]


def test_what_is_too_large_stays() -> None:
    b = ufkit.Builder()
    b.input("x", [1])
    b.const("dims", np.array([5_000_000], np.int32))
    b.const("one", np.float32(1))
    b.op("ones", "_Fill", ["dims", "one"])
    b.op("y", "Binary", ["x", "ones"], func="add")
    b.output("y")
    assert fold(b.graph).constants == []
    assert b.graph["ones"].operation == "_Fill"


@pytest.mark.parametrize("name", ["netvlad", "netvlad_short"])
def test_training_leftovers_of_real_nets_are_gone(corpus: Path, name: str) -> None:
    with ufkit.open(corpus / "uff" / f"{name}.uff") as model:
        graph = model.graph
        shape = [1, *graph["input_1"].fields["shape"][1:]]
        image = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        before = ufkit.run(graph, {"input_1": image})
        report = fold(graph)
        after = ufkit.run(graph, {"input_1": image})
    assert len(report.leftovers) > 90
    assert not [node for node in graph if node.operation in RESOLVED]
    assert all(np.array_equal(after[id_], before[id_]) for id_ in before)
