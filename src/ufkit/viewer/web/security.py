"""Who may ask: the browser of this user, from the page that was served, and nobody else.

A page of another site can make a browser send requests to loopback, and a name can be made to
point there; so the Host has to be the one that is listened on, and the Origin the page's own.
Where other machines can reach the port, each request needs the token of the address too.
"""

from __future__ import annotations

import hashlib
import secrets
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

from ufkit.viewer.web.asgi import App, Message, Receive, Send, respond

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

# Everything comes from the server itself; no inline script or style, no frames, no forms.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """Lets through what may ask, and adds the headers that keep the page to itself.

    hosts   names that the Host header may have, without the port; any where it is empty
    token   what the address has to hold once, and the cookie from then on; none if ""
    """

    def __init__(self, app: App, hosts: tuple[str, ...], token: str = "") -> None:
        self._app = app
        self._hosts = hosts
        self._token = token
        # of its own for each viewer: cookies are shared by all ports of a host
        self._cookie = f"ufkit-{hashlib.sha256(token.encode()).hexdigest()[:8]}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused:
            status, text = refused
            await respond(send, status, "text/plain; charset=utf-8", text.encode(), HEADERS)
            return
        fresh = self._token and self._in_address(scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
                if fresh:
                    kept = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
                    message["headers"].append((b"set-cookie", kept.encode()))
            await send(message)

        await self._app(scope, receive, guarded)

    def _refused(self, scope: Message, headers: dict[bytes, str]) -> tuple[int, str] | None:
        host = headers.get(b"host", "")
        if self._hosts and _name(host) not in self._hosts:
            return 421, f"this server does not answer for the host {host!r}"
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "requests of other pages are not answered"
        followed = headers.get(b"sec-fetch-mode") == "navigate" and scope["path"] == "/"
        if headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin") and not followed:
            return 403, "requests of other pages are not answered"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "there is nothing to change here"
        if self._token and not (self._in_address(scope) or self._in_cookie(headers)):
            return 403, "the address needs the token that was printed when the viewer started"
        return None

    def _in_address(self, scope: Message) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return self._is_token(given)

    def _in_cookie(self, headers: dict[bytes, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get(b"cookie", ""))
        except ValueError:
            return False
        return self._cookie in cookies and self._is_token(cookies[self._cookie].value)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _name(host: str) -> str:
    """A Host header without its port."""
    name, separator, port = host.rpartition(":")
    return name if separator and port.isdecimal() else host
