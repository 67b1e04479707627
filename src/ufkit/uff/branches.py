"""Training leftovers: the branch of a conditional that is taken at inference.

Keras' learning phase leaves `_PlaceholderWithDefault` feeding `_Switch` and `_Merge` around
BatchNorm and Dropout. A file has lost which output of a Switch is used, so a branch is told by
what is in it; at inference the predicate is false.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ufkit.core.diag import Diagnostic, FormatError
from ufkit.core.dtypes import BOOL
from ufkit.uff.const import constant
from ufkit.uff.model import Graph, Node
from ufkit.uff.rules import BRANCH_TAKEN

SWITCH, MERGE, DEFAULT = "_Switch", "_Merge", "_PlaceholderWithDefault"
_MERGES = frozenset({MERGE, "_RefMerge"})
_PASSED_ON = frozenset({SWITCH, "_RefSwitch", DEFAULT})
RESOLVED = _MERGES | _PASSED_ON  # what is no more in the graph that `for_inference` gives
_AGAIN = frozenset({"_NextIteration", "_RefNextIteration"})
_REACH = 256  # nodes that a branch is followed back; real ones have a dozen
_RANDOM = ("_RandomUniform", "_RandomStandardNormal", "_TruncatedNormal", "_Multinomial")


def for_inference(graph: Graph) -> tuple[Graph, list[Diagnostic]]:
    """The graph with each conditional replaced by the branch inference takes, and a note on each.

    Switch, Merge and PlaceholderWithDefault become Identity of what they pass on. The file and
    its messages are left as they are; a graph without conditionals is given back itself.
    """
    if not any(node.operation in RESOLVED for node in graph):
        return graph, []
    notes: list[Diagnostic] = []
    changed: dict[str, str] = {}
    for node in graph:
        if node.operation in _MERGES and node.inputs:
            chosen, reason = _branch(graph, node)
            changed[node.id] = chosen
            if _is_loop(graph, node):
                continue  # no branch: its Enter, which is reported, is what it begins with
            notes.append(BRANCH_TAKEN.at(node.where(), f"{chosen!r} is taken: {reason}"))
        elif node.operation in _PASSED_ON and node.inputs:
            changed[node.id] = node.inputs[0]
    views = [
        graph[id_].viewed(operation="Identity", inputs=[source]) for id_, source in changed.items()
    ]
    return graph.viewed(views), notes


def _is_loop(graph: Graph, merge: Node) -> bool:
    return any(id_ in graph and graph[id_].operation in _AGAIN for id_ in merge.inputs)


def _branch(graph: Graph, merge: Node) -> tuple[str, str]:
    """The input a Merge passes on at inference, and how that was told."""
    signs = {id_: _sign(graph, id_) for id_ in dict.fromkeys(merge.inputs)}
    training = {id_: sign for id_, sign in signs.items() if sign}
    rest = [id_ for id_ in signs if id_ not in training]
    if training and rest:
        return rest[0], next(iter(training.values()))
    if (value := _predicate(graph, merge)) is not None and len(merge.inputs) == 2:
        return merge.inputs[int(value)], f"the predicate is constant, {str(value).lower()}"
    return merge.inputs[0], "TensorFlow puts the false branch first"


def _sign(graph: Graph, id_: str) -> str:
    """What marks a branch as one of training; "" where nothing does."""
    for node in _branch_nodes(graph, id_):
        if node.operation in _RANDOM:
            return f"the other one draws random numbers in {node.id!r}"
        is_norm = node.operation in ("BatchNorm", "_FusedBatchNormV2", "_FusedBatchNormV3")
        if is_norm and any(_is_lost(graph, moment) for moment in node.inputs[3:5]):
            return f"the other one has no moments in {node.id!r}"
    return ""


def _branch_nodes(graph: Graph, id_: str) -> Iterator[Node]:
    """The nodes of a branch, back to where it was switched on.

    A training branch may end in a Switch whose data is what training computed (Keras' BatchNorm),
    so one Switch directly at the branch's end is looked through.
    """
    seen = {id_}
    queue = [(id_, True)]
    for at, first in itertools.islice(queue, _REACH):
        if at not in graph:
            continue
        node = graph[at]
        yield node
        if node.operation in (MERGE, "BatchNorm") or (node.operation == SWITCH and not first):
            continue
        sources = node.inputs[:1] if node.operation == SWITCH else node.inputs
        for source in sources:
            if source not in seen:
                seen.add(source)
                queue.append((source, first and node.operation == "Identity"))


def _source(graph: Graph, id_: str) -> Node | None:
    """What a value is in the end, passed on by Identity, Switch and the like."""
    for _ in range(_REACH):
        if id_ not in graph:
            return None
        node = graph[id_]
        if node.operation not in _PASSED_ON | {"Identity"} or not node.inputs:
            return node
        id_ = node.inputs[0]
    return None


def _is_lost(graph: Graph, id_: str) -> bool:
    node = _source(graph, id_)
    try:
        return node is not None and node.operation == "Const" and constant(node).shape == (0,)
    except FormatError:
        return False


def _predicate(graph: Graph, merge: Node) -> bool | None:
    """The value of the predicate of the Switches before a Merge, where it is a constant."""
    for id_ in merge.inputs:
        for node in _branch_nodes(graph, id_):
            if node.operation != SWITCH or len(node.inputs) < 2:
                continue
            source = _source(graph, node.inputs[1])
            if source is None or source.operation != "Const":
                continue
            try:
                tensor = constant(source)
                if tensor.type is BOOL and tensor.shape == ():
                    return bool(tensor.numpy())
            except FormatError:
                continue
    return None
