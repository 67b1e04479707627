"""LMDBs of Datum and AnnotatedDatum records, as collections to look at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ufkit.core.diag import FormatError, UfkitError
from ufkit.datasets.formats.database import told
from ufkit.datasets.labels import label_map
from ufkit.ufw import image
from ufkit.ufw.annotations import AnnotatedDatum
from ufkit.ufw.dataset import Dataset, open_dataset
from ufkit.ufw.dataset_check import check_dataset
from ufkit.ufw.datum import Datum
from ufkit.ufw.io import open_labels
from ufkit.ufw.keys import shown_key
from ufkit.ufw.prototxt import Label
from ufkit.viewer.records.collection import Entry, Finding, Outline, Progress, picture_size, placed

_STYLES = {"ufw": "shape (UFW)", "caffe": "channels, height, width (Caffe)"}


class LmdbRecords:
    """The records of a database. `labels` is the path of a label map; "" for one in its folder.

    Raises as `open_dataset` and `open_labels`.
    """

    def __init__(self, path: str, labels: str = "") -> None:
        self._dataset: Dataset = open_dataset(path)
        beside = label_map(path, single_file=os.path.isfile(path))
        name = labels or (os.fspath(beside) if beside.is_file() else "")
        self._map = open_labels(name) if name else None
        self.labels: Sequence[Label] = self._map.labels if self._map else ()
        self.nbytes = self._dataset.nbytes

    @property
    def description(self) -> str:
        kind = self._dataset.kind
        return f"LMDB of {'Datum and AnnotatedDatum' if kind == 'mixed' else kind or 'nothing'}"

    def __len__(self) -> int:
        return len(self._dataset)

    def entry(self, number: int) -> Entry:
        try:
            key = self._dataset.key(number)
            ((_, value),) = self._dataset.raw(number, number + 1)
        except FormatError as error:  # the pages of the database are damaged
            return Entry(number, "", problem=error.diagnostics)
        try:
            return self._entry(number, key, value)
        except UfkitError as error:
            where = self._dataset.where(key)
            problem = placed(error, where)
            return Entry(number, shown_key(key), nbytes=len(value), where=where, problem=problem)

    def _entry(self, number: int, key: bytes, value: memoryview) -> Entry:
        record = self._dataset.read(key, value)
        datum = record.datum
        label, boxes = told(record)
        shape: tuple[int, ...]
        facts = [("record", type(record).__name__)]
        if datum.encoded:
            head = image.header(datum.data, datum.where)
            shape, dtype, kept = head.shape, head.dtype, f"{head.format.upper()} file"
            if datum.stated_shape not in ((), shape):
                facts.append(("sizes it states", " × ".join(map(str, datum.stated_shape))))
        else:
            shape, dtype = datum.shape, datum.dtype
            kept = f"elements in {datum.storage}" if datum.storage else "no elements"
            if datum.style:
                facts.append(("sizes in", _STYLES[datum.style]))
        if isinstance(record, AnnotatedDatum) and record.type:
            facts.append(("type", record.type))
        return Entry(
            number,
            shown_key(key),
            shape,
            dtype.name,
            kept,
            len(value),
            label=label,
            boxes=boxes,
            file=datum.data if datum.encoded else None,
            array=datum.array,
            where=self._dataset.where(key),
            facts=facts,
        )

    def outlines(self, start: int) -> Iterator[Outline]:
        for key, value in self._dataset.raw(start):
            try:
                record = self._dataset.read(key, value)
                width, height = picture_size(record.datum.shape)
                if isinstance(record, Datum):
                    yield Outline(key, record.label, (), width, height, False)
                    continue
                label, boxes = told(record)
                classes = {box.label or 0 for box in boxes or ()}
                yield Outline(key, label, classes, width, height, False)
            except UfkitError:
                yield Outline(key, None, (), 0, 0, True)

    def findings(self, progress: Progress) -> Iterator[Finding]:
        for finding in check_dataset(self._dataset.path, self._map, progress):
            yield self._number(finding.where.node), finding

    def _number(self, key: str) -> int | None:
        if not key:
            return None
        with suppress(KeyError, FormatError):
            return self._dataset.index_of(key)
        return None

    def close(self) -> None:
        self._dataset.close()
