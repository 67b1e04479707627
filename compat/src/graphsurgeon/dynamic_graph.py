"""Graphs that are edited."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from graphsurgeon.static_graph import StaticGraph
from ufkit.conversion.tf_graph import name_of
from ufkit.wire.schema import did_you_mean
from ufkit_compat.graph_def import NodeDef
from ufkit_compat.proto import Proto

Nodes = Any  # a node, a name, or several of either


class DynamicGraph(StaticGraph):
    """A graph that is searched and edited."""

    def append(self, node: Any) -> None:
        """Add a copy of a node."""
        self._internal_graphdef.node.append(node)

    def extend(self, node_list: Iterable[Any]) -> None:
        """Add copies of nodes."""
        self._internal_graphdef.node.extend(node_list)

    def remove(self, nodes: Nodes, remove_exclusive_dependencies: bool = False) -> None:
        """Take nodes out, and out of the inputs of others.

        With `remove_exclusive_dependencies` also those that only they take, and so on.
        A name that is not in the graph is warned of.
        """
        gone = set(self._names(nodes))
        if not gone:
            return
        if remove_exclusive_dependencies:
            gone = self._with_exclusive(gone)
        kept = []
        for seen in self._glanced():
            if seen.name not in gone:
                _set_inputs(seen, [ref for ref in seen.refs if _plain(ref) not in gone])
                kept.append(seen.node)
        self._internal_graphdef.node.keep(kept)

    def forward_inputs(self, nodes: Nodes) -> None:
        """Take nodes out, and let those that took them take their inputs instead.

        A node with control inputs stays. A name that is not in the graph is warned of.
        """
        wanted = set(self._names(nodes))
        glances = self._glanced()
        inputs = {
            seen.name: seen.refs
            for seen in glances
            if seen.name in wanted and not any(ref.startswith("^") for ref in seen.refs)
        }
        behind = _resolved(inputs)
        kept = []
        for seen in glances:
            if seen.name not in inputs:
                _set_inputs(seen, [new for ref in seen.refs for new in _forwarded(ref, behind)])
                kept.append(seen.node)
        self._internal_graphdef.node.keep(kept)

    def collapse_namespaces(
        self,
        namespace_map: Mapping[str, Any],
        exclude_nodes: Nodes = (),
        unique_inputs: bool = True,
    ) -> None:
        """Put a node in the place of everything in a namespace, for each of the map.

        A namespace is a node's name or the beginning of one, up to a `/`; the longest counts. A
        new node takes what the nodes took whose place it has; `unique_inputs` leaves out what it
        takes already. Nodes to be left as they are go into `exclude_nodes`. Inputs that are spelt
        with a number (`image_tensor:0`) stay as they are, as NVIDIA's did: scripts remove them.
        The nodes of the map are copied.
        """
        excluded = set(self._names(exclude_nodes))
        copies: dict[str, Proto] = {}
        for node in namespace_map.values():
            copies.setdefault(node.name, _copy(node))
        places = {space: copies[node.name] for space, node in namespace_map.items()}

        def place(name: str) -> Proto | None:
            parts = [] if name in excluded else name.split("/")
            spaces = ("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))
            return next((places[space] for space in spaces if space in places), None)

        kept = []
        for seen in self._glanced():
            target = place(seen.name)
            if target is not None:
                _join(target, seen.refs, place, unique_inputs)
            else:
                _set_inputs(seen, _redirected(seen.refs, place))
                kept.append(seen.node)
        self._internal_graphdef.node.keep(kept)
        self._internal_graphdef.node.extend(copies.values())

    def _names(self, nodes: Nodes) -> list[str]:
        """The names of nodes that are in the graph."""
        single = isinstance(nodes, str) or hasattr(nodes, "name")
        found = []
        for node in [nodes] if single else nodes or ():
            name = node if isinstance(node, str) else node.name
            if name in self.node_map:
                found.append(name)
            elif isinstance(node, str):
                hint = did_you_mean(name, self.node_map) or "its name may differ in this graph"
                message = f"there is no node {name!r} in the graph; {hint}"
                warnings.warn(message, UserWarning, stacklevel=3)
        return found

    def _with_exclusive(self, names: set[str]) -> set[str]:
        """These nodes, and those that only they need."""
        left = {name: len(takers) for name, takers in self.node_outputs.items()}
        gone, stack = set(names), list(names)
        while stack:
            for ref in self.node_map[stack.pop()].input:
                name = name_of(ref)
                left[name] -= 1
                if not left[name] and name in self.node_map and name not in gone:
                    gone.add(name)
                    stack.append(name)
        return gone


def _plain(ref: str) -> str:
    """An input without the mark of a control input; the number of a value stays."""
    return ref.removeprefix("^")


def _copy(node: Any) -> Proto:
    found = NodeDef()
    found.CopyFrom(node)
    return found


def _set_inputs(seen: Any, refs: list[str]) -> None:
    if refs != seen.refs:
        seen.node.input[:] = refs


def _forwarded(ref: str, behind: Mapping[str, list[str]]) -> list[str]:
    """What takes the place of an input; of a control input, control inputs."""
    found = behind.get(name_of(ref))
    if found is None:
        return [ref]
    return [f"^{name_of(new)}" for new in found] if ref.startswith("^") else found


def _resolved(inputs: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """For each node that goes, the inputs in its place: of nodes that stay, or go in a circle."""
    done: dict[str, list[str]] = {}
    for first in inputs:
        stack, path = [first], {first}
        while stack:
            name = stack[-1]
            waiting = (name_of(ref) for ref in inputs[name])
            more = next((n for n in waiting if n in inputs and n not in done and n not in path), "")
            if more and name not in done:
                stack.append(more)
                path.add(more)
                continue
            done[name] = [new for ref in inputs[name] for new in _forwarded(ref, done)]
            stack.pop()
    return done


def _redirected(refs: list[str], place: Any) -> list[str]:
    """The inputs of a node that stays, new nodes in the place of the old, each once."""
    refs = list(refs)
    at = 0
    while at < len(refs):
        target = place(_plain(refs[at]))
        if target is None:
            at += 1
            continue
        del refs[at]
        if target.name not in refs:
            refs.insert(at, target.name)
            at += 1
    return refs


def _join(target: Any, refs: list[str], place: Any, unique: bool) -> None:
    """Let a new node take what a node took that it has the place of."""
    for ref in refs:
        other = place(_plain(ref))
        if other is target:
            continue
        name = ref if other is None else other.name
        if not unique or name not in target.input:
            target.input.append(name)
