"""Editing a graph node by node, with ids that stay unique and data that is not left behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from ufkit.core.diag import FormatError, RequestError
from ufkit.uff.build import Builder, Named, dtype_of, spelt
from ufkit.uff.data import Ref, data_of
from ufkit.uff.edit.cut import extract
from ufkit.uff.edit.rename import no_such_node, rename
from ufkit.uff.edit.sweep import sweep
from ufkit.uff.model import Graph, Node
from ufkit.uff.rules import DUPLICATE_ID
from ufkit.uff.work_rules import CANNOT_EDIT, ID_IN_USE


class Editor(Builder):
    """Changes a graph in place: what `Builder` appends, and nodes put in, replaced, taken out.

    Nodes are named by their ids, and each method gives the id back or the editor itself. It
    knows who takes which value: while it is in use, change `inputs` through it only.
    Data is shared between nodes where the file shares it, and stays until `cleanup`.
    A RequestError leaves the graph as it was. Raises FormatError (UFF101) for a graph in which an
    id is used twice.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph=graph)
        self._takers: dict[str, dict[Node, None]] = {}
        self._references: Counter[str] | None = None
        self._look()

    def _look(self) -> None:
        """See anew who takes what."""
        self._takers.clear()
        self._references = None  # counted when first asked for
        for node in self.graph:
            if (first := self.graph[node.id]) is not node:
                message = f"id {node.id!r} was used before, by a {first.operation}"
                raise FormatError(DUPLICATE_ID.at(node.where(), message))
            self._take(node, node.inputs)

    def takers(self, id_: str) -> list[Node]:
        """The nodes that take a value, MarkOutput included, in the order they came to.

        Raises RequestError (UFF521).
        """
        return list(self._takers.get(self._node(id_).id, ()))

    def insert(
        self,
        id_: str,
        operation: str,
        behind: str,
        *others: str,
        takers: Iterable[str] | None = None,
        orders: str = "",
        **fields: Any,
    ) -> str:
        """A node that takes the value `behind`, then `others`, and stands in for it.

        All who took the value take the new one, or only those named in `takers`. A MarkOutput is
        one of them, so behind an output the new node becomes the output.
        Raises RequestError (UFF521, UFF522, UFF523).
        """
        chosen = self._chosen(behind, takers)
        self.op(id_, operation, [behind, *others], orders, **fields)
        self._redirect(chosen, behind, id_)
        return id_

    def replace(
        self,
        id_: str,
        operation: str,
        inputs: Iterable[str] | None = None,
        orders: str = "",
        **fields: Any,
    ) -> str:
        """Another operation under the same id, with these fields only; its inputs stay unless
        given. Raises RequestError (UFF521).
        """
        node = self._node(id_)
        sources = node.inputs if inputs is None else [self._node(s).id for s in inputs]
        given = {name: data_of(value) for name, value in fields.items()}
        given |= {name: data_of(self._refer(*named)) for name, named in spelt(orders).items()}
        node.fields.discard(set(node.fields))
        node.fields.update(given)
        node.operation = operation
        self._forget_counts(fields)
        self._set_inputs(node, sources)
        self._declare(operation)
        return id_

    def rewire(self, old: str, new: str, takers: Iterable[str] | None = None) -> Self:
        """Let all who take `old` take `new` instead, or only those named.

        Raises RequestError (UFF521, UFF523).
        """
        self._redirect(self._chosen(old, takers), old, self._node(new).id)
        return self

    def remove(self, *ids: str) -> Self:
        """Take nodes out; who took one takes its first input instead.

        Raises RequestError (UFF521); UFF523 where a node without inputs is taken by others.
        """
        gone = {id_: self._node(id_) for id_ in ids}
        for node in gone.values():
            takers = [taker.id for taker in self._takers.get(node.id, ()) if taker.id not in gone]
            if takers and self._before(node, gone) is None:
                message = f"{node.operation} {node.id!r} has no input that {takers[0]!r} could take"
                raise RequestError(CANNOT_EDIT.at(node.where(), message))
        for node in gone.values():
            if node.inputs:
                self._redirect(self.takers(node.id), node.id, node.inputs[0])
            self._leave(node)
        self.graph.remove(*gone.values())
        return self

    def rename(self, names: Mapping[str, str]) -> Self:
        """Give nodes other ids, all at once, so that two may be exchanged.

        Who takes them follows, and so does `weights_<id>` where nobody else refers to it. Raises
        RequestError (UFF521, UFF522).
        """
        rename(self.graph, names)
        moved = {new: self._takers.pop(old) for old, new in names.items() if old in self._takers}
        self._takers.update(moved)
        return self

    def set_const(self, id_: str, values: Any, *, shared: bool = False) -> str:
        """Other values for a Const, of whatever shape and type.

        Data that others refer to is left to them, and this node gets its own; `shared` changes it
        for all, which then must be of the size they say. Raises RequestError (UFF208, UFF521,
        UFF523).
        """
        node = self._node(id_)
        if node.operation != "Const":
            message = f"{id_!r} is no Const but a {node.operation}"
            raise RequestError(CANNOT_EDIT.at(node.where(), message))
        array = np.asarray(values)
        dtype = dtype_of(array, node.where())
        array = np.ascontiguousarray(array, dtype.numpy)
        if self._references is None:
            self._references = self.meta.references()
        name = node.fields.data("values").get("ref") if "values" in node.fields else ""
        known = name in self.meta.referenced_data
        if known and (shared or self._references[name] == 1):
            self.meta.referenced_data[name] = array
        else:
            node.fields["values"] = self._refer(f"weights_{id_}", array)
            self._references[name] -= 1
        node.fields["dtype"] = dtype
        node.fields["shape"] = list(array.shape)
        return id_

    def extract(self, inputs: Iterable[str], outputs: Iterable[str]) -> Self:
        """Keep what lies between some values; see `ufkit.uff.edit.cut.extract`."""
        extract(self.graph, [*inputs], [*outputs])
        self._look()
        return self

    def cleanup(self) -> Self:
        """Drop the nodes that no output needs, and the data that nothing refers to."""
        sweep(self.graph)
        self._look()
        return self

    # -- what the others are made of ---------------------------------------------------------

    def _add(
        self, id_: str, operation: str, inputs: Iterable[str], fields: dict[str, Any], **data: Named
    ) -> None:
        if id_ in self.graph:
            message = f"id {id_!r} is that of a {self.graph[id_].operation}"
            raise RequestError(ID_IN_USE.at(self.graph[id_].where(), message))
        sources = [self._node(source).id for source in inputs]
        super()._add(id_, operation, sources, fields, **data)
        self._forget_counts(fields)
        self._take(self.graph[id_], sources)
        self._declare(operation)

    def _refer(self, name: str, value: Any) -> Ref:
        reference = super()._refer(name, value)
        if self._references is not None:
            self._references[reference.name] += 1
        return reference

    def _forget_counts(self, fields: Mapping[str, Any]) -> None:
        if any(isinstance(value, Ref) for value in fields.values()):
            self._references = None

    def _node(self, id_: str) -> Node:
        if id_ not in self.graph:
            raise no_such_node(self.graph, id_)
        return self.graph[id_]

    def _declare(self, operation: str) -> None:
        if operation.startswith("_"):
            self.meta.declare_custom()

    def _take(self, node: Node, inputs: Iterable[str]) -> None:
        for id_ in inputs:
            self._takers.setdefault(id_, {})[node] = None

    def _leave(self, node: Node) -> None:
        for id_ in node.inputs:
            self._takers[id_].pop(node, None)

    def _set_inputs(self, node: Node, inputs: Iterable[str]) -> None:
        self._leave(node)
        node.inputs = tuple(inputs)
        self._take(node, node.inputs)

    def _chosen(self, id_: str, takers: Iterable[str] | None) -> list[Node]:
        """The takers of a value, all or those named."""
        if takers is None:
            return self.takers(id_)
        chosen = [self._node(taker) for taker in takers]
        for taker in chosen:
            if id_ not in taker.inputs:
                message = f"{taker.id!r} does not take {id_!r}"
                raise RequestError(CANNOT_EDIT.at(taker.where(), message))
        return chosen

    def _redirect(self, takers: Iterable[Node], old: str, new: str) -> None:
        for taker in takers:
            self._set_inputs(taker, [new if id_ == old else id_ for id_ in taker.inputs])

    def _before(self, node: Node, gone: Mapping[str, Node]) -> str | None:
        """The value that stands in for a node when it and others are gone; None without any."""
        seen = set()
        id_ = node.id
        while id_ in gone and id_ not in seen:
            seen.add(id_)
            if not gone[id_].inputs:
                return None
            id_ = gone[id_].inputs[0]
        return None if id_ in gone else id_
