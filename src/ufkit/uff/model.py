"""The model: MetaGraph, Graph, Node, as views of the messages in the file."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ufkit.core.diag import FormatError, RequestError, Where
from ufkit.core.files import Source
from ufkit.core.held import Held
from ufkit.uff.data import DataMap, follow
from ufkit.uff.rules import CYCLE, DANGLING, EMPTY, NO_OUTPUT, SEVERAL_GRAPHS
from ufkit.uff.schema import DESCRIPTOR, GRAPH, METAGRAPH, NODE
from ufkit.wire.message import Message

OUTPUT_OPERATION = "MarkOutput"
INPUT_OPERATION = "Input"
MAIN = "main"
CUSTOM = "custom"  # the descriptor of operations that begin with an underscore


class Node:
    """One operation. `inputs` are ids of nodes; the node's value is known by its own id.

    `fields` maps names to values, references followed; see DataMap. `output` is the number of the
    value meant, for views of an operation that has several (see `ufkit.uff.outputs`).
    """

    __slots__ = ("_fields", "_id", "_inputs", "_operation", "graph", "message", "output")

    def __init__(self, graph: Graph, message: Message) -> None:
        self.graph = graph
        self.message = message
        self.output: int | None = None
        self._id: str = message.get("id")
        self._operation: str = message.get("operation")
        self._inputs: tuple[str, ...] = tuple(message.all("inputs"))
        self._fields: DataMap | None = None

    @property
    def id(self) -> str:
        return self._id

    @id.setter
    def id(self, value: str) -> None:
        self.message.set("id", value)
        self._id = value
        self.graph._by_id = None

    @property
    def operation(self) -> str:
        return self._operation

    @operation.setter
    def operation(self, value: str) -> None:
        self.message.set("operation", value)
        self._operation = value

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._inputs

    @inputs.setter
    def inputs(self, value: Iterable[str]) -> None:
        self._inputs = tuple(value)
        self.message.set("inputs", self._inputs)

    @property
    def fields(self) -> DataMap:
        if self._fields is None:
            self._fields = DataMap(self.graph.meta, self.message, "fields", self.where)
        return self._fields

    @property
    def extra_fields(self) -> DataMap:
        return DataMap(self.graph.meta, self.message, "extra_fields", self.where)

    def viewed(
        self,
        *,
        operation: str | None = None,
        inputs: Iterable[str] | None = None,
        id_: str | None = None,
        output: int | None = None,
    ) -> Node:
        """The node as another; its message stays as it is, so the view is not to be edited."""
        view = copy.copy(self)
        view._operation = self._operation if operation is None else operation
        view._inputs = self._inputs if inputs is None else tuple(inputs)
        view._id = self._id if id_ is None else id_
        view.output = self.output if output is None else output
        return view

    def where(self, field: str = "") -> Where:
        """The node's place in the file, for diagnostics; the same for all views of it."""
        span = self.message.span
        start, stop = (span.start, span.stop) if span.nbytes else (None, None)
        path = f"{self.graph.id}/{self.message.get('id')}"
        return Where(self.graph.meta.source.name, path, field, start, stop)

    def __repr__(self) -> str:
        return f"Node({self._operation} {self._id!r} <- {', '.join(self._inputs)})"


