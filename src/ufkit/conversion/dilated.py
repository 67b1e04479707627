"""Dilated convolutions, which TensorFlow writes as three operations.

SpaceToBatchND cuts the padded map into as many maps as a block has elements, a convolution works
on all of them, BatchToSpaceND puts the results together and cuts the edges off. ONNX says it in
one node: dilations are the block's sides, and an edge cut off is padding not needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, replace

from ufkit.uff.infer import Inference
from ufkit.uff.model import Node
from ufkit.uff.ops.spec import Call, Core
from ufkit.uff.ops.tf_batch import block_of, ends_of
from ufkit.uff.ops.tf_windows import PADDED_CONV
from ufkit.uff.ops.windows import ends, is_same

_CONVOLUTIONS = frozenset({"Conv", "_Conv2D", "_Conv3D", "_DepthwiseConv2dNative"})


@dataclass(frozen=True, slots=True)
class Dilated:
    """One convolution in place of three nodes.

    call     the convolution, on the map before it is cut
    inputs   ids of that map and of the kernel
    inner    ids of the nodes whose values nobody needs any more
    """

    call: Call
    inputs: tuple[str, str]
    inner: tuple[str, str]


def dilated(inference: Inference) -> dict[str, Dilated]:
    """What stands for three nodes, by the id of the last of them."""
    graph, found = inference.graph, {}
    nodes = [node for node in graph.needed() if node.operation == "_BatchToSpaceND"]
    if not nodes:
        return {}
    uses = Counter(id_ for node in graph.needed() for id_ in node.inputs)
    uses.update(graph.outputs)
    for last in nodes:
        inner = _source(inference, last, _CONVOLUTIONS)
        first = _source(inference, inner, {"_SpaceToBatchND"})
        if first and inner and uses[first.id] == uses[inner.id] == 1:
            call = _joined(inference, first, inner, last)
            sources = first.inputs[0], inner.inputs[1]
            if call:
                found[last.id] = Dilated(call, sources, (first.id, inner.id))
    return found


def _source(inference: Inference, node: Node | None, operations: Set[str]) -> Node | None:
    """The node whose value a node takes first, if it is one of these and both are understood."""
    if node is None or node.id not in inference.calls:
        return None
    source = inference.graph[node.inputs[0]]
    known = source.id in inference.calls and inference.facts[source.id].shape is not None
    return source if known and source.operation in operations else None


def _joined(inference: Inference, first: Node, inner: Node, last: Node) -> Call | None:
    """The convolution that does what the three do; None where none does."""
    cut, conv, put = (inference.calls[node.id] for node in (first, inner, last))
    count, block = conv.rank(0) - 2, block_of(cut)
    plain = conv.spatial("strides") == conv.spatial("dilation") == [1] * count
    valid = not is_same(conv) and not any(map(any, ends(conv)))
    channels_last = conv.order(0) == conv.output_order(count + 2) == (0, *range(2, count + 2), 1)
    if not (plain and valid and channels_last and len(block) == count and block_of(put) == block):
        return None
    pads = [
        added - taken
        for added_ends, taken_ends in zip(ends_of(cut), ends_of(put), strict=True)
        for added, taken in zip(added_ends, taken_ends, strict=True)
    ]
    if min(pads) < 0:
        return None
    fields = {name: conv[name] for name in PADDED_CONV.fields if conv.has_field(name)}
    fields |= {"dilation": block, "explicit_padding": pads}
    spec = replace(PADDED_CONV, core=Core(PADDED_CONV, lambda _: fields))
    return Call(inner, spec, [cut.inputs[0], conv.inputs[1]])
