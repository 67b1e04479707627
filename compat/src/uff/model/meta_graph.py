"""The file under construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uff.model.descriptor import Descriptor
from uff.model.graph import Graph
from uff.model.uff_pb2 import Data
from uff.model.uff_pb2 import MetaGraph as Encoded
from uff.model.values import message_of
from ufkit.core.diag import FormatError, RequestError, Where
from ufkit.uff.build import spelt
from ufkit.uff.const import SKIP_LIMIT, skipped_marker
from ufkit.uff.model import MetaGraph as Model
from ufkit.uff.rules import BAD_ORDERS, DANGLING
from ufkit.wire.copying import copied


class MetaGraph:
    """A UFF file: graphs, and the data that fields refer to. `model` is ufkit's, to be saved."""

    def __init__(self) -> None:
        self.model = Model.new()
        self.graphs: list[Graph] = []

    def add_graph(self, name: str) -> Graph:
        """Add an empty graph."""
        graph = Graph(self, self.model.add_graph(name))
        self.graphs.append(graph)
        return graph

    def extend_descriptor(self, descriptor: Descriptor) -> None:
        """Declare a further set of operations."""
        self.model.message.append("descriptors", descriptor.to_uff().message)

    def enable_custom_descriptor(self) -> None:
        """Declare custom operations, once."""
        self.model.declare_custom()

    def create_ref(self, prefix: str, data: Any) -> Any:
        """A Data that refers to data of that name, or of a like one where the name is taken."""
        known = self.model.referenced_data
        name, number = prefix, 0
        while name in known:
            name, number = f"{prefix}_{number}", number + 1
        known[name] = message_of(data)
        return Data(ref=name)

    def create_orders_ref(self, orders_list: Sequence[str]) -> Any:
        """A Data that refers to the axis orders of inputs, such as ["N+C", "+CK"].

        Raises RequestError (UFF209) for letters that spell none.
        """
        text = "_".join(orders_list)
        try:
            ((name, orders),) = spelt(text).values()
        except (KeyError, ValueError):
            message = f"{text!r} spells no axis orders; they are made of N K C + and -"
            raise RequestError(BAD_ORDERS.at(Where(), message)) from None
        if name not in self.model.referenced_data:
            self.model.referenced_data[name] = orders
        return Data(ref=name)

    def to_uff(self, debug: bool = False) -> Any:
        """The `uff_pb2.MetaGraph`; with `debug` blobs over 32 bytes are left out, for looking at.

        Raises FormatError (UFF102) for a node that takes one that is not there.
        """
        for graph in self.model.graphs:
            for node in graph:
                if missing := [id_ for id_ in node.inputs if id_ not in graph]:
                    message = f"input {missing[0]!r} is no node of graph {graph.id!r}"
                    raise FormatError(DANGLING.at(node.where(), message))
        encoded = Encoded.over(copied(self.model.message))
        if debug:
            for value in encoded.referenced_data.values():
                size = value.message.get("blob").nbytes
                if size > SKIP_LIMIT:
                    value.blob = skipped_marker(size)
        return encoded
