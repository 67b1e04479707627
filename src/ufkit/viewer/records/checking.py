"""The check of a dataset: it goes on in the background, and what it found so far can be seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from ufkit.core.diag import UfkitError
from ufkit.viewer.records.collection import Finding, Progress

_MOST = 5_000  # findings that are kept


class _Cancelled(Exception):
    """Somebody wants no more of it."""


class Checking:
    """A check that is begun, and can be ended early.

    state     `idle` before it is begun, `running`, `done`, or `cancelled`
    done, total   records that were looked at, and all
    findings  the first 5,000 of them
    found     how many there are
    """

    def __init__(self, check: Callable[[Progress], Iterator[Finding]]) -> None:
        self._check = check
        self._end = threading.Event()
        self._lock = threading.Lock()
        self.state = "idle"
        self.done, self.total = 0, 0
        self.findings: list[Finding] = []
        self.found = 0

    def begin(self) -> None:
        """Begin it, unless that was done; one that was cancelled begins anew."""
        with self._lock:
            if self.state in ("running", "done"):
                return
            self.state, self.done, self.found = "running", 0, 0
            self.findings = []
            self._end = threading.Event()
            work = threading.Thread(target=self._run, args=(self._end,), daemon=True)
        work.start()

    def cancel(self) -> None:
        """Have it end soon; what was found stays."""
        with self._lock:
            if self.state == "running":
                self.state = "cancelled"
                self._end.set()

    def _run(self, end: threading.Event) -> None:
        def progress(_: str, done: int, total: int) -> None:
            if end.is_set():
                raise _Cancelled
            self.done, self.total = done, total

        try:
            for finding in self._check(progress):
                if end.is_set():
                    return
                self._keep(finding)
        except _Cancelled:
            return
        except UfkitError as error:
            for item in error.diagnostics:
                self._keep((None, item))
        with self._lock:
            if not end.is_set():
                self.state, self.done = "done", self.total

    def _keep(self, finding: Finding) -> None:
        self.found += 1
        if len(self.findings) < _MOST:
            self.findings.append(finding)
