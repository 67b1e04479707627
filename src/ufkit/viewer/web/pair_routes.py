"""Routes about two models: their scenes with what differs, the list of it, plots of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from ufkit.viewer.asking import bad, checked
from ufkit.viewer.encoding import findings
from ufkit.viewer.graph.pair import Pair
from ufkit.viewer.graph.showing import Showing
from ufkit.viewer.session import Session
from ufkit.viewer.web.answers import Answer, number
from ufkit.viewer.web.model_routes import look_of

if TYPE_CHECKING:
    from starlette.requests import Request


def pair_routes(session: Session, showing: Showing) -> list[Route]:
    """The routes; both files have to be models."""
    pair = Pair(*session.subjects)

    def differences(_: Request) -> Response:
        session.verify()
        result = pair.comparison
        if result is None:
            return Answer({"failed": findings(pair.failed)})
        return Answer(
            {
                "same": result.same,
                "nodes": result.nodes,
                "compared": result.compared,
                "rows": pair.rows(),
                "notes": findings(result.diagnostics),
            }
        )

    def partners(request: Request) -> Response:
        return Answer({"partners": pair.partners(number(request, "picture", 1 << 31, 0))})

    def scene(request: Request) -> Response:
        side = checked(request.path_params["side"], "side", 2)
        picture = checked(request.path_params["picture"], "picture", len(pair.pictures(side)))
        changes = pair.changes(side, picture)
        text = showing.scene(session.subjects[side], picture, look_of(request), changes)
        return Response(text, media_type="application/json")

    def weights(request: Request) -> Response:
        session.verify()
        many = len(pair.comparison.weights) if pair.comparison else 0
        found = pair.weights(number(request, "number", many))
        if found is None:
            raise bad("these weights have different shapes, or types that are no numbers")
        return Answer(found)

    return [
        Route("/api/pair", differences),
        Route("/api/pair/partners", partners),
        Route("/api/pair/{side}/pictures/{picture}/scene", scene),
        Route("/api/pair/weights", weights),
    ]
