"""Layouts: large ones made in a process of their own, within a time limit, and none made twice."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ufkit.core.diag import RequestError, Where
from ufkit.viewer.graph.cache import Cache, cache_folder, key_of
from ufkit.viewer.layout.diagram import Diagram, Placement, Spacing
from ufkit.viewer.rules import TOO_LONG

if TYPE_CHECKING:
    from ufkit.viewer.graph.worker import Worker

LIMIT = 30.0  # seconds for one layout
_SMALL = 600  # boxes and links: done in less time than a process takes to start
_USUAL = Spacing()


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
        key = key_of(diagram, spacing)
        if (kept := self._cache.read(key)) is not None:
            return kept
        if len(diagram.widths) + len(diagram.links) <= _SMALL:
            from ufkit.viewer.layout.compound import lay_out

            return lay_out(diagram, spacing)
        with self._lock:
            worker = self._ready()
            try:
                placement = worker.ask(diagram, spacing, self._limit)
            except (EOFError, OSError):  # `cancel` ended the process
                self._worker = None
                message = f"a layout of {len(diagram.widths):,} boxes was cancelled"
                raise RequestError(TOO_LONG.at(Where(), message)) from None
            except TimeoutError:
                worker.end()
                self._worker = None
                size = f"{len(diagram.widths):,} boxes with {len(diagram.links):,} links"
                message = f"{size} were not laid out in {self._limit:g} s"
                raise RequestError(TOO_LONG.at(Where(), message)) from None
        self._cache.keep(key, placement)
        return placement

    def prepare(self) -> None:
        """Start the process, for large layouts that may come."""
        with self._lock:
            self._ready()

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

    def _ready(self) -> Worker:
        from ufkit.viewer.graph.worker import Worker  # most pictures do without a process

        self._worker = self._worker or Worker()
        return self._worker
