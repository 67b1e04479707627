"""What became of each sample: counted, and told, never silently lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ufkit.core.diag import (
    Diagnostic,
    FormatError,
    NotSupportedError,
    RequestError,
    UfkitError,
    Where,
)
from ufkit.datasets.rules import NO_SAMPLES

RAISE, SKIP = "raise", "skip"
OnError = str | Callable[[Diagnostic], None]
_KEPT = 100  # findings of one rule that are kept in full; all are counted


@dataclass(slots=True)
class Report:
    """The account of a conversion: read = written + skipped.

    on_error  "raise", "skip", or a function that is given the finding of each bad sample, which is
              left out unless the function raises
    read      samples taken from the source
    written   samples in the target
    skipped   bad samples left out
    counts    findings by code, all of them
    found     the findings, up to 100 of each code
    seconds   from the first sample to the last
    """

    source: str = ""
    target: str = ""
    source_format: str = ""
    target_format: str = ""
    on_error: OnError = RAISE
    read: int = 0
    written: int = 0
    skipped: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    found: list[Diagnostic] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, findings: Iterable[Diagnostic]) -> None:
        """Remember what was noticed."""
        for finding in findings:
            self.counts[finding.code] += 1
            if self.counts[finding.code] <= _KEPT:
                self.found.append(finding)

    def bad(self, error: UfkitError) -> None:
        """A sample that cannot be made. Raises the error where that is asked for."""
        if self.on_error == RAISE:
            raise error
        if callable(self.on_error):
            self.on_error(error.diagnostic)
        self.skipped += 1
        self.note(error.diagnostics)

    @contextmanager
    def one(self) -> Iterator[None]:
        """A sample on its way into the target: counted as written, or as bad; see `bad`."""
        try:
            yield
        except (FormatError, NotSupportedError, RequestError) as error:
            self.bad(error)
        else:
            self.written += 1

    def require_some(self) -> None:
        """Raises FormatError (DAT002), with what was bad, where nothing could be written."""
        if self.read and not self.written:
            message = f"none of {self.read:,} samples could be used"
            raise FormatError(NO_SAMPLES.at(Where(self.source), message, hint=""), *self.found)

    @property
    def rate(self) -> float:
        """Samples a second."""
        return self.written / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON; findings are left to the caller."""
        return {
            "source": self.source,
            "target": self.target,
            "from": self.source_format,
            "to": self.target_format,
            "read": self.read,
            "written": self.written,
            "skipped": self.skipped,
            "counts": dict(self.counts),
            "seconds": self.seconds,
        }
