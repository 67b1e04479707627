"""What is in a file, in numbers: nothing of the weights is read for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

from ufkit.core.diag import FormatError
from ufkit.uff.const import constant
from ufkit.uff.dims import Dim, Shape
from ufkit.uff.infer import Inference, infer
from ufkit.uff.inputs import GivenShapes
from ufkit.uff.model import INPUT_OPERATION, Graph, MetaGraph
from ufkit.uff.ops import OPS
from ufkit.uff.rules import BAD_VALUES_SIZE, SKIPPED_VALUES


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """An input or output: `shape` is None when it is not known; open sizes are strings."""

    id: str
    operation: str
    shape: list[int | str] | None
    dtype: str

    def __str__(self) -> str:
        sizes = "[?]" if self.shape is None else f"[{', '.join(map(str, self.shape))}]"
        return f"{self.dtype}{sizes}"


@dataclass(slots=True)
class GraphSummary:
    """A graph: `parameters` and `weight_bytes` count the elements and bytes of its Consts."""

    id: str
    nodes: int
    inputs: list[ValueSummary] = field(default_factory=list)
    outputs: list[ValueSummary] = field(default_factory=list)
    operations: dict[str, int] = field(default_factory=dict)
    custom_operations: dict[str, int] = field(default_factory=dict)
    parameters: int = 0
    weight_bytes: int = 0
    dtypes: dict[str, int] = field(default_factory=dict)
    weights_left_out: int = 0


@dataclass(slots=True)
class Summary:
    """A file: `bytes` on the disk, versions, descriptors, graphs."""

    file: str
    bytes: int
    version: int
    descriptor_core_version: int
    descriptors: list[str]
    graphs: list[GraphSummary]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarize(meta: MetaGraph, shapes: GivenShapes | None = None) -> Summary:
    """The summary of a file. Raises FormatError where it is damaged."""
    return Summary(
        meta.source.name,
        meta.source.size,
        meta.version,
        meta.descriptor_core_version,
        [f"{descriptor.id} v{descriptor.version}" for descriptor in meta.descriptors],
        [_graph(graph, shapes) for graph in meta.graphs],
    )


def _graph(graph: Graph, shapes: GivenShapes | None) -> GraphSummary:
    counts = Counter(node.operation for node in graph).most_common()
    summary = GraphSummary(graph.id, len(graph), operations=dict(counts))
    summary.custom_operations = {name: n for name, n in counts if name not in OPS}
    facts = _facts(graph, shapes)
    for node in graph:
        if node.operation == "Const":
            _count(summary, graph, node.id)
        elif node.operation == INPUT_OPERATION:
            spec = facts.inputs.get(node.id)
            summary.inputs.append(
                ValueSummary(
                    node.id,
                    node.operation,
                    _sizes(spec.shape) if spec else _declared(graph, node.id),
                    str(spec.dtype if spec else node.fields.get("dtype") or "float32"),
                )
            )
    for id_ in graph.outputs:
        fact = facts.facts.get(id_)
        operation = graph[id_].operation if id_ in graph else "missing"
        known = fact is not None and fact.shape is not None
        shape = _sizes(fact.shape) if fact and fact.shape is not None else None
        summary.outputs.append(
            ValueSummary(id_, operation, shape, str(fact.dtype) if fact and known else "unknown")
        )
    return summary


def _facts(graph: Graph, shapes: GivenShapes | None) -> Inference:
    """As much as can be inferred; a graph without order is summed up without shapes."""
    try:
        return infer(graph, shapes)
    except FormatError:
        return Inference(graph)


def _count(summary: GraphSummary, graph: Graph, id_: str) -> None:
    try:
        tensor = constant(graph[id_])
    except FormatError:
        return  # `check` says what is wrong with it
    if tensor.problem and tensor.problem[0] is BAD_VALUES_SIZE:
        return
    elements = prod(tensor.shape)
    summary.parameters += elements
    summary.weight_bytes += tensor.nbytes
    summary.dtypes[str(tensor.type)] = summary.dtypes.get(str(tensor.type), 0) + elements
    summary.weights_left_out += bool(tensor.problem and tensor.problem[0] is SKIPPED_VALUES)


def _declared(graph: Graph, id_: str) -> list[int | str] | None:
    shape = graph[id_].fields.get("shape")
    if not isinstance(shape, list) or not shape:  # early converters wrote an empty one
        return None
    return ["N" if size == -1 else size for size in shape]


def _sizes(shape: Shape) -> list[int | str]:
    return [str(size) if isinstance(size, Dim) else size for size in shape]
