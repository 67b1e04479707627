"""Shapes of Inputs written into the file, and another batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ufkit.core.diag import Diagnostic, RequestError, Severity
from ufkit.uff.dims import Dim, show
from ufkit.uff.edit.editor import Editor
from ufkit.uff.infer import Inference, infer
from ufkit.uff.inputs import BATCH, GivenShapes
from ufkit.uff.model import Graph, Node
from ufkit.uff.rules import SHAPE_CONFLICT
from ufkit.uff.work_rules import CANNOT_EDIT

OPEN = -1


def set_shapes(graph: Graph, shapes: GivenShapes) -> None:
    """Write the shapes of Inputs, by id; a size given by name is left open.

    Raises RequestError for a name that is no Input (UFF401), and with every conflict there would
    be that there was not before; nothing is changed then.
    """
    _refuse(_new_errors(infer(graph), infer(graph, shapes)))
    _write(graph, shapes)


def set_batch(graph: Graph, batch: int) -> list[str]:
    """Give all Inputs another first size, -1 to leave it open.

    A Reshape that has the old batch written in is given the new one; the ids of those are what
    you get. An Input without a shape is passed over.
    Raises RequestError where no Input has a shape (UFF523), and with every place that does not
    fit the new batch; do not go on with the graph then.
    """
    before = infer(graph)
    specs = {id_: spec.shape for id_, spec in before.inputs.items() if spec.shape}
    if not specs:
        message = f"no Input of graph {graph.id!r} has a shape, so none has a batch"
        hint = "give the shapes: --set-shape NAME=N,28,28,1"
        raise RequestError(CANNOT_EDIT.at(graph.where(), message, hint=hint))
    olds = {size for size, *_ in specs.values() if isinstance(size, int)}
    opened = {id_: [BATCH, *map(_named, shape[1:])] for id_, shape in specs.items()}
    editor = Editor(graph)
    edited: dict[str, Any] = {}
    while places := [*_written_in(inference := infer(graph, opened), olds, edited)]:
        for node, target in places:  # opened first: one may hide the next from view
            target[0] = OPEN
            name = editor.const(graph.free_id(f"{node.id}/shape"), target)
            editor.rewire(node.inputs[1], name, [node.id])
            edited[node.id] = target
    stuck = [*_stuck(inference, batch)]
    for id_, target in edited.items():
        target[0] = batch
        editor.set_const(graph[id_].inputs[1], target)
    shapes = {id_: [batch, *sizes[1:]] for id_, sizes in opened.items()}
    _refuse([*_new_errors(before, infer(graph, shapes)), *stuck])
    _write(graph, shapes)
    return [*edited]


def _write(graph: Graph, shapes: GivenShapes) -> None:
    for id_, sizes in shapes.items():
        fixed = [size if isinstance(size, int) else OPEN for size in sizes]
        graph[id_].fields["shape"] = fixed


def _named(size: int | Dim) -> int | str:
    return size if isinstance(size, int) else str(size)


def _reshapes(inference: Inference) -> Iterator[tuple[Node, Any, Any]]:
    """Each Reshape of what begins with the batch: its target, where known, and its shape."""
    for id_, call in inference.calls.items():
        facts = inference.facts[id_]
        if call.spec.name == "Reshape" and call.inputs[0].shape and facts.shape:
            first, target = call.inputs[0].shape[0], call.inputs[1].value
            if first == Dim((BATCH,)) and target is not None:
                yield call.node, target, facts.shape


def _written_in(
    inference: Inference, olds: set[int], edited: Collection[str]
) -> Iterator[tuple[Node, Any]]:
    """The Reshapes whose target begins with the old batch as a number, and the target."""
    for node, target, _ in _reshapes(inference):
        fixed = target.dtype != object and target.size > 0
        if fixed and int(target.flat[0]) in olds and node.id not in edited:
            yield node, target.copy()


def _stuck(inference: Inference, batch: int) -> Iterator[Diagnostic]:
    """The Reshapes that would put the batch into another axis than the first."""
    for node, target, shape in _reshapes(inference):
        first = shape[0]
        if isinstance(first, int) and first != batch and first > 0:
            message = (
                f"the target {target.tolist()} gives {show(shape)}: a batch other than {first} "
                "would go into its other axes"
            )
            yield SHAPE_CONFLICT.at(node.where(), message)


def _new_errors(before: Inference, after: Inference) -> list[Diagnostic]:
    def errors(inference: Inference) -> dict[tuple[str, str], Diagnostic]:
        found = [d for d in inference.diagnostics if d.severity is Severity.ERROR]
        return {(d.code, d.where.node): d for d in found}

    known = errors(before)
    return [finding for key, finding in errors(after).items() if key not in known]


def _refuse(findings: list[Diagnostic]) -> None:
    if findings:
        raise RequestError(*findings)
