"""Answers of the server: JSON, files to be saved, errors as findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from ufkit.core.diag import RequestError, UfkitError
from ufkit.viewer.asking import checked
from ufkit.viewer.encoding import encoded, findings

if TYPE_CHECKING:
    from starlette.requests import Request

MOST = 10_000  # rows of one answer


class Answer(JSONResponse):
    """JSON of what the page is told."""

    def render(self, content: Any) -> bytes:
        return encoded(content)


def refusal(_: Request, error: Exception) -> Response:
    """The answer to a request that ended in one of our errors."""
    assert isinstance(error, UfkitError)
    status = 404 if isinstance(error, RequestError) else 422
    return Answer({"diagnostics": findings(error.diagnostics)}, status)


def number(request: Request, name: str, below: int, default: int | None = None) -> int:
    """A whole number of the query, from 0. Raises RequestError (VWR002)."""
    text = request.query_params.get(name, "" if default is None else str(default))
    return checked(text, name, below)


def download(body: bytes, media: str, name: str) -> Response:
    """An answer that the browser saves. Only plain letters of names of files are kept."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)[-100:]
    return Response(
        body,
        media_type=media,
        headers={"content-disposition": f'attachment; filename="{safe}"'},
    )
