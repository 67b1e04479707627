"""Which axes of a map are its height and width, for plugins that do not say.

In TensorRT a plugin sees its input as N, C, H, W. UFF keeps the graph's own axes, and only
convolutions and their like say what these mean.
"""

from __future__ import annotations

import contextlib

from ufkit.uff.model import Graph, Node
from ufkit.uff.orders import Order, expand, identity

# What passes a map on without changing the meaning of its axes.
_PASSING = frozenset(
    {"Identity", "Binary", "Unary", "Activation", "LeakyRelu", "BatchNorm", "Pad", "LRN", "Concat"}
)


def order_of(graph: Graph, id_: str, rank: int) -> Order:
    """The canonical axis of each axis of a value, as the nearest operation up to it says that has
    axis orders; N, C, then the spatial axes where there is none."""
    seen: set[str] = set()
    while id_ in graph and id_ not in seen:
        seen.add(id_)
        node = graph[id_]
        for name in ("outputs_orders", "inputs_orders"):
            if (axes := _axes(node, name)) is not None:
                with contextlib.suppress(ValueError):
                    return expand(axes, rank)
        if node.operation not in _PASSING or not node.inputs:
            break
        id_ = node.inputs[0]
    return identity(rank)


def _axes(node: Node, name: str) -> tuple[int, ...] | None:
    """The first order of a field, as it is written; None where it has none."""
    if name not in node.fields or node.fields.kind(name) not in ("dim_orders", "dim_orders_list"):
        return None
    value = node.fields[name]
    first = value[0] if isinstance(value, list) and value else value
    return first.axes or None if first else None
