"""The server: a page, its files, and routes that answer with what the files hold.

No route takes a path: what was named on the command line is numbered, and reached by number.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from ufkit.viewer.web.address import Address
from ufkit.viewer.web.asgi import App
from ufkit.viewer.web.assets import Assets
from ufkit.viewer.web.front import Front
from ufkit.viewer.web.security import LOOPBACK, Guard

if TYPE_CHECKING:
    from socket import socket

# Seconds after which opening lets a request of the page go first; each needs several turns.
_INTERVAL = 0.0005


def guarded(coming: Future[App], address: Address) -> Guard:
    """The page, and the application that is coming, for those who may ask."""
    return Guard(Front(Assets(), coming), LOOPBACK if address.local else (), address.token)


def serve(opening: Callable[[], App], address: Address, server: socket) -> None:
    """Answer until interrupted: with the page at once, about files when `opening` is done.

    Ends with what `opening` raises, after who waits has been told.
    """
    import uvicorn

    coming: Future[App] = Future()
    app = guarded(coming, address)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)

    def work() -> None:
        try:
            coming.set_result(opening())
        except BaseException as error:  # noqa: BLE001  it is raised again, and told who waits
            coming.set_exception(error)
            running.should_exit = True

    before = sys.getswitchinterval()
    sys.setswitchinterval(_INTERVAL)
    coming.add_done_callback(lambda _: sys.setswitchinterval(before))
    threading.Thread(target=work, daemon=True).start()
    running.run([server])
    if coming.done():
        coming.result()
