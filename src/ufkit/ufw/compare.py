"""Two nets held against each other, each with weights or as text: layers, parameters, weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ufkit.core.comparison import ABSENT, Change, Comparison, NodeChange, NodeRef
from ufkit.core.diag import FormatError
from ufkit.core.elements import Block, Distance, distance, tensor_distance
from ufkit.core.tensor import Tensor
from ufkit.ufw.blob import Array, Blob
from ufkit.ufw.connections import outputs
from ufkit.ufw.net import Layer, Net
from ufkit.ufw.prototxt import LayerText, Prototxt
from ufkit.ufw.weights import stored
from ufkit.wire.message import Message
from ufkit.wire.tree import Tree
from ufkit.wire.values import shortest

Progress = Callable[[int, int], None]
AnySide = Net | Prototxt
Side = Layer | LayerText

_OWN = ("name", "type", "bottom", "top", "blobs")  # compared as such, whatever the style
_STEP = 1 << 20  # elements of decoded integers looked at at a time


def compare_nets(
    a: AnySide,
    b: AnySide,
    *,
    tolerance: float = 0.0,
    weights: bool = True,
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """What differs between two nets.

    Layers go together by name, whatever their order and style; weights by `layer/0`, `layer/1`, as
    the numbers that are meant: INT8 coefficients are held against floats as floats. A text has no
    weights, so those of the other side are left out. Raises FormatError where a file is damaged.
    """
    result = Comparison(a.source.name, b.source.name, tolerance)
    result.hold("name", a.name, b.name)
    for name in a.inputs | b.inputs:
        sides = (_shape(net.inputs, name) for net in (a, b))
        result.hold(f"input {name}", *sides)
    result.hold("outputs", outputs(a.layers), outputs(b.layers))
    layers, others = _numbered(a), _numbered(b)
    result.removed = [_ref(layer) for key, layer in layers.items() if key not in others]
    result.added = [_ref(layer) for key, layer in others.items() if key not in layers]
    both = [(layer, others[key]) for key, layer in layers.items() if key in others]
    for left, right in both:
        _layer(left, right, result)
    _weights(both, result, read=weights, progress=progress)
    return result


def _shape(inputs: Mapping[str, Any], name: str) -> Any:
    shape = inputs.get(name, ABSENT)
    return list(shape) if isinstance(shape, tuple) else shape


def _numbered(net: AnySide) -> dict[tuple[str, int], Side]:
    """Layers by name, and by which of that name they are."""
    found: dict[tuple[str, int], Side] = {}
    counts: dict[str, int] = {}
    for layer in net.layers:
        name = layer.name
        counts[name] = counts.get(name, 0) + 1
        found[name, counts[name]] = layer
    return found


def _ref(layer: Side) -> NodeRef:
    return NodeRef(layer.name, layer.type, layer.bottoms)


def _layer(a: Side, b: Side, result: Comparison) -> None:
    """Everything of two layers but their weights."""
    result.nodes += 1
    changes = [
        Change(name, left, right)
        for name, left, right in (
            ("type", a.type, b.type),
            ("bottom", list(a.bottoms), list(b.bottoms)),
            ("top", list(a.tops), list(b.tops)),
        )
        if left != right
    ]
    fields, others = dict(_fields(a)), dict(_fields(b))
    for name in fields | others:
        left, right = fields.get(name, ABSENT), others.get(name, ABSENT)
        if left != right:
            changes.append(Change(name, left, right))
    if changes:
        result.changed.append(NodeChange(a.name, a.type, tuple(changes)))


# -- parameters ------------------------------------------------------------------------------


def _fields(layer: Side) -> Iterator[tuple[str, Any]]:
    """The other fields of a layer by their paths, convolution_param.pad, as lists of values."""
    found: dict[str, list[Any]] = {}
    if isinstance(layer, LayerText):
        pairs = _of_tree(layer.tree, "")
    else:
        pairs = _of_message(layer.message, "")
    for path, value in pairs:
        if path.partition(".")[0] not in _OWN:
            found.setdefault(path, []).append(value)
    for path, values in found.items():
        yield path, values[0] if len(values) == 1 else values


def _of_message(message: Message, path: str) -> Iterator[tuple[str, Any]]:
    for field in message.known():
        if not path and field.name in _OWN:
            continue
        name = path + field.name
        for value in message.all(field.name) if field.repeated else [message.get(field.name)]:
            if field.kind == "message":
                yield from _of_message(value, f"{name}.")
            elif field.kind == "enum":
                yield name, field.type.name_of(value) or value
            elif value != value:
                yield name, "nan"  # as a text has it; the number is not equal to itself
            else:
                yield name, shortest(value) if field.kind == "float" else value
    for start, _, _, stop in message.unknown():
        yield f"{path}(unknown)", bytes(message.span.source.view(start, stop)).hex()


def _of_tree(tree: Tree, path: str) -> Iterator[tuple[str, Any]]:
    for entry in tree:
        name = path + entry.name
        if isinstance(entry.value, Tree):
            yield from _of_tree(entry.value, f"{name}.")
        else:
            yield name, entry.plain()


# -- weights ---------------------------------------------------------------------------------


def _weights(
    pairs: list[tuple[Side, Side]],
    result: Comparison,
    *,
    read: bool,
    progress: Progress,
) -> None:
    waiting: list[tuple[str, Blob, Blob]] = []
    for a, b in pairs:
        if isinstance(a, Layer) and isinstance(b, Layer):
            waiting += _blobs(a, b, result)
        else:
            side = a if isinstance(a, Layer) else b
            count = len(side.blobs) if isinstance(side, Layer) else 0
            result.left_out += [f"{side.name}/{number}" for number in range(count)]
    total = sum(blob.message.span.nbytes for _, blob, _ in waiting)
    done = 0
    for id_, left, right in waiting:
        _weigh(id_, left, right, result, read=read)
        done += left.message.span.nbytes
        progress(done, total)


def _blobs(a: Layer, b: Layer, result: Comparison) -> Iterator[tuple[str, Blob, Blob]]:
    """The blobs that both layers have, by name; where their numbers differ, that is a change."""
    if len(a.blobs) != len(b.blobs):
        change = Change("blobs", len(a.blobs), len(b.blobs))
        result.changed.append(NodeChange(a.name, a.type, (change,)))
    for number, (left, right) in enumerate(zip(a.blobs, b.blobs, strict=False)):
        yield f"{a.name}/{number}", left, right


def _weigh(id_: str, a: Blob, b: Blob, result: Comparison, *, read: bool) -> None:
    try:
        left, right = (f"{blob.dtype}{list(blob.shape)}" for blob in (a, b))
        if a.shape != b.shape or (left != right and not read):
            result.weigh(id_, left, right, None)
        elif read:
            result.weigh(id_, left, right, _distance(a, b))
    except FormatError as error:  # what cannot be read cannot be compared
        result.left_out.append(id_)
        result.diagnostics += error.diagnostics
    a.message.span.release()
    b.message.span.release()


def _distance(a: Blob, b: Blob) -> Distance:
    left, right = stored(a), stored(b)
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return tensor_distance(left, right)
    arrays = [np.ascontiguousarray(blob.array()).reshape(-1) for blob in (a, b)]

    def blocks() -> Iterator[tuple[Block, Block]]:
        for at in range(0, arrays[0].size, _STEP):
            yield _bytes(arrays[0][at : at + _STEP]), _bytes(arrays[1][at : at + _STEP])

    return distance(blocks, arrays[0].dtype, arrays[1].dtype, arrays[0].size)


def _bytes(array: Array) -> memoryview:
    return array.view(np.uint8).data
