"""Classes: numbers for names and names for numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import PathLike
from ufkit.datasets.rules import UNKNOWN_CLASS
from ufkit.ufw.io import BACKGROUND, open_labels
from ufkit.ufw.prototxt import Label

LABEL_MAP = "labelmap.prototxt"


class Classes:
    """The classes of a dataset, found by number or by either name."""

    def __init__(self, labels: Iterable[Label]) -> None:
        self.labels = tuple(labels)
        self._by_label = {item.label: item for item in self.labels}
        self._by_name = {item.display_name: item for item in self.labels if item.display_name}
        self._by_name |= {item.name: item for item in self.labels if item.name}

    def number(self, name: str, where: Where) -> int:
        """The number of a class. Raises FormatError (DAT204)."""
        found = self._by_name.get(name)
        if found is None:
            message = f"there is no class {name!r} among the {len(self.labels)} known"
            raise FormatError(UNKNOWN_CLASS.at(where, message))
        return found.label

    def name(self, label: int) -> str:
        """The name that people read; the number where there is none."""
        return self._by_label[label].shown if label in self._by_label else str(label)

    @property
    def foreground(self) -> tuple[Label, ...]:
        """The classes but the background, by their numbers."""
        rows = (item for item in self.labels if item.label != BACKGROUND)
        return tuple(sorted(rows, key=lambda item: item.label))


def numbered(names: Sequence[str], first: int = 1) -> tuple[Label, ...]:
    """Classes for names, in that order; 0 is left to the background unless `first` says so."""
    return tuple(Label(at, name, name) for at, name in enumerate(names, first))


def label_map(path: PathLike, *, single_file: bool) -> Path:
    """Where the label map of a dataset is: in its folder, or beside its file."""
    return Path(f"{os.fspath(path)}.{LABEL_MAP}") if single_file else Path(path) / LABEL_MAP


def read_labels(path: PathLike) -> tuple[Label, ...]:
    """The classes of a label map. Raises as `open_labels`."""
    return tuple(item._replace(where=Where()) for item in open_labels(path).labels)
