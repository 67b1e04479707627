"""A float net beside the same in integers: what each layer lost, layer by layer when asked for.

Either the integers are those of another net, or they are made of the floats and a table of
thresholds, as `quantize` would; the nets themselves are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ufkit.core.diag import Diagnostic, RequestError
from ufkit.ufw.blob import NOT_SET, STORAGES, Blob
from ufkit.ufw.dequantize import integers_of
from ufkit.ufw.net import Layer, Net
from ufkit.ufw.quant import BM1880, UFW, Array, Profile
from ufkit.ufw.quantize import (
    Part,
    are_integers,
    floats_of,
    in_integers,
    part_of,
    problems_of,
    quantisable,
)
from ufkit.ufw.rules import NO_SCALE, WRONG_WEIGHTS
from ufkit.ufw.table import Table
from ufkit.ufw.thresholds import Thresholds

_NAMES = ("weights", "bias")
_FLOATS, _INTEGERS = STORAGES[:2], STORAGES[2:]
_FEW = 1 << 20  # numbers of a layer that is looked at to tell a BM1880's net


@dataclass(frozen=True)
class Held:
    """A layer of floats held against its integers.

    parts        "weights" and, where there are any, "bias"
    thresholds   of what it takes and makes; None where no table names them
    shift        by how much its sums are shifted, one or one by channel; None where it is not told
    diagnostics  what does not fit well
    """

    parts: dict[str, Part]
    thresholds: tuple[float, float] | None = None
    shift: Array | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


class Beside(Protocol):
    """Layers of a float net, `at` of which is held against its integers when that is asked for."""

    @property
    def layers(self) -> list[Layer]: ...

    def held(self, at: int) -> Held:
        """Raises RequestError with what keeps the layer from being compared; FormatError."""
        ...


class BesideTable:
    """A net beside what a table of thresholds makes of it."""

    def __init__(
        self, net: Net, table: Table, profile: Profile = UFW, *, per_channel: bool = False
    ) -> None:
        self.layers = quantisable(net)
        self._table = table
        self._thresholds = Thresholds(net, table.thresholds)
        self._profile = profile
        self._per_channel = per_channel and profile is UFW

    def held(self, at: int) -> Held:
        layer = self.layers[at]
        if problems := list(problems_of([layer], self._thresholds, self._table)):
            raise RequestError(*problems)
        thresholds = self._thresholds.of(layer)
        notes: list[Diagnostic] = []
        found = in_integers(layer, thresholds, self._profile, self._per_channel, notes)
        if found is None:
            raise RequestError(*notes)
        return Held(found.parts, thresholds, found.shift, tuple(notes))


class BesideNet:
    """A net beside another one, in whose layers of the same names integers stand for its floats.

    `table` has thresholds and shifts, where the other net does not say what its integers stand
    for. Layers that are in floats there as well are left out.
    """

    def __init__(self, floats: Net, other: Net, table: Table | None = None) -> None:
        self._table = table or Table()
        profile = UFW if stores_integers(other) else BM1880
        self._problems: list[Diagnostic] = []
        self._scales: dict[int, Array | None] = {}  # by identity of the blob
        for _, blob, scale in integers_of(other, self._table, profile, self._problems):
            self._scales[id(blob)] = scale
        self._others = {layer.name: layer for layer in reversed(other.layers)}
        self._thresholds = Thresholds(other, self._table.thresholds)
        kept = holds_integers(other)
        self.layers = [layer for layer in quantisable(floats) if layer.name in kept]

    def held(self, at: int) -> Held:
        layer = self.layers[at]
        other = self._others[layer.name]
        parts = {}
        for role, floats, blob in zip(_NAMES, floats_of(layer), other.blobs, strict=False):
            if id(blob) not in self._scales:
                if role == _NAMES[0] or blob.storage in _INTEGERS:
                    raise RequestError(*self._why(other))
                continue  # it is in floats
            integers, of_one = _stored(blob, self._scales[id(blob)])
            if integers.size != floats.size:
                message = f"the floats are {list(floats.shape)}, the integers {list(blob.shape)}"
                raise RequestError(WRONG_WEIGHTS.at(blob.where, message))
            parts[role] = part_of(floats, integers.reshape(floats.shape), of_one)
        known = not any(self._thresholds.missing(other))
        return Held(parts, self._thresholds.of(other) if known else None, self._shift(other))

    def _why(self, layer: Layer) -> list[Diagnostic]:
        """The reasons why the integers of a layer stand for nothing known."""
        places = {layer.name, *(blob.where.node for blob in layer.blobs)}
        mine = [problem for problem in self._problems if problem.where.node in places]
        message = "the net does not say what its integers stand for"
        return mine or [NO_SCALE.at(layer.where(), message)]

    def _shift(self, layer: Layer) -> Array | None:
        if layer.name in self._table.shifts:
            return np.asarray(self._table.shifts[layer.name].shift)
        shift = layer.blobs[0].message.get("right_shift_num")
        return None if shift == NOT_SET else np.asarray(shift)


def _stored(blob: Blob, scale: Array | None) -> tuple[Array, Array]:
    """The integers of a blob, and what 1 stands for."""
    if blob.storage not in _INTEGERS:  # a BM1880's, whole numbers as floats
        assert scale is not None
        return blob.array().astype(np.int32), scale
    if scale is None and blob.storage == "int8_data":
        scale = np.asarray(blob.message.get("fscale_int8_to_float"))
    elif scale is None:
        scale = blob.scales
    assert scale is not None  # `integers_of` told it
    return blob.stored(blob.storage), scale


def stores_integers(net: Net) -> bool:
    """Whether a net has integers in the storages that UFW has for them."""
    return any(blob.storage in _INTEGERS for layer in net.layers for blob in layer.blobs)


def holds_integers(net: Net) -> set[str]:
    """The layers of a net whose weights are integers, be it as floats, as the BM1880 has them.

    Of a net that has integers in storages of their own nothing is read; of another one, its
    smaller layers until one tells.
    """
    layers = quantisable(net)
    if stores_integers(net):
        return {layer.name for layer in layers if layer.blobs[0].storage in _INTEGERS}
    first = (layer.blobs[0] for layer in layers)
    small = (b for b in first if b.storage in _FLOATS and 0 < b.count(b.storage) <= _FEW)
    if any(are_integers(blob.array()) for blob in small):
        return {layer.name for layer in layers}
    return set()
