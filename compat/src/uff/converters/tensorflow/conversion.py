"""A conversion as NVIDIA's converter went about it: what it did first, printed and wrote."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphsurgeon import DynamicGraph, extras
from uff.model import __version__
from ufkit.conversion.rules import STAYS_TF
from ufkit.conversion.tf_graph import TfGraph, name_of
from ufkit.conversion.tf_uff import GivenInput, to_uff
from ufkit.core.diag import RequestError, Severity, Where
from ufkit.core.render import visible
from ufkit.uff.io import TEXT, save
from ufkit.uff.model import MetaGraph
from ufkit_compat.dtypes import as_dtype
from ufkit_compat.preprocess import preprocess
from ufkit_compat.proto import Proto
from ufkit_compat.rules import BAD_INPUT, NO_NODE


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to do; see `from_tensorflow`."""

    output_nodes: Sequence[str | int] = ()
    preprocessor: str | os.PathLike[str] | None = None
    output_filename: str | os.PathLike[str] | None = None
    text: bool = False
    write_preprocessed: bool = False
    input_node: Sequence[str] = ()
    list_nodes: bool = False
    quiet: bool = False
    debug_mode: bool = False
    return_graph_info: bool = False
    modern: bool = False


@dataclass(frozen=True, slots=True)
class Converted:
    """The UFF, and the graph as it was converted."""

    meta: MetaGraph
    graph: DynamicGraph


def convert(graph_def: Proto, request: Request) -> Converted | None:
    """Convert a graph, which is edited; None where its nodes were to be listed.

    Files are written whole or not at all. Raises as `from_tensorflow`.
    """
    say = _silent if request.quiet else print
    graph = _prepared(graph_def, request)
    _write_preprocessed(graph, request, say)
    say(f"UFF Version {__version__}")
    if not request.input_node:
        say("=== Automatically deduced input nodes ===")
        say(graph.graph_inputs)
        say("=========================================\n")
    outputs = [_name(graph, output) for output in request.output_nodes]
    if not outputs:
        found = graph.graph_outputs
        outputs = [node.name for node in found]
        say("=== Automatically deduced output nodes ===")
        say(found)
        say("==========================================\n")
    if request.list_nodes:
        for number, node in enumerate(graph, 1):
            print(f'{number} {visible(node.op)}: "{visible(node.name)}"')
        return None
    for output in outputs:
        say(f"Using output node {visible(output)}")
    inputs = [_given(graph, text) for text in request.input_node]
    for given in inputs:
        say(f"Using input node {visible(given.node)}")
    say("Converting to UFF graph")
    message = graph.as_graph_def().message
    written = to_uff(
        TfGraph(message, message.span.source.name or "graph"),
        outputs=outputs,
        inputs=inputs,
        strict=not request.modern,
    )
    if request.debug_mode:
        for node in written.meta.graph:
            print(f"DEBUG: {visible(node.operation)} {node.id!r} takes {list(node.inputs)}")
    _print_warnings(written.meta)
    for finding in written.diagnostics:
        told = finding.severity is Severity.WARNING or not request.quiet
        if finding.rule is not STAYS_TF and told:
            print(finding, file=sys.stderr)
    say(f"No. nodes: {len(written.meta.graph)}")
    _write(written.meta, request, say)
    return Converted(written.meta, graph)


def _silent(*values: Any) -> None:
    """Print nothing."""


def _prepared(graph_def: Proto, request: Request) -> DynamicGraph:
    """The graph, edited as NVIDIA's converter edited each, and by the user's script."""
    graph = DynamicGraph(graph_def)
    graph.remove(graph.find_nodes_by_op("Assert"), remove_exclusive_dependencies=True)
    if request.preprocessor:
        preprocess(request.preprocessor, graph)
    named = {name_of(str(output)) for output in request.output_nodes}
    named |= {text.split(",")[0] for text in request.input_node}
    extras.process_dilated_conv(graph, named)
    extras.process_softmax(graph, named)
    return graph


# -- names that may be numbers ---------------------------------------------------------------


def _name(graph: DynamicGraph, given: str | int) -> str:
    """A node's name, given as it or as its number, from 1 or from the end.

    Raises RequestError (CMP002) for a number that no node has.
    """
    try:
        number = int(given)
    except ValueError:
        return str(given)
    if str(given) in graph.node_map:
        return str(given)
    if not 1 <= abs(number) <= len(graph):
        message = f"there is no node number {number}; the graph has {len(graph)}"
        raise RequestError(NO_NODE.at(Where(), message))
    name: str = graph[number - 1 if number > 0 else number].name
    return name


def _given(graph: DynamicGraph, text: str) -> GivenInput:
    """An input as a text describes it. Raises RequestError (CMP007, CMP002)."""
    parts = [part.strip() for part in text.split(",")]
    try:
        node, name, dtype, *sizes = parts
        shape = tuple(map(int, sizes))
        type_ = as_dtype(dtype).name
    except (ValueError, TypeError) as error:
        message = f"{text!r} does not describe an input: {error}"
        raise RequestError(BAD_INPUT.at(Where(), message)) from error
    node = _name(graph, node)
    return GivenInput(node, name or name_of(node), type_, shape)


# -- what is printed and written -------------------------------------------------------------


def _print_warnings(meta: MetaGraph) -> None:
    """The warnings that NVIDIA's printed, quiet or not, in the order of the nodes."""
    for node in meta.graph:
        if node.operation.startswith("_"):
            operation = visible(node.operation[1:])
            print(f"Warning: No conversion function registered for layer: {operation} yet.")
            print(f"Converting {visible(node.id)} as custom op: {operation}")
        elif node.operation == "Reduce":
            print("Warning: keepdims is ignored by the UFF Parser and defaults to True")


def _write_preprocessed(graph: DynamicGraph, request: Request, say: Any) -> None:
    if request.write_preprocessed and request.output_filename:
        name = os.path.splitext(os.fspath(request.output_filename))[0] + "_preprocessed.pb"
        graph.write(name)
        say(f"Preprocessed graph written to {name}")


def _write(meta: MetaGraph, request: Request, say: Any) -> None:
    if not request.output_filename:
        return
    name = os.fspath(request.output_filename)
    save(meta, name, form="binary")
    say(f"UFF Output written to {name}")
    if request.text:
        text = os.path.splitext(name)[0] + ".pbtxt"
        save(meta, text, form=TEXT)
        say(f"UFF Text Output written to {text}")
