"""Building UFF files the way NVIDIA's converter writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ufkit.core.diag import RequestError, Where
from ufkit.core.dtypes import FLOAT32, DType, from_name
from ufkit.uff.data import Orders, Ref, data_of, kind_of
from ufkit.uff.model import Graph, MetaGraph
from ufkit.uff.orders import parse
from ufkit.uff.rules import FIELD_VALUE

Named = tuple[str, Any]  # data, and the name it is to have among the referenced data


class Builder:
    """Appends nodes to one graph: constants as `weights_<id>`, orders as `orders_<spelling>`.

    The graph is a new one in a new file, called `id_`, unless one is given. `meta` is the file
    under construction, to be given to `save`.
    """

    def __init__(self, id_: str = "main", *, graph: Graph | None = None) -> None:
        if graph is None:
            meta = MetaGraph.new()
            meta.add_descriptor("tensorflow_extension")
            graph = meta.add_graph(id_)
        self.graph = graph
        self.meta = graph.meta

    def input(self, id_: str, shape: Sequence[int], dtype: DType = FLOAT32) -> str:
        """An Input; -1 is an open size. Gives the id back, as every method does."""
        self._add(id_, "Input", (), {"dtype": dtype, "shape": list(shape)})
        return id_

    def const(self, id_: str, values: Any) -> str:
        """A constant. Raises RequestError (UFF208) for an element type that UFF does not have."""
        array = np.asarray(values)
        dtype = dtype_of(array, Where(node=id_))
        return self.tensor(id_, array.shape, dtype, np.ascontiguousarray(array, dtype.numpy))

    def tensor(self, id_: str, shape: Sequence[int], dtype: DType, values: Any) -> str:
        """A constant of that shape and type, whose elements are bytes that stay where they are."""
        blob = (f"weights_{id_}", values)
        self._add(id_, "Const", (), {"dtype": dtype, "shape": list(shape)}, values=blob)
        return id_

    def op(
        self, id_: str, operation: str, inputs: Iterable[str], orders: str = "", **fields: Any
    ) -> str:
        """Any other operation. `orders` spells the axis order of each input: `N+C_+CK`."""
        self._add(id_, operation, inputs, fields, **spelt(orders))
        return id_

    def output(self, *ids: str) -> None:
        """Mark results, one MarkOutput each."""
        number = sum(node.operation == "MarkOutput" for node in self.graph)
        for id_ in ids:
            while (name := f"MarkOutput_{number}") in self.graph:
                number += 1
            self._add(name, "MarkOutput", [id_], {})

    def _add(
        self, id_: str, operation: str, inputs: Iterable[str], fields: dict[str, Any], **data: Named
    ) -> None:
        """Append a node; fields in `data` refer to data of a name."""
        references = {name: self._refer(*named) for name, named in data.items()}
        self.graph.add(id_, operation, inputs, **fields, **references)

    def _refer(self, name: str, value: Any) -> Ref:
        """A reference to data of that name, or of a like one where it holds something else."""
        known, message = self.meta.referenced_data, data_of(value)
        free, number = name, 0
        while free in known:
            if known.kind(free) == kind_of(message) != "blob" and known[free] == value:
                return Ref(free)
            number += 1
            free = f"{name}_{number}"
        known[free] = message
        return Ref(free)


def spelt(orders: str) -> dict[str, Named]:
    """`inputs_orders` as spelt, and the name the converter gives it."""
    if not orders:
        return {}
    axes = [Orders(tuple(parse(order))) for order in orders.split("_")]
    return {"inputs_orders": (f"orders_{orders}", axes)}


def dtype_of(array: np.ndarray[Any, Any], where: Where) -> DType:
    """The element type of an array. Raises RequestError (UFF208) for one that UFF does not have."""
    try:
        return from_name(array.dtype.name)
    except KeyError:
        message = f"{array.dtype} is no element type of UFF"
        raise RequestError(FIELD_VALUE.at(where, message)) from None
