"""What a dataset has to say of itself, whatever its format: the same few classes for all pages.

A module for each way of keeping records (`lmdb`, `listed`) makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from ufkit.core.diag import Diagnostic, UfkitError, Where
from ufkit.ufw.annotations import Box
from ufkit.ufw.prototxt import Label

Array = Any  # numpy.ndarray
Progress = Callable[[str, int, int], None]
Finding = tuple[int | None, Diagnostic]  # with the number of the record, where it concerns one


@dataclass(frozen=True, slots=True)
class Entry:
    """A record, told without decoding its image.

    number   its place in the dataset, from 0
    shape    sizes of its array: channels, height, width of an image
    kept     how it is kept: `JPEG file`, `elements in float_data`
    nbytes   of the record, or of the image's file
    values   several labels, or labels with fractions
    boxes    None where the dataset has none
    file     the bytes of the image's file; None where the record has elements
    array    gives the elements, of `shape`; raises UfkitError where they cannot be had
    problem  why no more is known of it; empty where all is well
    """

    number: int
    key: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    kept: str = ""
    nbytes: int = 0
    label: int | None = None
    values: tuple[float, ...] = ()
    boxes: tuple[Box, ...] | None = None
    file: bytes | memoryview | None = None
    array: Callable[[], Array] | None = None
    where: Where = field(default_factory=Where)
    facts: list[tuple[str, str]] = field(default_factory=list)
    problem: tuple[Diagnostic, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of what is seen of it; zeros where nothing is."""
        if self.problem:
            return 0, 0
        return picture_size(self.shape)


def picture_size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Width and height of an array that is looked at plane by plane; of one axis it is one row."""
    if len(shape) < 2:
        return (shape[0] if shape else 1), 1
    return shape[-1], shape[-2]


class Outline(NamedTuple):
    """What records are sought and counted by. `label` is None without one, sizes are 0 where the
    record is damaged."""

    key: bytes
    label: int | None
    classes: Iterable[int]
    width: int
    height: int
    damaged: bool


class Collection(Protocol):
    """An opened dataset. All may be called by several threads."""

    @property
    def description(self) -> str:
        """What it is, for people: `LMDB of Datum`."""
        ...

    @property
    def nbytes(self) -> int:
        """Of the file; 0 for a folder."""
        ...

    @property
    def labels(self) -> Sequence[Label]:
        """The classes it names; empty where it names none."""
        ...

    def __len__(self) -> int: ...

    def entry(self, number: int) -> Entry:
        """A record; one that is damaged has a `problem`."""
        ...

    def outlines(self, start: int) -> Iterator[Outline]:
        """All records from one on, in their order."""
        ...

    def findings(self, progress: Progress) -> Iterator[Finding]:
        """What is to be found fault with. All records are read for it, images decoded."""
        ...

    def close(self) -> None: ...


def placed(error: UfkitError, where: Where) -> tuple[Diagnostic, ...]:
    """What an error says, at the place of a record."""
    return tuple(
        replace(item, where=replace(where, field=item.where.field)) for item in error.diagnostics
    )
