"""LMDB databases of Datum or AnnotatedDatum, as Caffe, SSD and UFW train and calibrate with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from ufkit.core.diag import FormatError, RequestError, Where
from ufkit.core.files import Source
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.labels import label_map, read_labels
from ufkit.datasets.pictures import where
from ufkit.datasets.report import Report
from ufkit.datasets.rules import BAD_ANNOTATION, CANNOT_HOLD, SIZES_DIFFER
from ufkit.datasets.sample import Box, Lazy, Listing, Sample
from ufkit.ufw.annotations import AnnotatedDatum, Record
from ufkit.ufw.dataset import Dataset, open_dataset
from ufkit.ufw.datum import Datum
from ufkit.ufw.io import save_labels
from ufkit.ufw.keys import OWN, name_of, shown_key
from ufkit.ufw.store import DATA
from ufkit.ufw.writer import DatasetWriter, create_dataset
from ufkit.wire.sniff import LMDB, identify

_NO_LABEL = -1  # of the Datum, where the classes are those of boxes


def _sniff(path: Path) -> bool:
    file = path / DATA if path.is_dir() else path
    if not file.is_file():
        return False
    source = Source.open(file)
    try:
        return identify(source) is LMDB
    finally:
        source.close()


def _read(path: Path, options: FormatOptions) -> Listing:
    records = open_dataset(path)
    values = open_dataset(options.label_db) if options.label_db else None

    def load(at: int) -> Sample:
        ((key, record),) = records.items(at, at + 1)
        sample = _sample(shown_key(key), record)
        return sample if values is None else replace(sample, values=_values(values, sample))

    boxes = records.kind != Datum.__name__ and len(records) > 0 and _has_boxes(records[0])
    listing = Listing(Lazy(range(len(records)), load), options.labels, boxes=boxes)
    listing.find = lambda key: _sample(key, records[key]) if key and key in records else None
    return listing


def _has_boxes(record: Record) -> bool:
    return isinstance(record, AnnotatedDatum) and (record.type != "" or bool(record.boxes))


def told(record: Record) -> tuple[int | None, tuple[Box, ...] | None]:
    """The label and the boxes of a record, as its sample has them."""
    label = record.label
    if not _has_boxes(record):
        return label, None
    # a group without a label is read as of label 0, by SSD too
    boxes = tuple(replace(box, label=box.label or 0) for box in record.boxes)
    return (None if label == _NO_LABEL else label), boxes


def _sample(key: str, record: Record) -> Sample:
    datum = record.datum
    label, boxes = told(record)
    if datum.encoded:
        return Sample(key, bytes(datum.data), label=label, boxes=boxes)
    return Sample(key, array=datum.array(), label=label, boxes=boxes)


def _values(labels: Dataset, sample: Sample) -> tuple[float, ...]:
    """What the database of labels has under the key."""
    if sample.key not in labels:
        message = f"{labels.path} has no record of that key"
        raise FormatError(BAD_ANNOTATION.at(where(sample), message))
    return tuple(map(float, labels[sample.key].datum.array().ravel()))


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    mode = "append" if options.mode == "resume" else options.mode
    single = path.suffix.lower() == ".mdb"
    beside = label_map(path, single_file=single)
    _refuse_other_classes(beside, listing, options)
    with ExitStack() as stack:
        out = stack.enter_context(
            create_dataset(path, mode=mode, keys=options.keys, single_file=single)
        )
        labels = None
        if options.label_db:
            labels = stack.enter_context(create_dataset(options.label_db, mode=mode, keys=OWN))
            if len(labels) != len(out):
                message = f"it has {len(labels):,} records, {path} has {len(out):,}"
                raise RequestError(CANNOT_HOLD.at(Where(os.fspath(options.label_db)), message))
        _put_all(out, labels, listing, samples, report)
        report.require_some()  # within the block: a new database is not left behind empty
    if listing.labels:
        save_labels(listing.labels, beside)


def _last(path: Path) -> tuple[int, str]:
    records = open_dataset(path)
    count = len(records)
    return count, name_of(shown_key(records.key(count - 1))) if count else ""


def _refuse_other_classes(beside: Path, listing: Listing, options: FormatOptions) -> None:
    """Raises RequestError (DAT003) where a label would mean two classes."""
    if options.mode in ("append", "resume") and beside.is_file() and listing.labels:
        there = {item.label: item.shown for item in read_labels(beside)}
        for item in listing.labels:
            if there.get(item.label, item.shown) != item.shown:
                message = f"label {item.label} is {item.shown!r}, there it is {there[item.label]!r}"
                hint = f"number them as there: --labels {beside}"
                raise RequestError(CANNOT_HOLD.at(Where(os.fspath(beside)), message, hint=hint))


def _put_all(
    out: DatasetWriter,
    labels: DatasetWriter | None,
    listing: Listing,
    samples: Iterator[Sample],
    report: Report,
) -> None:
    width = 0  # how many labels each record of the other database has
    for sample in samples:
        with report.one():
            values = _checked_values(sample, width, several=labels is not None)
            key = out.put(_record(sample, boxes=listing.boxes), name_of(sample.key))
            if labels is not None:
                width = len(values)
                array = np.array(values, np.float32).reshape(-1, 1, 1)
                labels.put(Datum.of(array, style="caffe"), key)


def _checked_values(sample: Sample, width: int, *, several: bool) -> tuple[float, ...]:
    """What goes to the database of labels: as many as those before had.

    Raises RequestError (DAT003) where there is none; FormatError (DAT104) for another number.
    """
    if not several:
        if sample.values:
            shown = " ".join(f"{value:g}" for value in sample.values[:8])
            hint = "records hold one integer: write the labels to a second database, --label-db"
            message = f"{sample.key} has the labels {shown}"
            raise RequestError(CANNOT_HOLD.at(where(sample), message, hint=hint))
        return ()
    values = sample.values or (() if sample.label is None else (float(sample.label),))
    if not values or (width and len(values) != width):
        message = f"it has {len(values)} labels" + (f", the first one {width}" if width else "")
        raise FormatError(SIZES_DIFFER.at(where(sample), message, hint=""))
    return values


def _record(sample: Sample, *, boxes: bool) -> Record:
    label = _NO_LABEL if boxes and sample.label is None else sample.label
    if isinstance(sample.image, bytes):
        datum = Datum.of_image(sample.image, label)
    else:
        array = sample.array
        assert array is not None
        plain = array.ndim == 3 and array.dtype in (np.uint8, np.float32)
        datum = Datum.of(array, label, style="caffe" if plain else "ufw")
    return AnnotatedDatum.of(datum, sample.boxes or ()) if boxes else datum


FORMAT = Format(
    name="lmdb",
    doc="LMDB: a database of Datum or, with boxes, AnnotatedDatum",
    sniff=_sniff,
    read=_read,
    write=_write,
    suffixes=(".lmdb", ".mdb"),
    arrays=True,
    boxes=True,
    label=True,
    direct=True,
    last=_last,
    reads=("labels", "label_db"),
    writes=("mode", "keys", "label_db"),
)
