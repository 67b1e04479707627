"""Checks of datasets: what would stop a reader, or spoil what is made with the records."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import isfinite

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError, Rule, Where
from ufkit.core.files import PathLike, Source
from ufkit.ufw.annotations import AnnotatedDatum, Box, Record
from ufkit.ufw.dataset import Dataset
from ufkit.ufw.datum import Datum
from ufkit.ufw.keys import shown_key
from ufkit.ufw.prototxt import LabelMap
from ufkit.ufw.rules import (
    ALL_ZERO,
    BOX_EMPTY,
    BOX_OUTSIDE,
    DAMAGED_DATABASE,
    DIFFERENT_RECORDS,
    GREY_AMONG_COLOUR,
    MIXED_RECORDS,
    NO_LABELS,
    RECORD_NOT_FINITE,
    SAME_CONTENT,
    STATED_SIZES,
    UNKNOWN_LABEL,
)
from ufkit.ufw.store import data_file, read_meta, structure

Progress = Callable[[str, int, int], None]

_MOST = 1000  # findings of one rule that are told one by one
_SHAPES = 4  # shapes that one message names
_EVERY = 256  # records between two reports of progress


def check_dataset(
    path: PathLike, labels: LabelMap | None = None, progress: Progress | None = None
) -> Iterator[Diagnostic]:
    """All findings in a dataset; every record is read for it, images are decoded.

    With a label map, whether it has the classes. The pages of the database are looked at first:
    where they are damaged, nothing else is, as LMDB would trust them.
    Raises as `open_dataset`.
    """
    damage = list(_damage(data_file(path)))
    yield from damage
    if not damage:
        with Dataset(path) as dataset:
            yield from _bounded(_Walk(dataset, labels).findings(progress))


def _damage(name: str) -> Iterator[Diagnostic]:
    """What is wrong with the file: cut short, or else in its pages."""
    try:
        read_meta(Source.open(name))
    except FormatError as error:
        if error.diagnostic.rule is not DAMAGED_DATABASE:
            raise
        yield from error.diagnostics
        return
    for problem in structure(name) or ():
        yield DAMAGED_DATABASE.at(Where(name), problem)


def _bounded(findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Findings, and of those that are too many of a kind how many more there are."""
    counts: Counter[Rule] = Counter()
    last: dict[Rule, Diagnostic] = {}
    for finding in findings:
        counts[finding.rule] += 1
        if counts[finding.rule] <= _MOST:
            yield finding
        else:
            last[finding.rule] = finding
    for rule, finding in last.items():
        more = counts[rule] - _MOST
        yield rule.at(finding.where, f"and {more:,} more, of which this is the last")


