"""Fields of operations: what an entry says of each, and how a node's value is read by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ufkit.core.diag import FormatError
from ufkit.uff.data import DataMap, kind_of, unquoted, value_of
from ufkit.uff.rules import FIELD_KIND, FIELD_VALUE, MISSING_FIELD

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()
ONES: Any = type("Ones", (), {"__repr__": lambda self: "1 per spatial axis"})()
ZEROS: Any = type("Zeros", (), {"__repr__": lambda self: "0 per spatial axis"})()


@dataclass(frozen=True, slots=True)
class Field:
    """A field: the kind of its value, what it means, what holds when it is absent."""

    kind: str
    doc: str
    default: Any = REQUIRED
    choices: tuple[str, ...] = ()


ORDERS = Field("dim_orders_list", "axis order of each input, one entry per ordered input", None)
OUTPUT_ORDERS = Field(
    "dim_orders_list", "axis order of the output; the first input's if absent", None
)


def resolve_field(fields: DataMap, name: str, spec: Field) -> Any:
    """A field's value by its specification; an absent or empty one reads as its default.

    Raises FormatError (UFF205, UFF207, UFF208).
    """
    data = fields.resolved(name) if name in fields else None
    kind = "none" if data is None else kind_of(data)
    if data is None or kind == "none":
        if spec.default is REQUIRED:
            raise FormatError(MISSING_FIELD.at(fields.where(name), f"field {name!r} is missing"))
        return spec.default
    value = value_of(data, kind)
    if kind == "s":
        value = unquoted(value)
    if kind != spec.kind:
        if (kind, spec.kind) not in _ALSO_TAKEN:
            message = f"{name} is of kind {kind}, it must be {spec.kind}"
            raise FormatError(FIELD_KIND.at(fields.where(name), message))
        value = _ALSO_TAKEN[kind, spec.kind](value)
    if spec.choices and value not in spec.choices:
        message = f"{name} is {value!r}; it must be one of {', '.join(spec.choices)}"
        raise FormatError(FIELD_VALUE.at(fields.where(name), message))
    return value


# Kinds that say the same thing: a list of one for a number, a whole number for a float.
_ALSO_TAKEN: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("i", "d"): float,
    ("i", "i_list"): lambda value: [value],
    ("i", "b"): bool,
    ("b", "i"): int,
    ("dim_orders", "dim_orders_list"): lambda value: [value],
}
