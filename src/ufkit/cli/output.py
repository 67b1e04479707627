"""Where a verb's results go: text or one JSON object on stdout, all else on stderr."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ufkit.core import render
from ufkit.core.diag import Diagnostic

_WIDTH = 80


@dataclass(slots=True)
class Output:
    """What the options that every verb has ask for.

    json      one JSON object instead of text
    quiet     no progress, notes or confirmations
    verbose   every finding on its own
    debug     tracebacks
    answered  whether the JSON object is out: there is never a second
    """

    verb: str = "error"
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    answered: bool = False

    def print(self, text: str, *, confirms: bool = False) -> None:
        """A result, to stdout; one that merely `confirms` is left out when quiet."""
        if text and not self.json and not (confirms and self.quiet):
            sys.stdout.write(text + "\n")

    def flush(self) -> None:
        """Let a pipe have what was printed before the verb ends."""
        sys.stdout.flush()

    def say(self, text: str) -> None:
        """A remark, to stderr."""
        if not self.quiet:
            sys.stdout.flush()
            sys.stderr.write(text + "\n")

    def answer(self, data: Any, diagnostics: Iterable[Diagnostic] = (), *, ok: bool = True) -> None:
        """The JSON object, when that is what is printed."""
        if self.json and not self.answered:
            self.answered = True
            answer = render.envelope(self.verb, data, diagnostics, ok=ok)
            sys.stdout.write(render.to_json(answer) + "\n")

    def fail(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Errors that ended the verb: as the JSON object, or to stderr as text."""
        found = list(diagnostics)
        if self.json and not self.answered:
            self.answer(None, found, ok=False)
        else:
            sys.stdout.flush()
            colour = render.wants_colour(sys.stderr)
            shown = render.text(found, colour=colour, verbose=self.verbose)
            sys.stderr.write(shown + "\n")
            if len(found) > 1 and not self.quiet:
                sys.stderr.write(f"{len(found):,} errors; nothing was written\n")

    def paint(self, text: str, style: str) -> str:
        """Text in a style, where stdout takes colours."""
        return render.paint(text, style, colour=render.wants_colour(sys.stdout))

    def findings(self, diagnostics: Iterable[Diagnostic], *, why: bool = False) -> str:
        """Diagnostics as text for stdout."""
        colour = render.wants_colour(sys.stdout)
        return render.text(diagnostics, colour=colour, verbose=self.verbose, why=why)

    @property
    def width(self) -> int:
        """Columns there are; 80 where stdout is no terminal."""
        return shutil.get_terminal_size((_WIDTH, 24)).columns if sys.stdout.isatty() else _WIDTH
