"""LMDB databases as files: which file it is, what its head says, whether all of it is there.

The layout: http://www.lmdb.tech/doc/ (mdb.c, MDB_meta)
"""

from __future__ import annotations

import os
import struct
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
_META = struct.Struct("<IIQQ I44x 4xHH24xQQ QQ")
_PAGES = [1 << bits for bits in range(8, 17)]
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
    """What the newest of a database's two heads says of it.

    page       bytes of a page
    flags      of the one database without a name; 0 where keys are what they usually are
    entries    how many records it has
    root       number of the page that its tree begins with
    last_page  number of the last page in use
    """

    page: int
    map_size: int
    flags: int
    entries: int
    root: int
    last_page: int

    @property
    def nbytes(self) -> int:
        """Bytes that the file has to have."""
        return (self.last_page + 1) * self.page


def read_meta(source: Source) -> Meta:
    """The newest head.

    Raises FormatError: it is no LMDB, or of a machine or version nobody here reads (UFW304), or cut
    short or damaged (UFW305).
    """
    kind = identify(source)
    if kind is not LMDB:
        message = f"this is no LMDB database: it is {kind.description}"
        raise FormatError(NOT_DATASET.at(Where(source.name), message, hint=kind.hint))
    first = _read_head(source, 0)
    if first is None:
        message = "this LMDB is not of a 64-bit little-endian machine, or of LMDB 1.0 or later"
        hint = "copy it with the programs that made it: mdb_dump there, mdb_load here"
        raise FormatError(NOT_DATASET.at(Where(source.name), message, hint=hint))
    second = _read_head(source, first[0].page)
    if second is None:  # the older one is not what its holder has in mind
        where = Where(source.name, start=first[0].page)
        raise FormatError(DAMAGED_DATABASE.at(where, "the second of its two heads is no head"))
    meta = max(first, second, key=lambda head: head[1])[0]
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
    magic, version, _, map_size, page, flags, _, entries, root, last_page, transaction = values
    if magic != _MAGIC or version != _VERSION or page not in _PAGES:
        return None
    return Meta(page, map_size, flags, entries, root, last_page), transaction


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
