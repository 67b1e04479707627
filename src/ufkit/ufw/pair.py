"""The text of a net beside its weights: a umodel, or a prototxt and its caffemodel."""

from __future__ import annotations

from collections.abc import Iterator

from ufkit.core.diag import Diagnostic
from ufkit.ufw.blob import Blob
from ufkit.ufw.net import Layer, Net
from ufkit.ufw.prototxt import LayerText, Prototxt
from ufkit.ufw.rules import NO_TEXT, NO_WEIGHTS, WRONG_WEIGHTS
from ufkit.ufw.shapes import GivenShapes, infer_net

# Layers that cannot do without weights, and how the sizes of their first blob hold num_output.
_OUTPUT_AXIS = {"Convolution": 0, "DepthwiseConvolution": 0, "InnerProduct": -2, "Embed": -1}
WITH_WEIGHTS = {*_OUTPUT_AXIS, "Deconvolution", "BatchNorm", "PReLU", "Normalize"}
_CONVOLUTIONS = ("Convolution", "DepthwiseConvolution", "Deconvolution")


def paired(text: Prototxt, net: Net) -> Iterator[tuple[LayerText, Layer | None]]:
    """The layers of a text, each with the one of the same name that has its weights, or None."""
    weights = {layer.name: layer for layer in reversed(net.layers) if layer.blobs}
    for layer in text.layers:
        yield layer, weights.get(layer.name)


def pair_findings(
    text: Prototxt, net: Net, shapes: GivenShapes | None = None
) -> Iterator[Diagnostic]:
    """What does not fit between a text and its weights; `shapes` has those of inputs by name.

    Layers that need weights and have none (UFW401), weights without a layer (UFW402), shapes
    that contradict num_output or kernel_size, or what the layer takes (UFW403).
    """
    names = set()
    alike = True
    for layer, found in paired(text, net):
        names.add(layer.name)
        if found is not None:
            for message in _misfits(layer, found):
                alike = False
                yield WRONG_WEIGHTS.at(found.where(), message)
        elif layer.type in WITH_WEIGHTS and not layer.training_only:
            yield NO_WEIGHTS.at(layer.where(), f"there are no weights for this {layer.type}")
    for other in net.layers:
        if other.blobs and other.name not in names:
            yield NO_TEXT.at(other.where(), f"the text has no layer for this {other.type}")
    if alike:  # else sizes behind a layer that does not fit would be wrong as well
        yield from _meeting(text, net, shapes)


def _meeting(text: Prototxt, net: Net, shapes: GivenShapes | None) -> Iterator[Diagnostic]:
    """Weights that are for another size than what their layer takes."""
    weights = {layer.name: found for layer, found in paired(text, net) if found is not None}
    for finding in infer_net(text, weights, shapes).findings:
        if finding.rule is WRONG_WEIGHTS:
            yield finding


def _misfits(layer: LayerText, found: Layer) -> Iterator[str]:
    first = found.blobs[0].shape
    wanted = layer.parameter("num_output")
    if wanted is not None:
        count, axis = wanted.integer(), _OUTPUT_AXIS.get(layer.type)
        if axis is not None and -len(first) <= axis < len(first) and first[axis] != count:
            yield f"num_output is {count}; the weights {list(first)} have {first[axis]}"
        bias = found.blobs[1] if len(found.blobs) > 1 else None
        if bias is not None and _size(bias) != count:
            yield f"num_output is {count}; the bias {list(bias.shape)} has {_size(bias)}"
    kernel = layer.parameter("kernel_size")
    if kernel is not None and layer.type in _CONVOLUTIONS and len(first) > 2:
        size = kernel.integer()
        if first[-1] != size:
            yield f"kernel_size is {size}; the weights are {list(first)}"


def _size(blob: Blob) -> int:
    return max(blob.shape, default=1)
