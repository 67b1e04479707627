"""All that is wrong with the graph of an ONNX model; a conversion ends at the first."""

from __future__ import annotations

from collections.abc import Iterator

from ufkit.conversion.onnx_graph import OnnxGraph, bad_graph
from ufkit.conversion.onnx_tensor import tensor_of
from ufkit.core.diag import Diagnostic, FormatError, UfkitError


def faults(graph: OnnxGraph) -> list[Diagnostic]:
    """Values that nothing gives or two give, a cycle (CNV502), initializers whose elements are not
    there (CNV202, or once what is wrong with the file beside the model). No elements are read."""
    found = [*_values(graph)] or [*_cycle(graph)]
    return [*dict.fromkeys([*found, *_initializers(graph)])]


def _cycle(graph: OnnxGraph) -> Iterator[Diagnostic]:
    try:
        graph.needed()
    except FormatError as error:
        yield from error.diagnostics


def _initializers(graph: OnnxGraph) -> Iterator[Diagnostic]:
    for tensor in graph.tensors.values():
        try:
            tensor_of(tensor, graph.external)
        except UfkitError as error:
            yield from error.diagnostics


def _values(graph: OnnxGraph) -> Iterator[Diagnostic]:
    given = {port.name for port in graph.inputs} | graph.tensors.keys() | graph.unreadable
    for node in graph.nodes:
        for name in filter(None, node.outputs):
            if name in given:
                yield from bad_graph(node.where(), f"value {name!r} is given twice").diagnostics
            given.add(name)
    for node in graph.nodes:
        for name in dict.fromkeys(filter(None, node.inputs)):
            if name not in given:
                message = f"nothing gives its input {name!r}"
                yield from bad_graph(node.where(), message).diagnostics
    for name in graph.outputs:
        if name not in given:
            yield from bad_graph(graph.where(), f"nothing gives the output {name!r}").diagnostics
