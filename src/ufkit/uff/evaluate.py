"""The reference evaluator: a graph computed with NumPy, straight from UFF's own meaning.

It shares no code with the lowering to ONNX, so that the two can be held against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ufkit.core.diag import RequestError
from ufkit.uff.const import constant
from ufkit.uff.dims import show
from ufkit.uff.infer import Inference, facts_of
from ufkit.uff.inputs import InputSpec
from ufkit.uff.model import Graph, Node
from ufkit.uff.ops import call_of
from ufkit.uff.ops.spec import MAX_BYTES, Array, Facts
from ufkit.uff.rules import BAD_INPUT
from ufkit.wire.schema import did_you_mean

Progress = Callable[[int, int], None]
Revise = Callable[[Node, Sequence[Array], Array], Array]


def evaluate(
    inference: Inference,
    feeds: Mapping[str, Any],
    *,
    keep: Iterable[str] = (),
    revise: Revise = lambda node, arrays, value: value,
    progress: Progress = lambda done, total: None,
) -> dict[str, Array]:
    """The outputs by id, and the values of the nodes in `keep`.

    `inference` comes from `infer`; `feeds` holds an array for each of its inputs, in the shape
    that says.
    Values are in UFF's axis order. Each is dropped when no later node needs it. `revise` is given
    each node that is computed, its inputs and its value, and says what to go on with.
    Raises RequestError (UFF401) for a feed that does not fit, FormatError where a node fails.
    """
    graph = inference.graph
    nodes = graph.needed()
    kept = {*graph.outputs, *keep}
    last = {id_: at for at, node in enumerate(nodes) for id_ in node.inputs}
    given = fed(inference, feeds).items()
    values = {id_: array.transpose(inference.inputs[id_].turn) for id_, array in given}
    results: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for at, node in enumerate(nodes):
            if node.id not in values:
                planned = [inference.facts[id_] for id_ in node.inputs]
                arrays = [values[id_] for id_ in node.inputs]
                value = compute(node, map(facts_of, arrays, planned), arrays)
                values[node.id] = revise(node, arrays, value)
            if node.id in kept:
                results[node.id] = values[node.id]
            for id_ in (*set(node.inputs), node.id):
                if last.get(id_, -1) <= at:
                    values.pop(id_, None)
            progress(at + 1, len(nodes))
    return results


def compute(
    node: Node, facts: Iterable[Facts], arrays: Sequence[Array], limit: int = MAX_BYTES
) -> Array:
    """The value of one node from those of its inputs, and what is known of these.

    Raises FormatError where they do not fit, and where it takes more than `limit` bytes (UFF402).
    """
    if node.operation == "Const":
        return constant(node).numpy()
    call = call_of(node, list(facts))
    call.limit = limit
    result = call.spec.infer(call)  # fails with the shapes where they do not fit
    return call.compute(result, *arrays)


def fed(inference: Inference, feeds: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays for the Inputs, each in its Input's type. Raises RequestError (UFF401).

    An Input that no output needs may be left out.
    """
    graph, inputs = inference.graph, inference.inputs
    for name in feeds:
        if name not in inputs:
            message = f"{name!r} is no Input; the model takes {', '.join(inputs)}"
            hint = did_you_mean(name, inputs)
            raise RequestError(BAD_INPUT.at(graph.where(), message, hint=hint))
    for node in graph.needed():
        if node.id in inputs and node.id not in feeds:
            message = f"nothing is given for Input {inputs[node.id]}"
            raise RequestError(BAD_INPUT.at(node.where(), message))
    return {id_: _fitted(graph, inputs[id_], np.asarray(array)) for id_, array in feeds.items()}


def _fitted(graph: Graph, spec: InputSpec, array: Array) -> Array:
    """An array in the type of its Input. Raises RequestError (UFF401) when it does not fit."""
    fits = len(array.shape) == len(spec.shape) and all(
        size == wanted or not isinstance(wanted, int)
        for size, wanted in zip(array.shape, spec.shape, strict=True)
    )
    wanted = spec.dtype.numpy
    if not fits or not np.can_cast(array.dtype, wanted, "same_kind"):
        message = f"the array given is {array.dtype}{show(array.shape)}; the Input is {spec}"
        raise RequestError(BAD_INPUT.at(graph[spec.id].where(), message))
    return array.astype(wanted, copy=False)
