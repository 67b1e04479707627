"""Checks: everything that can be said of a file without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.uff.branches import RESOLVED
from ufkit.uff.const import constant
from ufkit.uff.controls import data_inputs
from ufkit.uff.data import DataMap
from ufkit.uff.infer import infer
from ufkit.uff.inputs import GivenShapes
from ufkit.uff.model import CUSTOM, INPUT_OPERATION, OUTPUT_OPERATION, Graph, MetaGraph, Node
from ufkit.uff.ops import call_of, entry_of
from ufkit.uff.ops.fields import resolve_field
from ufkit.uff.ops.spec import Facts
from ufkit.uff.outputs import spelt
from ufkit.uff.rules import (
    CUSTOM_OPERATION,
    DANGLING,
    DUPLICATE_ID,
    DUPLICATE_KEY,
    EMPTY,
    FOREIGN_OPERATION,
    LOST_CONSTANT,
    MISSING_DESCRIPTOR,
    NO_OUTPUT,
    SEVERAL_GRAPHS,
    UNKNOWN_FIELD,
    UNKNOWN_FIELDS,
    UNKNOWN_OPERATION,
    UNREACHABLE,
    UNUSED_DATA,
    VERSION,
)
from ufkit.uff.unknown import unknown
from ufkit.wire.message import Message


def check(meta: MetaGraph, shapes: GivenShapes | None = None) -> Iterator[Diagnostic]:
    """All findings in a file, each once, in the order of the file.

    `shapes` gives shapes of Inputs by id. Nothing is raised for what is in the file; only
    RequestError for a name in `shapes` that is no Input.
    """
    seen: set[tuple[str, Where, str]] = set()
    for finding in _findings(meta, shapes or {}):
        key = (finding.code, finding.where, finding.message)
        if key not in seen:
            seen.add(key)
            yield finding


def _findings(meta: MetaGraph, shapes: GivenShapes) -> Iterator[Diagnostic]:
    try:
        yield from _file(meta)
        graphs = meta.graphs
    except FormatError as error:
        yield from error.diagnostics
        return
    for graph in graphs:
        view = spelt(graph)
        for part, of in ((_ids, graph), (_inputs, view), (_nodes, graph), (_reach, view)):
            yield from _caught(lambda part=part, of=of: part(of))  # type: ignore[misc]
        mine = {id_: shape for id_, shape in shapes.items() if id_ in graph or len(graphs) == 1}
        yield from _meaning(graph, mine)
    yield from _caught(lambda: _references(meta))


def _caught(findings: Callable[[], Iterator[Diagnostic]]) -> Iterator[Diagnostic]:
    """Findings, and in their midst the error that ends them, if one does."""
    try:
        yield from findings()
    except FormatError as error:
        yield from error.diagnostics


def _file(meta: MetaGraph) -> Iterator[Diagnostic]:
    where = Where(meta.source.name)
    for name in ("version", "descriptor_core_version"):
        if (number := meta.message.get(name)) != 1:
            yield VERSION.at(where, f"{name} is {number}; 1 is the only one known")
    if not meta.graphs:
        yield EMPTY.at(where, "the file holds 0 graphs")
    if len(meta.graphs) > 1:
        names = ", ".join(repr(graph.id) for graph in meta.graphs[:8])
        yield SEVERAL_GRAPHS.at(where, f"the file holds {len(meta.graphs)} graphs: {names}")
    yield from _unknown(meta.message, where)
    yield from _duplicates(meta.referenced_data, where)


def _unknown(message: Message, where: Where) -> Iterator[Diagnostic]:
    for start, wire, _, stop in message.unknown():
        text = f"{stop - start} bytes of wire type {wire} belong to no field of {message.type.name}"
        yield UNKNOWN_FIELDS.at(Where(where.file, where.node, "", start, stop), text)


def _duplicates(entries: DataMap, where: Where) -> Iterator[Diagnostic]:
    keys: set[str] = set()
    for entry in entries.entries():
        key = entry.get("key")
        if key in keys:
            place = Where(where.file, where.node, key, entry.span.start, entry.span.stop)
            yield DUPLICATE_KEY.at(place, f"key {key!r} is given again")
        keys.add(key)


def _ids(graph: Graph) -> Iterator[Diagnostic]:
    yield from _unknown(graph.message, graph.where())
    for node in graph:
        if graph[node.id] is not node:
            message = f"id {node.id!r} was used before, by a {graph[node.id].operation}"
            yield DUPLICATE_ID.at(node.where(), message)


def _inputs(graph: Graph) -> Iterator[Diagnostic]:
    for node in graph:
        for id_ in dict.fromkeys(node.inputs):
            if id_ not in graph:
                message = f"input {id_!r} is no node of graph {graph.id!r}"
                yield DANGLING.at(node.where(), message)


def _nodes(graph: Graph) -> Iterator[Diagnostic]:
    declared = {descriptor.id for descriptor in graph.meta.descriptors}
    for node in graph:
        yield from _unknown(node.message, node.where())
        yield from _duplicates(node.fields, node.where())
        spec = entry_of(node)
        if spec is None:
            if node.operation not in RESOLVED:
                yield from _foreign(node, declared)
            continue
        if spec.custom and not spec.plugin:
            message = (
                f"{node.operation!r} is run and converted here; TensorRT needs a plugin for it"
            )
            yield FOREIGN_OPERATION.at(node.where(), message)
        yield from _caught(lambda node=node: _arity(node))  # type: ignore[misc]
        for name, field in spec.fields.items():
            try:
                resolve_field(node.fields, name, field)
            except FormatError as error:
                yield from error.diagnostics
        for name in node.fields:
            if name not in spec.fields and not spec.custom:  # these carry all their attributes
                message = f"{node.operation} has no field {name!r}; it has {', '.join(spec.fields)}"
                yield UNKNOWN_FIELD.at(node.fields.where(name), message)
        if node.operation == "Const":
            yield from _caught(lambda node=node: _constant(node))  # type: ignore[misc]


def _arity(node: Node) -> Iterator[Diagnostic]:
    if node.operation not in (INPUT_OPERATION, "Const") or node.inputs:
        call_of(node, [Facts(None)] * len(data_inputs(node)))
    yield from ()


def _foreign(node: Node, declared: set[str]) -> Iterator[Diagnostic]:
    finding = unknown(node)
    if finding.rule in (CUSTOM_OPERATION, UNKNOWN_OPERATION):
        yield finding  # others matter only where an output needs them, as the inference finds
    if node.operation.startswith("_") and CUSTOM not in declared:
        message = f"{node.operation!r} is custom; the file does not declare the descriptor"
        yield MISSING_DESCRIPTOR.at(node.where(), message)
    for name in node.fields:
        try:
            node.fields.kind(name)
        except FormatError as error:
            yield from error.diagnostics


def _constant(node: Node) -> Iterator[Diagnostic]:
    tensor = constant(node)
    if tensor.problem:
        rule, message = tensor.problem
        yield rule.at(tensor.where, message)
    elif tensor.shape == (0,) and tensor.span.nbytes == 0:
        yield LOST_CONSTANT.at(tensor.where, "it has no elements")


def _reach(graph: Graph) -> Iterator[Diagnostic]:
    if not graph.outputs:
        yield NO_OUTPUT.at(graph.where(), f"graph {graph.id!r} marks no output")
        return
    reached = {id(node.message) for node in graph.needed()}  # views share their node's
    for node in graph:
        if id(node.message) not in reached and node.operation != OUTPUT_OPERATION:
            yield UNREACHABLE.at(node.where(), f"no output needs this {node.operation}")
    graph.topological()


def _meaning(graph: Graph, shapes: GivenShapes) -> Iterator[Diagnostic]:
    """Shapes and types; skipped where the graph has no order or no output."""
    try:
        result = infer(graph, shapes)
    except FormatError as error:
        yield from error.diagnostics
        return
    yield from result.open_inputs
    yield from result.diagnostics


def _references(meta: MetaGraph) -> Iterator[Diagnostic]:
    used = meta.references()
    for name in meta.referenced_data:
        if name not in used:
            message = f"nothing refers to {name!r}"
            yield UNUSED_DATA.at(meta.referenced_data.where(name), message)
