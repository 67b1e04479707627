"""Layouts: large ones made in a process of their own, within a time limit, and none made twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import sys
import threading
import zlib
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ufkit.core.diag import RequestError, UfkitError, Where
from ufkit.core.files import replacing
from ufkit.viewer.layout.diagram import Diagram, Placement, Route, Spacing
from ufkit.viewer.rules import TOO_LONG

LIMIT = 30.0  # seconds for one layout
_SMALL = 600  # boxes and links: done in less time than a process takes to start
_USUAL = Spacing()
_KEPT = 64 << 20  # bytes of layouts on the disk; the least recently used go first


class Layouter:
    """Lays out diagrams, one at a time: whoever asks waits for the one before."""

    def __init__(self, folder: Path | None = None, limit: float = LIMIT) -> None:
        self._cache = Cache(cache_folder() if folder is None else folder)
        self._limit = limit
        self._lock = threading.Lock()
        self._worker: Worker | None = None

    def lay_out(self, diagram: Diagram, spacing: Spacing = _USUAL) -> Placement:
        """The layout of a diagram, at these distances.

        Raises RequestError (VWR003) where it takes too long, or is cancelled.
        """
        key = _key(diagram, spacing)
        if (kept := self._cache.read(key)) is not None:
            return kept
        if len(diagram.widths) + len(diagram.links) <= _SMALL:
            from ufkit.viewer.layout.compound import lay_out

            return lay_out(diagram, spacing)
        with self._lock:
            self._worker = self._worker or Worker()
            try:
                placement = self._worker.ask(diagram, spacing, self._limit)
            except (EOFError, OSError):  # `cancel` ended the process
                self._worker = None
                message = f"a layout of {len(diagram.widths):,} boxes was cancelled"
                raise RequestError(TOO_LONG.at(Where(), message)) from None
            except TimeoutError:
                self._worker.end()
                self._worker = None
                size = f"{len(diagram.widths):,} boxes with {len(diagram.links):,} links"
                message = f"{size} were not laid out in {self._limit:g} s"
                raise RequestError(TOO_LONG.at(Where(), message)) from None
        self._cache.keep(key, placement)
        return placement

    def prepare(self) -> None:
        """Start the process, for large layouts that may come."""
        with self._lock:
            self._worker = self._worker or Worker()

    def cancel(self) -> None:
        """End the layout that is being made, if one is."""
        worker = self._worker
        if worker is not None and self._lock.locked():
            worker.end()

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None


class Worker:
    """The process. It is started fresh, so that it shares nothing with the server's threads."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _no_main():
            self._process.start()
        theirs.close()

    def ask(self, diagram: Diagram, spacing: Spacing, limit: float) -> Placement:
        """The layout. Raises TimeoutError, and EOFError or OSError where the process has ended."""
        self._pipe.send((diagram, spacing))
        if not self._pipe.poll(limit):
            raise TimeoutError
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def end(self) -> None:
        """Stop it at once, whatever it does; who waits for its answer is told so by EOFError."""
        self._process.kill()
        self._process.join()


@contextlib.contextmanager
def _no_main() -> Any:
    """Keep the new process from importing the program that runs here: it needs none of it."""
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name, None) for name in ("__file__", "__spec__")}
    main.__spec__ = None
    if hasattr(main, "__file__"):
        del main.__file__
    try:
        yield
    finally:
        main.__spec__ = kept["__spec__"]
        if kept["__file__"] is not None:
            main.__file__ = kept["__file__"]


def _work(pipe: Connection) -> None:
    """What the process does until the server goes away."""
    from ufkit.viewer.layout.compound import lay_out

    while True:
        try:
            diagram, spacing = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: Placement | Exception = lay_out(diagram, spacing)
        except (UfkitError, MemoryError) as error:
            answer = error
        except KeyboardInterrupt:
            return
        pipe.send(answer)


# -- the disk --------------------------------------------------------------------------------


def cache_folder() -> Path:
    """Where layouts are kept: the user's cache folder."""
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "ufkit" / "layouts"


def _key(diagram: Diagram, spacing: Spacing) -> str:
    """A name for what is laid out: the same for the same boxes, links, groups and distances."""
    parts = (getattr(of, name) for of in (diagram, spacing) for name in of.__slots__)
    text = repr((version("ufkit"), *parts))
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """Layouts on the disk. What cannot be read or written is as if it were not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> Placement | None:
        """The layout kept under a key."""
        path = self._folder / key
        try:
            found = json.loads(zlib.decompress(path.read_bytes()))
            os.utime(path)
            routes = [Route([*map(tuple, a)], [*map(tuple, b)]) for a, b in found.pop()]
            frames = [*map(tuple, found.pop())]
            width, height, x, y = found
            return Placement(width, height, x, y, frames, routes)
        except (OSError, ValueError, TypeError, IndexError, zlib.error):
            return None

    def keep(self, key: str, placement: Placement) -> None:
        """Keep a layout, and let go of old ones beyond 64 MiB."""
        routes = [(route.points, route.landing) for route in placement.routes]
        whole = [placement.width, placement.height, placement.x, placement.y, placement.frames]
        text = json.dumps([*whole, routes], separators=(",", ":"))
        with contextlib.suppress(OSError, UfkitError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacing(self._folder / key) as out:
                out.write(zlib.compress(text.encode(), 1))
            self._tidy()

    def _tidy(self) -> None:
        files = [(entry.stat(), entry.path) for entry in os.scandir(self._folder)]
        left = sum(stat.st_size for stat, _ in files)
        for stat, path in sorted(files, key=lambda file: file[0].st_mtime):
            if left <= _KEPT:
                return
            os.unlink(path)
            left -= stat.st_size
