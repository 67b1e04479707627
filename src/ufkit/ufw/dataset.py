"""Datasets: LMDB databases of Datum or AnnotatedDatum records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, overload

from ufkit.core.diag import FileError, FormatError, Where
from ufkit.core.files import PathLike
from ufkit.core.rules import CANNOT_READ
from ufkit.ufw.annotations import Record, foreign, kind_of, read_record
from ufkit.ufw.keys import Key, as_key, shown_key
from ufkit.ufw.ranks import Ranks
from ufkit.ufw.rules import FOREIGN_RECORD
from ufkit.ufw.store import Reading, data_file, lmdb_errors

T = TypeVar("T")

_LOOKS = 4  # records that the kind is told by, from the beginning and from the end
MIXED = "mixed"


class Dataset:
    """The records of an LMDB by index and by key, in the order of their keys.

    A sequence, as torch's DataLoader wants one. Each record is read when asked for, into bytes of
    its own: it stays valid whatever becomes of the database. It can be pickled (as its path), and
    used after a fork: each process opens the file for itself.

    Nobody should write to the database meanwhile: no lock is taken, so that read-only media do.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)
        self.file = data_file(path)
        self._open()
        ends = [*self.raw(0, _LOOKS), *self.raw(max(_LOOKS, self._count - _LOOKS))]
        kinds = dict.fromkeys(kind for _, value in ends if (kind := kind_of(value)) is not None)
        self._kinds: tuple[type[Record], ...] = tuple(kinds)
        if ends and not kinds:  # one of ours among them may be damaged, not all
            self.close()
            key, value = ends[0]
            raise FormatError(FOREIGN_RECORD.at(self.where(key), foreign(value)))

    def _open(self) -> None:
        self._process = os.getpid()
        self._reading: Reading | None = Reading.of(self.file)
        with lmdb_errors(self.file):
            self._count = int(self._reading.environment.stat()["entries"])
        self._ranks = Ranks(self._count)

    @property
    def kind(self) -> str:
        """`Datum`, `AnnotatedDatum`, or `mixed`, by the first and last records; "" without any.

        Whatever it says, each record is read as what it is.
        """
        names = [kind.__name__ for kind in self._kinds]
        return MIXED if len(names) > 1 else "".join(names)

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return os.path.getsize(self.file)

    def where(self, key: bytes) -> Where:
        """The place of a record, for diagnostics."""
        return Where(self.path, shown_key(key))

    # -- access ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, which: int | Key) -> Record: ...

    @overload
    def __getitem__(self, which: slice) -> list[Record]: ...

    def __getitem__(self, which: int | slice | Key) -> Record | list[Record]:
        """The record at an index, or with a key (bytes, or the same as text); of a slice, a list
        of records: all of them are in memory.

        Raises IndexError or KeyError; FormatError (UFW306) for what is no record.
        """
        if isinstance(which, slice):
            return [record for _, record in self._sliced(which)]
        if isinstance(which, (str, bytes)):
            key = as_key(which)
            with self._transaction() as transaction:
                value = transaction.get(key)
            if value is None:
                raise KeyError(f"{self.path} has no key {shown_key(key)!r}")
            return self.read(key, value)
        return self.read(*self._at(which))

    def key(self, index: int) -> bytes:
        """The key at an index. Raises IndexError."""
        return self._at(index)[0]

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, (str, bytes)):
            return False
        with self._transaction() as transaction:
            return bool(transaction.cursor().set_key(as_key(key)))

    def _at(self, index: int) -> tuple[bytes, bytes]:
        rank = index + self._count if index < 0 else index
        if not 0 <= rank < self._count:
            raise IndexError(f"{self.path} has {self._count} records, none at {index}")
        with self._transaction() as transaction:
            cursor = transaction.cursor()
            self._place(cursor, rank)
            return cursor.item()  # type: ignore[no-any-return]

    def _place(self, cursor: Any, rank: int) -> None:
        if not self._ranks.place(cursor, rank):
            message = "records were taken away since it was opened"
            raise FileError(CANNOT_READ.at(Where(self.path), message))

    # -- going through it --------------------------------------------------------------------

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self.items())

    def items(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[bytes, Record]]:
        """Keys and records from an index on, in order, one at a time in memory."""
        for key, value in self.raw(start, stop):
            yield key, self.read(key, value)

    def read(self, key: bytes, value: bytes) -> Record:
        """The record that is some bytes of it. Raises FormatError (UFW306)."""
        return read_record(value, f"{self.path}: {shown_key(key)}")

    def raw(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Keys and the bytes of records, as `items`."""
        stop = self._count if stop is None else min(stop, self._count)
        if start >= stop:
            return
        with self._transaction() as transaction:
            cursor = transaction.cursor()
            self._place(cursor, start)
            for at, item in enumerate(cursor, start + 1):
                yield item
                if at == stop:
                    return

    def keys(self) -> Iterator[bytes]:
        """All keys in order; records are not read."""
        with self._transaction() as transaction:
            yield from transaction.cursor().iternext(keys=True, values=False)

    def _sliced(self, which: slice) -> Iterator[tuple[bytes, Record]]:
        start, stop, step = which.indices(self._count)
        if step == 1:
            yield from self.items(start, stop)
            return
        for index in range(start, stop, step):
            key, value = self._at(index)
            yield key, self.read(key, value)

    def map(self, function: Callable[[Record], T]) -> Mapped[T]:
        """A sequence of what a function makes of each record: `ds.map(lambda r: r.array())`."""
        return Mapped(self, function)

    # -- processes ---------------------------------------------------------------------------

    def _transaction(self) -> Any:
        """A transaction of this process; the file is opened anew after a fork."""
        if self._reading is None or self._process != os.getpid():
            self._open()
        assert self._reading is not None
        return _Transaction(self._reading, self.file)

    def close(self) -> None:
        """Let go of the file; it is opened again when a record is asked for."""
        self._reading = None

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[Dataset], tuple[str]]:
        return type(self), (os.path.abspath(self.path),)

    def __repr__(self) -> str:
        return f"Dataset({self.path!r}, {self._count} x {self.kind or 'nothing'})"


class _Transaction:
    """A reading transaction whose errors are ours, and which keeps its database open."""

    __slots__ = ("_errors", "_inner", "_reading")

    def __init__(self, reading: Reading, name: str) -> None:
        self._reading = reading
        self._errors = lmdb_errors(name)

    def __enter__(self) -> Any:
        self._errors.__enter__()
        self._inner = self._reading.environment.begin()
        return self._inner.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)
        self._errors.__exit__(*error)


class Mapped(Generic[T]):
    """What a function makes of each record of a dataset, made when asked for.

    With torch: `DataLoader(open_dataset(path).map(function), num_workers=4)`; the function must be
    one that can be pickled where workers are spawned.
    """

    def __init__(self, dataset: Dataset, function: Callable[[Record], T]) -> None:
        self.dataset = dataset
        self.function = function

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> T:
        return self.function(self.dataset[index])

    def __iter__(self) -> Iterator[T]:
        return map(self.function, self.dataset)


def open_dataset(path: PathLike) -> Dataset:
    """A dataset: an LMDB folder, or its data.mdb alone, on read-only media too.

    Opening takes the same time whatever the number of records.
    Raises FileError (UFK001); FormatError for what is no LMDB (UFW304), for one cut short or
    damaged (UFW305), for one of other records (UFW306); MissingExtraError without lmdb.
    """
    return Dataset(path)