class Graph:
    """Nodes in file order, which is no order of computation; see `topological`."""

    def __init__(self, meta: MetaGraph, message: Message) -> None:
        self.meta = meta
        self.message = message
        self.id: str = message.get("id")
        self.nodes = [Node(self, node) for node in message.all("nodes")]
        self._by_id: dict[str, Node] | None = None

    @property
    def extra_fields(self) -> DataMap:
        return DataMap(self.meta, self.message, "extra_fields", self.where)

    def where(self) -> Where:
        """The graph's place, for diagnostics."""
        return Where(self.meta.source.name, self.id)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._index()

    def __getitem__(self, id_: str) -> Node:
        """The node of that id (the first, should there be several). Raises KeyError."""
        return self._index()[id_]

    def _index(self) -> dict[str, Node]:
        if self._by_id is None:
            self._by_id = {}
            for node in self.nodes:
                self._by_id.setdefault(node.id, node)
        return self._by_id

    def free_id(self, wanted: str) -> str:
        """`wanted`, or with a number behind where a node has that id."""
        id_, number = wanted, 0
        while id_ in self:
            number += 1
            id_ = f"{wanted}_{number}"
        return id_

    @property
    def inputs(self) -> list[Node]:
        """The Input nodes, in file order."""
        return [node for node in self.nodes if node.operation == INPUT_OPERATION]

    @property
    def outputs(self) -> list[str]:
        """Ids of the nodes that MarkOutput names, each once, in file order."""
        marks = (node.inputs for node in self.nodes if node.operation == OUTPUT_OPERATION)
        return list(dict.fromkeys(id_ for inputs in marks for id_ in inputs))

    def consumers(self) -> dict[str, list[Node]]:
        """For each id, the nodes that take it, in file order, one mention per use."""
        found: dict[str, list[Node]] = {node.id: [] for node in self.nodes}
        for node in self.nodes:
            for id_ in node.inputs:
                found.setdefault(id_, []).append(node)
        return found

    def needed(self) -> list[Node]:
        """What the outputs need, every node behind its inputs; MarkOutput left out.

        Raises FormatError: no output (UFF104), a missing input (UFF102), a cycle (UFF103).
        """
        if not self.outputs:
            raise FormatError(NO_OUTPUT.at(self.where(), f"graph {self.id!r} marks no output"))
        marks = [node for node in self.nodes if node.operation == OUTPUT_OPERATION]
        return self._behind([self._maker(id_, mark) for mark in marks for id_ in mark.inputs])

    def topological(self) -> list[Node]:
        """All nodes, every one behind its inputs. Raises FormatError (UFF102, UFF103)."""
        return self._behind(self.nodes)

    def _behind(self, targets: Iterable[Node]) -> list[Node]:
        ordered: list[Node] = []
        state: dict[str, bool] = {}  # False while its inputs are being placed
        for target in targets:
            stack: list[tuple[Node, Iterator[str]]] = []
            if target.id not in state:
                state[target.id] = False
                stack.append((target, iter(target.inputs)))
            while stack:
                node, waiting = stack[-1]
                id_ = next(waiting, None)
                if id_ is None:
                    state[node.id] = True
                    ordered.append(node)
                    stack.pop()
                elif id_ not in state:
                    state[id_] = False
                    maker = self._maker(id_, node)
                    stack.append((maker, iter(maker.inputs)))
                elif not state[id_]:
                    circle = [n.id for n, _ in stack]
                    circle = [*circle[circle.index(id_) :], id_]
                    shown = circle if len(circle) <= 8 else [*circle[:7], "...", id_]
                    message = f"{len(circle) - 1} nodes wait for each other: {' <- '.join(shown)}"
                    raise FormatError(CYCLE.at(node.where(), message))
        return ordered

    def _maker(self, id_: str, taker: Node) -> Node:
        if id_ not in self:
            message = f"input {id_!r} is no node of graph {self.id!r}"
        elif self[id_].operation == OUTPUT_OPERATION:
            message = f"input {id_!r} is a {OUTPUT_OPERATION}, which has no value"
        else:
            return self[id_]
        raise FormatError(DANGLING.at(taker.where(), message))

    def add(self, id_: str, operation: str, inputs: Iterable[str] = (), /, **fields: Any) -> Node:
        """Append a node; field values as `data_of` takes them. Raises RequestError (UFF207)."""
        message = Message.new(NODE, id=id_, inputs=inputs, operation=operation)
        node = Node(self, message)
        node.fields.update(fields)
        self.message.append("nodes", message)
        self.nodes.append(node)
        if self._by_id is not None:
            self._by_id.setdefault(id_, node)
        return node

    def viewed(self, changed: Iterable[Node], more: Iterable[Node] = ()) -> Graph:
        """The graph with some nodes as other views of them, and more nodes behind.

        Nothing of the file is edited; the other nodes are the same objects.
        """
        by_id = {node.id: node for node in changed}
        view = copy.copy(self)
        view._by_id = None
        view.nodes = [*(by_id.get(node.id, node) for node in self.nodes), *more]
        return view

    def remove(self, *nodes: Node) -> None:
        """Take nodes out; whoever names one as an input is left as it is."""
        gone = {id(node) for node in nodes}
        self.nodes = [node for node in self.nodes if id(node) not in gone]
        self.message.set("nodes", [node.message for node in self.nodes])
        self._by_id = None

    def __repr__(self) -> str:
        return f"Graph({self.id!r}, {len(self.nodes)} nodes)"


