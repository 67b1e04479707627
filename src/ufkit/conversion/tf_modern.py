"""A graph of TensorFlow made ready: as inference computes it, with constants where UFF wants them.

What NVIDIA's converter left to its user is done here; then the graph is written as it wrote one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from ufkit.uff.const import constant
from ufkit.uff.fold import Folding
from ufkit.uff.infer import infer
from ufkit.uff.model import Graph, MetaGraph
from ufkit.uff.ops.spec import Array

# Inputs that must be constants, by operation: UFF has fields for them, or TensorRT wants weights.
_REDUCTIONS = ("Sum", "Prod", "Min", "Max", "Mean", "ArgMax", "ArgMin")
_WANTED: Mapping[str, Sequence[int]] = {
    "Conv2D": (1,),
    "DepthwiseConv2dNative": (1,),
    "Conv2DBackpropInput": (0, 1),
    "BiasAdd": (1,),
    "MatMul": (1,),
    "Reshape": (1,),
    "Transpose": (1,),
    "ExpandDims": (1,),
    "Pad": (1,),
    "Slice": (1, 2),
    "StridedSlice": (1, 2, 3),
    "GatherV2": (2,),
    "ConcatV2": (-1,),
    "Concat": (0,),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), (1, 2, 3, 4)),
    **dict.fromkeys(_REDUCTIONS, (1,)),
}
_OPEN = frozenset({"Placeholder", "PlaceholderWithDefault", "NoOp", "Assert"})
_MOST = 1000  # nodes behind one constant


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
    """The graph with what must be constant computed, where it follows from constants."""
    folding = Folding(MetaGraph.new())
    folding.room += graph.size
    computed: dict[str, TfNode | None] = {}
    changed: list[TfNode] = []
    for node in ordered(graph, outputs):
        inputs = list(node.inputs)
        for place in _WANTED.get(node.op, ()):
            if -len(inputs) <= place < len(inputs):
                ref = inputs[place]
                if ref not in computed:
                    computed[ref] = _computed(graph, ref, folding)
                if (made := computed[ref]) is not None:
                    inputs[place] = made.name
        if inputs != node.inputs:
            changed.append(node.changed(inputs=inputs))
    return graph.with_nodes([*changed, *filter(None, computed.values())])


def _computed(graph: TfGraph, ref: str, folding: Folding) -> TfNode | None:
    """A constant in place of a value; None where it is one, or does not follow from constants."""
    if graph.nodes[name_of(ref)].op == "Const" or not _is_closed(graph, ref):
        return None
    walk = Walk(graph, ENTRIES, MODERN)
    try:
        walk.run([ref])
        value = _value(walk.builder.graph, folding)
    except FormatError:
        return None  # what is wrong with it is told where it is converted
    if value is None or value.dtype not in [row.numpy for row in DTYPES]:
        return None
    name = name_of(ref) if not output_of(ref) else walk.free(ref.replace(":", "_"))
    return TfNode.constant(name, TfTensor.of(value), graph.file)


def _value(graph: Graph, folding: Folding) -> Array | None:
    """The one output of a graph without inputs; None where something in it is not known, or large.

    Raises FormatError where something does not fit.
    """
    inference = infer(graph)
    values: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for node in inference.graph.needed():
            facts = inference.facts.get(node.id)
            if facts is None:
                return None
            if node.operation == "Const" and constant(node).nbytes <= folding.room:
                values[node.id] = constant(node).numpy()
                continue
            found = folding.value(node, facts, [values[id_] for id_ in node.inputs])
            if found is None:
                return None
            values[node.id] = found
    (output,) = inference.graph.outputs
    return values[output]


def _is_closed(graph: TfGraph, ref: str) -> bool:
    """Whether a value follows from constants, few enough."""
    seen = {name_of(ref)}
    stack = [name_of(ref)]
    while stack and len(seen) <= _MOST:
        node = graph.nodes[stack.pop()]
        if node.op in _OPEN or (not node.inputs and node.op != "Const"):
            return False
        sources = [graph.node(source, node).name for source in node.inputs]
        new = dict.fromkeys(name for name in sources if name not in seen)
        seen.update(new)
        stack += new
    return not stack


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
