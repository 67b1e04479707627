"""Which node is to blame for outputs that differ, if one is.

An operation that chooses (ArgMax, a comparison, suppression) turns values that differ by rounding
into others altogether, without being wrong. Such a node is judged on the engine's own inputs: where
the reference makes the engine's choice of them, the engine's value is what to go on with.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ufkit.conversion.differences import Array, Difference, difference
from ufkit.conversion.engines import best_engine, open_onnx
from ufkit.conversion.rules import CHOSEN
from ufkit.conversion.twin import Twin
from ufkit.core.diag import Diagnostic, FormatError
from ufkit.uff.evaluate import compute, evaluate
from ufkit.uff.infer import facts_of
from ufkit.uff.model import Node
from ufkit.uff.ops import entry_of
from ufkit.uff.orders import inverse


@dataclass(slots=True)
class Judgement:
    """What looking at every node of both models says.

    outputs   by id: how they compare when the reference makes the engine's choices
    first     the first node in order of computation that is wrong
    chosen    a note on each node judged on the engine's own inputs
    """

    outputs: dict[str, Difference] = field(default_factory=dict)
    first: Difference | None = None
    chosen: list[Diagnostic] = field(default_factory=list)


def judge(
    twin: Twin,
    feeds: Mapping[str, Array],
    fed: Mapping[str, Array],
    tolerance: float | None,
) -> Judgement:
    """Run both models once more and compare node by node; the reference makes the engine's choices.

    `feeds` are arrays as UFF has them, `fed` the same as the ONNX model takes them.
    """
    engine = _watched(twin, fed)
    judgement = Judgement()
    revise = partial(_revised, twin, engine, tolerance, judgement)
    expected = evaluate(twin.inference, feeds, revise=revise)
    for id_ in twin.outputs:
        if id_ in engine:  # not a constant
            of = twin.inference.graph, id_, engine[id_], expected[id_], tolerance
            judgement.outputs[id_] = difference(*of)
    return judgement


def _watched(twin: Twin, fed: Mapping[str, Array]) -> dict[str, Array]:
    """The engine's value of every node that has one, in UFF's axis order."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        made = twin.write_watched(path, {name for name, _ in twin.forms.values()})
        got = open_onnx(path, engine=best_engine()).run(fed)
    watched = {id_: form for id_, form in twin.forms.items() if form[0] in made}
    return {id_: got[name].transpose(inverse(order)) for id_, (name, order) in watched.items()}


def _revised(
    twin: Twin,
    engine: Mapping[str, Array],
    tolerance: float | None,
    judgement: Judgement,
    node: Node,
    arrays: Sequence[Array],
    value: Array,
) -> Array:
    """What the reference goes on with behind a node."""
    if node.id not in engine or judgement.first:
        return value
    graph, theirs = twin.inference.graph, engine[node.id]
    found = difference(graph, node.id, theirs, value, tolerance)
    if found.ok:
        return value
    entry = entry_of(node)
    if entry and entry.chooses:
        inputs = [engine.get(id_, ours) for id_, ours in zip(node.inputs, arrays, strict=True)]
        own = _recomputed(twin, node, inputs)
        if own is not None and difference(graph, node.id, theirs, own, tolerance).ok:
            message = f"{node.operation} differs, but not on what the engine gives it"
            judgement.chosen.append(CHOSEN.at(node.where(), message))
            return theirs
    judgement.first = found
    return value


def _recomputed(twin: Twin, node: Node, inputs: Sequence[Array]) -> Array | None:
    planned = [twin.inference.facts[id_] for id_ in node.inputs]
    try:
        return compute(node, map(facts_of, inputs, planned), inputs)
    except FormatError:
        return None  # the engine's inputs do not even fit
