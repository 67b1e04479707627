"""What is in a dataset, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ufkit.core.diag import FormatError
from ufkit.ufw import image
from ufkit.ufw.annotations import Record
from ufkit.ufw.dataset import Dataset
from ufkit.ufw.datum import Datum
from ufkit.ufw.keys import OWN, STYLES, shown_key

_LOOKED_AT = 10_000  # records, where a dataset has more
_DECODED = 64  # of these, records whose values are looked at
_MOST = 20  # shapes that are kept apart


@dataclass(slots=True)
class DatasetSummary:
    """A dataset. Counts are of the records that were looked at: all, or of a large dataset
    `looked_at` of them, evenly spread.

    kind           `Datum`, `AnnotatedDatum`, `mixed`, or "" without records
    key_style      `caffe`, `ufwio` or `own`, by the first key
    shapes         how many records have each shape; encoded images as their headers tell it
    storages       how many have their elements in `data` or `float_data`, or encoded, as what
    labels         how many have each label of a Datum; the key None for none
    boxes          how many boxes there are of each class
    record_bytes   least, mean and greatest size of a record
    values         least and greatest element of `sampled` records; None without any, as of images
                   that are encoded: nothing is decoded here
    damaged        how many cannot be read; `check` says why
    """

    file: str
    bytes: int
    records: int
    kind: str
    first_key: str = ""
    last_key: str = ""
    key_style: str = OWN
    looked_at: int = 0
    shapes: Counter[tuple[int, ...]] = field(default_factory=Counter)
    dtypes: Counter[str] = field(default_factory=Counter)
    storages: Counter[str] = field(default_factory=Counter)
    labels: Counter[int | None] = field(default_factory=Counter)
    boxes: Counter[int | None] = field(default_factory=Counter)
    record_bytes: tuple[int, float, int] | None = None
    values: tuple[float, float] | None = None
    sampled: int = 0
    damaged: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON: shapes, labels and classes as rows, the most common first."""
        data: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        data["shapes"] = [
            {"shape": list(shape), "records": count}
            for shape, count in self.shapes.most_common(_MOST)
        ]
        data["different_shapes"] = len(self.shapes)
        for name, of in (("labels", "records"), ("boxes", "boxes")):
            counts: Counter[int | None] = getattr(self, name)
            data[name] = [{"label": label, of: count} for label, count in in_order(counts)]
        return data


def in_order(counts: Counter[int | None]) -> list[tuple[int | None, int]]:
    """Counts by label, None first."""
    return sorted(counts.items(), key=lambda item: (item[0] is not None, item[0] or 0))


def summarize_dataset(dataset: Dataset, *, most: int = _LOOKED_AT) -> DatasetSummary:
    """Numbers of a dataset; of more than `most` records only so many are looked at.

    Raises FileError where the database cannot be read.
    """
    summary = DatasetSummary(dataset.path, dataset.nbytes, len(dataset), dataset.kind)
    if not len(dataset):
        return summary
    first, last = dataset.key(0), dataset.key(-1)
    summary.first_key, summary.last_key = shown_key(first), shown_key(last)
    numbered = (name for name, style in STYLES.items() if style.index(first) is not None)
    summary.key_style = next(numbered, OWN)
    sizes = []
    decoded = max(1, min(len(dataset), most) // _DECODED)
    for key, data in _chosen(dataset, most):
        sizes.append(len(data))
        try:
            _add(summary, dataset.read(key, data), sample=summary.looked_at % decoded == 0)
        except FormatError:
            summary.damaged += 1
        summary.looked_at += 1
    summary.record_bytes = min(sizes), sum(sizes) / len(sizes), max(sizes)
    return summary


def _chosen(dataset: Dataset, most: int) -> Iterator[tuple[bytes, memoryview]]:
    if len(dataset) <= most:
        yield from dataset.raw()
        return
    for place in range(most):
        rank = place * len(dataset) // most
        yield from dataset.raw(rank, rank + 1)


def _add(summary: DatasetSummary, record: Record, *, sample: bool) -> None:
    datum = record.datum
    summary.shapes[datum.shape] += 1
    summary.dtypes[datum.dtype.name] += 1
    summary.storages[_storage(datum)] += 1
    summary.labels[datum.label] += 1
    summary.boxes.update(box.label for box in record.boxes)
    if not sample or datum.encoded:
        return
    values = datum.array()
    if values.size:
        low, high = float(np.min(values)), float(np.max(values))
        before = summary.values or (low, high)
        summary.values = min(before[0], low), max(before[1], high)
        summary.sampled += 1


def _storage(datum: Datum) -> str:
    return image.header(datum.data).format if datum.encoded else datum.storage
