"""Shapes and element types of every value, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError, RequestError
from ufkit.core.dtypes import of_numpy
from ufkit.core.tensor import Tensor
from ufkit.uff.branches import for_inference
from ufkit.uff.const import constant
from ufkit.uff.controls import without_controls
from ufkit.uff.dims import Dim, impossible, static
from ufkit.uff.inputs import GivenShapes, InputSpec, input_specs
from ufkit.uff.model import INPUT_OPERATION, Graph, Node
from ufkit.uff.ops import call_of, entry_of
from ufkit.uff.ops.spec import Array, Call, Facts, UnknownShape
from ufkit.uff.outputs import Chooser, spelt
from ufkit.uff.unknown import unknown

_SMALL = 1024  # elements; shapes and axes are smaller, weights larger
_UNKNOWN = Facts(None)


@dataclass(slots=True)
class Inference:
    """What is known of a graph's values.

    graph    what is computed: the graph asked about, without its training leftovers, and with a
             node for each value of an operation that has several
    facts    by node id; a shape of None where a node could not be understood
    calls    by node id: the node with its fields resolved; absent where it could not be
    inputs   by id: how each Input is fed, those that no output needs included
    open_inputs   Input nodes that need a shape from the user
    diagnostics   everything found on the way, notes included
    """

    graph: Graph
    facts: dict[str, Facts] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    inputs: dict[str, InputSpec] = field(default_factory=dict)
    open_inputs: list[Diagnostic] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def require_shapes(self) -> None:
        """Raise RequestError (UFF301) naming every Input that needs a shape, if any does."""
        if self.open_inputs:
            raise RequestError(*self.open_inputs)


def infer(graph: Graph, shapes: GivenShapes | None = None) -> Inference:
    """Facts of every value the outputs need.

    `shapes` gives or overrides shapes of Inputs by id; a str in it is a size known by name.
    What does not fit becomes a diagnostic and inference goes on.
    Raises FormatError where no order of computation exists, RequestError for a name in `shapes`
    that is no Input.
    """
    graph, controls = without_controls(graph)
    graph, branches = for_inference(graph)
    graph = spelt(graph)
    nodes = graph.needed()
    result = Inference(graph, diagnostics=controls + branches)
    chooser = Chooser(graph, result.facts)
    waiting = [node for node in nodes if not _step(node, result, chooser)]
    specs = input_specs(graph, result.facts, shapes or {})
    needed = {node.id for node in waiting}
    result.diagnostics += specs.notes
    result.open_inputs = [finding for id_, finding in specs.open_inputs if id_ in needed]
    for node in graph.inputs:
        spec = specs.found.get(node.id)
        result.facts[node.id] = Facts(spec.inner_shape, spec.dtype) if spec else _UNKNOWN
    result.inputs = specs.found
    for node in waiting:
        if node.operation != INPUT_OPERATION:
            _step(node, result, chooser)
    result.graph = chooser.result
    # values of one node are understood one by one, and all find the same
    result.diagnostics = [*dict.fromkeys([*result.diagnostics, *chooser.notes])]
    return result


def _step(node: Node, result: Inference, chooser: Chooser) -> bool:
    """Find the facts of one node; False while those of its inputs are missing."""
    if node.operation == INPUT_OPERATION or any(id_ not in result.facts for id_ in node.inputs):
        return False
    try:
        node, made = chooser.told(node)
    except FormatError as error:
        result.facts[node.id] = _UNKNOWN
        result.diagnostics += error.diagnostics
        return True
    for told in (*made, node):
        _understand(told, result)
    return True


def _understand(node: Node, result: Inference) -> None:
    """Find the facts of a node whose inputs are known."""
    inputs = [result.facts[id_] for id_ in node.inputs]
    result.facts[node.id] = _UNKNOWN
    try:
        if node.operation == "Const":
            result.facts[node.id] = _constant_facts(node)
        elif entry_of(node) is None:
            result.diagnostics.append(unknown(node))
        else:
            call = call_of(node, inputs)
            call.before = result.facts
            facts = possible(call)
            result.calls[node.id] = call
            result.facts[node.id] = with_value(call, facts)
            result.diagnostics += call.notes
    except UnknownShape:
        if spec := entry_of(node):
            result.calls[node.id] = Call(node, spec, inputs)
    except FormatError as error:
        result.diagnostics += error.diagnostics


def _constant_facts(node: Node) -> Facts:
    return tensor_facts(constant(node))


def tensor_facts(tensor: Tensor) -> Facts:
    """What is known of a constant, its elements where they are few whole numbers."""
    if tensor.problem:
        return Facts(tensor.shape, tensor.type)
    small = tensor.nbytes <= _SMALL * tensor.type.itemsize
    is_integer = tensor.type.name.startswith("int")
    return Facts(tensor.shape, tensor.type, tensor.numpy() if small and is_integer else None)


def facts_of(array: Array, planned: Facts = _UNKNOWN) -> Facts:
    """What is known of a value that is there; `planned` is what was known of it before."""
    is_small_integer = array.dtype.kind == "i" and array.size <= _SMALL
    value = array if is_small_integer else None
    sizes = enumerate(planned.shape or ())
    still_open = frozenset(axis for axis, size in sizes if isinstance(size, Dim))
    return Facts(array.shape, of_numpy(array.dtype), value, still_open)


def possible(call: Call) -> Facts:
    """What the operation says of its value. Raises FormatError where none such can exist."""
    facts = call.spec.infer(call)
    if reason := impossible(facts.shape or ()):
        call.conflict(f"its value cannot exist: {reason}")
    return facts


def with_value(call: Call, facts: Facts) -> Facts:
    """Compute small integer values: shapes worked out inside the graph, symbols included."""
    values = [item.value for item in call.inputs if item.value is not None]
    if facts.value is not None or not values or len(values) < len(call.inputs):
        return facts
    sizes = static(facts.shape) if facts.shape is not None else None
    if not facts.dtype.name.startswith("int") or sizes is None or prod(sizes) > _SMALL:
        return facts
    if not any(value.dtype == object for value in values):
        return Facts(facts.shape, facts.dtype, call.compute(facts, *values))
    try:
        computed = np.asarray(call.spec.evaluate(call, *values))
        numbers = [item for item in computed.ravel().tolist() if not isinstance(item, Dim)]
        if len(numbers) == computed.size or any(abs(number) >= 1 << 63 for number in numbers):
            computed = computed.astype(facts.dtype.numpy)
    except (ArithmeticError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        return facts  # a comparison of sizes that are not known, or numbers beyond all sizes
    return Facts(facts.shape, facts.dtype, computed)
