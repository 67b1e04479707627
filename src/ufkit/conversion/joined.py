"""Convolutions that take several operations in UFF, and one node in ONNX.

Zeros put around a map by a Pad are the convolution's own padding, which ONNX can say side by side.
Dilated convolutions TensorFlow writes as three operations: SpaceToBatchND cuts the padded map into
as many maps as a block has elements, a convolution works on all of them, BatchToSpaceND puts the
results together and cuts the edges off. Dilations are then the block's sides, and an edge cut off
is padding not needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ufkit.uff.infer import Inference
from ufkit.uff.model import Node
from ufkit.uff.ops.select import paddings
from ufkit.uff.ops.spec import Call, Core
from ufkit.uff.ops.tf_batch import block_of, ends_of
from ufkit.uff.ops.tf_windows import PADDED_CONV
from ufkit.uff.ops.windows import ends, is_same

_CONVOLUTIONS = frozenset({"Conv", "_Conv2D", "_Conv3D", "_DepthwiseConv2dNative"})
_CUTTING = frozenset({"_BatchToSpaceND"})
_LAST = _CONVOLUTIONS | _CUTTING


@dataclass(frozen=True, slots=True)
class Joined:
    """One convolution in place of several nodes.

    call     the convolution, on the map before it is padded or cut
    inputs   ids of that map and of the kernel
    inner    ids of the nodes whose values nobody needs any more
    """

    call: Call
    inputs: tuple[str, str]
    inner: tuple[str, ...]


def joined(inference: Inference) -> dict[str, Joined]:
    """What stands for several nodes, by the id of the last of them."""
    graph = inference.graph
    nodes = graph.needed()
    uses = Counter(id_ for node in nodes for id_ in node.inputs)
    uses.update(graph.outputs)
    found = {}
    for last in nodes:
        join = _padded if last.operation in _CONVOLUTIONS else _dilated
        if last.operation in _LAST and (made := join(inference, last, uses)):
            found[last.id] = made
    return found


def _padded(inference: Inference, conv: Node, uses: Mapping[str, int]) -> Joined | None:
    """A convolution with the zeros that a Pad puts around its map."""
    pad = _source(inference, conv, {"Pad"})
    if pad is None or is_same(call := inference.calls[conv.id]):
        return None
    order, sides = call.order(0), ends(call)
    for axis, (before, behind) in zip(order, paddings(inference.calls[pad.id]), strict=True):
        if axis > 1:
            first, last = sides[axis - 2]
            sides[axis - 2] = first + before, last + behind
        elif before or behind:
            return None
    made = _convolution(inference, pad, conv, call["dilation"], sides)
    inner = (pad.id,) if uses[pad.id] == 1 else ()
    return Joined(made, (pad.inputs[0], conv.inputs[1]), inner)


def _dilated(inference: Inference, last: Node, uses: Mapping[str, int]) -> Joined | None:
    """The convolution that space-to-batch, convolution and batch-to-space are together."""
    conv = _source(inference, last, _CONVOLUTIONS)
    first = _source(inference, conv, {"_SpaceToBatchND"})
    if conv is None or first is None or not uses[first.id] == uses[conv.id] == 1:
        return None
    cut, call, put = (inference.calls[node.id] for node in (first, conv, last))
    count, block = call.rank(0) - 2, block_of(cut)
    plain = call.spatial("strides") == call.spatial("dilation") == [1] * count
    valid = not is_same(call) and not any(map(any, ends(call)))
    channels_last = call.order(0) == call.output_order(count + 2) == (0, *range(2, count + 2), 1)
    if not (plain and valid and channels_last and len(block) == count and block_of(put) == block):
        return None
    sides = [
        (added[0] - taken[0], added[1] - taken[1])
        for added, taken in zip(ends_of(cut), ends_of(put), strict=True)
    ]
    if min(map(min, sides)) < 0:
        return None
    made = _convolution(inference, first, conv, block, sides)
    return Joined(made, (first.inputs[0], conv.inputs[1]), (first.id, conv.id))


def _source(inference: Inference, node: Node | None, operations: Set[str]) -> Node | None:
    """The node whose value a node takes first, if it is one of these and both are understood."""
    if node is None or node.id not in inference.calls:
        return None
    source = inference.graph[node.inputs[0]]
    known = source.id in inference.calls and inference.facts[source.id].shape is not None
    return source if known and source.operation in operations else None


def _convolution(
    inference: Inference,
    first: Node,
    conv: Node,
    dilation: Sequence[int],
    sides: Sequence[tuple[int, int]],
) -> Call:
    """A convolution on what the first node takes, with that dilation and those zeros around it."""
    call = inference.calls[conv.id]
    fields = {name: call[name] for name in PADDED_CONV.fields if call.has_field(name)}
    fields |= {"dilation": dilation, "explicit_padding": [n for side in sides for n in side]}
    spec = replace(PADDED_CONV, core=Core(PADDED_CONV, lambda _: fields))
    return Call(conv, spec, [inference.calls[first.id].inputs[0], call.inputs[1]])
