"""How layers hang together: who makes what others take. For nets, with weights and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ufkit.core.diag import Diagnostic, Where
from ufkit.ufw.rules import BOTH_STYLES, DUPLICATE_LAYER, NO_LAYERS, NO_MAKER

Shape = tuple[int, ...]


class AnyLayer(Protocol):
    """A layer, of a file with weights or of a text."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def bottoms(self) -> tuple[str, ...]: ...

    @property
    def tops(self) -> tuple[str, ...]: ...

    @property
    def training_only(self) -> bool: ...

    def where(self) -> Where: ...


class AnyNet(Protocol):
    """A net, of a file with weights or of a text."""

    @property
    def name(self) -> str: ...

    @property
    def style(self) -> str: ...

    @property
    def layers(self) -> Sequence[AnyLayer]: ...

    @property
    def inputs(self) -> Mapping[str, Shape | None]: ...

    @property
    def source(self) -> Any: ...


def outputs(layers: Iterable[AnyLayer]) -> list[str]:
    """The arrays that a layer makes and none behind it takes, in file order."""
    waiting: dict[str, None] = {}
    for layer in layers:
        if not layer.training_only:
            for bottom in layer.bottoms:
                waiting.pop(bottom, None)
            waiting.update(dict.fromkeys(layer.tops))
    return list(waiting)


def findings(net: AnyNet) -> Iterator[Diagnostic]:
    """What is wrong with the layers of a net and with what they take."""
    where = Where(net.source.name)
    if not net.layers:
        yield NO_LAYERS.at(where, "the file holds 0 layers")
    if " and " in net.style:
        yield BOTH_STYLES.at(where, f"the file has {net.style}")
    names: set[str] = set()
    made = set(net.inputs)
    for layer in net.layers:
        if layer.name in names and not layer.training_only:
            message = f"a layer before this {layer.type} has the same name"
            yield DUPLICATE_LAYER.at(layer.where(), message)
        if not layer.training_only:
            names.add(layer.name)
        for bottom in dict.fromkeys(layer.bottoms):
            if bottom not in made:
                yield NO_MAKER.at(layer.where(), f"it takes {bottom!r}, which nothing before makes")
        made.update(layer.tops)