class Descriptor:
    """A set of operations the file says it uses: "tensorflow_extension", "custom"."""

    def __init__(self, message: Message) -> None:
        self.id: str = message.get("id")
        self.version: int = message.get("version")
        self.optional: bool = message.get("optional")

    def __repr__(self) -> str:
        return f"Descriptor({self.id!r}, {self.version})"


class MetaGraph(Held):
    """A UFF file. Weights stay in it until read; nothing is decoded before it is asked for.

    Use it as a context manager, or leave closing to the garbage collector.
    """

    def __init__(self, message: Message, source: Source | None = None) -> None:
        self.message = message
        self.source = source or message.span.source
        self._graphs: list[Graph] | None = None
        self._referenced: DataMap | None = None

    @classmethod
    def new(cls) -> MetaGraph:
        """An empty file with the versions that every known file has."""
        return cls(Message.new(METAGRAPH, version=1, descriptor_core_version=1))

    @property
    def version(self) -> int:
        return int(self.message.get("version"))

    @property
    def descriptor_core_version(self) -> int:
        return int(self.message.get("descriptor_core_version"))

    @property
    def descriptors(self) -> list[Descriptor]:
        return [Descriptor(message) for message in self.message.all("descriptors")]

    @property
    def graphs(self) -> list[Graph]:
        if self._graphs is None:
            self._graphs = [Graph(self, message) for message in self.message.all("graphs")]
        return self._graphs

    @property
    def graph(self) -> Graph:
        """The one graph, or of several the one called `main`; see `select`."""
        return self.select()

    def select(self, id_: str | None = None) -> Graph:
        """The graph of that id; without one the only graph, or of several the one called `main`.

        Raises RequestError (UFF309) naming the graphs there are, FormatError (UFF002) without any.
        """
        if not self.graphs:
            raise FormatError(EMPTY.at(Where(self.source.name), "the file holds 0 graphs"))
        wanted = id_ or (MAIN if len(self.graphs) > 1 else self.graphs[0].id)
        found = [graph for graph in self.graphs if graph.id == wanted]
        if found:
            return found[0]
        names = ", ".join(repr(graph.id) for graph in self.graphs)
        message = f"there is no graph {wanted!r}; the file holds {names}"
        raise RequestError(SEVERAL_GRAPHS.at(Where(self.source.name), message))

    @property
    def referenced_data(self) -> DataMap:
        if self._referenced is None:
            self._referenced = DataMap(self, self.message, "referenced_data", self.where)
        return self._referenced

    @property
    def extra_fields(self) -> DataMap:
        return DataMap(self, self.message, "extra_fields", self.where)

    def where(self) -> Where:
        """The file, for diagnostics."""
        return Where(self.source.name)

    def resolve(self, data: Message, where: Where) -> tuple[Message, str]:
        """What a value stands for, references followed. Raises FormatError (UFF202)."""
        return follow(self.referenced_data, data, lambda: where)

    def references(self) -> Counter[str]:
        """How often each entry of `referenced_data` is referred to, from anywhere in the file."""
        maps = [self.referenced_data, self.extra_fields]
        for graph in self.graphs:
            maps += [graph.extra_fields, *(node.fields for node in graph)]
            maps += [node.extra_fields for node in graph]
        found = (entries.data(key) for entries in maps for key in entries)
        return Counter(data.get("ref") for data in found if data.which("type") == "ref")

    def add_graph(self, id_: str = "main") -> Graph:
        """Append an empty graph."""
        graph = Graph(self, Message.new(GRAPH, id=id_))
        self.graphs.append(graph)
        self.message.append("graphs", graph.message)
        return graph

    def add_descriptor(self, id_: str, version: int = 1) -> None:
        """Declare a further set of operations."""
        self.message.append("descriptors", Message.new(DESCRIPTOR, id=id_, version=version))

    def declare_custom(self) -> bool:
        """Declare the set of custom operations; False where it is declared already."""
        declared = any(descriptor.id == CUSTOM for descriptor in self.descriptors)
        if not declared:
            self.add_descriptor(CUSTOM)
        return not declared

    def __repr__(self) -> str:
        return f"MetaGraph({self.source.name!r}, {self.graphs})"
