"""Other ids for nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ufkit.core.diag import RequestError
from ufkit.uff.data import Ref
from ufkit.uff.model import Graph, Node
from ufkit.uff.work_rules import ID_IN_USE, NO_SUCH_NODE
from ufkit.wire.schema import did_you_mean


def rename(graph: Graph, names: Mapping[str, str]) -> list[str]:
    """Give nodes other ids, all at once, so that two may be exchanged; the data renamed with them.

    Whoever takes a node follows. Weights are called `weights_<id>`, as the converter has it;
    where the node is alone in referring to them and the new name is free, they follow too.
    Raises RequestError, before anything is changed: no such node (UFF521), two nodes would have
    one id (UFF522).
    """
    for old in names:
        if old not in graph:
            raise no_such_node(graph, old)
    _refuse_collisions(graph, names)
    moved = [node for node in graph if node.id in names]
    data = _weights(graph, moved, names)
    for node in graph:
        if not names.keys().isdisjoint(node.inputs):
            node.inputs = tuple(names.get(id_, id_) for id_ in node.inputs)
    for node in moved:
        if (reference := f"weights_{node.id}") in data:
            node.fields["values"] = Ref(data[reference])
        node.id = names[node.id]
    if data:
        graph.meta.referenced_data.rename(data)
    return [*data]


def no_such_node(graph: Graph, id_: str) -> RequestError:
    """The error for an id that the graph does not have."""
    message = f"graph {graph.id!r} has no node {id_!r}"
    hint = did_you_mean(id_, (node.id for node in graph))
    return RequestError(NO_SUCH_NODE.at(graph.where(), message, hint=hint))


def _refuse_collisions(graph: Graph, names: Mapping[str, str]) -> None:
    for old, new in names.items():
        if new in graph and new not in names:
            message = f"{old!r} cannot be called {new!r}: that is a {graph[new].operation}"
            raise RequestError(ID_IN_USE.at(graph[new].where(), message))
    for new, count in Counter(names.values()).items():
        if count > 1:
            message = f"{count} nodes cannot all be called {new!r}"
            raise RequestError(ID_IN_USE.at(graph.where(), message))


def _weights(graph: Graph, moved: list[Node], names: Mapping[str, str]) -> dict[str, str]:
    """Old and new names of the data that goes with its node."""
    constants = [node for node in moved if node.operation == "Const" and "values" in node.fields]
    wanted = {}
    counts = graph.meta.references() if constants else Counter()
    for node in constants:
        data, reference = node.fields.data("values"), f"weights_{node.id}"
        mine = data.which("type") == "ref" and data.get("ref") == reference
        if mine and counts[reference] == 1 and reference in graph.meta.referenced_data:
            wanted[reference] = f"weights_{names[node.id]}"
    known = graph.meta.referenced_data
    return {old: new for old, new in wanted.items() if new not in known or new in wanted}
