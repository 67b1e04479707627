"""What a request may name: numbers of what is there."""

from __future__ import annotations

from collections.abc import Callable

from ufkit.core.diag import RequestError, Where
from ufkit.viewer.rules import BAD_REQUEST


def bad(message: str) -> RequestError:
    """The error for what a request names and is not there (VWR002)."""
    return RequestError(BAD_REQUEST.at(Where(), message))


def checked(text: str, name: str, below: int) -> int:
    """A whole number from 0 to below `below`. Raises RequestError (VWR002)."""
    value = int(text) if text.isdecimal() and len(text) < 19 else -1
    if not 0 <= value < below:
        raise bad(f"{name} is {text[:40]!r}; it must be a number from 0 to {below - 1}")
    return value


def each(text: str, convert: Callable[[str], int]) -> list[int]:
    """The numbers of a list with commas; none for an empty text."""
    return [convert(part) for part in text.split(",")] if text else []
