"""Writing and reading of datasets."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray

from ufkit.core.diag import RequestError, Where
from ufkit.core.rules import CANNOT_WRITE
from ufkit.ufw.dataset import open_dataset
from ufkit.ufw.datum import Datum
from ufkit.ufw.keys import shown_key
from ufkit.ufw.rules import RECORD_VALUES
from ufkit.ufw.store import lmdb_errors
from ufkit.ufw.writer import create_dataset

__all__ = ["LMDB_Dataset", "lmdb_data"]


class LMDB_Dataset:  # noqa: N801  # Sophon's name
    """A database in a folder, which is made; one that is there is replaced once this is closed.

    `queuesize` records are written at a time. `mapsize` has no effect: the map grows as it must.
    It is closed at the end of a `with` block, by `close`, or when the program ends.
    Raises FileError, RequestError; MissingExtraError without lmdb.
    """

    def __init__(
        self, path: str | os.PathLike[str], queuesize: int = 100, mapsize: float = 20e6
    ) -> None:
        self.path = os.fspath(path)
        with lmdb_errors(self.path, CANNOT_WRITE):
            os.makedirs(self.path, exist_ok=True)
        self._writer = create_dataset(
            os.path.join(self.path, "data.mdb"),
            mode="overwrite",
            keys="ufwio",
            single_file=True,
            commit_every=queuesize,
        )
        self._at_the_end = weakref.finalize(self, self._writer.close)

    def put(self, data: Any, labels: Any = None, keys: Any = None) -> None:
        """Add an array, in its own shape and type, or each array of a list.

        Of a list, labels and keys are lists as well. A key follows the number that each record
        gets. Raises RequestError (UFW303) where they are not as many as the arrays.
        """
        arrays = data if isinstance(data, list | tuple) else [data]
        each_label = self._each("labels", labels, len(arrays))
        each_key = self._each("keys", keys, len(arrays))
        records = [Datum.of(array, label) for array, label in zip(arrays, each_label, strict=True)]
        for record, key in zip(records, each_key, strict=True):
            self._writer.put(record, "" if key is None else key)

    def _each(self, what: str, given: Any, count: int) -> Sequence[Any]:
        """Labels or keys, one an array."""
        if given is None:
            return [None] * count
        found = given if isinstance(given, list | tuple) else [given]
        if len(found) != count:
            message = f"there are {len(found)} {what} for {count} arrays"
            raise RequestError(RECORD_VALUES.at(Where(self.path), message))
        return found

    def close(self) -> None:
        """Write the rest; now the database is in its place. Raises FileError (UFK002)."""
        self._at_the_end.detach()
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._at_the_end.detach()
        self._writer.__exit__(kind, error, trace)


def lmdb_data(path: str | os.PathLike[str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Keys and arrays of a database, in the order of the keys. Raises FileError, FormatError."""
    with open_dataset(path) as dataset:
        for key, record in dataset.items():
            yield shown_key(key), record.datum.array()
