"""The application: every route there is about the files of a session."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, cast

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from ufkit.core.diag import UfkitError
from ufkit.viewer.drawing.theme import COLOURS
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.graph.showing import Showing
from ufkit.viewer.session import Session
from ufkit.viewer.web.answers import Answer, refusal
from ufkit.viewer.web.asgi import App
from ufkit.viewer.web.model_routes import model_routes

if TYPE_CHECKING:
    from starlette.requests import Request


def application(session: Session, layouter: Layouter) -> App:
    """The routes, unguarded; the files of the session are opened."""
    showing = Showing(layouter)

    def about(_: Request) -> Response:
        return Answer(session.about() | {"version": version("ufkit"), "colours": COLOURS})

    def cancel(_: Request) -> Response:
        layouter.cancel()
        return Answer({})

    routes = Starlette(
        routes=[
            Route("/api/session", about),
            Route("/api/cancel", cancel, methods=["POST"]),
            *model_routes(session, showing),
            *_further(session, showing),
        ],
        exception_handlers={UfkitError: refusal},
    )
    return cast(App, routes)


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
