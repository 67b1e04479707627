"""A dataset that the viewer was asked to show: its records and what is made from them."""

from __future__ import annotations

import os
from typing import Any

from ufkit.core.diag import FormatError
from ufkit.core.render import size
from ufkit.datasets.formats.format import FormatOptions
from ufkit.datasets.labels import Classes, read_labels
from ufkit.datasets.open import source_format
from ufkit.viewer.records.checking import Checking
from ufkit.viewer.records.collection import Collection
from ufkit.viewer.records.index import Index
from ufkit.viewer.records.thumbnails import Thumbnails

_LMDB = "lmdb"
_MOST_CLASSES = 10_000


class DatasetSubject:
    """One dataset, opened: see `format_of` for which there are.

    `labels` is the path of a label map, in place of the classes that the dataset names. Raises
    FileError, FormatError as `open_dataset`, `list_dataset` and `read_labels`.
    """

    def __init__(self, path: str, format_: str, labels: str = "", images: str = "") -> None:
        self.records = _opened(path, format_, labels, images)
        self.classes = Classes(self.records.labels)
        self.index = Index(self.records)
        self.thumbnails = Thumbnails(self.records)
        self.checking = Checking(self.records.findings)

    def about(self) -> dict[str, Any]:
        """What the pages of a dataset are told first."""
        return {
            "records": len(self.records),
            "description": self.records.description,
            "bytes": size(self.records.nbytes) if self.records.nbytes else "",
            "classes": [
                {"label": item.label, "name": item.shown}
                for item in self.classes.labels[:_MOST_CLASSES]
            ],
        }

    def close(self) -> None:
        """End what goes on in the background, and let go of the file."""
        self.checking.cancel()
        self.records.close()


def format_of(path: str, name: str = "") -> str:
    """Of which format a dataset is, by its content unless it is named; "" for none.

    Raises FileError where it cannot be read, RequestError for a name of no format (DAT001).
    """
    try:
        return source_format(path, name).name
    except FormatError:
        return ""


def _opened(path: str, format_: str, labels: str, images: str) -> Collection:
    if format_ == _LMDB:
        from ufkit.viewer.records.lmdb import LmdbRecords

        return LmdbRecords(path, labels)
    from pathlib import Path

    from ufkit.viewer.records.listed import ListedSamples

    options = FormatOptions(
        images=Path(images) if images else None, labels=read_labels(labels) if labels else ()
    )
    return ListedSamples(os.fspath(path), format_, options)
