"""Nets of Caffe and UFW as models to look at: with weights, as text, or a text and its weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.ufw.check import check_net, check_prototxt
from ufkit.ufw.connections import AnyLayer, outputs
from ufkit.ufw.layers import LAYERS
from ufkit.ufw.layers.spec import Shape
from ufkit.ufw.net import Layer, Net
from ufkit.ufw.pair import pair_findings, paired
from ufkit.ufw.params import Parameter, default_of, told
from ufkit.ufw.prototxt import Prototxt
from ufkit.ufw.shapes import GivenShapes, NetShapes, infer_net, taken_by
from ufkit.ufw.summary import ARITHMETIC
from ufkit.viewer.categories import category
from ufkit.viewer.content import SAID, Details, Item, Link, Picture, Weights
from ufkit.viewer.models.given import of_these
from ufkit.viewer.models.net_arrays import arrays
from ufkit.viewer.models.net_fields import brief, rows
from ufkit.viewer.words import clipped, sizes_text

_FORMS = {
    "caffe-net": "Caffe net, binary",
    "caffe-json": "Caffe net, JSON",
    "caffe-text": "Caffe net, text",
}
# Settings that say what a box is about, in this sequence; the others are in the panel.
_TELLING = (
    "num_output", "kernel_size", "kernel_h", "kernel_w", "stride", "stride_h", "stride_w", "pad",
    "pad_h", "pad_w", "group", "dilation", "global_pooling", "axis", "order", "slice_point",
    "negative_slope", "power", "scale", "shift", "local_size", "coeff", "min_size", "max_size",
    "aspect_ratio", "num_classes", "dropout_ratio", "across_spatial", "top_k", "tiles",
)  # fmt: skip
_VARIANTS = ("operation", "pool")  # of layers that are several in one: which
_INPUT, _OUTPUT = "Input", "Output"


class NetModel:
    """A net, with weights or as text. Shapes follow from its inputs, weights stay in the file.

    net    the one with weights; None of a text alone
    text   the text, where there is one
    """

    extent = ""

    def __init__(
        self,
        shown: Net | Prototxt,
        form: str,
        *,
        weights: Net | None = None,
        shapes: GivenShapes | None = None,
    ) -> None:
        self.net = shown if isinstance(shown, Net) else weights
        self.text = shown if isinstance(shown, Prototxt) else None
        self._form = form
        self.inputs = taken_by(shown)
        self._given = of_these(shapes, self.inputs)
        self._layers: Sequence[AnyLayer] = shown.layers
        self._sources = self._found()
        known = infer_net(shown, self._sources if self.text else None, self._given)
        self._drawn = _Drawn(shown.name, self._layers, shown.inputs, self._sources, known)
        self.pictures = [self._drawn.picture]

    def _found(self) -> dict[str, Layer]:
        """The layers that have weights, by name; of several of one name, the first."""
        if self.text and self.net:
            return {layer.name: other for layer, other in paired(self.text, self.net) if other}
        layers = self.net.layers if self.net else []
        return {layer.name: layer for layer in reversed(layers)}

    @property
    def description(self) -> str:
        parts = [_FORMS.get(self._form, "Caffe net")]
        if self.text and self.text.model_type:
            parts.append(self.text.model_type)
        if self.text and self.net:
            parts.append(f"weights of {self.net.source.name}")
        return ", ".join(parts)

    @property
    def opened(self) -> Net | Prototxt | None:
        return self.net or self.text

    @cached_property
    def findings(self) -> list[Diagnostic]:
        if self.text is None:
            assert self.net is not None
            return [*check_net(self.net, self._given)]
        found = [*check_prototxt(self.text, self._given)]
        if self.net is not None:
            found += [*check_net(self.net), *pair_findings(self.text, self.net, self._given)]
        return found

    def details(self, picture: int, item: int) -> Details:
        at = item - self._drawn.first
        if not 0 <= at < len(self._layers):
            what = "What the net is given." if at < 0 else "What the net gives out."
            return Details(what, [], Where())
        layer = self._layers[at]
        entry = LAYERS.get(layer.type)
        facts = [("layer", "of training only")] if layer.training_only else []
        facts += self._facts(layer)
        fields = [*rows(layer, self._sources.get(layer.name))]
        return Details(entry.doc if entry else "", fields, layer.where(), facts)

    def _facts(self, layer: AnyLayer) -> Iterator[tuple[str, str]]:
        source = self._sources.get(layer.name)
        if source is not None:
            kept = dict.fromkeys(name for blob in source.blobs for name in blob.storages)
            kinds = dict.fromkeys(ARITHMETIC[name] for name in kept)
            if kept:
                yield "weights", f"{', '.join(kinds)} (in {', '.join(kept)})"
            if self.text is not None and (place := str(source.where())):
                yield "weights in", place
        for title, names in (("takes", layer.bottoms), ("makes", layer.tops)):
            if names:
                yield title, ", ".join(names)

    def places(self) -> Mapping[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for at, layer in enumerate(self._layers, self._drawn.first):
            found.setdefault(layer.name, (0, at))
        for at, layer in enumerate(self._layers, self._drawn.first):
            source = self._sources.get(layer.name)
            for number in range(len(source.blobs) if source else 0):
                found.setdefault(f"{layer.name}/{number}", (0, at))
        return found

    def close(self) -> None:
        if self.net is not None:
            self.net.close()


class _Drawn:
    """Makes the picture: inputs that no layer makes, the layers, and what is taken by none.

    An array that is computed anew in place is that of the last layer before the one that takes it.
    """

    def __init__(
        self,
        name: str,
        layers: Sequence[AnyLayer],
        inputs: Mapping[str, object],
        sources: Mapping[str, Layer],
        known: NetShapes,
    ) -> None:
        self._makers: dict[str, tuple[int, str]] = {}  # item, and the shape of what it makes
        made = {top for layer in layers if layer.type == _INPUT for top in layer.tops}
        items = [self._input(top, known) for top in inputs if top not in made]
        self.first = len(items)
        self._for_use: set[str] = set()
        seen: set[str] = set()
        for at, layer in enumerate(layers):
            own = sources.get(layer.name) if layer.name not in seen else None
            seen.add(layer.name)
            items.append(self._layer(layer, own, len(items), known, at))
        for top in outputs(layers):
            maker, value = self._makers[top]
            key = f"{top} (output)"
            lines = [value] if value else []
            item = Item(key, _OUTPUT, category(_OUTPUT), lines, value=value, title=top)
            item.takes = [Link(maker, 0, "", value, top)]
            items.append(item)
        self.picture = Picture(name, items, [("layers", f"{len(layers):,}")], SAID)

    def _input(self, name: str, known: NetShapes) -> Item:
        value = sizes_text(known.inputs.get(name))
        self._makers[name] = len(self._makers), value
        lines = [value or "shape not known"]
        return Item(name, _INPUT, category(_INPUT), lines, value=value, title=name)

    def _layer(
        self, layer: AnyLayer, source: Layer | None, number: int, known: NetShapes, at: int
    ) -> Item:
        shapes = known.layers[at]
        item = Item(layer.name, layer.type, category(layer.type), macs=shapes.macs)
        for slot, name in enumerate(layer.bottoms):
            if name in self._makers:
                maker, value = self._makers[name]
                item.takes.append(Link(maker, slot, name, value, name))
        for name, shape in zip(layer.tops, shapes.tops, strict=True):
            if not (layer.training_only and name in self._for_use):
                self._makers[name] = number, sizes_text(shape)
            if not layer.training_only:
                self._for_use.add(name)
        item.value = _values(shapes.tops)
        item.weights = [*arrays(source)] if source else []
        settings = self._settings(layer)
        item.title = _title(layer, settings)
        if layer.type == _INPUT:
            item.title = layer.name
            item.lines = [item.value or "shape not known"]
        else:
            item.field_lines = [*_telling(settings)]
            item.weight_lines = [*_weight_lines(item.weights)]
        return item

    def _settings(self, layer: AnyLayer) -> Parameter:
        entry = LAYERS.get(layer.type)
        try:
            return told(layer).part(entry.parameter) if entry else Parameter()
        except FormatError:
            return Parameter()  # the panel says what is wrong with it


def _values(shapes: Sequence[Shape | None]) -> str:
    known = [sizes_text(shape) or "?" for shape in shapes]
    return ", ".join(known) if any(shape is not None for shape in shapes) else ""


def _title(layer: AnyLayer, settings: Parameter) -> str:
    """The type and, of those that are several in one, which: `Pooling MAX`."""
    for name in _VARIANTS:
        if (field := settings.field(name)) is not None:
            return f"{layer.type} {brief(settings, name) or default_of(field)}"
    return layer.type


def _telling(settings: Parameter) -> Iterator[str]:
    for name in _TELLING:
        if text := brief(settings, name):
            yield f"{name} {clipped(text)}"


def _weight_lines(weights: Sequence[Weights]) -> Iterator[str]:
    named = {array.name: array for array in reversed(weights)}  # the first of each name
    for array in reversed(named.values()):
        yield f"{array.role} ⟨{sizes_text(array.shape)}⟩"
