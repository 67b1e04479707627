"""What is answered while files are still being opened: the page and its modules.

A browser takes as long to start and to load the page as most files take to open; so the page is
there at once, and what it asks about files waits for them.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from ufkit.core.diag import UfkitError
from ufkit.viewer.encoding import encoded, findings
from ufkit.viewer.web.asgi import App, Message, Receive, Send, respond
from ufkit.viewer.web.assets import Assets


class Front:
    """The page's own files, and behind them the application that answers about what was opened.

    Where nothing could be opened, what is asked is answered with the findings that say why.
    """

    def __init__(self, assets: Assets, coming: Future[App]) -> None:
        self._assets = assets
        self._coming = coming

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if asset := self._assets.find(scope["path"]):
            caching = (b"cache-control", asset.caching.encode())
            await respond(send, 200, asset.media, asset.body, [caching])
            return
        try:  # who no longer waits must not end it for others
            app = await asyncio.shield(asyncio.wrap_future(self._coming))
        except UfkitError as error:
            body = encoded({"diagnostics": findings(error.diagnostics)})
            await respond(send, 503, "application/json", body)
            return
        await app(scope, receive, send)
