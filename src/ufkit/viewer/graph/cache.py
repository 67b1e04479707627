"""Layouts kept on the disk, so that none is made twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import zlib
from importlib.metadata import version
from pathlib import Path

from ufkit.core.diag import UfkitError
from ufkit.core.files import replacing
from ufkit.viewer.layout.diagram import Diagram, Placement, Route, Spacing

_KEPT = 64 << 20  # bytes; the least recently used go first


def cache_folder() -> Path:
    """Where layouts are kept: the user's cache folder."""
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "ufkit" / "layouts"


def key_of(diagram: Diagram, spacing: Spacing) -> str:
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
