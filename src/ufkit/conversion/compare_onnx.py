"""Two ONNX models held against each other, by the names of nodes, values and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ufkit.conversion.emitter import OnnxNode
from ufkit.conversion.engines import Port
from ufkit.conversion.onnx_model import Weights, in_blocks
from ufkit.conversion.onnx_view import OnnxView, named
from ufkit.core.comparison import ABSENT, Change, Comparison, NodeChange, NodeRef
from ufkit.core.elements import Block, Distance, distance
from ufkit.core.files import Span
from ufkit.uff.orders import identity

Progress = Callable[[int, int], None]

_STEP = 1 << 18  # elements a block
INITIALIZER = "initializer"


def compare_onnx(
    a: OnnxView, b: OnnxView, result: Comparison, *, weights: bool, progress: Progress
) -> None:
    """Add to `result` what differs between two models."""
    for domain in a.opsets | b.opsets:
        label = f"opset {domain}".strip()
        result.hold(label, a.opsets.get(domain, ABSENT), b.opsets.get(domain, ABSENT))
    ports(a.inputs, b.inputs, "input", result)
    ports(a.outputs, b.outputs, "output", result)
    left, right = dict(named(a.nodes)), dict(named(b.nodes))
    result.removed += [ref(name, node) for name, node in left.items() if name not in right]
    result.added += [ref(name, node) for name, node in right.items() if name not in left]
    for name, node in left.items():
        if name in right:
            result.nodes += 1
            if changes := tuple(_changes(node, right[name])):
                result.changed.append(NodeChange(name, node.op_type, changes))
    result.removed += [NodeRef(n, INITIALIZER) for n in a.weights if n not in b.weights]
    result.added += [NodeRef(n, INITIALIZER) for n in b.weights if n not in a.weights]
    pairs = [
        Pair(name, a.weights[name], b.weights[name], a.spans.get(name), b.spans.get(name))
        for name in a.weights
        if name in b.weights
    ]
    weigh(pairs, result, weights=weights, progress=progress)


def ports(a: Mapping[str, Port], b: Mapping[str, Port], kind: str, result: Comparison) -> None:
    """Add inputs or outputs that one side lacks, or that cannot be fed with the same arrays."""
    for name in {**a, **b}:
        sides = [side.get(name) for side in (a, b)]
        if None in sides or not agree(a[name], b[name]):
            shown = (ABSENT if port is None else port_text(port) for port in sides)
            result.changes.append(Change(f"{kind} {name}", *shown))


def agree(a: Port, b: Port) -> bool:
    """Whether two ports are of one type, and their shapes equal, as far as both are known."""
    if a.dtype != b.dtype and a.dtype and b.dtype:
        return False
    if a.shape is None or b.shape is None:
        return True
    return len(a.shape) == len(b.shape) and all(map(same_size, a.shape, b.shape))


def same_size(a: int | str, b: int | str) -> bool:
    """Whether two sizes are equal, or one of them is open."""
    return isinstance(a, str) or isinstance(b, str) or a == b


def port_text(port: Port) -> str:
    """Type and shape."""
    return str(port).removeprefix(f"{port.name} ")


def ref(name: str, node: OnnxNode) -> NodeRef:
    """A node that only one side has."""
    return NodeRef(name, node.op_type, tuple(node.inputs))


def _changes(a: OnnxNode, b: OnnxNode) -> Iterator[Change]:
    for label, x, y in (
        ("operation", a.op_type, b.op_type),
        ("domain", a.domain, b.domain),
        ("inputs", a.inputs, b.inputs),
        ("outputs", a.outputs, b.outputs),
    ):
        if x != y:
            yield Change(label, x, y)
    for name in a.attributes | b.attributes:
        values = [side.attributes.get(name, ABSENT) for side in (a, b)]
        if repr(values[0]) != repr(values[1]):  # NaN is equal to itself, 1 not to 1.0
            yield Change(name, *values)


# -- weights ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """Weights of both sides that go together, and where they lie."""

    id: str
    a: Weights
    b: Weights
    span_a: Span | None = None
    span_b: Span | None = None

    def release(self) -> None:
        """Drop the memory that reading them took."""
        for span in (self.span_a, self.span_b):
            if span:
                span.release()


def weigh(pairs: Sequence[Pair], result: Comparison, *, weights: bool, progress: Progress) -> None:
    """Compare weights; their values only with `weights`."""
    total, done = sum(pair.a.nbytes for pair in pairs), 0
    for pair in pairs:
        a, b = pair.a, pair.b
        labels = label(a), label(b)
        if a.dims == b.dims and weights:
            result.weigh(pair.id, *labels, weights_distance(pair))
            pair.release()
        elif labels[0] != labels[1]:
            result.weigh(pair.id, *labels, None)
        done += a.nbytes
        progress(done, total)


def label(weights: Weights) -> str:
    """Type and shape."""
    return f"{weights.dtype.name}{list(weights.dims)}"


def weights_distance(pair: Pair) -> Distance:
    """How far weights of one shape are apart, read block by block.

    Where no axis moves memory stays small whatever their size. Raises FormatError where data is
    absent.
    """
    a, b = pair.a.array(), pair.b.array()
    in_place = all(w.order == identity(len(w.shape)) for w in (pair.a, pair.b))

    def blocks() -> Iterator[tuple[Block, Block]]:
        for left, right in zip(in_blocks(a, _STEP), in_blocks(b, _STEP), strict=True):
            yield left.reshape(-1).view(np.uint8).data, right.reshape(-1).view(np.uint8).data
            if in_place:
                pair.release()

    return distance(blocks, a.dtype, b.dtype, a.size)
