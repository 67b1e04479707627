"""The server: a page, its files, and routes that answer with what the files hold.

No route takes a path: what was named on the command line is numbered, and reached by number.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from ufkit.core.diag import UfkitError
from ufkit.viewer.drawing.theme import COLOURS
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.graph.showing import Showing
from ufkit.viewer.session import Session
from ufkit.viewer.web.address import Address
from ufkit.viewer.web.answers import Answer, refusal
from ufkit.viewer.web.assets import Assets
from ufkit.viewer.web.model_routes import model_routes
from ufkit.viewer.web.security import LOOPBACK, App, Guard

if TYPE_CHECKING:
    from socket import socket

    from starlette.requests import Request


def application(session: Session, layouter: Layouter) -> Starlette:
    """The routes, unguarded."""
    showing = Showing(layouter)

    assets = Assets()

    def about(_: Request) -> Response:
        return Answer(session.about() | {"version": version("ufkit"), "colours": COLOURS})

    def cancel(_: Request) -> Response:
        layouter.cancel()
        return Answer({})

    return Starlette(
        routes=[
            Route("/", assets.page),
            Route("/api/session", about),
            Route("/api/cancel", cancel, methods=["POST"]),
            *model_routes(session, showing),
            *_further(session, showing),
            Route(f"/{assets.root}{{name:path}}", assets.file),
        ],
        exception_handlers={UfkitError: refusal},
    )


def _further(session: Session, showing: Showing) -> list[Route]:
    """Routes of what is not always there, and loads more than a graph needs."""
    found: list[Route] = []
    if session.compared:
        from ufkit.viewer.web.pair_routes import pair_routes

        found += pair_routes(session, showing)
    else:
        showing.ahead(session.subjects[0])
    if session.quantisation is not None or any(subject.table for subject in session):
        from ufkit.viewer.web.quant_routes import quant_routes

        found += quant_routes(session)
    if any(subject.dataset for subject in session):
        from ufkit.viewer.web.dataset_routes import dataset_routes

        found += dataset_routes(session)
    return found


def guarded(session: Session, layouter: Layouter, address: Address) -> Guard:
    """The application as it is served."""
    hosts = LOOPBACK if address.local else ()
    app = cast(App, application(session, layouter))
    return Guard(app, hosts, address.token)


def serve(app: Any, server: socket) -> None:
    """Answer until interrupted."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([server])
