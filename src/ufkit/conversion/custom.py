"""Operations nobody here knows, carried into ONNX as nodes of a domain of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ufkit.core.dtypes import DType
from ufkit.uff.data import Orders, unquoted
from ufkit.uff.model import Node
from ufkit.uff.orders import spell

DOMAIN = "uff.custom"

_PLAIN: dict[type, Callable[[Any], Any]] = {
    str: unquoted,
    bool: int,
    int: int,
    float: float,
    DType: str,
    Orders: lambda orders: spell(orders.axes),
}


def op_type(node: Node) -> str:
    """The ONNX name of an operation: without the underscore that marks it as custom."""
    return node.operation.removeprefix("_")


def attributes(node: Node) -> dict[str, Any]:
    """The node's fields as ONNX attributes.

    Element types and orders become text; fields without a value, blobs and empty lists, whose
    type ONNX could not tell, are left out.
    """
    found = {}
    for name in node.fields:
        value = node.fields[name]
        items = value if isinstance(value, list) else [value]
        if not items or type(items[0]) not in _PLAIN:
            continue
        plain = [_PLAIN[type(item)](item) for item in items]
        found[name] = plain if isinstance(value, list) else plain[0]
    return found
