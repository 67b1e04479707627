"""What a graph of TensorFlow computes at inference: conditionals followed, what passes on skipped.

Unlike a UFF, the graph still says which output of a Switch each node takes (`Switch:1` is the true
one), so that branches are followed exactly, once the predicate is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ufkit.conversion.tf_graph import TfGraph, TfNode, name_of, output_of

_PASSING = frozenset(
    {"Identity", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "RefIdentity"}
)
_SWITCHES = frozenset({"Switch", "RefSwitch"})
_MERGES = frozenset({"Merge", "RefMerge"})
_DEFAULT = "PlaceholderWithDefault"
_DEEP = 64  # nodes that a predicate is followed through


def ordered(graph: TfGraph, outputs: Iterable[str]) -> list[TfNode]:
    """What outputs need, every node behind its inputs, control inputs as well; loops cut anywhere.

    Raises FormatError (CNV401) for an input that is not there.
    """
    found: list[TfNode] = []
    seen: set[str] = set()
    for output in map(name_of, outputs):
        if output in seen:
            continue
        seen.add(output)
        stack: list[tuple[TfNode, Iterator[str]]] = []
        stack.append((graph.nodes[output], iter(graph.nodes[output].inputs)))
        while stack:
            node, waiting = stack[-1]
            ref = next(waiting, None)
            if ref is None:
                found.append(node)
                stack.pop()
            elif name_of(ref) not in seen:
                maker = graph.node(ref, node)
                seen.add(maker.name)
                stack.append((maker, iter(maker.inputs)))
    return found


@dataclass(slots=True)
class Branches:
    """Follows values to where they are computed.

    taken      Merges that have one branch left
    supposed   Placeholders of one bool that decide, and are supposed to be false
    """

    graph: TfGraph
    nodes: Sequence[TfNode]
    taken: list[TfNode] = field(default_factory=list)
    supposed: list[TfNode] = field(default_factory=list)
    _truths: dict[str, bool | None] = field(default_factory=dict)
    _dead: set[str] = field(default_factory=set)
    _merged: dict[str, str] = field(default_factory=dict)
    _sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not any(node.op in _SWITCHES for node in self.nodes):
            return
        for node in self.nodes:
            if node.op in _MERGES:
                alive = [ref for ref in _data(node) if not self._is_dead(ref)]
                if not alive:
                    self._dead.add(node.name)
                elif len(alive) == 1:
                    self._merged[node.name] = alive[0]
                    self.taken.append(node)
            elif any(map(self._is_dead, node.inputs)):
                self._dead.add(node.name)

    def source(self, ref: str) -> str:
        """Where a value comes from: the same, or what the node that is named passes on."""
        way: dict[str, None] = {}
        while ref not in way and ref not in self._sources:  # it may lead in a circle
            way[ref] = None
            node = self.graph.nodes.get(name_of(ref))
            passed = None if node is None else self._passed(node, output_of(ref))
            ref = ref if passed is None else passed
        found = self._sources.get(ref, ref).removesuffix(":0")
        self._sources.update(dict.fromkeys(way, found))
        return found

    def _passed(self, node: TfNode, output: int) -> str | None:
        """What a node passes on; None where it computes something."""
        data = _data(node)
        if node.name in self._merged:
            return self._merged[node.name] if output == 0 else None
        if not data:
            return None
        if node.op == "IdentityN":
            return data[output] if output < len(data) else None
        if node.op in _SWITCHES:
            return data[0] if len(data) > 1 and self._truth(data[1]) is not None else None
        if node.op == _DEFAULT:
            default = self.graph.nodes.get(name_of(data[0]))
            is_scalar = default and default.op == "Const" and default.tensor.shape == ()
            return data[0] if is_scalar else None
        return data[0] if node.op in _PASSING else None

    def _is_dead(self, ref: str) -> bool:
        """Whether a value is never computed at inference."""
        node = self.graph.nodes.get(name_of(ref))
        if node is None or node.name in self._dead:
            return node is not None
        data = _data(node)
        if node.op not in _SWITCHES or ref.startswith("^") or len(data) < 2:
            return False
        truth = self._truth(data[1])
        return truth is not None and output_of(ref) != int(truth)

    def _truth(self, ref: str, depth: int = 0) -> bool | None:
        """A predicate's value, where it follows from constants and the phase."""
        name = name_of(ref)
        if name not in self._truths:
            node = self.graph.nodes.get(name)
            known = None if node is None or depth > _DEEP else self._computed(node, depth)
            self._truths[name] = known
        return self._truths[name]

    def _computed(self, node: TfNode, depth: int) -> bool | None:
        data = _data(node)
        if node.op == "Const":
            tensor = node.tensor
            is_bool = tensor.type.name == "bool" and tensor.shape == ()
            return bool(tensor.numpy()) if is_bool else None
        if node.op == "Placeholder":
            found = node.type("dtype")
            if found is None or found.name != "bool" or node.shape("shape") not in ((), None):
                return None
            self.supposed.append(node)
            return False
        if not data or node.op not in {*_PASSING, *_SWITCHES, _DEFAULT, "LogicalNot"}:
            return None
        truth = self._truth(data[0], depth + 1)
        return not truth if truth is not None and node.op == "LogicalNot" else truth


def _data(node: TfNode) -> list[str]:
    return [ref for ref in node.inputs if not ref.startswith("^")]
