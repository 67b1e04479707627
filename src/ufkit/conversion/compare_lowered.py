"""A UFF graph as the ONNX model that it would become, for comparing it with one that it became."""

from __future__ import annotations

from collections.abc import Iterator

from ufkit.conversion.compare_onnx import agree
from ufkit.conversion.onnx_view import OnnxView, view_of
from ufkit.conversion.uff_onnx import Conversion, to_onnx
from ufkit.core.diag import FormatError, NotSupportedError, UfkitError
from ufkit.core.files import Source
from ufkit.uff.inputs import GivenShapes
from ufkit.uff.model import Graph
from ufkit.uff.rules import SKIPPED_VALUES

PRODUCER = "ufkit"


def lowered(graph: Graph, other: OnnxView) -> OnnxView | None:
    """The graph converted with the options that gave `other` its inputs and outputs.

    None when another program made that model, when no options give the same, or when the graph
    lacks its weights. Raises NotSupportedError or FormatError where the graph cannot be converted
    at all: then the model was not made of it.
    """
    if other.producer != PRODUCER:
        return None
    errors: list[UfkitError] = []
    options = list(_options(graph, other))
    for channels_first, shapes in options:
        try:
            made = to_onnx(
                graph,
                shapes=shapes,
                opset=other.opset,
                channels_first=channels_first,
                allow_custom=True,
            )
        except UfkitError as error:
            errors.append(error)
            continue
        view = _view(made, graph.meta.source.name)
        if _same_ports(view, other):
            return view
    if len(errors) == len(options) and _is_final(errors[-1]):
        raise errors[-1]
    return None


def _is_final(error: UfkitError) -> bool:
    """Whether nothing that was asked for, and no weights that a text left out, are the reason."""
    rules = [diagnostic.rule for diagnostic in error.diagnostics]
    return isinstance(error, NotSupportedError | FormatError) and SKIPPED_VALUES not in rules


def _options(graph: Graph, other: OnnxView) -> Iterator[tuple[bool, GivenShapes]]:
    yield False, {}
    yield True, {}
    shapes = {node.id: other.inputs[node.id].shape for node in graph.inputs
              if node.id in other.inputs}  # fmt: skip
    given = {id_: shape for id_, shape in shapes.items() if shape is not None}
    yield False, {id_: [-1 if size == "?" else size for size in s] for id_, s in given.items()}


def _view(made: Conversion, file: str) -> OnnxView:
    skeleton = Source(made.model.proto.SerializeToString(), file)
    return view_of(skeleton, made.model.weights)


def _same_ports(a: OnnxView, b: OnnxView) -> bool:
    return all(
        x.keys() == y.keys() and all(agree(port, y[name]) for name, port in x.items())
        for x, y in ((a.inputs, b.inputs), (a.outputs, b.outputs))
    )
