"""Functions that nodes call, put in the place of the calls.

TensorFlow 2 keeps a model as functions, in the library of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator

from ufkit.conversion.rules import BAD_TF
from ufkit.conversion.tf_graph import TfGraph, TfNode
from ufkit.core.diag import FormatError
from ufkit.wire.message import Message

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_MOST = 1 << 16  # nodes that calls may become; large models have some thousands
_DEEPEST = 64  # calls within calls
# In a function a value is named by its operation's word for it; these are not the first ones.
_LATER = {"output_true": 1, "value_index": 1, "indices": 1, "selected_scores": 1}


def inlined(graph: TfGraph) -> TfGraph:
    """The graph with the nodes of functions for the calls of them, as `call/node`.

    Raises FormatError (CNV401) where functions call each other without end.
    """
    waiting = [(node, 1) for node in graph.nodes.values() if node.op in _CALLS]
    if not waiting:
        return graph
    nodes = dict(graph.nodes)
    while waiting:
        call, depth = waiting.pop()
        function = _called(graph, call)
        if function is None:
            continue
        for node in _body(graph, call, function):
            nodes[node.name] = node
            if node.op in _CALLS:
                waiting.append((node, depth + 1))
        if len(nodes) - len(graph.nodes) > _MOST or depth == _DEEPEST:
            reason = f"functions called from here hold over {_MOST} nodes, or are {depth} deep"
            raise FormatError(BAD_TF.at(call.where(), reason))
    return graph.with_nodes(nodes.values())


def _called(graph: TfGraph, call: TfNode) -> Message | None:
    function = call.attr("f", "func")
    return None if function is None else graph.functions.get(function.get("name"))


def _body(graph: TfGraph, call: TfNode, function: Message) -> Iterator[TfNode]:
    """The nodes of a function, and one under the name of the call that gives its results."""
    signature = function.get("signature")
    names: list[str] = [argument.get("name") for argument in signature.all("input_arg")]
    given = [ref for ref in call.inputs if not ref.startswith("^")]
    arguments: dict[str, str] = dict(zip(names, given, strict=False))

    def outside(ref: str) -> str:
        """An input as the graph names it: `node:word:0` in a function."""
        if ref in arguments:
            return arguments[ref]
        name, _, rest = ref.partition(":")
        word, _, number = rest.partition(":")
        output = _LATER.get(word, 0) + (int(number[:9]) if number.isdecimal() else 0)
        return f"{call.name}/{name}:{output}" if output else f"{call.name}/{name}"

    for message in function.all("node_def"):
        node = TfNode(message, graph.file)
        data = [ref for ref in node.inputs if not ref.startswith("^")]
        yield node.changed(name=f"{call.name}/{node.name}", inputs=map(outside, data))
    results = {entry.get("key"): entry.get("value") for entry in function.all("ret")}
    words = [argument.get("name") for argument in signature.all("output_arg")]
    if missing := [word for word in words if word not in results]:
        reason = f"the function {signature.get('name')!r} does not say what {missing[0]!r} is"
        raise FormatError(BAD_TF.at(call.where(), reason))
    yield TfNode.made(call.name, "IdentityN", [outside(results[w]) for w in words], graph.file)
