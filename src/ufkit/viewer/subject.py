"""One file that the viewer shows: a model, a dataset or a table, or what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.core.files import Source
from ufkit.core.render import size
from ufkit.ufw.store import data_file
from ufkit.viewer.content import Model
from ufkit.viewer.groups import Scopes
from ufkit.viewer.openers import OPENERS, Wish
from ufkit.viewer.rules import NOTHING_TO_SEE
from ufkit.wire.sniff import identify

if TYPE_CHECKING:
    from ufkit.ufw.table import Table
    from ufkit.viewer.dataset_subject import DatasetSubject

_TABLES = ("caffe-table", "json")  # JSON that is no table is refused as such


class Subject:
    """One file. What is damaged beyond opening has the findings that say why, and no model.

    Raises FileError where it cannot be read, FormatError (VWR001) for a kind without a page,
    and for a table of thresholds that is none.
    """

    def __init__(self, number: int, path: str, wish: Wish) -> None:
        self.number = number
        self.path = path
        self.name = os.path.basename(os.path.abspath(path)) or path
        self.bytes = 0
        self.description = ""
        self.kind = ""
        self.model: Model | None = None
        self.dataset: DatasetSubject | None = None
        self.table: Table | None = None
        self.failed: tuple[Diagnostic, ...] = ()
        if format_ := _dataset_format(path, wish):
            self._open_dataset(format_, wish)
            return
        source = Source.open(data_file(self.path) if os.path.isdir(self.path) else self.path)
        self.bytes = source.size
        kind = identify(source)
        self.description = kind.description
        self.kind = kind.name
        if kind.name in _TABLES:
            self.table = _table(source)
            self.description = f"calibration table, {len(self.table.thresholds)} thresholds"
            return
        opener = OPENERS.get(kind.name)
        if opener is None:
            message = f"it is {kind.description}"
            raise FormatError(NOTHING_TO_SEE.at(Where(self.path), message, hint=kind.hint or None))
        try:
            self.model = opener(source, kind, wish)
            self.description = self.model.description
        except FormatError as error:
            self.failed = error.diagnostics

    def _open_dataset(self, format_: str, wish: Wish) -> None:
        from ufkit.viewer.dataset_subject import DatasetSubject

        self.description = format_
        try:
            self.dataset = DatasetSubject(self.path, format_, wish.labels, wish.images)
            self.description = self.dataset.records.description
            self.bytes = self.dataset.records.nbytes
        except FormatError as error:
            self.failed = error.diagnostics

    @cached_property
    def scopes(self) -> list[Scopes]:
        """The name scopes of each picture."""
        return [Scopes(picture) for picture in self.model.pictures] if self.model else []

    @cached_property
    def _takers(self) -> list[list[list[int]]]:
        return [picture.takers() for picture in self.model.pictures] if self.model else []

    def takers(self, picture: int) -> list[list[int]]:
        """For each item of a picture, the items that take its value."""
        return self._takers[picture]

    def owner(self, picture: int, item: int) -> int:
        """The first item that an array of a folded one is drawn in; the item itself if none."""
        return self._owners[picture].get(item, item)

    @cached_property
    def _owners(self) -> list[dict[int, int]]:
        found: list[dict[int, int]] = []
        for picture in self.model.pictures if self.model else []:
            index = {item.key: at for at, item in enumerate(picture.items) if item.folded}
            owners: dict[int, int] = {}
            for at, item in enumerate(picture.items):
                for weights in () if item.folded else item.weights:
                    if weights.name in index:
                        owners.setdefault(index[weights.name], at)
            found.append(owners)
        return found

    @property
    def pages(self) -> list[str]:
        """The pages there are for it, the first one to be opened."""
        if self.dataset:
            return ["records", "counts", "faults"]
        if self.table is not None:
            return ["thresholds"]
        return ["graph", "summary", "check"] if self.model else ["check"]

    def about(self) -> dict[str, Any]:
        """What the page is told of it first."""
        pictures = self.model.pictures if self.model else []
        return {
            "number": self.number,
            "name": self.name,
            "description": self.description,
            "bytes": size(self.bytes) if self.bytes else "",  # a folder has none
            "pages": self.pages,
            "pictures": [
                {"name": picture.name, "items": sum(not item.folded for item in picture.items)}
                for picture in pictures
            ],
        }

    def findings(self) -> Sequence[Diagnostic]:
        """What `check` says of it, or why it could not be opened."""
        return self.model.findings if self.model else self.failed

    def close(self) -> None:
        """Let go of the file."""
        if self.model:
            self.model.close()
        if self.dataset:
            self.dataset.close()


def _dataset_format(path: str, wish: Wish) -> str:
    """Of which format a dataset is; "" for a file of another kind, and for nothing at all."""
    if not wish.source and (not os.path.exists(path) or _is_model(path)):
        return ""
    from ufkit.viewer.dataset_subject import format_of

    return format_of(path, wish.source)


def _is_model(path: str) -> bool:
    return not os.path.isdir(path) and identify(Source.open(path)).name in OPENERS


def _table(source: Source) -> Table:
    from ufkit.ufw.table import open_table

    return open_table(source)
