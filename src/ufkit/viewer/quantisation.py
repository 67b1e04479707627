"""What quantisation costs: a float net beside the same in integers, or beside its table."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ufkit.core.diag import FormatError, RequestError
from ufkit.ufw.beside import Beside, BesideNet, BesideTable, Held, holds_integers
from ufkit.ufw.error import Errors
from ufkit.ufw.histogram import Histogram, by_integer, by_value, number_of
from ufkit.ufw.net import Net
from ufkit.ufw.quant import BM1880, PROFILES, UFW, Array
from ufkit.ufw.quantize import Part
from ufkit.ufw.table import Table
from ufkit.viewer.content import Model
from ufkit.viewer.encoding import findings
from ufkit.viewer.models.net import NetModel
from ufkit.viewer.subject import Subject

_NO_SIGNAL = -300.0  # dB, of what is zero and comes out as something else; as heat.js has it
_MOST_CHANNELS = 4096
_KEPT = 3  # layers whose integers stay in memory
_NAMES = [*PROFILES]
GRIDS = {"value": by_value, "integer": by_integer}


@dataclass(frozen=True, slots=True)
class Setting:
    """How a table is used: number of the profile, and whether each channel has its own shift."""

    profile: int = 0
    per_channel: bool = False


class Quantisation:
    """The layers of a float net that integers stand for; each is computed when it is asked for.

    floats   number of the file with the floats
    other    number of the one with the integers, or the table
    """

    def __init__(
        self, floats: Subject, other: Subject, net: Net, against: Net | Table, table: Table | None
    ) -> None:
        self.floats = floats.number
        self.other = other.number
        self._places = floats.model.places() if floats.model else {}
        self._net = net
        self._against = against
        self._table = table
        self._sides: dict[Setting, Beside] = {}
        self._held: OrderedDict[tuple[Setting, int], Held] = OrderedDict()

    @property
    def default(self) -> Setting:
        """A table with shifts is the BM1880's."""
        profile = BM1880 if isinstance(self._against, Table) and self._against.shifts else UFW
        return Setting(_NAMES.index(profile.name))

    def side(self, setting: Setting) -> Beside:
        """The two, held against each other. Raises RequestError, FormatError."""
        if setting not in self._sides:
            self._sides[setting] = self._made(setting)
        return self._sides[setting]

    def _made(self, setting: Setting) -> Beside:
        if isinstance(self._against, Net):
            return BesideNet(self._net, self._against, self._table)
        profile = PROFILES[_NAMES[setting.profile]]
        return BesideTable(self._net, self._against, profile, per_channel=setting.per_channel)

    def about(self, setting: Setting) -> dict[str, Any]:
        """The layers, and what can be chosen."""
        by_table = isinstance(self._against, Table)
        return {
            "floats": self.floats,
            "other": self.other,
            "table": by_table,
            "profiles": _NAMES if by_table else [],
            "profile": setting.profile,
            "per_channel": setting.per_channel,
            "can_per_channel": by_table and PROFILES[_NAMES[setting.profile]] is UFW,
            "layers": [
                {"name": layer.name, "type": layer.type, "at": self._places.get(layer.name)}
                for layer in self.side(setting).layers
            ],
        }

    def held(self, setting: Setting, at: int) -> Held:
        """A layer and its integers, kept for a while. Raises RequestError, FormatError."""
        key = setting, at
        if key not in self._held:
            found = self.side(setting).held(at)
            self._held[key] = found
            while len(self._held) > _KEPT:
                self._held.popitem(last=False)
        return self._held[key]

    def row(self, setting: Setting, at: int) -> dict[str, Any]:
        """What one layer lost; or why that is not known."""
        try:
            held = self.held(setting, at)
        except (RequestError, FormatError) as error:
            return {"failed": findings(error.diagnostics)}
        return {
            "thresholds": held.thresholds,
            "shift": None if held.shift is None else held.shift.reshape(-1).tolist(),
            "notes": findings(held.diagnostics),
            "parts": {name: _losses(part) for name, part in held.parts.items()},
        }

    def histogram(self, setting: Setting, at: int, part: str, grid: str) -> dict[str, Any]:
        """How the numbers of a part lie, before and after. Raises KeyError for no such part."""
        held = self.held(setting, at).parts[part]
        found: Histogram = GRIDS[grid](held)
        return {
            "bits": number_of(held).bits,
            "edges": found.edges.tolist(),
            "counts": [found.meant.tolist(), found.got.tolist()],
            "limits": found.limits,
        }


def _losses(part: Part) -> dict[str, Any]:
    errors, whole = part.errors, part.errors.whole
    scale = np.atleast_1d(part.scale)
    return {
        "numbers": int(part.floats.size),
        "integers": str(part.integers.dtype),
        "scale": [float(scale.min()), float(scale.max())],
        **{name: _number(values[0]) for name, values in _columns(whole).items()},
        "channels": _channels(errors),
    }


def _columns(errors: Errors) -> dict[str, Array]:
    return {
        "max_abs": errors.max_abs,
        "mse": errors.mse,
        "sqnr": np.maximum(errors.sqnr, _NO_SIGNAL),
        "cosine": errors.cosine,
        "saturated": errors.saturated,
    }


def _channels(errors: Errors) -> dict[str, Any]:
    """Numbers of each channel; of very many, of the first ones. `null` where there is no noise."""
    names = ("sqnr", "max_abs", "saturated")
    columns = _columns(errors)
    found: dict[str, Any] = {
        name: [_number(value) for value in columns[name][:_MOST_CHANNELS]] for name in names
    }
    noisy = columns["sqnr"]
    worst = int(noisy.argmin()) if noisy.size else None
    return {**found, "total": int(noisy.size), "worst": worst}


def _number(value: Any) -> float | None:
    """A number that JSON can hold."""
    return float(value) if np.isfinite(value) else None


def quantisation_of(subjects: Sequence[Subject], table: Table | None) -> Quantisation | None:
    """What two files have to say of quantisation; None where they are no such pair.

    `table` has the thresholds and shifts of two nets, where these do not say them.
    """
    for floats, other in (subjects, subjects[::-1]):
        net = _net(floats.model)
        against = other.table or _net(other.model)
        if net is None or against is None:
            continue
        try:
            if _fit(net, against):
                return Quantisation(floats, other, net, against, table)
        except FormatError:  # `check` says what is damaged
            continue
    return None


def _net(model: Model | None) -> Net | None:
    return model.net if isinstance(model, NetModel) else None


def _fit(floats: Net, against: Net | Table) -> bool:
    """Whether one is in floats, and the other of the same layers in integers, or a table."""
    if holds_integers(floats):
        return False
    names = {layer.name for layer in floats.layers}
    if isinstance(against, Table):
        return bool(names & {*against.thresholds})
    return bool(names & holds_integers(against))
