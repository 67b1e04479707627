"""The part of a converted model that can be run here, where it holds nodes that cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import onnx

from ufkit.conversion.onnx_model import OnnxModel
from ufkit.conversion.uff_onnx import Conversion
from ufkit.uff.model import INPUT_OPERATION, OUTPUT_OPERATION, Graph
from ufkit.uff.orders import Order


def up_to_foreign(conversion: Conversion) -> Conversion:
    """What does not depend on a foreign node, of the same ONNX nodes and the same graph.

    Its outputs are the values that foreign nodes, and what depends on them, take from the rest,
    and the outputs that do not depend on them. There may be none: `outputs` is empty then.
    """
    graph = conversion.inference.graph
    ends = _ends(conversion)
    names = {id_: name for id_, (name, _) in ends.items()}
    model = _pruned(conversion.model, names.values())
    made = {name for node in model.proto.graph.node for name in node.output}
    return replace(
        conversion,
        model=model,
        inference=replace(conversion.inference, graph=_marking(graph, ends)),
        outputs={id_: order for id_, (_, order) in ends.items()},
        forms={id_: form for id_, form in conversion.forms.items() if form[0] in made},
        names=names,
        foreign=[],
    )


def _ends(conversion: Conversion) -> dict[str, tuple[str, Order]]:
    """By UFF id: the ONNX values to compare, and the order each is in."""
    graph = conversion.inference.graph
    behind = set(conversion.foreign)
    taken: list[str] = []
    for node in graph.needed():
        if node.id in behind or behind.intersection(node.inputs):
            behind.add(node.id)
            taken += node.inputs
    made = {name for node in conversion.model.proto.graph.node for name in node.output}
    ends: dict[str, tuple[str, Order]] = {}
    for id_ in taken:
        fed = graph[id_].operation == INPUT_OPERATION
        if id_ not in behind and not fed and conversion.forms.get(id_, ("", ()))[0] in made:
            ends[id_] = conversion.forms[id_]
    results = {id_: (id_, order) for id_, order in conversion.outputs.items() if id_ not in behind}
    return ends | results


def _pruned(model: OnnxModel, names: Collection[str]) -> OnnxModel:
    """The nodes and weights that the values of these names need; the inputs stay."""
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)
    used = set(names)
    nodes = []
    for node in reversed(proto.graph.node):
        if used.intersection(node.output):
            used.update(node.input)
            nodes.append(node)
    part = onnx.GraphProto(
        name=proto.graph.name,
        node=nodes[::-1],
        initializer=[item for item in proto.graph.initializer if item.name in used],
        input=proto.graph.input,
        output=[onnx.ValueInfoProto(name=name) for name in dict.fromkeys(names)],
    )
    domains = {"", *(node.domain for node in nodes)}
    opsets = [onnx.helper.make_opsetid(item.domain, item.version)
              for item in proto.opset_import if item.domain in domains]  # fmt: skip
    proto.graph.CopyFrom(part)
    proto.ClearField("opset_import")
    proto.opset_import.extend(opsets)
    return OnnxModel(proto, {name: item for name, item in model.weights.items() if name in used})


def _marking(graph: Graph, ids: Iterable[str]) -> Graph:
    """The graph with these values as its outputs."""
    wanted = list(ids)
    marks = []
    for node in graph:
        if node.operation == OUTPUT_OPERATION:
            marks.append(node.viewed(inputs=wanted))
            wanted = []
    return graph.viewed(marks)
