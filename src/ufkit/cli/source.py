"""Opening what a verb is given, and refusing to overwrite what it was not told to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ufkit.cli.rules import USAGE
from ufkit.core.diag import FileError, RequestError, Where
from ufkit.core.rules import EXISTS

if TYPE_CHECKING:
    from ufkit.uff.model import MetaGraph

STDIN = "/dev/stdin"


@dataclass(slots=True)
class Opened:
    """A UFF file, what form it has, and how many bytes of it there are."""

    meta: MetaGraph
    form: str
    nbytes: int


def path_of(source: str) -> str:
    """The path to open for an argument; - is stdin."""
    return STDIN if source == "-" else source


def open_source(source: str) -> Opened:
    """The UFF file an argument names. Raises FileError, FormatError."""
    from ufkit.core.files import Source
    from ufkit.uff.io import open as open_uff
    from ufkit.wire.sniff import identify

    opened = Source.open(path_of(source))
    kind = identify(opened).name
    nbytes = opened.size
    return Opened(open_uff(opened), kind, nbytes)


def refuse_existing(path: str, *, force: bool) -> None:
    """Raises FileError (UFK003) where a file would be lost."""
    if not force and os.path.isfile(path):
        raise FileError(EXISTS.at(Where(path), f"{path} exists already"))


def bad_request(message: str, hint: str = "", where: Where | None = None) -> RequestError:
    """An error of the command line, not of a file."""
    return RequestError(USAGE.at(where or Where(), message, hint=hint))
