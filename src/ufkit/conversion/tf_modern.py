"""A graph of TensorFlow made ready: as inference computes it, with its constants computed.

What NVIDIA's converter left to its user is done here; then the graph is written as it wrote one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ufkit.conversion.rules import TRAINING_RESOLVED
from ufkit.conversion.tf_branches import Branches, ordered
from ufkit.conversion.tf_functions import inlined
from ufkit.conversion.tf_graph import TfGraph, TfNode, name_of, output_of
from ufkit.conversion.tf_ops_modern import ENTRIES
from ufkit.conversion.tf_tensor import TfTensor, TfType
from ufkit.conversion.tf_walk import Constant, Manner, Walk
from ufkit.core.diag import Diagnostic, FormatError
from ufkit.core.dtypes import DTYPES, INT64, DType
from ufkit.core.render import plural

if TYPE_CHECKING:
    from ufkit.conversion.tf_fold import Room

_OPEN = frozenset({"Placeholder", "PlaceholderWithDefault"})


def ready(graph: TfGraph, outputs: Sequence[str]) -> tuple[TfGraph, list[Diagnostic]]:
    """The graph as inference computes it, and what was decided. Outputs keep their names.

    Raises FormatError (CNV401) where the graph is not sound.
    """
    graph = inlined(graph)
    nodes = ordered(graph, outputs)
    branches = Branches(graph, nodes)
    followed = []
    for node in nodes:
        if node.op == "PlaceholderWithDefault":  # where that is more than a number, nobody means it
            followed.append(node.changed(op="Placeholder", inputs=()))
        elif node.inputs:
            data = [ref for ref in node.inputs if not ref.startswith("^")]
            followed.append(node.changed(inputs=map(branches.source, data)))
    sources = {ref: branches.source(ref) for ref in outputs}
    followed += [
        TfNode.made(name_of(ref), "Identity", [source], graph.file)
        for ref, source in sources.items()
        if source != ref
    ]
    return _folded(graph.with_nodes(followed), outputs), _notes(branches)


def _notes(branches: Branches) -> list[Diagnostic]:
    if not branches.taken:
        return []
    message = f"of {plural(len(branches.taken), 'conditional')} the branch of inference is taken"
    if branches.supposed:
        names = ", ".join(repr(node.name) for node in branches.supposed)
        message += f"; {names} is supposed to be false"
    return [TRAINING_RESOLVED.at(branches.taken[0].where(), message)]


# -- constants -------------------------------------------------------------------------------


def _folded(graph: TfGraph, outputs: Sequence[str]) -> TfGraph:
    """The graph with constants in place of what follows from constants, as far as there is room.

    UFF has fields for some inputs, and TensorRT takes weights that are a Const and nothing else.
    """
    nodes = ordered(graph, outputs)
    closed = _closed(nodes)
    computed: dict[str, TfNode | None] = {}
    changed: list[TfNode] = []
    room: Room | None = None
    for node in nodes:
        if node.name in closed:
            continue
        wanted = [ref for ref in node.inputs if name_of(ref) in closed]
        for ref in wanted:
            if ref not in computed and graph.nodes[name_of(ref)].op != "Const":
                room = room or _room(graph)
                computed[ref] = _computed(graph, ref, room)
        names = {ref: made.name for ref in wanted if (made := computed.get(ref))}
        if names:
            changed.append(node.changed(inputs=[names.get(ref, ref) for ref in node.inputs]))
    return graph.with_nodes([*changed, *filter(None, computed.values())])


def _room(graph: TfGraph) -> Room:
    from ufkit.conversion.tf_fold import Room  # what computes is not loaded for nothing

    return Room(graph.size)


def _closed(nodes: Sequence[TfNode]) -> set[str]:
    """Names of the nodes whose values follow from constants alone."""
    found: set[str] = set()
    for node in nodes:
        sources = [name_of(ref) for ref in node.inputs]
        if node.op == "Const" or (sources and node.op not in _OPEN and found.issuperset(sources)):
            found.add(node.name)
    return found


def _computed(graph: TfGraph, ref: str, room: Room) -> TfNode | None:
    """A constant in place of a value that follows from constants; None where it is not known."""
    if room.nodes < 0:
        return None
    walk = Walk(graph, ENTRIES, MODERN)
    try:
        walk.run([ref])
        value = room.value(walk.builder.graph)
    except FormatError:
        return None  # what is wrong with it is told where it is converted
    if value is None or value.dtype not in [row.numpy for row in DTYPES]:
        return None
    name = name_of(ref) if not output_of(ref) else walk.free(ref.replace(":", "_"))
    return TfNode.constant(name, TfTensor.of(value), graph.file)


# -- the manner ------------------------------------------------------------------------------


def _constant(tensor: TfTensor) -> Constant:
    """A constant with its value; of a type that UFF lacks, in one that it has."""
    stead = tensor.type.stead
    if tensor.type.uff:
        return tensor.shape, tensor.type.uff, tensor.span
    if stead is None:
        return [0], tensor.type.written, b""
    values = tensor.numpy()
    if stead is INT64 and values.size and values.max() >= 1 << 63:
        return [0], tensor.type.written, b""
    with np.errstate(over="ignore"):
        return tensor.shape, stead, np.ascontiguousarray(values, stead.numpy)


def _type(type_: TfType) -> DType:
    return type_.uff or type_.stead or type_.written


def _spelt(ref: str) -> str:
    """An input with the number of the value, which UFF has no room for but in the name."""
    return ref if output_of(ref) else name_of(ref)


MODERN = Manner(_constant, _type, _spelt)
