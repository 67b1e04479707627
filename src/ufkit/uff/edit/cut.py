"""The part of a graph between some of its values."""

from __future__ import annotations

from collections.abc import Sequence

from ufkit.core.diag import Diagnostic, FormatError, RequestError
from ufkit.uff.build import Builder
from ufkit.uff.edit.rename import no_such_node
from ufkit.uff.edit.sweep import sweep
from ufkit.uff.infer import infer
from ufkit.uff.model import INPUT_OPERATION, OUTPUT_OPERATION, Graph, Node
from ufkit.uff.ops.spec import Facts
from ufkit.uff.rules import NO_SHAPE
from ufkit.uff.work_rules import CANNOT_EDIT


def extract(graph: Graph, inputs: Sequence[str], outputs: Sequence[str]) -> list[Diagnostic]:
    """Keep what computes `outputs` from `inputs`, ids of nodes; a finding for each unknown shape.

    Each of `inputs` becomes an Input of the same id, shape and type, what lies in front of it
    goes; without any, the graph's own Inputs stay. Each of `outputs` is marked; without any, the
    graph's own stay. Data that nothing refers to any more goes.
    Raises RequestError: no such node (UFF521), a value that no output needs (UFF523); FormatError
    where what remains has no order of computation.
    """
    for id_ in (*inputs, *outputs):
        if id_ not in graph:
            raise no_such_node(graph, id_)
        if graph[id_].operation == OUTPUT_OPERATION:
            message = f"{id_!r} is a {OUTPUT_OPERATION}, which has no value; name what it marks"
            raise RequestError(CANNOT_EDIT.at(graph[id_].where(), message))
    _refuse_apart(graph, inputs, outputs or graph.outputs)
    if outputs:
        mark(graph, outputs)
    facts = _facts(graph) if inputs else {}
    unknown = [
        finding
        for id_ in dict.fromkeys(inputs)
        if (finding := _cut(graph[id_], facts.get(id_, Facts(None))))
    ]
    sweep(graph)
    return unknown


def mark(graph: Graph, outputs: Sequence[str]) -> None:
    """Make these the graph's outputs, and no others."""
    graph.remove(*[node for node in graph if node.operation == OUTPUT_OPERATION])
    Builder(graph=graph).output(*dict.fromkeys(outputs))


def _refuse_apart(graph: Graph, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Raise RequestError (UFF523) for an input that is not met on the way back from the outputs."""
    cut, seen, queue = set(inputs), set(outputs), list(outputs)
    for id_ in queue:
        sources = graph[id_].inputs if id_ in graph and id_ not in cut else ()
        fresh = [source for source in dict.fromkeys(sources) if source not in seen]
        seen.update(fresh)
        queue += fresh
    for id_ in inputs:
        if id_ not in seen:
            named = ", ".join(map(repr, outputs[:4]))
            message = f"{id_!r} is not needed for {named}, given the others"
            raise RequestError(CANNOT_EDIT.at(graph[id_].where(), message))


def _facts(graph: Graph) -> dict[str, Facts]:
    try:
        return infer(graph).facts
    except FormatError:
        return {}  # what is in disorder may lie in front of the cut


def _cut(node: Node, facts: Facts) -> Diagnostic | None:
    """Make a node an Input; a finding where its shape is not known."""
    if node.operation == INPUT_OPERATION:
        return None
    node.operation, node.inputs = INPUT_OPERATION, ()
    node.fields.discard(set(node.fields))
    sizes = [size if isinstance(size, int) else -1 for size in facts.shape or ()]
    node.fields.update({"dtype": facts.dtype, "shape": sizes})
    if sizes:
        return None
    what = "it is a scalar" if facts.shape == () else "its shape is not known"
    message = f"{node.id!r} became an Input without a shape: {what}"
    return NO_SHAPE.at(node.where(), message, hint=f"give it: --set-shape {node.id}=N,...")
