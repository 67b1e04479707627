"""Progress on stderr, once work has taken a second: a bar on a terminal, else a line at times."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ufkit.cli.output import Output

_PATIENCE = 1.0
_PAUSE = 5.0


class Progress:
    """Call it with what is being done, how much is done and how much there is."""

    def __init__(self, *, terminal: bool) -> None:
        self._terminal = terminal
        self._begun = time.monotonic()
        self._next = self._begun + _PATIENCE
        self._bar: Any = None
        self._task: Any = None
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._bar is None and time.monotonic() < self._next:
            return
        if self._terminal:
            self._draw(what, done, total)
        else:
            share = f"{100 * done // total}% ({done:,} of {total:,})" if total else f"{done:,}"
            rate = done / (time.monotonic() - self._begun)
            sys.stderr.write(f"{what}: {share}, {rate:,.0f}/s\n")
            sys.stderr.flush()
            self._next = time.monotonic() + _PAUSE

    def _draw(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = _bar()
            self._bar.start()
        if what != self._what:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(what, total=total)
            self._what = what
        self._bar.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


class _Silent(Progress):
    def __call__(self, what: str, done: int, total: int) -> None:
        pass


@contextmanager
def showing(output: Output) -> Iterator[Progress]:
    """Progress for as long as the block runs; none when quiet."""
    terminal = sys.stderr.isatty()
    progress = (_Silent if output.quiet else Progress)(terminal=terminal)
    try:
        yield progress
    finally:
        progress.stop()
