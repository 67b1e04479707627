"""Diagnostics: a closed list of rules, the places they point at, the errors that carry them."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Any


class Severity(enum.StrEnum):
    """How bad a finding is. Only an ERROR makes a file unfit for use."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a file: any part may be missing.

    file    name as the user gave it
    node    graph and node id, `main/conv2d/Conv2D`
    field   field of the node
    start   first byte concerned, counted from the beginning of the file
    stop    one past the last byte concerned
    line    line of a text file, counted from 1
    """

    file: str = ""
    node: str = ""
    field: str = ""
    start: int | None = None
    stop: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        path = ".".join(part for part in (self.node, self.field) if part)
        span = ""
        if self.line is not None:
            span = f"line {self.line}"
        elif self.start is not None:
            span = f"byte {self.start}" if self.stop is None else f"bytes {self.start}-{self.stop}"
        place = " ".join(part for part in (path, span) if part)
        return ": ".join(part for part in (self.file, place) if part)

    def as_dict(self) -> dict[str, Any]:
        """The parts that are known, for JSON."""
        pairs = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: value for name, value in pairs if value not in ("", None)}


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding. `why` says what goes wrong for the user if it is ignored."""

    code: str
    severity: Severity
    title: str
    why: str
    hint: str = ""

    def at(self, where: Where, message: str, *, hint: str | None = None) -> Diagnostic:
        """A finding of this kind at a place. `hint` replaces the rule's own."""
        return Diagnostic(self, where, message, self.hint if hint is None else hint, self.severity)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding: which rule, where, what exactly (with the numbers), what to do."""

    rule: Rule
    where: Where
    message: str
    hint: str
    severity: Severity

    @property
    def code(self) -> str:
        return self.rule.code

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: code, severity, where, message, hint."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "where": self.where.as_dict(),
            "message": self.message,
            "hint": self.hint,
        }

    def __str__(self) -> str:
        lines = [f"{self.severity}[{self.code}] {self.message}"]
        if place := str(self.where):
            lines.append(f"  at {place}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class UfkitError(Exception):
    """Base of every error ufkit raises on purpose; carries one or more diagnostics.

    `exit_code` is what the command line ends with. What is raised counts as an error, whatever
    its rule says of it as a finding.
    """

    exit_code = 3

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics = tuple(replace(item, severity=Severity.ERROR) for item in diagnostics)
        super().__init__(*self.diagnostics)

    @property
    def diagnostic(self) -> Diagnostic:
        """The first (for readers, the only) diagnostic."""
        return self.diagnostics[0]

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class FormatError(UfkitError, ValueError):
    """The file is not what it should be: malformed, truncated, or another format."""


class NotSupportedError(UfkitError):
    """The file is fine, but something in it has no equivalent where it should go.

    Carries all obstacles at once.
    """

    exit_code = 4


class RequestError(UfkitError, ValueError):
    """What was asked does not fit this file: an unknown name, a shape of the wrong rank."""

    exit_code = 2


class MissingExtraError(UfkitError, ImportError):
    """An optional library is not installed; the hint names the extra that brings it."""

    exit_code = 5


class FileError(UfkitError):
    """The operating system refused: no such file, no permission, no space, exists already."""
