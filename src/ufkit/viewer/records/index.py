"""What records are sought and counted by: read bit by bit, as far as somebody wants to know.

A million records take some 30 bytes each, and the bytes of their keys.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.core.diag import Diagnostic, UfkitError
from ufkit.viewer.records.collection import Collection, Outline

Numbers = NDArray[np.int32]

NO_LABEL = int(np.iinfo(np.int64).min)
_BLOCK = 2048  # records that are read between two looks at the clock
_KEPT = 4  # filters whose matches are kept


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter. All that is given has to hold.

    label            of the record or of one of its boxes; NO_LABEL for those without either
    key              a part of the key; capitals do not matter
    widths, heights  least and greatest, in pixels
    damaged          only records that cannot be read
    """

    label: int | None = None
    key: str = ""
    widths: tuple[int, int] | None = None
    heights: tuple[int, int] | None = None
    damaged: bool = False

    def __bool__(self) -> bool:
        return self != Wanted()


@dataclass(frozen=True, slots=True)
class _Block:
    """Columns of records that follow one another, from number `first` on.

    classes  each class of a record's boxes, once, and
    owners   which record of the block it is of
    keys     with a zero behind each, in small letters
    starts   where each key begins
    """

    first: int
    labels: NDArray[np.int64]
    widths: Numbers
    heights: Numbers
    damaged: NDArray[np.bool_]
    classes: NDArray[np.int64]
    owners: Numbers
    keys: bytes
    starts: NDArray[np.uint32]

    @classmethod
    def of(cls, first: int, rows: list[Outline]) -> _Block:
        keys = [row.key.lower() + b"\0" for row in rows]
        sets = [(label, at) for at, row in enumerate(rows) for label in row.classes]
        ends = np.cumsum([len(key) for key in keys])
        return cls(
            first,
            _labels([row.label for row in rows]),
            _sizes([row.width for row in rows]),
            _sizes([row.height for row in rows]),
            np.array([row.damaged for row in rows], np.bool_),
            _labels([label for label, _ in sets]),
            np.array([at for _, at in sets], np.int32),
            b"".join(keys),
            (ends - [len(key) for key in keys]).astype(np.uint32),
        )

    def matching(self, wanted: Wanted) -> Numbers:
        """The numbers of the records that a filter lets through."""
        keep = np.ones(len(self.labels), np.bool_)
        if wanted.damaged:
            keep &= self.damaged
        if wanted.label == NO_LABEL:
            keep &= (self.labels == NO_LABEL) & ~self.damaged
            keep[self.owners] = False
        elif wanted.label is not None:
            inside = np.zeros(len(keep), np.bool_)
            inside[self.owners[self.classes == wanted.label]] = True
            keep &= inside | (self.labels == wanted.label)
        for sizes, limits in ((self.widths, wanted.widths), (self.heights, wanted.heights)):
            if limits is not None:
                keep &= (sizes >= limits[0]) & (sizes <= limits[1]) & ~self.damaged
        if wanted.key:
            keep &= self._with_key(wanted.key)
        return (self.first + np.flatnonzero(keep)).astype(np.int32)

    def _with_key(self, part: str) -> NDArray[np.bool_]:
        sought = re.escape(part.encode("utf-8", "surrogateescape").lower())
        places = [found.start() for found in re.finditer(sought, self.keys)]
        keep = np.zeros(len(self.starts), np.bool_)
        keep[np.searchsorted(self.starts, places, "right") - 1] = True
        return keep


def _labels(values: list[int | None]) -> NDArray[np.int64]:
    """Labels; those that are beyond all sense are taken for the last number that there is."""
    far = (1 << 63) - 1
    kept = (NO_LABEL if value is None else max(-far, min(far, value)) for value in values)
    return np.fromiter(kept, np.int64, len(values))


def _sizes(values: list[int]) -> Numbers:
    return np.minimum(np.array(values, np.int64), np.iinfo(np.int32).max).astype(np.int32)


@dataclass(slots=True)
class Counts:
    """Sums over the records that were read.

    labels   how many records have each label; NO_LABEL stands for none
    classes  how many records have boxes of each class
    sizes    how many records have each width and height
    """

    labels: Counter[int] = field(default_factory=Counter)
    classes: Counter[int] = field(default_factory=Counter)
    sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    damaged: int = 0

    def copy(self) -> Counts:
        """These sums, which no block is added to any more."""
        return Counts(self.labels.copy(), self.classes.copy(), self.sizes.copy(), self.damaged)

    def add(self, block: _Block) -> None:
        """Count the records of a block, those that are damaged apart from all others."""
        well = ~block.damaged
        self.damaged += int(np.count_nonzero(block.damaged))
        self.labels.update(_counted(block.labels[well]))
        self.classes.update(_counted(block.classes))
        self.sizes.update(
            Counter(zip(*_lists(block.widths[well], block.heights[well]), strict=True))
        )


def _counted(values: NDArray[np.int64]) -> dict[int, int]:
    found, counts = np.unique(values, return_counts=True)
    return dict(zip(*_lists(found, counts), strict=True))


def _lists(*arrays: NDArray[Any]) -> list[list[int]]:
    return [array.tolist() for array in arrays]


class Index:
    """The records of a collection by label, size and key, as far as they were read.

    Nothing is read before `grow` is called, and then no longer than it may take. Once all records
    were read, or reading ended in an error, it is `complete`.
    """

    def __init__(self, collection: Collection) -> None:
        self.total = len(collection)
        self.read = 0
        self.broken: tuple[Diagnostic, ...] = ()
        self._collection = collection
        self._counts = Counts()
        self._rows: Iterator[Outline] | None = None
        self._blocks: list[_Block] = []
        self._found: OrderedDict[Wanted, _Matches] = OrderedDict()
        self._reading = threading.Lock()
        self._lock = threading.Lock()  # of what is known; never held for long

    @property
    def complete(self) -> bool:
        return self.read >= self.total or bool(self.broken)

    def grow(self, seconds: float) -> None:
        """Read on for so long."""
        with self._reading:
            until = time.monotonic() + seconds
            while not self.complete and time.monotonic() < until:
                self._read_block(until)

    def _read_block(self, until: float) -> None:
        if self._rows is None:
            self._rows = self._collection.outlines(0)
        rows = []
        try:
            for row in islice(self._rows, _BLOCK):
                rows.append(row)
                if not len(rows) % 16 and time.monotonic() >= until:
                    break
            else:
                if not rows:
                    self.total = self.read  # fewer than it told of
        except UfkitError as error:  # what came before the damage counts
            self.broken = error.diagnostics
        if rows:
            block = _Block.of(self.read, rows)
            with self._lock:
                self._blocks.append(block)
                self._counts.add(block)
                self.read += len(rows)

    def counts(self) -> Counts:
        """Sums over the records that were read: those of this moment."""
        with self._lock:
            return self._counts.copy()

    def matching(self, wanted: Wanted) -> Numbers:
        """The numbers of those records that were read and that a filter lets through, in order."""
        with self._lock:
            matches = self._found.pop(wanted, None) or _Matches()
            self._found[wanted] = matches
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
            return matches.upto(self._blocks, wanted)


@dataclass(slots=True)
class _Matches:
    """What a filter let through so far."""

    blocks: int = 0
    numbers: Numbers = field(default_factory=lambda: np.empty(0, np.int32))

    def upto(self, blocks: list[_Block], wanted: Wanted) -> Numbers:
        fresh = [block.matching(wanted) for block in blocks[self.blocks :]]
        if fresh:
            self.numbers = np.concatenate([self.numbers, *fresh])
            self.blocks = len(blocks)
        return self.numbers
