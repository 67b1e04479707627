"""Values of graphs without inputs, computed by the reference evaluator within a bound."""

from __future__ import annotations

import numpy as np

from ufkit.uff.const import constant
from ufkit.uff.fold import Folding
from ufkit.uff.infer import infer
from ufkit.uff.model import Graph, MetaGraph
from ufkit.uff.ops.spec import Array

_MOST = 1 << 14  # nodes computed in all; a value that several need may be computed again


class Room:
    """What may be computed: 16 MiB, as many bytes as the file has, and some thousands of nodes.

    `nodes` is how many are left; once there were too many, nothing more is computed.
    """

    def __init__(self, size: int) -> None:
        self._folding = Folding(MetaGraph.new())
        self._folding.room += size
        self.nodes = _MOST

    def value(self, graph: Graph) -> Array | None:
        """The one output of a graph without inputs; None where it is not known, or beyond bounds.

        Raises FormatError where something in it does not fit.
        """
        self.nodes -= len(graph)
        if self.nodes < 0:
            return None
        inference = infer(graph)
        values: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            for node in inference.graph.needed():
                facts = inference.facts.get(node.id)
                if facts is None:
                    return None
                if node.operation == "Const" and constant(node).nbytes <= self._folding.room:
                    values[node.id] = constant(node).numpy()
                    continue
                found = self._folding.value(node, facts, [values[id_] for id_ in node.inputs])
                if found is None:
                    return None
                values[node.id] = found
        (output,) = inference.graph.outputs
        return values[output]
