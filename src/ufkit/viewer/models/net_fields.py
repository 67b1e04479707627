"""The fields of layers as the panel shows them: settings, defaults, what blobs say of integers."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from ufkit.core.diag import FormatError, Where
from ufkit.ufw.blob import DIFFS, LEGACY, STORAGES
from ufkit.ufw.connections import AnyLayer
from ufkit.ufw.layers import LAYERS
from ufkit.ufw.net import Layer
from ufkit.ufw.params import Parameter, default_of, settings, told
from ufkit.viewer.content import FieldRow

_ELSEWHERE = frozenset({"name", "type", "bottom", "top", "blobs"})  # of the panel
_NUMBERS = frozenset(
    (*STORAGES, *DIFFS, *LEGACY, "shape", "winograd_data_fixpoint", "scaleToFloatPerChannel")
)
_MOST_VALUES = 32
_MOST_LETTERS = 2_000
_EXACT = 1 << 53  # integers that a number of JavaScript holds
_MOST_ROWS = 500


def rows(layer: AnyLayer, source: Layer | None) -> Iterator[FieldRow]:
    """The settings of a layer, given ones and defaults of its type; then all else that is said.

    `source` is the layer that has its weights.
    """
    entry = LAYERS.get(layer.type)
    fields = told(layer)
    own = entry.parameter if entry else ""
    if own:
        yield from _all(fields, own)
    others = [name for name in fields.names if name not in _ELSEWHERE and name != own]
    for _, row in zip(range(_MOST_ROWS), _given(fields, others, ""), strict=False):
        yield row
    for number, blob in enumerate(source.blobs if source else ()):
        said = settings(blob.message)
        names = [name for name in said.names if name not in _NUMBERS]
        yield from _given(said, names, f"blob {number}: ")


def _all(fields: Parameter, name: str) -> Iterator[FieldRow]:
    """Every field of a message, those not given with their defaults."""
    try:
        message = fields.part(name)
    except FormatError as error:
        yield _damaged(name, error)
        return
    yield from _given(message, list(message.names)[:_MOST_ROWS], "")
    for field in message.type.fields.values() if message.type else ():
        if not message.has(field.name) and field.kind != "message":
            default = shown([default_of(field)]) if default_of(field) is not None else ""
            yield FieldRow(field.name, _kind(field.kind), default, False, str(default), field.doc)


def _given(message: Parameter, names: list[str], before: str) -> Iterator[FieldRow]:
    for name in names:
        where = message.where(name)
        try:
            values = message.all(name)
        except FormatError as error:
            yield _damaged(before + name, error, where)
            continue
        if not before and all(isinstance(value, Parameter) for value in values):
            for value in values:
                yield from _given(value, list(value.names), f"{name}.")
            continue
        field = message.field(name)
        default = default_of(field)
        yield FieldRow(
            before + name,
            _kind(field.kind) if field else _guessed(values[-1]),
            shown(values),
            True,
            "" if default is None else str(shown([default])),
            field.doc if field else "",
            where,
        )


def _damaged(name: str, error: FormatError, where: Where | None = None) -> FieldRow:
    return FieldRow(name, "damaged", error.diagnostic.message, where=where or Where())


def _kind(kind: str) -> str:
    return "bytes" if kind == "message" else kind


def _guessed(value: Any) -> str:
    """What a value of a text looks like, where no schema says what it is."""
    if isinstance(value, bool):
        return "bool"
    return {int: "integer", float: "real", str: "text"}.get(type(value), "message")


def shown(values: list[Any]) -> Any:
    """The values of a field: one as it is, several with commas between."""
    if len(values) == 1:
        value = values[0]
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) < _EXACT):
            return value
        return _words(value)
    parts = [str(_words(value)) for value in values[:_MOST_VALUES]]
    if len(values) > _MOST_VALUES:
        parts.append(f"… {len(values):,} in all")
    return f"[{', '.join(parts)}]"


def _words(value: Any) -> Any:
    if isinstance(value, Parameter):
        inner = ((name, shown(value.all(name))) for name in list(value.names)[:_MOST_VALUES])
        return f"{{ {', '.join(f'{name}: {text}' for name, text in inner)} }}"[:_MOST_LETTERS]
    if isinstance(value, float):
        return float(f"{value:.7g}") if isfinite(value) else str(value)
    return value if isinstance(value, bool) else str(value)[:_MOST_LETTERS]


def brief(message: Parameter, name: str) -> str:
    """The values given for a field in few words; "" where it is not given or cannot be read."""
    try:
        return str(shown(given)) if (given := message.all(name)) else ""
    except FormatError:
        return ""
