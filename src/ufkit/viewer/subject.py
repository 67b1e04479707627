"""One file that the viewer shows: a model, a dataset or a table, or what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ufkit.core.diag import Diagnostic, FileError, FormatError, Where
from ufkit.core.files import Source
from ufkit.core.render import size
from ufkit.ufw.store import data_file
from ufkit.viewer.content import Model
from ufkit.viewer.graph.groups import Scopes
from ufkit.viewer.openers import OPENERS, Wish
from ufkit.viewer.rules import FILE_CHANGED, NOTHING_TO_SEE
from ufkit.wire.sniff import identify

if TYPE_CHECKING:
    from ufkit.ufw.table import Table
    from ufkit.viewer.records.subject import DatasetSubject

_TABLES = ("caffe-table", "json")  # JSON that is no table is refused as such


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds: one of the three, or what is wrong with it."""

    description: str
    bytes: int
    model: Model | None = None
    dataset: DatasetSubject | None = None
    table: Table | None = None
    failed: tuple[Diagnostic, ...] = ()


class Subject:
    """One file. What it is, is told at once; it is opened when it is first asked about.

    What is damaged beyond opening has the findings that say why, and no model. Raises FileError
    where it cannot be read, FormatError (VWR001) for a kind without a page.
    """

    def __init__(self, number: int, path: str, wish: Wish) -> None:
        self.number = number
        self.path = path
        self.name = os.path.basename(os.path.abspath(path)) or path
        self.kind = ""
        self._wish = wish
        self._format = _dataset_format(path, wish)
        if self._format:
            return
        self._source = Source.open(data_file(path) if os.path.isdir(path) else path)
        self._stamp = self._source.stamp()
        self._kind = identify(self._source)
        self.kind = self._kind.name
        if self.kind not in OPENERS and self.kind not in _TABLES:
            message, hint = f"it is {self._kind.description}", self._kind.hint or None
            raise FormatError(NOTHING_TO_SEE.at(Where(path), message, hint=hint))

    @cached_property
    def contents(self) -> Contents:
        """What is in it. Raises FormatError for JSON that is no table of thresholds."""
        if self._format:
            return self._dataset()
        nbytes = self._source.size
        if self.kind in _TABLES:
            table = _table(self._source)
            count = f"calibration table, {len(table.thresholds)} thresholds"
            return Contents(count, nbytes, table=table)
        try:
            model = OPENERS[self.kind](self._source, self._kind, self._wish)
        except FormatError as error:
            return Contents(self._kind.description, nbytes, failed=error.diagnostics)
        return Contents(model.description, nbytes, model=model)

    def _dataset(self) -> Contents:
        from ufkit.viewer.records.subject import DatasetSubject

        wish = self._wish
        try:
            dataset = DatasetSubject(self.path, self._format, wish.labels, wish.images)
        except FormatError as error:
            return Contents(self._format, 0, failed=error.diagnostics)
        return Contents(dataset.records.description, dataset.records.nbytes, dataset=dataset)

    @property
    def model(self) -> Model | None:
        """The model that it is, if it is one."""
        return self.contents.model

    @property
    def dataset(self) -> DatasetSubject | None:
        """The dataset that it is, if it is one."""
        return self.contents.dataset

    @property
    def table(self) -> Table | None:
        """The table of thresholds that it is, if it is one."""
        return self.contents.table

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
            "description": self.contents.description,
            "bytes": size(self.contents.bytes) if self.contents.bytes else "",  # a folder has none
            "pages": self.pages,
            "pictures": [
                {"name": picture.name, "items": sum(not item.folded for item in picture.items)}
                for picture in pictures
            ],
        }

    def verify(self) -> None:
        """Raises FileError (VWR006) where the file was written to since it was opened; one that
        took its place, or was deleted, does no harm."""
        if self._format:
            return
        stamp = self._source.stamp()
        if stamp and self._stamp and stamp != self._stamp:
            message = f"it has {stamp[0]:,} bytes; when it was opened it had {self._stamp[0]:,}"
            raise FileError(FILE_CHANGED.at(Where(self.path), message))

    def findings(self) -> Sequence[Diagnostic]:
        """What `check` says of it, or why it could not be opened."""
        return self.model.findings if self.model else self.contents.failed

    def close(self) -> None:
        """Let go of the file."""
        if "contents" not in vars(self):
            return  # it was never opened
        if self.model:
            self.model.close()
        if self.dataset:
            self.dataset.close()


def _dataset_format(path: str, wish: Wish) -> str:
    """Of which format a dataset is; "" for a file of another kind, and for nothing at all."""
    if not wish.source and (not os.path.exists(path) or _is_model(path)):
        return ""
    from ufkit.viewer.records.subject import format_of

    return format_of(path, wish.source)


def _is_model(path: str) -> bool:
    return not os.path.isdir(path) and identify(Source.open(path)).name in OPENERS


def _table(source: Source) -> Table:
    from ufkit.ufw.table import open_table

    return open_table(source)
