"""Nets with their weights (.caffemodel, .fp32umodel, .int8umodel), as views of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ufkit.core.diag import Where
from ufkit.core.files import Source
from ufkit.core.held import Held
from ufkit.ufw.blob import Blob
from ufkit.ufw.schema import LAYER, NET, V1_LAYER
from ufkit.wire.message import Message

NEW, OLD = "layer", "layers"  # the fields that hold them
INPUT = "Input"

# What the new style calls the types that older files number. A type that is not here has the
# same name in small letters with a capital: POOLING is Pooling.
_NAMES = {
    "NONE": "",
    "ABSVAL": "AbsVal",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "IM2COL": "Im2col",
    "LRN": "LRN",
    "MVN": "MVN",
    "RELU": "ReLU",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "TANH": "TanH",
}
_OLD_TYPE = V1_LAYER.fields["type"].type


def modern(old: str) -> str:
    """A type as the new style names it: Convolution for CONVOLUTION."""
    return _NAMES.get(old, "".join(part.capitalize() for part in old.split("_")))


class Layer:
    """One layer. `type` is as the new style names it, whatever the file has."""

    __slots__ = ("_blobs", "file", "message")

    def __init__(self, message: Message, file: str) -> None:
        self.message = message
        self.file = file
        self._blobs: list[Blob] | None = None

    @property
    def name(self) -> str:
        return str(self.message.get("name"))

    @property
    def type(self) -> str:
        found = self.message.get("type")
        if self.style == NEW:
            return str(found)
        return modern(_OLD_TYPE.name_of(found) or str(found))

    @property
    def style(self) -> str:
        """Which field of the net the layer is in: `layer`, or `layers` in older files."""
        return NEW if self.message.type is LAYER else OLD

    @property
    def bottoms(self) -> tuple[str, ...]:
        """Names of the arrays it takes."""
        return tuple(self.message.all("bottom"))

    @property
    def tops(self) -> tuple[str, ...]:
        """Names of the arrays it makes."""
        return tuple(self.message.all("top"))

    @property
    def training_only(self) -> bool:
        """Never: a net is saved with the layers it was run with, be it for training."""
        return False

    @property
    def blobs(self) -> list[Blob]:
        """Its weights: for most types the kernel, then the bias."""
        if self._blobs is None:
            name = self.name
            self._blobs = [
                Blob(blob, _place(self.file, f"{name}/{number}", blob))
                for number, blob in enumerate(self.message.all("blobs"))
            ]
        return self._blobs

    def where(self) -> Where:
        """The layer's place, for diagnostics."""
        return _place(self.file, self.name, self.message)

    def __repr__(self) -> str:
        bottoms, tops = ", ".join(self.bottoms), ", ".join(self.tops)
        return f"Layer({self.type} {self.name!r}: {bottoms} -> {tops})"


def _place(file: str, node: str, message: Message) -> Where:
    span = message.span
    start, stop = (span.start, span.stop) if span.nbytes else (None, None)
    return Where(file, node, "", start, stop)


class Net(Held):
    """A net and its weights, which stay in the file until read.

    Use it as a context manager, or leave closing to the garbage collector.
    """

    def __init__(self, message: Message, source: Source | None = None) -> None:
        self.message = message
        self.source = source or message.span.source
        self._layers: list[Layer] | None = None
        self._by_name: dict[str, Layer] | None = None

    @classmethod
    def new(cls, name: str = "") -> Net:
        """A net without layers."""
        return cls(Message.new(NET, name=name))

    @property
    def name(self) -> str:
        return str(self.message.get("name"))

    @property
    def layers(self) -> list[Layer]:
        """All layers, in file order; of a file with both styles, the older first."""
        if self._layers is None:
            found = [*self.message.all(OLD), *self.message.all(NEW)]
            self._layers = [Layer(message, self.source.name) for message in found]
        return self._layers

    @property
    def style(self) -> str:
        """Which layers there are: `layer`, `layers` (the older style), both, or "" without any."""
        return " and ".join(name for name in (OLD, NEW) if self.message.has(name))

    @property
    def inputs(self) -> dict[str, tuple[int, ...] | None]:
        """Names and shapes of what the net takes; None where the file does not say the shape.

        From `input` with `input_shape` or `input_dim`, and from layers of type Input.
        """
        names = self.message.all("input")
        shapes = [tuple(shape.all("dim")) for shape in self.message.all("input_shape")]
        found = dict(declared_inputs(names, shapes, self.message.all("input_dim")))
        for layer in self.layers:
            if layer.type == INPUT and layer.style == NEW:
                param = layer.message.get("input_param")
                given = [tuple(shape.all("dim")) for shape in param.all("shape")] if param else []
                found.update(shaped(layer.tops, given))
        return found

    def blobs(self) -> Iterator[tuple[str, Blob]]:
        """All weights under the names `layer/0`, `layer/1`, in file order.

        A layer whose name was used before has none of its own: Caffe finds the first.
        """
        seen = set()
        for layer in self.layers:
            name = layer.name
            if name not in seen and layer.blobs:
                seen.add(name)
                for number, blob in enumerate(layer.blobs):
                    yield f"{name}/{number}", blob

    def __getitem__(self, name: str) -> Layer:
        """The layer of that name (the first, should there be several). Raises KeyError."""
        if self._by_name is None:
            self._by_name = {layer.name: layer for layer in reversed(self.layers)}
        return self._by_name[name]

    def add(
        self,
        name: str,
        type_: str,
        bottoms: Iterable[str] = (),
        tops: Iterable[str] = (),
        arrays: Iterable[Any] = (),
    ) -> Layer:
        """Append a layer of the new style with its weights; see `Blob.put` for how they lie."""
        message = Message.new(LAYER, name=name, type=type_, bottom=bottoms, top=tops)
        message.set("blobs", [Blob.of(array).message for array in arrays])
        layers = self.layers
        self.message.append(NEW, message)
        layers.append(Layer(message, self.source.name))
        self._by_name = None
        return layers[-1]

    def where(self) -> Where:
        """The file, for diagnostics."""
        return Where(self.source.name)

    def __repr__(self) -> str:
        return f"Net({self.name!r}, {len(self.layers)} layers)"


Shape = tuple[int, ...]


def declared_inputs(
    names: Iterable[str], shapes: list[Shape], dims: list[int]
) -> Iterator[tuple[str, Shape | None]]:
    """Inputs of a net: shapes from `input_shape`, or four of the `input_dim` for each."""
    return shaped(names, shapes or [tuple(dims[at : at + 4]) for at in range(0, len(dims), 4)])


def shaped(names: Iterable[str], shapes: list[Shape]) -> Iterator[tuple[str, Shape | None]]:
    """Names with their shapes; one shape counts for all."""
    for at, name in enumerate(names):
        place = 0 if len(shapes) == 1 else at
        yield name, shapes[place] if place < len(shapes) else None
