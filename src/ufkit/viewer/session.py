"""What the viewer was asked to show: files, opened by kind, and what belongs to several of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.core.files import Source
from ufkit.core.render import size
from ufkit.ufw.store import data_file
from ufkit.viewer.content import Model
from ufkit.viewer.groups import Scopes
from ufkit.viewer.rules import NOTHING_TO_SEE
from ufkit.wire.sniff import Kind, identify

if TYPE_CHECKING:
    from ufkit.uff.inputs import GivenShapes
    from ufkit.ufw.net import Net
    from ufkit.ufw.table import Table
    from ufkit.viewer.quantisation import Quantisation


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user said beside the names of the files.

    shapes    shapes of inputs by name, where files do not record them
    weights   the net with the weights of a prototxt
    table     the table of thresholds that a net of integers was made with
    """

    shapes: GivenShapes = field(default_factory=dict)
    weights: Net | None = None
    table: Table | None = None


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
        self.model: Model | None = None
        self.table: Table | None = None
        self.failed: tuple[Diagnostic, ...] = ()
        source = Source.open(data_file(self.path) if os.path.isdir(self.path) else self.path)
        self.bytes = source.size
        kind = identify(source)
        self.description = kind.description
        self.kind = kind.name
        if kind.name in _TABLES:
            self.table = _table(source)
            self.description = f"calibration table, {len(self.table.thresholds)} thresholds"
            return
        opener = _OPENERS.get(kind.name)
        if opener is None:
            message = f"it is {kind.description}"
            raise FormatError(NOTHING_TO_SEE.at(Where(self.path), message, hint=kind.hint or None))
        try:
            self.model = opener(source, kind, wish)
            self.description = self.model.description
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
            "bytes": size(self.bytes),
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


class Session:
    """The files named on the command line; nothing else can be reached."""

    def __init__(self, paths: Sequence[str], wish: Wish | None = None) -> None:
        self._wish = wish or Wish()
        self.subjects = [Subject(at, path, self._wish) for at, path in enumerate(paths)]

    def about(self) -> dict[str, Any]:
        """What the page is told first."""
        return {
            "files": [subject.about() for subject in self.subjects],
            "pages": self.pages,
        }

    @property
    def pages(self) -> list[str]:
        """The pages about both files, the first one to be opened."""
        quantised = ["quant"] if self.quantisation else []
        return [*quantised, "compare"] if self.compared else quantised

    @property
    def compared(self) -> bool:
        """Whether there are two models, to be held against each other."""
        return [bool(subject.model) for subject in self.subjects] == [True, True]

    @cached_property
    def quantisation(self) -> Quantisation | None:
        """A float net beside the same in integers, or its table; None without such a pair."""
        if not all(subject.kind.startswith("caffe") or subject.table for subject in self.subjects):
            return None
        from ufkit.viewer.quantisation import quantisation_of

        return quantisation_of(self.subjects, self._wish.table)

    def __iter__(self) -> Iterator[Subject]:
        return iter(self.subjects)

    def close(self) -> None:
        """Let go of all files."""
        for subject in self.subjects:
            subject.close()


def _table(source: Source) -> Table:
    from ufkit.ufw.table import open_table

    return open_table(source)


def _uff(source: Source, kind: Kind, wish: Wish) -> Model:
    from ufkit.uff.io import open as open_uff
    from ufkit.viewer.uff_model import UffModel

    return UffModel(open_uff(source), kind.name, wish.shapes)


def _net(source: Source, kind: Kind, wish: Wish) -> Model:
    from ufkit.ufw.io import open_net
    from ufkit.viewer.net_model import NetModel

    return NetModel(open_net(source), kind.name, shapes=wish.shapes)


def _prototxt(source: Source, kind: Kind, wish: Wish) -> Model:
    from ufkit.ufw.io import open_prototxt
    from ufkit.viewer.net_model import NetModel

    return NetModel(open_prototxt(source), kind.name, weights=wish.weights, shapes=wish.shapes)


_TABLES = ("caffe-table", "json")  # JSON that is no table is refused as such
_OPENERS: dict[str, Callable[[Source, Kind, Wish], Model]] = {
    "uff": _uff,
    "uff-text": _uff,
    "uff-json": _uff,
    "caffe-net": _net,
    "caffe-json": _net,
    "caffe-text": _prototxt,
}
