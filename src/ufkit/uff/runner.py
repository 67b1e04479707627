"""Running a UFF model in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ufkit.core.diag import NotSupportedError, Severity
from ufkit.uff.evaluate import evaluate
from ufkit.uff.infer import infer
from ufkit.uff.inputs import GivenShapes
from ufkit.uff.model import Graph
from ufkit.uff.ops.spec import Array
from ufkit.uff.unknown import UNKNOWN


def shapes_for(graph: Graph, feeds: Mapping[str, Any], shapes: GivenShapes | None) -> GivenShapes:
    """The shapes given, and those of the arrays fed to Inputs that have none."""
    open_ones = {node.id for node in graph.inputs if not node.fields.get("shape")}
    return {id_: np.shape(feeds[id_]) for id_ in open_ones & feeds.keys()} | dict(shapes or {})


def run(
    graph: Graph,
    feeds: Mapping[str, Any],
    *,
    shapes: GivenShapes | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Array]:
    """The outputs of a graph by id, computed by the reference evaluator.

    `feeds` holds an array for each Input in its UFF layout; an Input without a shape takes the
    array's. Raises RequestError (UFF301, UFF401) for feeds, NotSupportedError with every node
    that cannot be run, FormatError where one fails.
    """
    inference = infer(graph, shapes_for(graph, feeds, shapes))
    inference.require_shapes()
    obstacles = [
        finding
        for finding in inference.diagnostics
        if finding.severity is Severity.ERROR or finding.rule in UNKNOWN
    ]
    if obstacles:
        raise NotSupportedError(*obstacles)
    return evaluate(inference, feeds, progress=progress)
