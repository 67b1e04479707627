"""Control inputs: TensorFlow's `^name`, which only says that another node comes first.

The converter wrote them as `name`, so nothing tells them from data but their place: they are
last, behind as many inputs as the operation takes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ufkit.core.diag import Diagnostic, FormatError
from ufkit.uff.model import OUTPUT_OPERATION, Graph, Node
from ufkit.uff.ops import entry_of
from ufkit.uff.rules import CONTROL_INPUT
from ufkit.uff.unknown import VALUELESS


def without_controls(graph: Graph) -> tuple[Graph, list[Diagnostic]]:
    """The graph without inputs that carry no data, and a note on each node that had some.

    The file and its messages are left as they are.
    """
    changed: list[Node] = []
    notes: list[Diagnostic] = []
    for node in graph:
        data = data_inputs(node)
        if len(data) < len(node.inputs):
            left_out = ", ".join(map(repr, node.inputs[len(data) :]))
            notes.append(CONTROL_INPUT.at(node.where(), f"{left_out} is taken for no data"))
            changed.append(node.viewed(inputs=data))
    return (graph.viewed(changed), notes) if changed else (graph, [])


def data_inputs(node: Node) -> tuple[str, ...]:
    """The inputs of a node that carry data."""
    inputs, graph = node.inputs, node.graph
    if node.operation == OUTPUT_OPERATION or node.operation in VALUELESS:
        return inputs
    while inputs and inputs[-1] in graph and graph[inputs[-1]].operation in VALUELESS:
        inputs = inputs[:-1]
    spec = entry_of(node)
    if spec is None or not spec.custom or spec.plugin:  # plugins have no part in TensorFlow's order
        return inputs
    return inputs[: _count(node, spec.inputs) or None]


def _count(node: Node, names: Sequence[str]) -> int:
    """How many inputs a TensorFlow operation takes; 0 where that is not known."""
    if not any(name.endswith("...") for name in names):
        return len(names)
    try:
        listed = node.fields.get("N")
    except FormatError:
        listed = None
    return listed + len(names) - 1 if isinstance(listed, int) and listed > 0 else 0
