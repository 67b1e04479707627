"""Building UFF files the way NVIDIA's converter writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ufkit.core.diag import RequestError, Where
from ufkit.core.dtypes import FLOAT32, DType, from_name
from ufkit.uff.data import Orders, Ref
from ufkit.uff.model import Graph, MetaGraph
from ufkit.uff.orders import parse
from ufkit.uff.rules import FIELD_VALUE


class Builder:
    """Appends nodes to one graph: constants as `weights_<id>`, orders as `orders_<spelling>`.

    `meta` is the file under construction, to be given to `save`.
    """

    def __init__(self, id_: str = "main") -> None:
        self.meta = MetaGraph.new()
        self.meta.add_descriptor("tensorflow_extension")
        self.graph: Graph = self.meta.add_graph(id_)

    def input(self, id_: str, shape: Sequence[int], dtype: DType = FLOAT32) -> str:
        """An Input; -1 is an open size. Gives the id back, as every method does."""
        self.graph.add(id_, "Input", dtype=dtype, shape=list(shape))
        return id_

    def const(self, id_: str, values: Any) -> str:
        """A constant. Raises RequestError (UFF208) for an element type that UFF does not have."""
        array = np.asarray(values)
        try:
            dtype = from_name(array.dtype.name)
        except KeyError:
            message = f"{array.dtype} is no element type of UFF"
            raise RequestError(FIELD_VALUE.at(Where(node=id_), message)) from None
        reference = f"weights_{id_}"
        self.meta.referenced_data[reference] = np.ascontiguousarray(array, dtype.numpy)
        fields = {"values": Ref(reference), "dtype": dtype, "shape": list(array.shape)}
        self.graph.add(id_, "Const", **fields)
        return id_

    def op(
        self, id_: str, operation: str, inputs: Iterable[str], orders: str = "", **fields: Any
    ) -> str:
        """Any other operation. `orders` spells the axis order of each input: `N+C_+CK`."""
        if orders:
            reference = f"orders_{orders}"
            spelt = [Orders(tuple(parse(order))) for order in orders.split("_")]
            self.meta.referenced_data[reference] = spelt
            fields["inputs_orders"] = Ref(reference)
        self.graph.add(id_, operation, inputs, **fields)
        return id_

    def output(self, *ids: str) -> None:
        """Mark results, one MarkOutput each."""
        marks = sum(node.operation == "MarkOutput" for node in self.graph)
        for number, id_ in enumerate(ids, marks):
            self.graph.add(f"MarkOutput_{number}", "MarkOutput", [id_])
