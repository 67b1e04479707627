"""What is in a net, in numbers: nothing of the weights is read for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

from ufkit.core.diag import FormatError
from ufkit.ufw.blob import Blob
from ufkit.ufw.connections import AnyLayer, AnyNet, outputs
from ufkit.ufw.layers.spec import Shape
from ufkit.ufw.net import Layer
from ufkit.ufw.shapes import GivenShapes, LayerShapes, infer_net

# How a storage holds numbers, from the least to the most that was made of them.
ARITHMETIC = {
    "data": "float",
    "double_data": "float",
    "int8_data": "int8 coefficients",
    "int32_data": "int8 neurons",
}


@dataclass(frozen=True, slots=True)
class BlobSummary:
    """One array: `bytes` are those in the file; `storages` name the fields that hold numbers.

    `shape` is None where the file has an impossible one; `check` says more.
    """

    shape: list[int] | None
    dtype: str
    storages: list[str]
    bytes: int

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else ", ".join(map(str, self.shape))
        return f"{self.dtype}[{sizes}]"


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """One layer with its weights.

    `shapes` are those of its tops, None where a size or all of them are not known; `macs` its
    multiply-accumulates, None where they are not known or it has none to speak of.
    """

    name: str
    type: str
    bottoms: list[str]
    tops: list[str]
    blobs: list[BlobSummary]
    shapes: list[list[int | None] | None]
    macs: int | None = None

    @property
    def parameters(self) -> int:
        return sum(prod(blob.shape) for blob in self.blobs if blob.shape is not None)


@dataclass(slots=True)
class NetSummary:
    """A net, of a file with weights or of a text.

    `style` is the field that holds its layers; `dtypes` count elements by what the file stores
    them as, `storages` the blobs that have each, `arithmetic` says what they are for: float, int8
    coefficients, int8 neurons, or several of them; "" without weights. `shapes` has all arrays by
    name, as the last layer leaves them; `macs` are the multiply-accumulates of one run, of those
    layers where they are known.
    """

    file: str
    bytes: int
    name: str
    style: str
    layers: int
    inputs: list[dict[str, Any]]
    outputs: list[str]
    types: dict[str, int]
    parameters: int = 0
    weight_bytes: int = 0
    dtypes: dict[str, int] = field(default_factory=dict)
    storages: dict[str, int] = field(default_factory=dict)
    arithmetic: str = ""
    shapes: dict[str, list[int | None] | None] = field(default_factory=dict)
    macs: int = 0
    layer_list: list[LayerSummary] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarize_net(
    net: AnyNet,
    weights: Mapping[str, Layer] | None = None,
    shapes: GivenShapes | None = None,
) -> NetSummary:
    """The summary of a net; of a text, with the weights of layers by name, where there are any.

    `shapes` has shapes of inputs that the file does not record, by name.
    Raises FormatError where it is damaged, RequestError (UFW009) for a shape of what is no input.
    """
    known = infer_net(net, weights, shapes)
    pairs = zip(net.layers, known.layers, strict=True)
    layers = [_layer(layer, weights, found) for layer, found in pairs]
    summary = NetSummary(
        net.source.name,
        net.source.size,
        net.name,
        net.style,
        len(layers),
        [
            {"name": name, "shape": None if shape is None else list(shape)}
            for name, shape in net.inputs.items()
        ],
        outputs(net.layers),
        dict(Counter(layer.type for layer in layers).most_common()),
        shapes={name: _sizes(shape) for name, shape in known.arrays.items()},
        macs=sum(layer.macs or 0 for layer in layers),
        layer_list=layers,
    )
    dtypes: Counter[str] = Counter()
    storages: Counter[str] = Counter()
    for layer in layers:
        for blob in layer.blobs:
            elements = 0 if blob.shape is None else prod(blob.shape)
            summary.parameters += elements
            summary.weight_bytes += blob.bytes
            dtypes[blob.dtype] += elements
            storages.update(blob.storages)
    summary.dtypes, summary.storages = dict(dtypes.most_common()), dict(storages.most_common())
    summary.arithmetic = ", ".join(
        dict.fromkeys(form for name, form in ARITHMETIC.items() if name in storages)
    )
    return summary


def _sizes(shape: Shape | None) -> list[int | None] | None:
    return None if shape is None else list(shape)


def _layer(
    layer: AnyLayer, weights: Mapping[str, Layer] | None, found: LayerShapes
) -> LayerSummary:
    source = weights.get(layer.name) if weights else layer
    blobs = source.blobs if isinstance(source, Layer) else []
    return LayerSummary(
        layer.name,
        layer.type,
        list(layer.bottoms),
        list(layer.tops),
        [summarize_blob(blob) for blob in blobs],
        [_sizes(shape) for shape in found.tops],
        found.macs,
    )


def summarize_blob(blob: Blob) -> BlobSummary:
    """The summary of an array, told without reading it."""
    try:
        shape = list(blob.shape)
    except FormatError:
        shape = None
    return BlobSummary(shape, str(blob.stored_dtype), blob.storages, blob.message.span.nbytes)
