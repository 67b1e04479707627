"""ONNX to UFF: inputs, outputs, and what there is to say of what lies between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ufkit.conversion.onnx_graph import OnnxCall, OnnxGraph, OnnxPort
from ufkit.conversion.onnx_ops import ENTRIES
from ufkit.conversion.onnx_walk import Walk
from ufkit.conversion.rules import (
    CANNOT_CONVERT,
    NO_ONNX_VALUE,
    ONNX_OPSET,
    OUTSIDE_CORE,
    SCALAR_INPUT,
)
from ufkit.core.diag import Diagnostic, NotSupportedError, RequestError, Severity, Where
from ufkit.core.dtypes import DTYPES
from ufkit.uff.dims import Dim, Shape, show, unify
from ufkit.uff.draft import FairCopy, Value
from ufkit.uff.infer import Inference, infer
from ufkit.uff.inputs import BATCH, GivenShapes
from ufkit.uff.model import MetaGraph
from ufkit.uff.ops import OPS
from ufkit.wire.schema import did_you_mean

OLDEST, NEWEST = 7, 28  # opsets whose operators are known
_SHOWN = 8
_PLUGIN = "_TRT"  # what TensorRT's own plugins end in


@dataclass(slots=True)
class FromOnnx:
    """A model as a UFF, and what there is to say of it. Weights lie in the model's file.

    inference  of the graph, as a reader of the file will have it
    forms      by UFF id: the ONNX value that the node's value is, for those that have one
    """

    meta: MetaGraph
    outputs: list[str]
    diagnostics: list[Diagnostic]
    inference: Inference
    forms: dict[str, str] = field(default_factory=dict)


def from_onnx(
    graph: OnnxGraph, *, outputs: Sequence[str] = (), shapes: GivenShapes | None = None
) -> FromOnnx:
    """The UFF of a model: of what `outputs` need, names of values or nodes, or of its own outputs.

    Axes are in ONNX's order. `shapes` are those of inputs whose sizes the model leaves open; the
    batch may stay open. Raises RequestError (CNV503) for names that are not there, FormatError
    (CNV202, CNV502) where the model is not sound, NotSupportedError with all obstacles at once.
    """
    shapes = shapes or {}
    _check_names(graph, shapes)
    if outputs:
        graph.outputs = [*dict.fromkeys(_value_of(graph, name) for name in outputs)]
    if not OLDEST <= graph.opset <= NEWEST:
        message = f"the model is of opset {graph.opset}; {OLDEST} to {NEWEST} are known"
        raise NotSupportedError(ONNX_OPSET.at(graph.where(), message))
    nodes = graph.needed()
    walk = Walk(graph, ENTRIES)
    walk.draft.widen(graph.size)
    symbols: dict[str, str] = {}
    for port in graph.inputs:
        walk.values[port.name] = _input(walk, port, shapes, symbols)
    walk.run(nodes)
    ends = _ends(walk)
    if walk.obstacles:
        raise NotSupportedError(*dict.fromkeys(walk.obstacles))
    inputs = [value for port in graph.inputs if (value := walk.values[port.name])]
    copy = FairCopy(inputs, ends)
    scalars = {value.name: () for value in inputs if not value.rank}
    inference = infer(copy.meta.graph, scalars)
    _check_reading(graph, copy, inference)
    notes = [*_scalars(graph, inputs), *_outside_core(copy)]
    return FromOnnx(copy.meta, [*ends], notes, inference, _forms(walk, copy, nodes))


# -- names -----------------------------------------------------------------------------------


def _check_names(graph: OnnxGraph, shapes: GivenShapes) -> None:
    known = [port.name for port in graph.inputs]
    for name in shapes:
        if name not in known:
            message = f"{name!r} is no input of the model; it has {', '.join(known) or 'none'}"
            hint = did_you_mean(name, known)
            raise RequestError(NO_ONNX_VALUE.at(graph.where(), message, hint=hint))


def _value_of(graph: OnnxGraph, name: str) -> str:
    """A value by its name, or by that of the node which gives it as its first result."""
    values = {port.name for port in graph.inputs} | graph.tensors.keys()
    values.update(output for node in graph.nodes for output in node.outputs)
    if name in values:
        return name
    nodes = {node.name: node.outputs[0] for node in graph.nodes if node.outputs}
    if name not in nodes:
        message = f"the model has no value and no node {name!r}"
        hint = did_you_mean(name, values | nodes.keys())
        raise RequestError(NO_ONNX_VALUE.at(graph.where(), message, hint=hint))
    return nodes[name]


# -- the graph's ends ------------------------------------------------------------------------


def _input(
    walk: Walk, port: OnnxPort, shapes: GivenShapes, symbols: dict[str, str]
) -> Value | None:
    """An Input. What is open in front is the batch; other open sizes are obstacles."""
    where = Where(walk.graph.file, port.name)
    given = shapes.get(port.name)
    sizes = port.shape if given is None else tuple("" if n == -1 else n for n in given)
    if given is not None and port.shape is not None and len(given) != len(port.shape):
        message = f"{port.name!r} has {len(port.shape)} axes; {len(given)} sizes are given"
        raise RequestError(NO_ONNX_VALUE.at(where, message, hint=""))
    reason = hint = ""
    if port.type.dtype not in DTYPES:
        reason = f"it is {port.type.name}, a type that UFF does not have"
        hint = "let the model take float32 or int32, and cast in front of it"
    elif sizes is None:
        reason, hint = "its shape is not known", f"give it: --shape {port.name}=N,3,224,224"
    elif open_ := [at for at, size in enumerate(sizes) if at and isinstance(size, str)]:
        reason = f"axis {open_[0]} of {_shown(sizes)} is open, and only the batch may be"
        example = [n if isinstance(n, int) else 224 if at else "N" for at, n in enumerate(sizes)]
        hint = f"give its sizes: --shape {port.name}={','.join(map(str, example))}"
    elif sizes and isinstance(name := sizes[0], str):
        first = symbols.setdefault(name and BATCH, name)
        if name != first:
            reason = f"axis 0 is {name!r}, and that of another input {first!r}: UFF has one batch"
            hint = f"give its sizes: --shape {port.name}={','.join(map(str, sizes))}"
    if reason:
        walk.obstacles.append(CANNOT_CONVERT.at(where, f"input: {reason}", hint=hint))
        return None
    shape = tuple(size if isinstance(size, int) else Dim((BATCH,)) for size in sizes or ())
    return walk.draft.input(port.name, shape, port.type.dtype)


def _shown(sizes: Sequence[int | str]) -> str:
    return f"[{', '.join(str(size) or '?' for size in sizes)}]"


def _ends(walk: Walk) -> dict[str, Value]:
    """The outputs by name; an obstacle for each that is of no type of UFF."""
    found: dict[str, Value] = {}
    for name in walk.graph.outputs:
        value = walk.value(name)
        if value is not None and value.dtype not in DTYPES:
            message = f"output: it is {value.dtype}, a type that UFF does not have"
            walk.obstacles.append(CANNOT_CONVERT.at(Where(walk.graph.file, name), message))
        elif value is not None:
            found[name] = value
    return found


# -- what there is to say --------------------------------------------------------------------


def _check_reading(graph: OnnxGraph, copy: FairCopy, inference: Inference) -> None:
    """Raises NotSupportedError where the file would not be read as it is meant."""
    wrong = [d for d in inference.diagnostics if d.severity is Severity.ERROR]
    wrong += inference.open_inputs
    for value, id_ in copy.ids.items():
        facts = inference.facts.get(id_)
        if facts is None or wrong:
            continue
        if facts.dtype != value.dtype or not _agree(facts.shape, value.facts.shape):
            message = f"{value.operation} would be read as {facts}, and is {value.facts}"
            wrong.append(CANNOT_CONVERT.at(value.origin, message))
    if wrong:
        raise NotSupportedError(*wrong)


def _agree(a: Shape | None, b: Shape | None) -> bool:
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(unify(x, y) is not None for x, y in zip(a, b, strict=True))


def _scalars(graph: OnnxGraph, inputs: Iterable[Value]) -> Iterator[Diagnostic]:
    for value in inputs:
        if not value.rank:
            message = (
                f"{value.name!r} is {value.dtype}{show(())}, written as an Input without sizes"
            )
            yield SCALAR_INPUT.at(Where(graph.file, value.name), message)


def _outside_core(copy: FairCopy) -> Iterator[Diagnostic]:
    """Each operation that is none of the core's, once, with its nodes."""
    found: dict[str, list[Value]] = {}
    for value in copy.ids:
        if value.operation.startswith("_") and not value.operation.endswith(_PLUGIN):
            found.setdefault(value.operation, []).append(value)
    for operation, values in found.items():
        names = [*dict.fromkeys(value.origin.node for value in values)]
        shown = names if len(names) <= _SHOWN else [*names[: _SHOWN - 1], "..."]
        message = f"{operation} is none of UFF's core ({len(names)}: {', '.join(shown)})"
        message += "; ufkit runs it and converts it to ONNX" if operation in OPS else ""
        yield OUTSIDE_CORE.at(values[0].origin, message)


def _forms(walk: Walk, copy: FairCopy, nodes: Iterable[OnnxCall]) -> dict[str, str]:
    forms: dict[str, str] = {}
    for node in nodes:
        for name in node.outputs:
            value = walk.values.get(name)
            if value is not None and value in copy.ids and value.operation:
                forms.setdefault(copy.ids[value], name)
    return forms