class _Walk:
    """One pass over a dataset, and what has to be seen of all records to be told."""

    def __init__(self, dataset: Dataset, labels: LabelMap | None) -> None:
        self.dataset = dataset
        self.known = None if labels is None else {label.label for label in labels.labels}
        self.kinds = _Seen()
        self.channels = _Seen()
        self.layouts = _Seen()
        self.unknown = _Seen()
        self.unlabelled = _Seen()
        self.hashes = array("q")  # of what each record holds, by rank

    def findings(self, progress: Progress | None) -> Iterator[Diagnostic]:
        total = len(self.dataset)
        for rank, (key, data) in enumerate(self.dataset.raw()):
            if progress is not None and not rank % _EVERY:
                progress("checking", rank, total)
            try:
                record = self.dataset.read(key, data)
                self.hashes.append(hash(record.datum.content))
                yield from self._record(key, record)
            except FormatError as error:
                if len(self.hashes) == rank:
                    self.hashes.append(hash(data))
                for item in error.diagnostics:
                    where = item.where
                    place = Where(self.dataset.path, shown_key(key), where.field, where.start)
                    yield item.rule.at(place, item.message, hint=item.hint)
        yield from self._in_all()
        yield from self._twice()

    # -- one record --------------------------------------------------------------------------

    def _record(self, key: bytes, record: Record) -> Iterator[Diagnostic]:
        where = self.dataset.where(key)
        self.kinds.add(type(record).__name__, key)
        if isinstance(record, AnnotatedDatum):
            yield from self._boxes(key, record)
        datum = record.datum
        if datum.label is None:
            self.unlabelled.add("", key)
        elif isinstance(record, Datum):
            self._label(datum.label, key)
        shape = datum.shape
        if datum.encoded and datum.stated_shape not in ((), shape):
            message = f"the image is {list(shape)}; the record states {list(datum.stated_shape)}"
            yield STATED_SIZES.at(where, message)
        values = datum.array()
        if len(shape) > 2:
            self.channels.add(shape[-3], key)
        sizes = shape[:-3] + shape[-2:] if len(shape) > 2 else shape
        self.layouts.add((values.dtype.name, sizes), key)
        if not values.any():
            message = f"all {values.size} elements are 0" if values.size else "there is no element"
            yield ALL_ZERO.at(where, message)
        elif values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
            odd = values.size - int(np.count_nonzero(finite))
            yield RECORD_NOT_FINITE.at(where, f"{odd} of {values.size} elements are not finite")

    def _boxes(self, key: bytes, record: AnnotatedDatum) -> Iterator[Diagnostic]:
        boxes, where = record.boxes, self.dataset.where(key)
        for box in boxes:
            if box.label is not None:
                self._label(box.label, key)
        for rule, wrong in ((BOX_EMPTY, _is_empty), (BOX_OUTSIDE, _is_outside)):
            if found := [box for box in boxes if wrong(box)]:
                box = found[0]
                corners = ", ".join(
                    f"{corner:g}" for corner in (box.xmin, box.ymin, box.xmax, box.ymax)
                )
                message = f"{len(found)} of {len(boxes)} boxes, such as [{corners}]"
                yield rule.at(where, f"{message} of class {box.label}")

    def _label(self, label: int, key: bytes) -> None:
        if self.known is not None and label not in self.known:
            self.unknown.add(label, key)

    # -- all of them -------------------------------------------------------------------------

    def _in_all(self) -> Iterator[Diagnostic]:
        where = self.dataset.where
        if len(self.kinds) > 1:
            yield MIXED_RECORDS.at(where(self.kinds.rarest()), self.kinds.told())
        if len(self.channels) > 1:
            message = f"channels: {self.channels.told()}"
            yield GREY_AMONG_COLOUR.at(where(self.channels.rarest()), message)
        if len(self.layouts) > 1:
            message = f"{len(self.layouts)} of them: {self.layouts.told(_layout)}"
            yield DIFFERENT_RECORDS.at(where(self.layouts.rarest()), message)
        for label, count in self.unknown.counts.items():
            message = f"the label {label}, used {_times(count)}, has no entry"
            yield UNKNOWN_LABEL.at(where(self.unknown.first[label]), message)
        if count := self.unlabelled.counts[""]:
            message = f"{count:,} of {len(self.dataset):,} records have none"
            yield NO_LABELS.at(where(self.unlabelled.first[""]), message)

    def _twice(self) -> Iterator[Diagnostic]:
        """Records that hold what one before them does, told by hashes and then by content."""
        hashes = np.array(self.hashes, np.int64)
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        for at in same:
            first, second = int(order[at]), int(order[at + 1])
            key, record = self.dataset.key(second), self.dataset[second]
            other = self.dataset[first]
            if record.datum.content == other.datum.content:
                message = f"it holds the same as {shown_key(self.dataset.key(first))!r}"
                if record.datum.label != other.datum.label:
                    message += f", with label {record.datum.label} in place of {other.datum.label}"
                yield SAME_CONTENT.at(self.dataset.where(key), message)


class _Seen:
    """Values, how often each came, and the first key it came with."""

    def __init__(self) -> None:
        self.counts: Counter[object] = Counter()
        self.first: dict[object, bytes] = {}

    def add(self, value: object, key: bytes) -> None:
        self.counts[value] += 1
        self.first.setdefault(value, key)

    def __len__(self) -> int:
        return len(self.counts)

    def rarest(self) -> bytes:
        """The first key with the value that came least often."""
        return self.first[self.counts.most_common()[-1][0]]

    def told(self, name: Callable[..., str] = str) -> str:
        """The most common values with their counts."""
        parts = [
            f"{name(value)} {_times(count)}" for value, count in self.counts.most_common(_SHAPES)
        ]
        more = len(self.counts) - len(parts)
        return ", ".join([*parts, *([f"{more} more"] if more else [])])


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _layout(value: tuple[str, tuple[int, ...]]) -> str:
    dtype, sizes = value
    return f"{dtype} {' x '.join(map(str, sizes)) or 'scalar'}"


def _is_empty(box: Box) -> bool:
    return not (box.xmin < box.xmax and box.ymin < box.ymax)  # NaN included


def _is_outside(box: Box) -> bool:
    corners = box.xmin, box.ymin, box.xmax, box.ymax
    return not all(isfinite(corner) and 0 <= corner <= 1 for corner in corners)
