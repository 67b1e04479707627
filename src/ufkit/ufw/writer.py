"""Writing datasets: what was committed survives whatever happens to the process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any

from ufkit.core.diag import FileError, FormatError, RequestError, Where
from ufkit.core.files import PathLike, need, staging
from ufkit.core.rules import CANNOT_WRITE, EXISTS
from ufkit.ufw.annotations import Record
from ufkit.ufw.dataset import Dataset
from ufkit.ufw.keys import OWN, STYLES, Key, as_key, shown_key
from ufkit.ufw.records import foreign, kind_of
from ufkit.ufw.rules import BAD_KEY, FOREIGN_RECORD, RECORD_VALUES
from ufkit.ufw.store import DATA, LOCK, lmdb_errors

MODES = ("new", "append", "overwrite")

_MAP = 16 << 20  # bytes of the map to begin with; it grows as it must
_BATCH = 64 << 20  # bytes kept for one commit
_LONGEST = 511  # bytes of a key, as LMDB is built everywhere


class DatasetWriter:
    """Writes records to an LMDB, in a `with` block; made by `create_dataset`.

    Records are kept until there are `commit_every` of them (or 64 MiB), then committed as one. A
    commit that is done is on the disk: a process that is killed, a full disk, an exception in the
    block lose what came after it, and nothing else. What was committed can be read, and written on
    to with mode `append`. Only `overwrite` is all or nothing: until the block ends well, the old
    database stays.
    """

    def __init__(
        self, path: PathLike, *, mode: str, keys: str, single_file: bool, commit_every: int
    ) -> None:
        self.path = os.fspath(path)
        self._style = None if keys == OWN else STYLES[_one_of("keys", keys, [*STYLES, OWN])]
        self._every = commit_every
        self._undo = ExitStack()  # what is left of an overwrite that ends badly
        self._made: list[str] = []  # files and folders that were not there before
        self._batch: dict[bytes, bytes] = {}
        self._batch_bytes = 0
        self._environment: Any = None
        self._count, self._last = 0, b""
        self._kind: type[Record] | None = None
        try:
            self._open(_one_of("mode", mode, MODES), single_file)
            self._look()
        except BaseException as error:
            self._close(error)
            raise
        self._next = self._continued()

    # -- opening -----------------------------------------------------------------------------

    def _open(self, mode: str, single_file: bool) -> None:
        lmdb = need("lmdb", "datasets")
        folder = not (os.path.isfile(self.path) or (single_file and not os.path.isdir(self.path)))
        self.file = os.path.join(self.path, DATA) if folder else self.path
        exists = os.path.exists(self.file)
        if mode == "new" or not exists:
            self._refuse_existing(folder)
        size = _MAP
        if mode == "append" and exists:
            with Dataset(self.path) as there:  # looked at before LMDB trusts what is in it
                size = max(size, there.map_size)
        with lmdb_errors(self.path, CANNOT_WRITE):
            if folder and not os.path.isdir(self.path):
                os.mkdir(self.path)
                self._made.append(self.path)
        name, lock = self.file, folder
        if mode == "overwrite" and exists:
            name, lock = self._undo.enter_context(staging(self.file)), False
        elif not exists:
            self._made += [self.file, *([os.path.join(self.path, LOCK)] if folder else [])]
        with lmdb_errors(self.path, CANNOT_WRITE):
            self._environment = lmdb.open(
                os.path.dirname(name) if lock else name,
                subdir=lock,
                lock=lock,
                map_size=size,
                meminit=False,
                readahead=False,
            )
        self._map_size = int(self._environment.info()["map_size"])

    def _refuse_existing(self, folder: bool) -> None:
        """Raises FileError (UFK003) for a database, and for a folder of other things."""
        hint = "choose another name, or mode append or overwrite"
        if os.path.exists(self.file):
            raise FileError(EXISTS.at(Where(self.path), f"{self.path} exists already", hint=hint))
        if folder and os.path.isdir(self.path) and set(os.listdir(self.path)) - {LOCK}:
            message = f"the folder {self.path} has other files in it, and no {DATA}"
            raise FileError(EXISTS.at(Where(self.path), message, hint="choose another name"))

    def _look(self) -> None:
        """See how many records there are, which key is the last, and of what kind its record."""
        with lmdb_errors(self.path), self._environment.begin() as transaction:
            cursor = transaction.cursor()
            if not cursor.last():
                return
            key, value = cursor.item()
        self._kind = kind_of(value)
        if self._kind is None:
            raise FormatError(FOREIGN_RECORD.at(self._where(key), foreign(value)))
        self._count, self._last = int(self._environment.stat()["entries"]), key

    def _continued(self) -> int:
        """The number that the next key gets: one more than the last, else how many there are."""
        number = self._style.index(self._last) if self._style else None
        return self._count if number is None else number + 1

    # -- writing -----------------------------------------------------------------------------

    def __len__(self) -> int:
        """Records committed so far, those that were there before included."""
        return self._count

    @property
    def last_key(self) -> bytes:
        """The greatest key so far, committed or not; b"" without any."""
        return self._last

    def put(self, record: Record | bytes | memoryview, name: Key = b"") -> bytes:
        """Add a record, or the bytes of one; gives its key.

        `name` is what the key ends with, or all of it where keys are the user's own.
        Raises RequestError: the key was used before or cannot be one (UFW307), the record is of
        another kind than those before (UFW303); the rest is not lost by it. Raises FileError
        (UFK002) where the records kept so far cannot be committed.
        """
        key = self._key(as_key(name))
        if isinstance(record, memoryview):
            record = bytes(record)
        elif not isinstance(record, bytes):
            self._kind = self._kind or type(record)
            if type(record) is not self._kind:
                message = f"the dataset has records of {self._kind.__name__}"
                raise RequestError(
                    RECORD_VALUES.at(self._where(key), f"{message}; this is {record!r}")
                )
            record = record.to_bytes()
        self._batch[key] = record
        self._batch_bytes += len(record)
        self._last = max(self._last, key)
        self._next += 1
        if len(self._batch) >= self._every or self._batch_bytes >= _BATCH:
            self.commit()
        return key

    def _key(self, name: bytes) -> bytes:
        key = self._style.key(self._next, name) if self._style else name
        if not 0 < len(key) <= _LONGEST:
            message = f"a key of {len(key)} bytes; LMDB takes from 1 to {_LONGEST}"
            raise RequestError(BAD_KEY.at(self._where(key[:80]), message))
        if key <= self._last and (key in self._batch or self._has(key)):
            raise RequestError(BAD_KEY.at(self._where(key), "the key was used before"))
        return key

    def _has(self, key: bytes) -> bool:
        with lmdb_errors(self.path), self._environment.begin() as transaction:
            return transaction.get(key) is not None

    def _where(self, key: bytes) -> Where:
        return Where(self.path, shown_key(key))

    def commit(self) -> None:
        """Put what was kept on the disk. Raises FileError (UFK002); what was committed before
        stays, and the commit can be tried again."""
        lmdb = need("lmdb", "datasets")
        done = False
        while not done:
            try:
                self._try()
                done = True
            except lmdb.MapFullError:
                self._grow()
            except (lmdb.Error, OSError, MemoryError) as error:
                message = f"cannot write: {error}; the {self._count:,} records before are intact"
                raise FileError(CANNOT_WRITE.at(Where(self.path), message)) from error
        self._count += len(self._batch)
        self._batch.clear()
        self._batch_bytes = 0

    def _try(self) -> None:
        """All that was kept in one transaction; it leaves no trace where it fails."""
        with self._environment.begin(write=True) as transaction:
            cursor = transaction.cursor()
            greatest = cursor.key() if cursor.last() else b""
            for key, value in self._batch.items():
                cursor.put(key, value, append=key > greatest)  # the end needs no search
                greatest = max(greatest, key)

    def _grow(self) -> None:
        """Make the map larger: twice, and by what was kept where that is more."""
        size = 2 * self._map_size + 2 * self._batch_bytes
        with lmdb_errors(self.path, CANNOT_WRITE):
            self._environment.set_mapsize(size)
        self._map_size = size

    # -- the end -----------------------------------------------------------------------------

    def close(self) -> None:
        """Commit the rest and close the database; of an overwrite, now it takes the old one's
        place. Raises FileError (UFK002)."""
        self.__exit__(None, None, None)

    def __enter__(self) -> DatasetWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._environment is None:
            return
        try:
            if error is None:
                self.commit()
        except BaseException as failure:
            self._close(failure)
            raise
        self._close(error)

    def _close(self, error: BaseException | None) -> None:
        """Let go of the file. After an error before the first commit nothing is left behind."""
        if self._environment is not None:
            self._environment.close()
            self._environment = None
        self._undo.__exit__(type(error) if error else None, error, None)
        if error is not None and not self._count:
            for name in reversed(self._made):
                with suppress(OSError):
                    (os.rmdir if os.path.isdir(name) else os.unlink)(name)

    def __repr__(self) -> str:
        return f"DatasetWriter({self.path!r}, {self._count} committed, {len(self._batch)} kept)"


def create_dataset(
    path: PathLike,
    *,
    mode: str = "new",
    keys: str = "caffe",
    single_file: bool = False,
    commit_every: int = 1000,
) -> DatasetWriter:
    """A dataset to write to, in a `with` block.

    mode          `new` refuses what exists; `append` goes on after the last key, and begins anew
                  where there is nothing, so that it also resumes what was interrupted; `overwrite`
                  writes beside and swaps at the end
    keys          `caffe`, `ufwio`: a number and a name; `own`: what `put` is given
    single_file   the path is the database itself; there is no folder and no lock file

    Raises FileError (UFK002, UFK003), FormatError (UFW304, UFW305) for what is there but no
    database, RequestError (UFW303); MissingExtraError without lmdb.
    """
    return DatasetWriter(
        path, mode=mode, keys=keys, single_file=single_file, commit_every=commit_every
    )


def _one_of(what: str, given: str, known: Sequence[str]) -> str:
    if given not in known:
        message = f"{what} is {given!r}; it may be {', '.join(known)}"
        raise RequestError(RECORD_VALUES.at(Where(), message))
    return given
