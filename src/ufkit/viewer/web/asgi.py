"""Applications as servers call them (https://asgi.readthedocs.io), without a framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]


async def respond(send: Send, status: int, media: str, body: bytes, headers: Headers = ()) -> None:
    """Send a whole answer."""
    about = [
        (b"content-type", media.encode()),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": about})
    await send({"type": "http.response.body", "body": body})
