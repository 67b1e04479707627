"""What a model has to say of itself, whatever its format: the same few classes for all pages.

A module of `models` makes them for each format; pages know no format.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ufkit.core.diag import Diagnostic, Where

NAMES, FIELDS, WEIGHTS = "names", "fields", "weights"  # what boxes can say
SAID = frozenset({NAMES, FIELDS, WEIGHTS})

Array = Any  # numpy.ndarray; NumPy loads when the first one is asked for


@dataclass(frozen=True, slots=True)
class Weights:
    """An array of a node that is in the file: nothing of it is read before `read` is called.

    role     what the node calls it: `kernel`, `bias`
    shape    sizes in the stored order; None where the file has an impossible one
    axes     name of each axis where it is known ("H", "W", "C", "K"), or ""
    channel  axis of the output channels, which ranges are told for; None where there is none
    read     gives the elements; raises FormatError where they are not there
    """

    name: str
    role: str
    dtype: str
    shape: tuple[int, ...] | None
    nbytes: int
    where: Where
    read: Callable[[], Array]
    axes: str = ""
    channel: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field of a node. `given` is False where the default holds."""

    name: str
    kind: str
    value: Any
    given: bool = True
    default: str = ""
    doc: str = ""
    where: Where = field(default_factory=Where)


@dataclass(frozen=True, slots=True)
class Link:
    """What a node takes: number `slot` of its inputs, from the node of that index.

    role    what the node calls the input
    label   shape and type of the value, or ""
    value   what the file calls the value
    """

    source: int
    slot: int
    role: str = ""
    label: str = ""
    value: str = ""


@dataclass(slots=True)
class Item:
    """A node of the picture.

    key           what the file calls it
    operation     in the format's words
    category      one of `categories.CATEGORIES`, which colours it
    lines         what its box says below the operation whatever else it says
    field_lines   what it says of fields, the most telling one first
    weight_lines  what it says of arrays
    takes         links from other nodes of the picture
    weights       arrays of the file that belong to it alone or are folded into it
    value         shape and type of its value, or ""
    macs          multiply-accumulates for one run; None where it is not known
    folded        whether it is drawn inside those that take it and has no box of its own
    title         what its box is headed; of inputs and outputs their names
    """

    key: str
    operation: str
    category: str
    lines: list[str] = field(default_factory=list)
    field_lines: list[str] = field(default_factory=list)
    weight_lines: list[str] = field(default_factory=list)
    takes: list[Link] = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)
    value: str = ""
    macs: int | None = None
    folded: bool = False
    title: str = ""


@dataclass(slots=True)
class Picture:
    """A graph.

    items   in the file's order
    facts   lines of the graph's own
    said    of `SAID`, what its boxes say when it opens
    """

    name: str
    items: list[Item]
    facts: list[tuple[str, str]] = field(default_factory=list)
    said: frozenset[str] = frozenset({FIELDS, WEIGHTS})

    def takers(self) -> list[list[int]]:
        """For each item, the items that take its value, each once."""
        found: list[dict[int, None]] = [{} for _ in self.items]
        for index, item in enumerate(self.items):
            for link in item.takes:
                found[link.source][index] = None
        return [list(indices) for indices in found]


@dataclass(frozen=True, slots=True)
class Details:
    """What the panel shows of one item beyond the picture."""

    doc: str
    fields: list[FieldRow]
    where: Where
    facts: list[tuple[str, str]] = field(default_factory=list)


class Model(Protocol):
    """An opened file whose graphs can be looked at."""

    @property
    def description(self) -> str:
        """What it is, for people: `UFF, binary`."""
        ...

    @property
    def opened(self) -> Any:
        """The model itself, or the name of its file: what `ufkit.diff` takes."""
        ...

    @property
    def inputs(self) -> Collection[str]:
        """Names of what is fed, whose shapes may be given."""
        ...

    @property
    def pictures(self) -> Sequence[Picture]: ...

    @property
    def findings(self) -> Sequence[Diagnostic]: ...

    @property
    def extent(self) -> str:
        """What findings are about, a sentence; "" where it is all that `ufkit check` knows."""
        ...

    def details(self, picture: int, item: int) -> Details: ...

    def places(self) -> Mapping[str, tuple[int, int]]:
        """Picture and item for the `node` of a finding's place."""
        ...

    def close(self) -> None: ...
