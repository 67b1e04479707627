"""Which axis of a map is which, for operations that do not say.

A plugin of TensorRT is given maps as (N, C, H, W). In a UFF graph they have the axes of whatever
made them, and that is what tells.
"""

from __future__ import annotations

import itertools
from typing import Any

from ufkit.core.diag import FormatError
from ufkit.core.dtypes import FLOAT32
from ufkit.uff.data import Orders, unquoted
from ufkit.uff.model import Graph, Node
from ufkit.uff.ops.spec import Call
from ufkit.uff.orders import Order, expand, identity, parse

_REACH = 256  # nodes looked at

# What a map passes through without its axes changing their meaning.
TRANSPARENT = frozenset(
    {
        *("Identity", "Binary", "Unary", "Activation", "LeakyRelu", "BatchNorm", "Pad", "LRN"),
        *("_LeakyRelu", "_Relu", "_Relu6", "_Sigmoid", "_Add", "_AddV2", "_Sub", "_Mul"),
        *("_LReLU_TRT", "_ResizeNearest_TRT", "_Normalize_TRT"),
    }
)


def only_floats(call: Call) -> None:
    """Fail (UFF302) for inputs of a type that TensorRT's plugins do not take."""
    for name, facts in zip(call.spec.inputs, call.inputs, strict=True):
        if facts.dtype != FLOAT32:
            call.conflict(f"{name} is {facts.dtype}; the plugin takes {FLOAT32}")


def map_order(call: Call, i: int = 0) -> Order:
    """The canonical axis of each axis of input i; see `order_of`."""
    return order_of(call.node.graph, call.node.inputs[i], call.rank(i))


def order_of(graph: Graph, id_: str, rank: int) -> Order:
    """The canonical axis of each axis of a value: (0, 2, 3, 1) of a map (N, H, W, C).

    As the nearest operation up to it that has orders; TensorRT's own (N, C, H, W) without one.
    """
    queue = [id_]
    for name in itertools.islice(queue, _REACH):
        if name not in graph:
            continue
        if found := _said(graph[name], rank):
            return found
        if graph[name].operation in TRANSPARENT or graph[name].operation == "Concat":
            queue += graph[name].inputs[:2]
    return identity(rank)


def _said(node: Node, rank: int) -> Order | None:
    """The order of a node's value where the node itself says it."""
    try:
        for name in ("outputs_orders", "inputs_orders"):
            if name in node.fields and (axes := _axes(node.fields[name])):
                return expand(axes, rank)
        if "data_format" in node.fields:
            layout = unquoted(str(node.fields["data_format"]))
            return expand(parse("NC+" if layout[1:2] == "C" else "N+C"), rank)
    except (FormatError, ValueError):
        pass  # the check of that node says what is wrong with it
    return None


def _axes(value: Any) -> tuple[int, ...]:
    first = value[0] if isinstance(value, list) and value else value
    return first.axes if isinstance(first, Orders) else ()
