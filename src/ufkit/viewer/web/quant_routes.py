"""Routes about quantisation: the layers, what each lost, how its numbers lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from ufkit.viewer.asking import bad
from ufkit.viewer.session import Session
from ufkit.viewer.subject import Subject
from ufkit.viewer.web.answers import Answer, number

if TYPE_CHECKING:
    from starlette.requests import Request

    from ufkit.viewer.quantisation import Quantisation, Setting


def quant_routes(session: Session) -> list[Route]:
    """The routes: of tables, and of a float net beside its integers, if there is one."""
    routes = [
        Route(f"/api/files/{subject.number}/table", lambda _, subject=subject: _table(subject))
        for subject in session
        if subject.table is not None
    ]
    found = session.quantisation
    return [*routes, *_pair(session, found)] if found is not None else routes


def _pair(session: Session, found: Quantisation) -> list[Route]:
    from ufkit.viewer.quantisation import GRIDS, Setting

    def setting(request: Request) -> Setting:
        session.verify()
        default = found.default
        return Setting(
            number(request, "profile", 2, default.profile),
            bool(number(request, "channels", 2, int(default.per_channel))),
        )

    def layer(request: Request, chosen: Setting) -> int:
        return number(request, "layer", len(found.side(chosen).layers))

    def about(request: Request) -> Response:
        return Answer(found.about(setting(request)))

    def row(request: Request) -> Response:
        chosen = setting(request)
        return Answer(found.row(chosen, layer(request, chosen)))

    def histogram(request: Request) -> Response:
        chosen = setting(request)
        part = ("weights", "bias")[number(request, "part", 2, 0)]
        grid = [*GRIDS][number(request, "grid", len(GRIDS), 0)]
        at = layer(request, chosen)
        if part not in found.held(chosen, at).parts:
            raise bad(f"the layer has no {part} in integers")
        return Answer(found.histogram(chosen, at, part, grid))

    return [
        Route("/api/quant", about),
        Route("/api/quant/layer", row),
        Route("/api/quant/histogram", histogram),
    ]


def _table(subject: Subject) -> Response:
    table = subject.table
    assert table is not None
    shifts = table.shifts
    names = dict.fromkeys([*table.thresholds, *shifts])
    rows = [
        {
            "name": name,
            "threshold": table.thresholds.get(name),
            "shift": shifts[name].shift if name in shifts else None,
            "multiplier": shifts[name].multiplier if name in shifts else None,
        }
        for name in names
    ]
    return Answer({"rows": rows})
