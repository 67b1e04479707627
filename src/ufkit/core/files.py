"""Opening files as buffers, pointing into them, and replacing files without harming them."""

from __future__ import annotations

import contextlib
import importlib
import io
import mmap as _mmap
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, Protocol

from ufkit.core.diag import FileError, MissingExtraError, Where
from ufkit.core.rules import CANNOT_READ, CANNOT_WRITE, CLOSED, MISSING_EXTRA

Buffer = bytes | bytearray | memoryview | _mmap.mmap
PathLike = str | os.PathLike[str]
Window = tuple[Buffer, int, int]

_CHUNK = 16 << 20
_IN_KERNEL = 64 << 10  # bytes from which a copy inside the kernel is worth the flush before it
_WINDOW = 4096
_GLANCE = 256
_MARGIN = 20  # the longest header of a field: two integers of 10 bytes
_READ_ERRORS = (OSError, ValueError)  # ValueError: a path with a NUL byte


class Source:
    """The bytes of one file, or of one buffer.

    `buffer` is a read-only map of the file (or the bytes themselves); nothing is read until
    touched. `name` is what diagnostics call it.

    The map is for bulk data. What lies around it is read through `window` and `piece`: a touched
    page brings 15 neighbours into memory and costs ten times what reading it does, so that
    walking a file of large arrays by its map is slow and seems to load them.

    A mapped file that another program truncates ends the process with SIGBUS at the next read
    of the lost part; open with `mmap=False` where that can happen.
    """

    __slots__ = ("_buffer", "_descriptor", "_window", "name", "size")

    def __init__(self, buffer: Buffer, name: str = "", descriptor: int | None = None) -> None:
        self._buffer: Buffer | None = buffer
        self.name = name
        self.size = len(buffer)
        self._descriptor = descriptor
        windowed = descriptor is not None and hasattr(os, "pread")
        self._window: Window = (b"", 0, 0) if windowed else (buffer, 0, self.size)

    @classmethod
    def open(cls, path: PathLike, *, mmap: bool = True) -> Source:
        """Open a file. Raises FileError (UFK001)."""
        name = os.fspath(path)
        try:
            with open(path, "rb", buffering=0) as file:
                status = os.fstat(file.fileno())
                if not mmap or not stat.S_ISREG(status.st_mode) or status.st_size == 0:
                    return cls(file.read(), name)  # a pipe, a device or nothing cannot be mapped
                mapped = _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_READ)
                return cls(mapped, name, os.dup(file.fileno()))
        except _READ_ERRORS as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(CANNOT_READ.at(Where(name), f"cannot read: {reason}")) from error

    @property
    def buffer(self) -> Buffer:
        """All bytes. Raises FileError (UFK005) if closed."""
        if self._buffer is None:
            raise FileError(CLOSED.at(Where(self.name), "the file was closed"))
        return self._buffer

    def stamp(self) -> tuple[int, int] | None:
        """Size and time of the last change of the open file; None where there is no file.

        Another one than before says that a map shows something else, or ends the process.
        """
        if self._descriptor is None:
            return None
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def view(self, start: int, stop: int) -> memoryview:
        """Bytes `start` to `stop`, read-only, not copied. Raises FileError (UFK005) if closed."""
        return memoryview(self.buffer)[start:stop].toreadonly()

    def window(self, at: int) -> Window:
        """Bytes around `at`, where they begin, and up to where a field's header lies in them.

        Raises FileError: the file was closed (UFK005), or cut short since it was opened (UFK001).
        """
        window = self._window
        return window if window[1] <= at < window[2] else self._move_window(at)

    def _move_window(self, at: int) -> Window:
        if self._descriptor is None:
            raise FileError(CLOSED.at(Where(self.name), "the file was closed"))
        # Going on, what follows will be wanted too; after a jump over bulk data only its header.
        size = _WINDOW if 0 <= at - self._window[2] < _WINDOW else _GLANCE
        data = os.pread(self._descriptor, size, at)
        stop = at + len(data)
        if stop < self.size and len(data) < size:
            message = f"it ends at byte {stop}, it had {self.size} when it was opened"
            raise FileError(CANNOT_READ.at(Where(self.name), message))
        self._window = data, at, stop - _MARGIN if stop < self.size else stop
        return self._window

    def piece(self, start: int, stop: int) -> Buffer:
        """Bytes `start` to `stop`, for what is no bulk data: a name, a few numbers."""
        data, begin, safe = self._window
        if not begin <= start < safe and start < stop <= start + _GLANCE:
            data, begin, _ = self._move_window(start)
        if begin <= start and stop <= begin + len(data):
            return data[start - begin : stop - begin]
        return self.view(start, stop)

    def copy(self, start: int, stop: int, out: IO[bytes]) -> None:
        """Append bytes `start` to `stop` to `out`; from file to file inside the kernel."""
        if self._descriptor is not None and stop - start >= _IN_KERNEL:
            start = _kernel_copy(self._descriptor, start, stop, out)
        while start < stop:
            step = min(stop, start + _CHUNK)
            out.write(self.view(start, step))
            start = step

    def release(self, start: int, stop: int) -> None:
        """Drop the memory that reading bytes `start` to `stop` took; they can be read again."""
        if isinstance(self.buffer, _mmap.mmap) and hasattr(_mmap, "MADV_DONTNEED"):
            begin = start - start % _mmap.PAGESIZE
            self.buffer.madvise(_mmap.MADV_DONTNEED, begin, stop - begin)

    def expect(self, start: int, stop: int) -> None:
        """Let the system fetch bytes `start` to `stop` in the background: they will be read."""
        if isinstance(self.buffer, _mmap.mmap) and hasattr(_mmap, "MADV_WILLNEED"):
            begin = start - start % _mmap.PAGESIZE
            self.buffer.madvise(_mmap.MADV_WILLNEED, begin, stop - begin)

    def close(self) -> None:
        """Let go of the file. Arrays already handed out stay valid and keep the map alive."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if isinstance(self._buffer, _mmap.mmap):
            with contextlib.suppress(BufferError):  # arrays still look into it
                self._buffer.close()
        self._buffer = None
        self._window = (b"", 0, 0)

    def __del__(self) -> None:
        if getattr(self, "_descriptor", None) is not None:
            os.close(self._descriptor)  # type: ignore[arg-type]
            self._descriptor = None

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {self.size} B)"


def _kernel_copy(descriptor: int, start: int, stop: int, out: IO[bytes]) -> int:
    """Copy what the kernel is willing to copy; return where it stopped."""
    copy = getattr(os, "copy_file_range", None)
    try:
        target = out.fileno()
        out.flush()
    except (OSError, ValueError, AttributeError):
        return start  # not a file
    while copy is not None and start < stop:
        try:
            done = copy(descriptor, target, stop - start, start)
        except OSError:
            break  # file systems that cannot; the plain copy goes on from here
        if done == 0:
            break
        start += done
    return start


class Payload(Protocol):
    """Bytes that are known by size and produced only when written."""

    @property
    def nbytes(self) -> int: ...

    def write_to(self, out: IO[bytes]) -> None: ...


def made(payload: Payload) -> Span:
    """The bytes of a payload: itself where they lie in a file, else made now."""
    if isinstance(payload, Span):
        return payload
    out = io.BytesIO()
    payload.write_to(out)
    return Span.of(out.getvalue())


class Span:
    """Bytes `start` to `stop` of a source, left where they are."""

    __slots__ = ("source", "start", "stop")

    def __init__(self, source: Source, start: int, stop: int) -> None:
        self.source = source
        self.start = start
        self.stop = stop

    @classmethod
    def of(cls, data: Buffer) -> Span:
        """A span over a buffer of its own."""
        return cls(Source(data), 0, len(data))

    @property
    def nbytes(self) -> int:
        return self.stop - self.start

    def view(self) -> memoryview:
        """The bytes, read-only, not copied; the view keeps the map open."""
        return self.source.view(self.start, self.stop)

    def peek(self) -> Buffer:
        """The bytes of a short span, without touching the map."""
        return self.source.piece(self.start, self.stop)

    def write_to(self, out: IO[bytes]) -> None:
        """Append the bytes to `out`."""
        self.source.copy(self.start, self.stop, out)

    def chunks(self, size: int) -> Iterator[memoryview]:
        """The bytes in pieces of that size; the memory they took is dropped behind them."""
        held = self.start
        for at in range(self.start, self.stop, size):
            yield self.source.view(at, min(at + size, self.stop))
            if at - held >= _CHUNK:
                self.source.release(held, at)
                held = at
        self.release()

    def release(self) -> None:
        """Drop the memory that reading the bytes took; they can be read again."""
        self.source.release(self.start, self.stop)

    def __repr__(self) -> str:
        return f"Span({self.nbytes} B @ {self.start})"


class Padded(Span):
    """Bytes that are left where they are as far as they are there, and then zeros.

    `stop` is where `more` bytes begin that are not in the source: zeros, or the bytes of `unit`
    over and over. Whoever asks for a view gets a copy.
    """

    __slots__ = ("more", "unit")

    def __init__(
        self, source: Source, start: int, stop: int, more: int, unit: bytes = b"\0"
    ) -> None:
        super().__init__(source, start, stop)
        self.more = more
        self.unit = unit

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.more

    def view(self) -> memoryview:
        return memoryview(bytes(super().view()) + self._behind(0, self.more))

    def peek(self) -> Buffer:
        return self.view()

    def write_to(self, out: IO[bytes]) -> None:
        super().write_to(out)
        for at in range(0, self.more, _CHUNK):
            out.write(self._behind(at, min(at + _CHUNK, self.more)))

    def chunks(self, size: int) -> Iterator[memoryview]:
        there = super().nbytes
        for at in range(0, self.nbytes, size):
            stop = min(at + size, self.nbytes)
            data = self.source.view(self.start + min(at, there), self.start + min(stop, there))
            if len(data) < stop - at:
                behind = self._behind(max(at, there) - there, stop - there)
                data = memoryview(bytes(data) + behind)
            yield data

    def _behind(self, start: int, stop: int) -> bytes:
        """Bytes `start` to `stop` of those that are not in the source."""
        skipped = start % len(self.unit)
        repeated = self.unit * ((skipped + stop - start) // len(self.unit) + 1)
        return repeated[skipped : skipped + stop - start]


@contextlib.contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the block ends well, and vanishes when not.

    Written beside the target, flushed to the disk, then renamed over it; the mode of a file
    that was there is kept. A symbolic link stays, its target is replaced; a target that is
    no ordinary file (/dev/stdout, a pipe) is written directly. Raises FileError (UFK002).
    """
    target = _target(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with _write_errors(path), open(target, "wb") as file:
            yield file
        return
    beside = f"{target}.{secrets.token_hex(4)}.tmp"
    with _write_errors(path):
        try:
            with open(beside, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _replace(beside, target)
            _sync_folder(os.path.dirname(target))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise


@contextlib.contextmanager
def staging(path: PathLike) -> Iterator[str]:
    """A name beside `path` to write and try files under, before any of them takes its place.

    When the block ends well, every file in the private folder moves to where `path` is; when
    not, they vanish; modes are kept. Raises FileError (UFK002), also for a target that is no
    ordinary file.
    """
    target = _target(path)
    if os.path.exists(target) and not os.path.isfile(target):
        message = "cannot write: it is no ordinary file"
        raise FileError(CANNOT_WRITE.at(Where(os.fspath(path)), message))
    folder = f"{target}.{secrets.token_hex(4)}.tmp"
    with _write_errors(path):
        try:
            os.mkdir(folder)
            yield os.path.join(folder, os.path.basename(target))
            for name in sorted(os.listdir(folder), reverse=True):  # what others point at, first
                _replace(os.path.join(folder, name), os.path.join(os.path.dirname(target), name))
            _sync_folder(os.path.dirname(target))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _target(path: PathLike) -> str:
    """What a path leads to in the end."""
    try:
        return os.path.realpath(path)
    except ValueError as error:  # NUL bytes and the like
        where = Where(os.fspath(path))
        raise FileError(CANNOT_WRITE.at(where, f"cannot write: {error}")) from error


def _replace(new: str, old: str) -> None:
    """Put a file in the place of another, which leaves it its mode."""
    with contextlib.suppress(FileNotFoundError):
        os.chmod(new, stat.S_IMODE(os.stat(old).st_mode))
    os.replace(new, old)


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _write_errors(path: PathLike) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise FileError(
            CANNOT_WRITE.at(Where(os.fspath(path)), f"cannot write: {reason}")
        ) from error


def need(module: str, extra: str) -> Any:
    """Import an optional library. Raises MissingExtraError (UFK004) that names the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise MissingExtraError(
            MISSING_EXTRA.at(
                Where(),
                f"this needs {name}, which is not installed",
                hint=f"python3 -m pip install 'ufkit[{extra}]'",
            )
        ) from error
