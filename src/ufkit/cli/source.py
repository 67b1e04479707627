"""Naming what a verb is given, and refusing to overwrite what it was not told to."""

from __future__ import annotations

import os

from ufkit.cli.rules import USAGE
from ufkit.core.diag import FileError, RequestError, Where
from ufkit.core.rules import EXISTS

STDIN = "/dev/stdin"


def path_of(source: str) -> str:
    """The path to open for an argument; - is stdin."""
    return STDIN if source == "-" else source


def refuse_existing(path: str, *, force: bool) -> None:
    """Raises FileError (UFK003) where a file would be lost."""
    if not force and os.path.isfile(path):
        raise FileError(EXISTS.at(Where(path), f"{path} exists already"))


def bad_request(message: str, hint: str = "", where: Where | None = None) -> RequestError:
    """An error of the command line, not of a file."""
    return RequestError(USAGE.at(where or Where(), message, hint=hint))
