"""Several edits, in the one order in which they make sense together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ufkit.core.diag import Diagnostic
from ufkit.core.render import plural
from ufkit.uff.edit.change import Change
from ufkit.uff.edit.cut import extract
from ufkit.uff.edit.fixes import fix
from ufkit.uff.edit.fold import fold
from ufkit.uff.edit.random_weights import random_weights
from ufkit.uff.edit.rename import rename
from ufkit.uff.edit.shapes import OPEN, set_batch, set_shapes
from ufkit.uff.edit.sweep import sweep
from ufkit.uff.inputs import GivenShapes
from ufkit.uff.model import Graph


@dataclass(slots=True)
class Edits:
    """What is to be done, in this order; nothing unless given.

    fix                 mend what has one right answer; see `fixes`
    set_shape           shapes to write, by id of the Input
    set_batch           first size of all Inputs; -1 leaves it open
    random_weights      seed of the weights that take the place of lost ones
    inputs, outputs     ids of the values to keep what lies between; see `cut`
    fold                compute what follows from constants, resolve training leftovers
    remove_unreachable  take out what no output needs
    rename              new ids by old ones; all others here are still the old ones
    """

    fix: bool = False
    set_shape: GivenShapes = field(default_factory=dict)
    set_batch: int | None = None
    random_weights: int | None = None
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    fold: bool = False
    remove_unreachable: bool = False
    rename: Mapping[str, str] = field(default_factory=dict)


def edit(graph: Graph, edits: Edits) -> tuple[list[Change], list[Diagnostic]]:
    """Change a graph in place; what was done, and findings on what it still lacks.

    Fixes and random weights concern all graphs of the file. Raises FormatError and RequestError
    as the single edits do; the graph is then partly edited and not to be saved.
    """
    remarks: list[Diagnostic] = []
    return list(_applied(graph, edits, remarks)), remarks


def _applied(graph: Graph, edits: Edits, remarks: list[Diagnostic]) -> Iterator[Change]:
    if edits.fix:
        yield from fix(graph.meta) or [Change("fix", "nothing to mend")]
    if edits.set_shape:
        set_shapes(graph, edits.set_shape)
        for id_ in edits.set_shape:
            yield Change("set-shape", f"{id_} is {graph[id_].fields['shape']}")
    if edits.set_batch is not None:
        reshapes = set_batch(graph, edits.set_batch)
        yield Change("set-batch", _batch_said(edits.set_batch, reshapes))
    if edits.random_weights is not None:
        made = random_weights(graph.meta, edits.random_weights)
        remarks += made.kept
        yield Change("random-weights", str(made))
    if edits.inputs or edits.outputs:
        before = len(graph)
        remarks += extract(graph, edits.inputs, edits.outputs)
        yield Change("extract", _extracted(graph, before))
    if edits.fold:
        yield Change("fold", str(fold(graph)))
    if edits.remove_unreachable:
        yield Change("remove-unreachable", f"taken out: {sweep(graph)}")
    if edits.rename:
        data = rename(graph, edits.rename)
        for old, new in edits.rename.items():
            also = " and its weights" if f"weights_{old}" in data else ""
            yield Change("rename", f"{old}{also} became {new}")


def _batch_said(batch: int, reshapes: Sequence[str]) -> str:
    said = "the batch is open" if batch == OPEN else f"the batch is {batch}"
    if reshapes:
        said += f", in {plural(len(reshapes), 'Reshape')} too: {', '.join(reshapes)}"
    return said


def _extracted(graph: Graph, before: int) -> str:
    inputs = [f"{node.id} {node.fields.get('shape') or '[?]'}" for node in graph.inputs]
    outputs = ", ".join(graph.outputs)
    return f"{len(graph):,} of {plural(before, 'node')}: {', '.join(inputs)} to {outputs}"
