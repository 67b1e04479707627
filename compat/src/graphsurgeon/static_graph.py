"""Graphs that are searched."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from ufkit.conversion.tf_graph import name_of
from ufkit.core.diag import NotSupportedError, RequestError, Where
from ufkit.core.files import replacing
from ufkit.wire.pieces import write
from ufkit.wire.schema import did_you_mean
from ufkit_compat.graph_def import GraphDef, graph_def_of
from ufkit_compat.proto import Proto
from ufkit_compat.rules import NO_NODE, NO_TENSORBOARD

_INPUTS = ("Placeholder", "FIFOQueueV2", "FIFOQueue")


@dataclass(frozen=True, slots=True)
class _Glance:
    """A node's name, operation and inputs, as they were after so many edits of it."""

    node: Proto
    edits: int
    name: str
    op: str
    refs: list[str]


@dataclass(frozen=True, slots=True)
class _Analysis:
    """What follows from the nodes, as they were after so many edits."""

    edits: int
    node_map: dict[str, Proto]
    node_inputs: dict[str, list[Proto]]
    node_outputs: dict[str, list[Proto]]


class StaticGraph:
    """A GraphDef that is searched: by name or number, node by node, and by what follows.

    `graphdef` is a GraphDef, whose edits show here, the path or the bytes of one, or another
    graph. Raises FileError, FormatError; RequestError (CMP001) for what is no graph.
    """

    def __init__(self, graphdef: Any = None) -> None:
        self._internal_graphdef: Proto = GraphDef() if graphdef is None else graph_def_of(graphdef)
        self._known: _Analysis | None = None
        self._glances: dict[int, _Glance] = {}

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)(copy.deepcopy(self._internal_graphdef))

    # -- the graph ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._internal_graphdef.node)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._internal_graphdef.node)

    def __getitem__(self, key: Any) -> Any:
        """The node of that name or number. Raises KeyError, IndexError."""
        return self.node_map[key] if isinstance(key, str) else self._internal_graphdef.node[key]

    def as_graph_def(self) -> Any:
        """The GraphDef itself: edits of it are edits of the graph."""
        return self._internal_graphdef

    def read(self, filename: str | os.PathLike[str]) -> None:
        """Become the graph of a file. Raises FileError, FormatError."""
        self._internal_graphdef = graph_def_of(filename)
        self._known = None

    def write(self, filename: str | os.PathLike[str]) -> None:
        """Write the graph as a frozen .pb, whole or not at all. Raises FileError."""
        with replacing(filename) as out:
            write(self._internal_graphdef.message.pieces(), out)

    def write_tensorboard(self, logdir: str | os.PathLike[str]) -> NoReturn:
        """Raises NotSupportedError (CMP006): TensorFlow makes TensorBoard's files."""
        message = f"{os.fspath(logdir)} was not written"
        raise NotSupportedError(NO_TENSORBOARD.at(Where(), message))

    # -- what follows from it ----------------------------------------------------------------

    def _analysis(self) -> _Analysis:
        """Computed anew after each edit of a node, wherever it was made."""
        if self._known is None or self._known.edits != self._internal_graphdef.edits:
            glances = self._glanced()
            by_name = {seen.name: seen.node for seen in glances}
            inputs: dict[str, list[Proto]] = {}
            outputs: dict[str, list[Proto]] = {name: [] for name in by_name}
            for seen in glances:
                names = [name_of(ref) for ref in seen.refs]
                inputs[seen.name] = [by_name[name] for name in names if name in by_name]
                for name in names:
                    outputs.setdefault(name, []).append(seen.node)
            self._known = _Analysis(self._internal_graphdef.edits, by_name, inputs, outputs)
        return self._known

    def _glanced(self) -> list[_Glance]:
        """What all nodes are; only those that were edited are read anew."""
        found = [self._glance(node) for node in self]
        self._glances = {id(seen.node): seen for seen in found}
        return found

    def _glance(self, node: Proto) -> _Glance:
        known = self._glances.get(id(node))
        if known is not None and known.node is node and known.edits == node.edits:
            return known
        message = node.message
        name, op, refs = message.get("name"), message.get("op"), message.all("input")
        return _Glance(node, node.edits, name, op, refs)

    @property
    def node_map(self) -> dict[str, Any]:
        """Nodes by name."""
        return self._analysis().node_map

    @node_map.setter
    def node_map(self, value: Any) -> None:
        """Scripts bring NVIDIA's up to date by hand; this one always is, and stays so."""

    @property
    def node_inputs(self) -> dict[str, list[Any]]:
        """For each name, the nodes that the node takes; those that are not there are left out."""
        return self._analysis().node_inputs

    @property
    def node_outputs(self) -> dict[str, list[Any]]:
        """For each name, the nodes that take it."""
        return self._analysis().node_outputs

    @property
    def graph_outputs(self) -> list[Any]:
        """Likely outputs: nodes that take something and that no other takes."""
        taken = self.node_outputs
        return [seen.node for seen in self._glanced() if seen.refs and not taken[seen.name]]

    @property
    def graph_inputs(self) -> list[Any]:
        """Likely inputs: placeholders and queues."""
        return self.find_nodes_by_op(_INPUTS)

    # -- search ------------------------------------------------------------------------------

    def find_nodes_by_op(self, op: str | Iterable[str]) -> list[Any]:
        """Nodes of an operation, or of some, in the graph's order."""
        ops = frozenset(_several(op))
        return [seen.node for seen in self._glanced() if seen.op in ops]

    def find_nodes_by_name(self, name: str | Iterable[str]) -> list[Any]:
        """Nodes whose name without its scopes is this, or one of these, or matches as a whole.

        Names may be regular expressions.
        """
        wanted = _matcher(name)
        return [seen.node for seen in self._glanced() if wanted(seen.name.rpartition("/")[2])]

    def find_nodes_by_path(self, path: str | Iterable[str]) -> list[Any]:
        """Nodes whose whole name is this, or one of these, or matches; see above."""
        wanted = _matcher(path)
        return [seen.node for seen in self._glanced() if wanted(seen.name)]

    def find_node_inputs(self, node: Any) -> list[Any]:
        """The nodes that one takes. Raises RequestError (CMP002) for one that is not there."""
        return [self._node(name_of(ref), node) for ref in node.input]

    def find_node_inputs_by_name(self, node: Any, name: str | Iterable[str]) -> list[Any]:
        """Of the nodes that one takes, those that `find_nodes_by_name` finds; raises as above."""
        wanted = _matcher(name)
        names = [name_of(ref) for ref in node.input]
        return [self._node(n, node) for n in names if wanted(n.rpartition("/")[2])]

    def find_node_inputs_by_op(self, node: Any, op: str | Iterable[str]) -> list[Any]:
        """Of the nodes that one takes, those of an operation, or of some; raises as above."""
        ops = frozenset(_several(op))
        return [found for found in self.find_node_inputs(node) if found.op in ops]

    def find_node_chains_by_op(self, chain: Sequence[str]) -> list[list[Any]]:
        """Rows of nodes, each taking the one before, whose operations are those of the chain.

        One row for each node that ends one, through the first inputs that lead there.
        """
        by_op: dict[str, list[_Glance]] = {op: [] for op in chain}
        for seen in self._glanced():
            by_op.get(seen.op, []).append(seen)
        rows = {seen.name: [seen.node] for seen in by_op[chain[0]]}
        for op in chain[1:]:
            longer: dict[str, list[Any]] = {}
            for seen in by_op[op]:
                names = (name_of(ref) for ref in seen.refs)
                if (before := next((name for name in names if name in rows), None)) is not None:
                    longer[seen.name] = [*rows[before], seen.node]
            rows = longer
        return list(rows.values())

    def _node(self, name: str, taker: Any) -> Any:
        found = self.node_map.get(name)
        if found is None:
            message = f"{name!r}, which {taker.name!r} takes, is no node of the graph"
            hint = did_you_mean(name, self.node_map) or NO_NODE.hint
            raise RequestError(NO_NODE.at(Where(node=taker.name), message, hint=hint))
        return found


def _several(value: str | Iterable[str]) -> Iterable[str]:
    return (value,) if isinstance(value, str) else value


def _matcher(names: str | Iterable[str]) -> Any:
    """Whether a text is one of these names, or is matched by one as a whole."""
    exact = frozenset(_several(names))
    patterns = []
    for name in exact:
        try:
            patterns.append(re.compile(name))
        except re.error:
            continue  # then it is a name only
    return lambda text: text in exact or any(pattern.fullmatch(text) for pattern in patterns)
