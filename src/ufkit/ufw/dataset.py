"""Datasets: LMDB databases of Datum or AnnotatedDatum records."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar, overload

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import PathLike, Source
from ufkit.ufw.annotations import Record
from ufkit.ufw.keys import Key, as_key, shown_key
from ufkit.ufw.pages import Item, Tree
from ufkit.ufw.ranks import Ranks
from ufkit.ufw.records import foreign, kind_of, read_record
from ufkit.ufw.rules import DAMAGED_DATABASE, FOREIGN_RECORD
from ufkit.ufw.store import data_file

T = TypeVar("T")

_LOOKS = 4  # records that the kind is told by, from the beginning and from the end
_RELEASED = 64 << 20  # bytes of the map read before they are let go of
_LARGE = 64 << 10  # bytes of a record that is worth a word to the system
_AHEAD = 8  # records
MIXED = "mixed"


class Dataset:
    """The records of an LMDB by index and by key, in the order of their keys.

    A sequence, as torch's DataLoader wants one. Nothing is copied: records are views of the file,
    which stays mapped for as long as one of them is kept. It can be pickled (as its path), used
    after a fork and by several threads.

    Nobody should write to the database meanwhile, unless by putting another in its place: no lock
    is taken, so that read-only media do, and LMDB uses pages again.
    """

    def __init__(self, path: PathLike, *, mmap: bool = True) -> None:
        self.path = os.fspath(path)
        self.file = data_file(path)
        self._mmap = mmap
        self._tree = Tree(Source.open(self.file, mmap=mmap))
        self._ranks = Ranks(self._tree)
        count = len(self)
        ends = [*self.raw(0, _LOOKS), *self.raw(max(_LOOKS, count - _LOOKS))]
        if len(ends) < min(count, 2 * _LOOKS):
            raise self._fewer()
        kinds = dict.fromkeys(kind for _, value in ends if (kind := kind_of(value)) is not None)
        self._kinds: tuple[type[Record], ...] = tuple(kinds)
        if ends and not kinds:  # one of ours among them may be damaged, not all
            key, value = ends[0]
            raise FormatError(FOREIGN_RECORD.at(self.where(key), foreign(value)))

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

    @property
    def map_size(self) -> int:
        """Bytes that whoever writes to it maps, as the last one did."""
        return self._tree.meta.map_size

    def where(self, key: bytes) -> Where:
        """The place of a record, for diagnostics."""
        return Where(self.path, shown_key(key))

    # -- access ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._tree)

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
            return list(self._sliced(which))
        if isinstance(which, (str, bytes)):
            found = self._tree.get(as_key(which))
            if found is None:
                raise KeyError(f"{self.path} has no key {shown_key(as_key(which))!r}")
            return self._record(found)
        return self._record(self._at(which))

    def key(self, index: int) -> bytes:
        """The key at an index. Raises IndexError."""
        return self._at(index)[0]

    def index_of(self, key: Key) -> int:
        """The index of a key. Raises KeyError."""
        rank = self._ranks.rank(as_key(key))
        if rank is None:
            raise KeyError(f"{self.path} has no key {shown_key(as_key(key))!r}")
        return rank

    def __contains__(self, key: object) -> bool:
        return isinstance(key, (str, bytes)) and self._tree.get(as_key(key)) is not None

    def _at(self, index: int) -> Item:
        rank = index + len(self) if index < 0 else index
        if not 0 <= rank < len(self):
            raise IndexError(f"{self.path} has {len(self)} records, none at {index}")
        found = next(self._ranks.items(rank), None)
        if found is None:
            raise self._fewer()
        return found

    def _fewer(self) -> FormatError:
        message = f"its tree has fewer than the {len(self):,} records it tells of"
        return FormatError(DAMAGED_DATABASE.at(Where(self.file), message))

    def _record(self, item: Item) -> Record:
        key, start, stop = item
        return self.read(key, self._tree.source.view(start, stop))

    # -- going through it --------------------------------------------------------------------

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self.items())

    def items(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[bytes, Record]]:
        """Keys and records from an index on, in order, one at a time in memory."""
        for key, value in self.raw(start, stop):
            yield key, self.read(key, value)

    def read(self, key: bytes, value: memoryview) -> Record:
        """The record that is some bytes of it. Raises FormatError (UFW306)."""
        return read_record(value, f"{self.path}: {shown_key(key)}")

    def raw(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[bytes, memoryview]]:
        """Keys and the bytes of records, as `items`; large ones are fetched some records ahead."""
        stop = len(self) if stop is None else min(stop, len(self))
        if start >= stop:
            return
        source, seen = self._tree.source, 0
        for key, begin, end in _fetched(source, islice(self._ranks.items(start), stop - start)):
            yield key, source.view(begin, end)
            seen += end - begin
            if seen >= _RELEASED:  # what lies behind is not needed any more, or read again
                source.release(0, source.size)
                seen = 0

    def keys(self) -> Iterator[bytes]:
        """All keys in order; records are not read."""
        return (key for key, _, _ in self._tree.items())

    def _sliced(self, which: slice) -> Iterator[Record]:
        start, stop, step = which.indices(len(self))
        if step == 1:
            return (record for _, record in self.items(start, stop))
        return (self._record(self._at(index)) for index in range(start, stop, step))

    def map(self, function: Callable[[Record], T]) -> Mapped[T]:
        """A sequence of what a function makes of each record: `ds.map(lambda r: r.array())`."""
        return Mapped(self, function)

    def close(self) -> None:
        """Let go of the file; records that were handed out stay valid."""
        self._tree.source.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> tuple[str, bool]:
        return os.path.abspath(self.path), self._mmap

    def __setstate__(self, state: tuple[str, bool]) -> None:
        self.__init__(state[0], mmap=state[1])  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Dataset({self.path!r}, {len(self)} x {self.kind or 'nothing'})"


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


def open_dataset(path: PathLike, *, mmap: bool = True) -> Dataset:
    """A dataset: an LMDB folder, or its data.mdb alone, on read-only media too.

    Opening takes the same time whatever the number of records. With `mmap=False` all of the file is
    read into memory, for where another program may shorten it.
    Raises FileError (UFK001); FormatError for what is no LMDB (UFW304), for one cut short or
    damaged (UFW305), for one of other records (UFW306).
    """
    return Dataset(path, mmap=mmap)


def _fetched(source: Source, items: Iterable[Item]) -> Iterator[Item]:
    """The items; what is large of those that follow is on its way from the disk meanwhile."""
    waiting: deque[Item] = deque()
    try:
        for item in items:
            _, begin, end = item
            if end - begin >= _LARGE:  # small ones come along with the pages of their neighbours
                source.expect(begin, end)
            waiting.append(item)
            if len(waiting) > _AHEAD:
                yield waiting.popleft()
    except FormatError:  # what stands in front of the damage is given before it is told
        yield from waiting
        raise
    yield from waiting
