"""Operations with several values: which of them a node takes.

UFF names nodes, not values: of TensorFlow's `split:1` the converter kept `split`. Which value was
meant is told by what fits, or by how the takers are numbered; an input may also be spelt
`split:1`. In the views given here value k of a node is a node of its own, called `split:k`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod

from ufkit.core.diag import Diagnostic, FormatError
from ufkit.core.dtypes import BOOL, DTYPES
from ufkit.uff.model import OUTPUT_OPERATION, Graph, Node
from ufkit.uff.ops import call_of, entry_of
from ufkit.uff.ops.spec import Call, Facts, UnknownShape
from ufkit.uff.rules import CUSTOM_OPERATION, LOST_OUTPUT, OUTPUT_TOLD, UNKNOWN_OPERATION

_MOST = 64  # choices tried for one node
_REACH = 32  # nodes behind it that must fit too
_NUMBERED = re.compile(r"(.*?)(?:_(\d+))?")


def count(node: Node) -> int:
    """How many values a node has; one where its fields do not say."""
    spec = entry_of(node)
    if spec is None or spec.outputs is None or node.output is not None:
        return 1
    try:
        return spec.outputs(Call(node, spec, []))
    except FormatError:
        return 1  # the check of that node says what is wrong with it


def spelt(graph: Graph) -> Graph:
    """A view with a node for each value that an input spells out: `split:1`, or the output `NMS_1`.

    A plugin that is marked as an output gives all its results, named as TensorRT names them.
    """
    more: dict[str, Node] = {}
    marks = []
    for node in graph:
        if node.operation == OUTPUT_OPERATION:
            further = [view for id_ in node.inputs for view in _results(graph, id_)]
            if further:
                more.update((view.id, view) for view in further)
                marks.append(node.viewed(inputs=[*node.inputs, *(view.id for view in further)]))
        for id_ in node.inputs:
            if id_ not in graph and (view := _spelt(graph, id_)):
                more[id_] = view
    return graph.viewed(marks, more.values()) if more else graph


def _results(graph: Graph, id_: str) -> Iterator[Node]:
    """The values behind the first of a plugin."""
    if id_ in graph and (spec := entry_of(graph[id_])) and spec.plugin:
        for number in range(1, count(graph[id_])):
            if (name := f"{id_}_{number}") not in graph:
                yield graph[id_].viewed(id_=name, output=number)


def _spelt(graph: Graph, id_: str) -> Node | None:
    name, _, number = id_.rpartition(":")
    if not number.isdecimal() or len(number) > 4 or name not in graph:
        return None
    fits = int(number) < count(graph[name])
    return graph[name].viewed(id_=id_, output=int(number)) if fits else None


class Chooser:
    """Chooses, node by node, which of several values each takes, from the facts known so far.

    facts     those of all values before the node, by id; the caller adds to it
    changed   views of the nodes that take something else than their message says
    more      views for the values that are taken, by id
    """

    def __init__(self, graph: Graph, facts: Mapping[str, Facts]) -> None:
        self.graph = graph
        self.facts = facts
        self.changed: dict[str, Node] = {}
        self.more: dict[str, Node] = {}
        self.notes: list[Diagnostic] = []
        self._counts = {node.id: n for node in graph if (n := count(node)) > 1}

    @property
    def result(self) -> Graph:
        """The graph in which every choice made is spelt out."""
        if not self.changed:
            return self.graph
        return self.graph.viewed(self.changed.values(), self.more.values())

    @cached_property
    def _takers(self) -> dict[str, list[Node]]:
        return self.graph.consumers()

    def told(self, node: Node) -> tuple[Node, list[Node]]:
        """The node with its inputs told, and the views that are new.

        Raises FormatError (UFF313) where nothing tells which value is meant.
        """
        counts = {p: self._counts[id_] for p, id_ in enumerate(node.inputs) if id_ in self._counts}
        if not counts:
            return node, []
        chosen = self._chosen(node, counts)
        inputs, new = list(node.inputs), []
        for place, number in zip(counts, chosen, strict=True):
            if number:
                maker = self.graph[node.inputs[place]]
                inputs[place] = f"{maker.id}:{number}"
                if inputs[place] not in self.more:
                    view = maker.viewed(id_=inputs[place], output=number)
                    maker = self.changed.get(maker.id, maker)
                    view = view.viewed(inputs=maker.inputs)
                    self.more[view.id] = view
                    new.append(view)
        if inputs != list(node.inputs):
            node = self.changed[node.id] = node.viewed(inputs=inputs)
        return node, new

    def _chosen(self, node: Node, counts: Mapping[int, int]) -> tuple[int, ...]:
        """For each input that may be one of several values, which."""
        choices = [(0,) * len(counts)]
        if prod(counts.values()) <= _MOST:
            choices = list(itertools.product(*map(range, counts.values())))
            fitting = [choice for choice in choices if self._fits(node, counts, choice)]
            if len(fitting) == 1:
                return fitting[0]
            choices = fitting or choices
        numbers = tuple(self._numbered(node, node.inputs[place]) for place in counts)
        if None not in numbers and (numbers in choices or len(choices) == 1):
            self.notes.append(
                OUTPUT_TOLD.at(node.where(), f"{_named(node, counts, numbers)}, as it is numbered")
            )
            return tuple(number or 0 for number in numbers)
        place, total = next(iter(counts.items()))
        message = f"input {node.inputs[place]!r} may be any of {total} values"
        if 1 < len(choices) < total:
            fit = ", ".join(str(choice[0]) for choice in choices)
            message = f"input {node.inputs[place]!r} has {total} values, of which {fit} fit"
        raise FormatError(LOST_OUTPUT.at(node.where(), message))

    # -- told by what fits -------------------------------------------------------------------

    def _fits(self, node: Node, counts: Mapping[int, int], choice: tuple[int, ...]) -> bool:
        """Whether the node, and those behind it, can be computed from that choice of values."""
        inputs = [self.facts[id_] for id_ in node.inputs]
        for place, number in zip(counts, choice, strict=True):
            found = self._facts(self.graph[node.inputs[place]], number)
            if found is None:
                return True
            inputs[place] = found
        known: dict[str, Facts] = {}
        queue = [(node, inputs)]
        for at, facts in itertools.islice(queue, _REACH):
            try:
                call = call_of(at, facts)
                known[at.id] = call.spec.infer(call)
            except UnknownShape:
                continue
            except FormatError as error:
                if error.diagnostic.rule in (CUSTOM_OPERATION, UNKNOWN_OPERATION):
                    continue
                return False
            if not _as_declared(at, facts):
                return False
            for taker in self._takers[at.id] if at.id not in self._counts else ():
                found_all = [known.get(id_) or self.facts.get(id_) for id_ in taker.inputs]
                if taker.operation != OUTPUT_OPERATION and None not in found_all:
                    queue.append((taker, [found for found in found_all if found]))
        return True

    def _facts(self, maker: Node, number: int) -> Facts | None:
        """What is known of one of the values of a node."""
        told = self.changed.get(maker.id, maker).viewed(output=number)
        try:
            call = call_of(told, [self.facts[id_] for id_ in told.inputs])
            return call.spec.infer(call)
        except (FormatError, UnknownShape):
            return None

    # -- told by names -----------------------------------------------------------------------

    def _numbered(self, node: Node, id_: str) -> int | None:
        """Which value a node takes when each value has one taker and these are numbered."""
        takers = self._takers[id_]
        alike = len({taker.operation for taker in takers}) == 1
        if not alike or len(takers) != self._counts[id_]:
            return None
        parts = [[_NUMBERED.fullmatch(part) for part in taker.id.split("/")] for taker in takers]
        stems = {tuple(match[1] for match in path if match) for path in parts}
        columns = list(zip(*parts, strict=False))
        numbers = [
            [int(match[2] or 0) for match in column if match]
            for column in columns
            if len({match[2] for match in column if match}) > 1
        ]
        if len(stems) != 1 or len(numbers) != 1 or len(set(numbers[0])) < len(takers):
            return None
        return sorted(numbers[0]).index(numbers[0][takers.index(node)])


def _named(node: Node, counts: Mapping[int, int], numbers: tuple[int | None, ...]) -> str:
    taken = [f"{node.inputs[p]}:{k}" for p, k in zip(counts, numbers, strict=True)]
    return f"it takes {', '.join(taken)}"


def _as_declared(node: Node, inputs: list[Facts]) -> bool:
    """Whether the first input has the type that an operation of TensorFlow says of it."""
    for name in ("SrcT", "T"):
        if name in node.fields and node.operation.startswith("_") and inputs:
            declared = node.fields[name]
            if declared in DTYPES and declared is not BOOL:  # its number stands for others as well
                return bool(declared == inputs[0].dtype)
    return True
