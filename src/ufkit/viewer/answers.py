"""Answers of the server: JSON that holds no text as markup, errors as findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from ufkit.core.diag import Diagnostic, RequestError, UfkitError, Where
from ufkit.viewer.rules import BAD_REQUEST

if TYPE_CHECKING:
    from starlette.requests import Request

MOST = 10_000  # rows of one answer


class Answer(JSONResponse):
    """JSON. What is not a number in JSON is a fault of ours, so it fails."""

    def render(self, content: Any) -> bytes:
        return json.dumps(
            content, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode("utf-8", "replace")


def refusal(_: Request, error: Exception) -> Response:
    """The answer to a request that ended in one of our errors."""
    assert isinstance(error, UfkitError)
    status = 404 if isinstance(error, RequestError) else 422
    return Answer({"diagnostics": findings(error.diagnostics)}, status)


def findings(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Diagnostics for the page."""
    return [
        {**item.as_dict(), "title": item.rule.title, "why": item.rule.why, "place": str(item.where)}
        for item in diagnostics
    ]


def bad(message: str) -> RequestError:
    """The error for what a request names and is not there (VWR002)."""
    return RequestError(BAD_REQUEST.at(Where(), message))


def number(request: Request, name: str, below: int, default: int | None = None) -> int:
    """A whole number of the query, from 0. Raises RequestError (VWR002)."""
    text = request.query_params.get(name, "" if default is None else str(default))
    return checked(text, name, below)


def checked(text: str, name: str, below: int) -> int:
    """A whole number from 0 to below `below`. Raises RequestError (VWR002)."""
    value = int(text) if text.isdecimal() and len(text) < 19 else -1
    if not 0 <= value < below:
        raise bad(f"{name} is {text[:40]!r}; it must be a number from 0 to {below - 1}")
    return value


def each(text: str, convert: Callable[[str], int]) -> list[int]:
    """The numbers of a list with commas; none for an empty text."""
    return [convert(part) for part in text.split(",")] if text else []


def download(body: bytes, media: str, name: str) -> Response:
    """An answer that the browser saves. Only plain letters of names of files are kept."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)[-100:]
    return Response(
        body,
        media_type=media,
        headers={"content-disposition": f'attachment; filename="{safe}"'},
    )
