"""Datasets of any format that `ufkit convert` reads, as collections to look at."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ufkit.core.diag import FileError, FormatError, UfkitError, Where
from ufkit.core.files import Source
from ufkit.datasets.formats.format import FormatOptions
from ufkit.datasets.open import list_dataset, source_format
from ufkit.datasets.pictures import planar, where
from ufkit.datasets.rules import MISSING_IMAGE
from ufkit.datasets.sample import Array, Sample
from ufkit.ufw import image
from ufkit.viewer.records.collection import Entry, Finding, Outline, Progress, placed

_EVERY = 32  # samples between two reports of progress
_KINDS = {
    "coco": "COCO",
    "voc": "VOC",
    "yolo": "YOLO",
    "list": "image list",
    "parquet": "Parquet",
    "webdataset": "WebDataset",
    "npz": "NumPy stack",
    "classes": "folder of classes",
    "images": "folder of images",
    "lmdb": "LMDB",
}


class ListedSamples:
    """The samples of a dataset, read when they are looked at. Raises as `list_dataset`."""

    def __init__(self, path: str, name: str, options: FormatOptions) -> None:
        format_ = source_format(path, name)
        self._path = path
        self._listing = list_dataset(path, format_.name, options)
        self._reading = threading.Lock()  # readers of formats are made for one thread
        self.labels = options.labels or self._listing.labels
        self.nbytes = os.path.getsize(path) if os.path.isfile(path) else 0
        self.description = _KINDS.get(format_.name, format_.name)

    def __len__(self) -> int:
        return len(self._listing.samples)

    def entry(self, number: int) -> Entry:
        try:
            with self._reading:
                sample = self._listing.samples[number]
        except UfkitError as error:
            key = error.diagnostic.where.node
            return Entry(number, key, where=error.diagnostic.where, problem=error.diagnostics)
        place = Where(where(sample).file or self._path, sample.key)
        try:
            return _entry(number, sample, place)
        except UfkitError as error:
            problem = placed(error, place)
            return Entry(number, sample.key, where=place, problem=problem)

    def outlines(self, start: int) -> Iterator[Outline]:
        for number in range(start, len(self)):
            entry = self.entry(number)
            key = entry.key.encode("utf-8", "surrogateescape")
            classes = {box.label or 0 for box in entry.boxes or ()}
            yield Outline(key, entry.label, classes, *entry.size, bool(entry.problem))

    def findings(self, progress: Progress) -> Iterator[Finding]:
        """What was noticed when it was listed, then samples whose image cannot be had."""
        yield from ((None, finding) for finding in self._listing.findings)
        for number in range(len(self)):
            if not number % _EVERY:
                progress("checking", number, len(self))
            entry = self.entry(number)
            yield from ((number, problem) for problem in entry.problem)
            if entry.array is not None:
                try:
                    entry.array()
                except UfkitError as error:
                    yield from ((number, item) for item in placed(error, entry.where))

    def close(self) -> None:
        """Nothing is held open."""


def _entry(number: int, sample: Sample, place: Where) -> Entry:
    """Raises FormatError where the image is not there, or its header says nothing."""
    entry = Entry(
        number,
        sample.key,
        label=sample.label,
        values=sample.values,
        boxes=sample.boxes,
        where=place,
    )
    if isinstance(sample.image, (Path, bytes)):
        return _of_file(entry, sample, sample.image)
    array = np.asarray(sample.array) if sample.image is None else planar(sample.image)
    return replace(
        entry,
        shape=array.shape,
        dtype=array.dtype.name,
        kept="pixels" if sample.array is None else "elements",
        nbytes=array.nbytes,
        array=lambda: array,
    )


def _of_file(entry: Entry, sample: Sample, image_: Path | bytes) -> Entry:
    file = _bytes(image_, entry.where)
    head = image.header(file, entry.where)
    facts = []
    stated = sample.width, sample.height
    if all(stated) and stated != (head.width, head.height):
        facts.append(("size it states", f"{sample.width} × {sample.height}"))
    return replace(
        entry,
        shape=head.shape,
        dtype=head.dtype.name,
        kept=f"{head.format.upper()} file",
        nbytes=len(file),
        file=file,
        array=lambda: _decoded(file, entry.where),
        facts=facts,
    )


def _bytes(content: Path | bytes, place: Where) -> bytes | memoryview:
    """The image file; one on the disk is mapped, so that its header is read alone where that is
    all that is wanted. Raises FormatError (DAT101)."""
    if isinstance(content, bytes):
        return content
    try:
        source = Source.open(content)
        return source.view(0, source.size)
    except FileError as error:
        message = f"{content.name} {error.diagnostic.message}"
        raise FormatError(MISSING_IMAGE.at(place, message)) from error


def _decoded(file: bytes | memoryview, place: Where) -> Array:
    return planar(image.decode(file, where=place))
