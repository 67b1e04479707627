"""TensorFlow to UFF: outputs, inputs, and one of two manners of writing what lies between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ufkit.conversion.rules import NO_TF_NODE, NOT_FROZEN, OUTPUTS_GUESSED
from ufkit.conversion.tf_branches import ordered
from ufkit.conversion.tf_files import FREEZE_SAVED
from ufkit.conversion.tf_graph import SCHEMA, TfGraph, TfNode, name_of, output_of
from ufkit.conversion.tf_modern import MODERN, ready
from ufkit.conversion.tf_ops import ENTRIES
from ufkit.conversion.tf_ops_modern import ENTRIES as MODERN_ENTRIES
from ufkit.conversion.tf_tensor import TYPES
from ufkit.conversion.tf_walk import Manner, Walk, as_converter
from ufkit.core.diag import Diagnostic, NotSupportedError, RequestError, Where
from ufkit.core.render import plural
from ufkit.uff.model import MetaGraph
from ufkit.wire.message import Message
from ufkit.wire.schema import did_you_mean

STRICT = Manner(as_converter, lambda type_: type_.written, name_of)

_VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp", "AutoReloadVariable"})
_VALUELESS = frozenset({"NoOp", "Assert", "Print", "PrintV2", "SaveV2", "MergeSummary"})
_SUMMARIES = frozenset({"ScalarSummary", "HistogramSummary", "ImageSummary", "TensorSummaryV2"})
_NO_RESULTS = _VALUELESS | _SUMMARIES | {"Const", "Placeholder"}
_ALIASES = {"float": "float32", "half": "float16", "int": "int32"}
_TYPES = {row.name: row for row in TYPES if row.storage}
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class GivenInput:
    """A node in whose place an input comes: its name there, element type and shape; -1 is open."""

    node: str
    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A graph as a UFF, and what there is to say of it. Weights lie in the graph's file."""

    meta: MetaGraph
    outputs: list[str]
    diagnostics: list[Diagnostic]


def to_uff(
    graph: TfGraph,
    *,
    outputs: Sequence[str] = (),
    inputs: Sequence[GivenInput] = (),
    strict: bool = False,
) -> Written:
    """The UFF of a graph: of what `outputs` need, or of the nodes that no other takes.

    `inputs` take the place of nodes. With `strict` it is equal to what NVIDIA's converter wrote;
    without, its losses are mended: see `tf_modern`.
    Raises RequestError (CNV403) for names that are not there, NotSupportedError (CNV402) where
    variables are needed, FormatError (CNV401) where the graph is not sound.
    """
    notes: list[Diagnostic] = []
    named = outputs or graph.outputs
    chosen = list(dict.fromkeys(_existing(graph, name) for name in named)) or _guessed(graph)
    if not named:
        notes.append(_guess(graph, chosen))
    renamed = {name_of(_existing(graph, given.node)): given.name for given in inputs}
    graph = _with_inputs(graph, inputs, renamed)
    chosen = [renamed.get(name_of(ref), ref) for ref in chosen]
    _require_constants(graph, chosen)
    entries, manner = ENTRIES, STRICT
    if not strict:
        entries, manner = MODERN_ENTRIES, MODERN
        graph, decided = ready(graph, chosen)
        notes += decided
    walk = Walk(graph, entries, manner)
    notes += walk.run(chosen)
    return Written(walk.builder.meta, walk.builder.graph.outputs, notes)


# -- inputs ----------------------------------------------------------------------------------


def _with_inputs(
    graph: TfGraph, inputs: Iterable[GivenInput], renamed: Mapping[str, str]
) -> TfGraph:
    """The graph with inputs in the place of nodes; who took those takes them."""
    for old, new in renamed.items():
        if new != old and new in graph.nodes:
            message = f"{new!r}, the new name of {old!r}, is that of another node"
            raise RequestError(NO_TF_NODE.at(Where(graph.file), message, hint=""))
    takers = [
        node.changed(inputs=[renamed.get(name_of(ref), ref) for ref in node.inputs])
        for node in graph.nodes.values()
        if any(name_of(ref) in renamed for ref in node.inputs)
    ]
    return graph.with_nodes([*takers, *(_placeholder(given, graph.file) for given in inputs)])


def _placeholder(given: GivenInput, file: str) -> TfNode:
    dtype = _TYPES.get(_ALIASES.get(given.dtype, given.dtype))
    if dtype is None:
        message = f"{given.dtype!r}, the type of input {given.name!r}, is not known"
        hint = f"one of {', '.join(_TYPES)}"
        raise RequestError(NO_TF_NODE.at(Where(file, given.node), message, hint=hint))
    sizes = [Message.new(SCHEMA["TensorShapeProto.Dim"], size=size) for size in given.shape]
    shape = Message.new(SCHEMA["TensorShapeProto"], dim=sizes)
    value = SCHEMA["AttrValue"]
    return TfNode.made(
        given.name,
        "Placeholder",
        file=file,
        dtype=Message.new(value, type=dtype.number),
        shape=Message.new(value, shape=shape),
    )


# -- outputs ---------------------------------------------------------------------------------


def _existing(graph: TfGraph, ref: str) -> str:
    """A value that was named, `node` or `node:1`. Raises RequestError (CNV403)."""
    name = name_of(ref)
    if name not in graph.nodes:
        message = f"the graph has no node {name!r}, of {plural(len(graph.nodes), 'node')}"
        hint = did_you_mean(name, graph.nodes) or NO_TF_NODE.hint
        raise RequestError(NO_TF_NODE.at(Where(graph.file), message, hint=hint))
    return ref if output_of(ref) else name


def _guessed(graph: TfGraph) -> list[str]:
    """The nodes that no other takes. Raises RequestError (CNV403) where there is none."""
    taken = graph.consumers()
    nodes = graph.nodes.values()
    found = [n.name for n in nodes if n.name not in taken and n.op not in _NO_RESULTS]
    if not found:
        message = "every node that gives a result is taken by another, so nothing is the output"
        raise RequestError(NO_TF_NODE.at(Where(graph.file), message, hint="name outputs with -O"))
    return found


def _guess(graph: TfGraph, chosen: Sequence[str]) -> Diagnostic:
    names = [*map(repr, chosen)]
    shown = ", ".join(names if len(names) <= _SHOWN else [*names[: _SHOWN - 1], "..."])
    message = f"no other node takes {shown}: written as {plural(len(names), 'output')}"
    return OUTPUTS_GUESSED.at(Where(graph.file), message)


def _require_constants(graph: TfGraph, outputs: Sequence[str]) -> None:
    """Raises NotSupportedError (CNV402) where something needed is a variable."""
    found = [node for node in ordered(graph, outputs) if node.op in _VARIABLES]
    if found:
        message = f"{plural(len(found), 'variable')}, {found[0].name!r} first, have no values here"
        raise NotSupportedError(NOT_FROZEN.at(found[0].where(), message, hint=FREEZE_SAVED))
