"""LMDB databases as files: which file it is, whether all of it is there, opening it safely.

What LMDB does with a file that is cut short is to end the process; so its own account of how long
it is, is read first. The layout: http://www.lmdb.tech/doc/ (mdb.c, MDB_meta)
"""

from __future__ import annotations

import os
import struct
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ufkit.core.diag import FileError, FormatError, Rule, Where
from ufkit.core.files import PathLike, Source, need
from ufkit.core.rules import CANNOT_READ
from ufkit.ufw.rules import DAMAGED_DATABASE, NOT_DATASET
from ufkit.wire.sniff import LMDB, identify

DATA, LOCK = "data.mdb", "lock.mdb"

_HEADER = 16  # bytes of a page's header, in databases of 64-bit machines
_META = struct.Struct("<IIQQ I44x48xQQ")
_MAGIC, _VERSION = 0xBEEFC0DE, 1
_LEVELDB = "CURRENT"


def data_file(path: PathLike) -> str:
    """The file that holds the database at a path: the path itself, or data.mdb in that folder.

    Raises FileError where there is nothing; FormatError (UFW304) for a folder without data.mdb.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        return name
    inside = os.path.join(name, DATA)
    if os.path.exists(inside):
        return inside
    message = f"the folder has no {DATA}"
    hint = "name the folder, or the file, that the database is in"
    if os.path.exists(os.path.join(name, _LEVELDB)):
        message = "the folder is a LevelDB, the other backend of Caffe's tools"
        hint = "make the dataset again with --backend=lmdb"
    raise FormatError(NOT_DATASET.at(Where(name), message, hint=hint))


class Meta(NamedTuple):
    """What the newest of a database's two heads says of it."""

    page: int
    map_size: int
    last_page: int

    @property
    def nbytes(self) -> int:
        """Bytes that the file has to have."""
        return (self.last_page + 1) * self.page


def read_meta(source: Source) -> Meta | None:
    """The newest head; None in files of other machines and versions, where LMDB must judge.

    Raises FormatError (UFW304, UFW305) for what is no LMDB, and for one cut short.
    """
    kind = identify(source)
    if kind is not LMDB:
        message = f"this is no LMDB database: it is {kind.description}"
        raise FormatError(NOT_DATASET.at(Where(source.name), message, hint=kind.hint))
    first = _read_head(source, 0)
    if first is None:
        return None
    second = _read_head(source, first[0].page)
    meta = max(filter(None, (first, second)), key=lambda head: head[1])[0]
    if source.size < meta.nbytes and not _sound(source, meta.nbytes):
        message = f"it has {source.size:,} bytes; its head tells of {meta.nbytes:,}"
        where = Where(source.name, start=source.size, stop=meta.nbytes)
        raise FormatError(DAMAGED_DATABASE.at(where, message))
    return meta


def _read_head(source: Source, at: int) -> tuple[Meta, int] | None:
    """One head, and the number of the transaction that wrote it."""
    start = at + _HEADER
    if start + _META.size > source.size:
        return None
    values = _META.unpack(source.view(start, start + _META.size))
    magic, version, _, map_size, page, last_page, transaction = values
    if magic != _MAGIC or version != _VERSION or page < 256 or page > 1 << 16:
        return None
    return Meta(page, map_size, last_page), transaction


def _sound(source: Source, nbytes: int) -> bool:
    """Whether a file is whole though it is shorter than its head says: pages that were given up
    again within one transaction are never written. Told by walking all others, where lmdb can."""
    return nbytes <= 2 * source.size and structure(source.name) == []


def structure(name: str) -> list[str] | None:
    """What is wrong with the pages of a database, all of which are looked at without LMDB's own
    trust in them; None where lmdb is too old to know how (before 3.0)."""
    try:
        checker = need("lmdb.verify", "datasets")
    except ImportError:
        return None
    try:
        return list(checker.verify(name, subdir=False))
    except checker.VerifyError as error:
        return [str(error)]


@contextmanager
def lmdb_errors(name: str, refused: Rule = CANNOT_READ) -> Iterator[None]:
    """What LMDB says as our errors: the file is damaged, or the system `refused`."""
    lmdb = need("lmdb", "datasets")
    damaged = (
        lmdb.CorruptedError,
        lmdb.InvalidError,
        lmdb.PageNotFoundError,
        lmdb.PanicError,
        lmdb.VersionMismatchError,
        lmdb.IncompatibleError,
    )
    try:
        yield
    except damaged as error:
        raise FormatError(DAMAGED_DATABASE.at(Where(name), f"LMDB says: {error}")) from error
    except (lmdb.Error, OSError, MemoryError) as error:
        raise FileError(refused.at(Where(name), f"LMDB says: {error}")) from error


# LMDB must not open a file twice in one process: those who read the same one share it.
_shared: weakref.WeakValueDictionary[tuple[int, int], Reading] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _forget() -> None:
    """In a process just forked: close what the other one has open, and begin anew."""
    global _lock  # another thread may have held it
    _lock = threading.Lock()
    for reading in list(_shared.values()):
        reading.environment.close()
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class Reading:
    """A database open for reading in this process. It is closed when nobody has it any more.

    Without a lock file, so that read-only disks and network disks do; which is why nobody should
    write to it meanwhile.
    """

    def __init__(self, name: str) -> None:
        lmdb = need("lmdb", "datasets")
        read_meta(Source.open(name))
        with lmdb_errors(name):
            self.environment = lmdb.open(
                name, subdir=False, readonly=True, lock=False, create=False, max_spare_txns=4
            )

    @classmethod
    def of(cls, name: str) -> Reading:
        """The database in a file, opened unless this process has it open already.

        Raises FileError (UFK001), FormatError (UFW304, UFW305).
        """
        try:
            key = _identity(name)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(CANNOT_READ.at(Where(name), f"cannot read: {reason}")) from error
        with _lock:
            found = _shared.get(key)
            if found is None:
                found = _shared[key] = cls(name)
            return found

    @staticmethod
    def has(name: str) -> bool:
        """Whether a file, which is there, is open for reading in this process."""
        return _identity(name) in _shared

    def __del__(self) -> None:
        if (environment := getattr(self, "environment", None)) is not None:
            environment.close()


def _identity(name: str) -> tuple[int, int]:
    """What a file is the same by, whatever path leads to it."""
    status = os.stat(name)
    return status.st_dev, status.st_ino
