"""Nets as text (.prototxt): layers and connections, without weights; and maps of labels.

The text is read without a schema: UFW's tools write fields whose numbers nobody knows.
"""

from __future__ import annotations

from typing import NamedTuple

from ufkit.core.diag import Where
from ufkit.core.files import Source
from ufkit.ufw.net import INPUT, NEW, OLD, Shape, declared_inputs, modern, shaped
from ufkit.wire.tree import Entry, Tree


class LayerText:
    """One layer of a description. `tree` has all its fields, parameters among them."""

    __slots__ = ("style", "tree")

    def __init__(self, tree: Tree, style: str) -> None:
        self.tree = tree
        self.style = style

    @property
    def name(self) -> str:
        return self.tree.text("name")

    @property
    def type(self) -> str:
        """As the new style names it, whatever the text has."""
        found = self.tree.text("type")
        return modern(found) if self.style == OLD else found

    @property
    def bottoms(self) -> tuple[str, ...]:
        """Names of the arrays it takes."""
        return tuple(entry.text() for entry in self.tree.all("bottom"))

    @property
    def tops(self) -> tuple[str, ...]:
        """Names of the arrays it makes."""
        return tuple(entry.text() for entry in self.tree.all("top"))

    @property
    def parameters(self) -> dict[str, Tree]:
        """The messages it has beside `param`, `include` and the like: convolution_param."""
        return {
            entry.name: entry.value
            for entry in self.tree
            if entry.name.endswith("_param") and isinstance(entry.value, Tree)
        }

    def parameter(self, name: str) -> Entry | None:
        """A field of any of its parameters, `num_output` say; None without one."""
        found = (tree.get(name) for tree in self.parameters.values())
        return next((entry for entry in found if entry is not None), None)

    @property
    def training_only(self) -> bool:
        """Whether it is left out when the net is used: `include { phase: TRAIN }`, or so."""
        included = [rule.text("phase") for rule in self.tree.trees("include")]
        excluded = [rule.text("phase") for rule in self.tree.trees("exclude")]
        return "TEST" in excluded or (bool(included) and set(included) == {"TRAIN"})

    def where(self) -> Where:
        """The layer's place, for diagnostics."""
        place = self.tree.where()
        return Where(place.file, self.name, line=place.line)

    def __repr__(self) -> str:
        bottoms, tops = ", ".join(self.bottoms), ", ".join(self.tops)
        return f"LayerText({self.type} {self.name!r}: {bottoms} -> {tops})"


class Prototxt:
    """The text of a net. `tree` has all its fields; edit it there, and save it."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    @property
    def source(self) -> Source:
        return self.tree.source

    @property
    def name(self) -> str:
        return self.tree.text("name")

    @property
    def model_type(self) -> str:
        """What UFW's tools note of the framework: BMNETC2UModel. "" in Caffe's own files."""
        return self.tree.text("model_type")

    @property
    def int8_scale(self) -> float | None:
        """What an INT8 net multiplies its input with (127 / threshold, by its value); or None."""
        entry = self.tree.get("int8_scale")
        return None if entry is None else entry.real()

    @property
    def layers(self) -> list[LayerText]:
        """All layers, in the order of the text."""
        return [
            LayerText(entry.tree(), entry.name) for entry in self.tree if entry.name in (OLD, NEW)
        ]

    @property
    def style(self) -> str:
        """Which layers there are: `layer`, `layers` (the older style), both, or "" without any."""
        return " and ".join(name for name in (OLD, NEW) if name in self.tree)

    @property
    def inputs(self) -> dict[str, Shape | None]:
        """Names and shapes of what the net takes; None where the text does not say the shape."""
        names = [entry.text() for entry in self.tree.all("input")]
        dims = [entry.integer() for entry in self.tree.all("input_dim")]
        found = dict(declared_inputs(names, _shapes(self.tree, "input_shape"), dims))
        for layer in self.layers:
            if layer.type == INPUT and layer.style == NEW:
                param = layer.tree.tree("input_param")
                found.update(shaped(layer.tops, _shapes(param, "shape") if param else []))
        return found

    def __repr__(self) -> str:
        return f"Prototxt({self.name!r}, {len(self.layers)} layers)"


def _shapes(tree: Tree, name: str) -> list[Shape]:
    return [tuple(dim.integer() for dim in shape.all("dim")) for shape in tree.trees(name)]


class Label(NamedTuple):
    """A class of a label map: the number that records have, and its two names."""

    label: int
    name: str
    display_name: str
    where: Where = Where()

    @property
    def shown(self) -> str:
        """The name that people read."""
        return self.display_name or self.name or str(self.label)


class LabelMap:
    """A label map: `item { name label display_name }`, as SSD's tools write it."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    @property
    def source(self) -> Source:
        return self.tree.source

    @property
    def labels(self) -> list[Label]:
        """The classes, in the order of the text. Raises FormatError for one without a number."""
        found = []
        for item in self.tree.trees("item"):
            number = item.get("label")
            if number is None:
                raise item.missing("label")
            names = item.text("name"), item.text("display_name")
            found.append(Label(number.integer(), *names, item.where()))
        return found

    def __repr__(self) -> str:
        return f"LabelMap({len(self.tree.all('item'))} labels)"
