"""The server: a page, its files, and routes that answer with what the files hold.

No route takes a path: what was named on the command line is numbered, and reached by number.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ufkit.core.diag import FileError, UfkitError, Where
from ufkit.viewer.answers import Answer, refusal
from ufkit.viewer.drawing.theme import COLOURS
from ufkit.viewer.layouter import Layouter
from ufkit.viewer.model_routes import model_routes
from ufkit.viewer.rules import ADDRESS_TAKEN
from ufkit.viewer.security import LOOPBACK, App, Guard
from ufkit.viewer.session import Session
from ufkit.viewer.showing import Showing

if TYPE_CHECKING:
    from starlette.requests import Request

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: any free port where it is 0; `token` has to be given by who asks."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in ("127.0.0.1", "localhost", "::1")


def application(session: Session, layouter: Layouter) -> Starlette:
    """The routes, unguarded."""
    showing = Showing(layouter)

    def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    def about(_: Request) -> Response:
        return Answer(session.about() | {"version": version("ufkit"), "colours": COLOURS})

    def cancel(_: Request) -> Response:
        layouter.cancel()
        return Answer({})

    return Starlette(
        routes=[
            Route("/", page),
            Route("/api/session", about),
            Route("/api/cancel", cancel, methods=["POST"]),
            *model_routes(session, showing),
            *_further(session, showing),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers={UfkitError: refusal},
    )


def _further(session: Session, showing: Showing) -> list[Route]:
    """Routes of what is not always there, and loads more than a graph needs."""
    found: list[Route] = []
    if session.compared:
        from ufkit.viewer.pair_routes import pair_routes

        found += pair_routes(session, showing)
    else:
        showing.ahead(session.subjects[0])
    if session.quantisation is not None or any(subject.table for subject in session):
        from ufkit.viewer.quant_routes import quant_routes

        found += quant_routes(session)
    if any(subject.dataset for subject in session):
        from ufkit.viewer.dataset_routes import dataset_routes

        found += dataset_routes(session)
    return found


def guarded(session: Session, layouter: Layouter, address: Address) -> Guard:
    """The application as it is served."""
    hosts = LOOPBACK if address.local else ()
    app = cast(App, application(session, layouter))
    return Guard(app, hosts, address.token)


def listening(address: Address) -> socket.socket:
    """A listening socket on the address. Raises FileError (VWR004) where there can be none."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    server = socket.socket(family)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((address.host, address.port))
        server.listen()  # who comes before files are open waits
    except (OSError, OverflowError) as error:
        server.close()
        message = f"{address.host} port {address.port}: {error}"
        raise FileError(ADDRESS_TAKEN.at(Where(), message)) from error
    return server


def url(address: Address, server: socket.socket) -> str:
    """The address of the page, with the token where there is one."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    query = f"?token={address.token}" if address.token else ""
    return f"http://{host}:{server.getsockname()[1]}/{query}"


def serve(app: Any, server: socket.socket, ready: Callable[[], None]) -> None:
    """Answer until interrupted; `ready` is called once answers can be had."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    asyncio.run(Server(config).serve([server]))
