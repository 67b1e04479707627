"""Routes about models: their pictures, items, arrays, findings, and the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from ufkit.viewer.asking import bad, checked, each
from ufkit.viewer.content import SAID, Model, Picture, Weights
from ufkit.viewer.encoding import findings
from ufkit.viewer.graph.arrays import npy, statistics, window
from ufkit.viewer.graph.links import between
from ufkit.viewer.graph.look import Look
from ufkit.viewer.graph.panel import panel, weights_row
from ufkit.viewer.graph.paths import related, shortest
from ufkit.viewer.graph.search import search
from ufkit.viewer.graph.showing import Showing, marks
from ufkit.viewer.graph.totals import totals
from ufkit.viewer.session import Session
from ufkit.viewer.subject import Subject
from ufkit.viewer.web.answers import MOST, Answer, download, number

if TYPE_CHECKING:
    from starlette.requests import Request

_MOST_FINDINGS = 2_000


def model_routes(session: Session, showing: Showing) -> list[Route]:
    """The routes; each names a file by its number, most a picture of it too."""

    def scene(request: Request) -> Response:
        subject, at = _picture(session, request)
        text = showing.scene(subject, at, look_of(request))
        return Response(text, media_type="application/json")

    def marked(request: Request) -> Response:
        return Answer(marks(*_picture(session, request)))

    def drawing(request: Request) -> Response:
        subject, at = _picture(session, request)
        query = request.query_params
        drawn = showing.drawn(subject, at, look_of(request))
        theme = "dark" if query.get("theme") == "dark" else "light"
        from ufkit.viewer.drawing.png import to_png
        from ufkit.viewer.drawing.svg import to_svg

        form = request.path_params["form"]
        if form == "svg":
            body, media = to_svg(drawn, theme).encode(), "image/svg+xml"
        elif form == "png":
            body, media = to_png(drawn, theme), "image/png"
        else:
            raise bad(f"a drawing is svg or png, not {form[:40]!r}")
        return download(body, media, f"{subject.name}.{form}")

    def item(request: Request) -> Response:
        subject, at = _picture(session, request)
        chosen = _item(_model(subject).pictures[at], request, "item")
        return Answer(panel(subject, at, chosen))

    def items(request: Request) -> Response:
        """The rows of the table that stands for the drawing."""
        subject, at = _picture(session, request)
        picture = _model(subject).pictures[at]
        shown = [index for index, item in enumerate(picture.items) if not item.folded]
        start = number(request, "from", len(shown) + 1, 0)
        count = number(request, "count", MOST + 1, 200)
        rows = [
            {
                "item": index,
                "key": picture.items[index].key,
                "title": picture.items[index].title,
                "value": picture.items[index].value,
            }
            for index in shown[start : start + count]
        ]
        return Answer({"total": len(shown), "rows": rows})

    def found(request: Request) -> Response:
        subject, at = _picture(session, request)
        return Answer(search(_model(subject), at, request.query_params.get("q", "")))

    def trace(request: Request) -> Response:
        subject, at = _picture(session, request)
        picture = _model(subject).pictures[at]
        start = _item(picture, request, "item")
        if "to" in request.query_params:
            return Answer({"items": shortest(picture, start, _item(picture, request, "to"))})
        before, behind = related(picture, start)
        return Answer({"before": before, "behind": behind})

    def linked(request: Request) -> Response:
        subject, at = _picture(session, request)
        start, end = (request.query_params.get(name, "") for name in ("from", "to"))
        return Answer(between(subject, at, start, end))

    def array(request: Request) -> Response:
        subject, at = _picture(session, request)
        weights = _weights(subject, at, request)
        stats = statistics(weights.read(), weights.channel)
        return Answer(weights_row(weights) | {"statistics": stats.as_dict()})

    def piece(request: Request) -> Response:
        subject, at = _picture(session, request)
        values = _weights(subject, at, request).read()
        index = each(request.query_params.get("index", ""), lambda t: checked(t, "index", 1 << 62))
        row, column = (number(request, name, 1 << 62, 0) for name in ("row", "column"))
        return Answer(window(values, index, row, column))

    def saved(request: Request) -> Response:
        subject, at = _picture(session, request)
        weights = _weights(subject, at, request)
        name = f"{weights.name.rpartition('/')[2] or 'array'}.npy"
        return download(npy(weights.read()), "application/octet-stream", name)

    def summary(request: Request) -> Response:
        subject, at = _picture(session, request)
        return Answer(totals(_model(subject).pictures[at]))

    def checks(request: Request) -> Response:
        subject = _subject(session, request)
        all_ = subject.findings()
        places = subject.model.places() if subject.model else {}
        rows = findings(all_[:_MOST_FINDINGS])
        for row, finding in zip(rows, all_, strict=False):
            row["at"] = places.get(finding.where.node)
        extent = subject.model.extent if subject.model else ""
        return Answer({"total": len(all_), "rows": rows, "extent": extent})

    file, one = "/api/files/{file}", "/api/files/{file}/pictures/{picture}"
    return [
        Route(f"{file}/findings", checks),
        Route(f"{one}/scene", scene),
        Route(f"{one}/marks", marked),
        Route(f"{one}/drawing.{{form}}", drawing),
        Route(f"{one}/items", items),
        Route(f"{one}/item", item),
        Route(f"{one}/search", found),
        Route(f"{one}/trace", trace),
        Route(f"{one}/links", linked),
        Route(f"{one}/array", array),
        Route(f"{one}/piece", piece),
        Route(f"{one}/array.npy", saved),
        Route(f"{one}/summary", summary),
    ]


def look_of(request: Request) -> Look:
    """How the page wants to have a picture."""
    query = request.query_params
    said = query.get("show")
    return Look(
        query.get("open"), None if said is None else _said(said), query.get("across") == "1"
    )


def _said(text: str) -> frozenset[str]:
    """What boxes are to say. Raises RequestError (VWR002)."""
    named = frozenset(filter(None, text.split(",")))
    if not named <= SAID:
        raise bad(f"boxes say {', '.join(sorted(SAID))}, not {text[:40]!r}")
    return named


def _subject(session: Session, request: Request) -> Subject:
    subject = session.subjects[checked(request.path_params["file"], "file", len(session.subjects))]
    subject.verify()
    return subject


def _model(subject: Subject) -> Model:
    if subject.model is None:
        raise bad(f"{subject.name} holds no graph")
    return subject.model


def _picture(session: Session, request: Request) -> tuple[Subject, int]:
    subject = _subject(session, request)
    count = len(_model(subject).pictures)
    return subject, checked(request.path_params["picture"], "picture", count)


def _item(picture: Picture, request: Request, name: str) -> int:
    return number(request, name, len(picture.items))


def _weights(subject: Subject, at: int, request: Request) -> Weights:
    picture = _model(subject).pictures[at]
    arrays = picture.items[_item(picture, request, "item")].weights
    return arrays[number(request, "array", len(arrays))]
