"""Routes about datasets: their records, pictures of them, what there is of which, findings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from ufkit.core.diag import RequestError, UfkitError
from ufkit.viewer.asking import bad, checked, each
from ufkit.viewer.encoding import findings
from ufkit.viewer.graph.arrays import npy, statistics, window
from ufkit.viewer.records.answers import checks, counts, details, rows, wanted
from ufkit.viewer.records.subject import DatasetSubject
from ufkit.viewer.records.thumbnails import File
from ufkit.viewer.session import Session
from ufkit.viewer.web.answers import Answer, download, number

if TYPE_CHECKING:
    from starlette.requests import Request

_PATIENCE = 0.25  # seconds that one request may read on in the dataset
_AT_ONCE = 2  # pictures that are made at the same time
_MOST_ROWS = 500
_LARGEST_SIDE = 1024


def dataset_routes(session: Session) -> list[Route]:
    """The routes; each names a dataset by its number."""
    gate = asyncio.Semaphore(_AT_ONCE)

    def about(request: Request) -> Response:
        return Answer(_dataset(session, request).about())

    def listed(request: Request) -> Response:
        """Records of a filter's matches, from one of them on."""
        dataset = _dataset(session, request)
        filter_ = wanted(request.query_params)
        start = number(request, "from", 1 << 40, 0)
        count = number(request, "count", _MOST_ROWS + 1, 100)
        return Answer({"rows": rows(dataset, filter_, start, count)})

    def found(request: Request) -> Response:
        """How many matches a filter has, as far as was read; each request reads some more."""
        dataset = _dataset(session, request)
        filter_ = wanted(request.query_params)
        if filter_:
            dataset.index.grow(_PATIENCE)
        total = len(dataset.index.matching(filter_)) if filter_ else len(dataset.records)
        return Answer({"total": total, **_progress(dataset, complete=not filter_)})

    def one(request: Request) -> Response:
        dataset = _dataset(session, request)
        return Answer(details(dataset, _record(dataset, request), wanted(request.query_params)))

    def summary(request: Request) -> Response:
        dataset = _dataset(session, request)
        dataset.index.grow(_PATIENCE)
        return Answer({**counts(dataset), **_progress(dataset)})

    async def thumbnail(request: Request) -> Response:
        dataset = _dataset(session, request)
        record, rgb = _record(dataset, request), "rgb" in request.query_params
        side = number(request, "side", _LARGEST_SIDE + 1, 160)
        async with gate:
            if await request.is_disconnected():  # scrolled past meanwhile
                return Response(status_code=499)
            return await run_in_threadpool(
                _image, lambda: dataset.thumbnails.small(record, side, rgb=rgb)
            )

    def picture(request: Request) -> Response:
        dataset = _dataset(session, request)
        record, rgb = _record(dataset, request), "rgb" in request.query_params

        def made() -> File:
            channel = None
            if "channel" in request.query_params:
                channel = number(request, "channel", len(dataset.thumbnails.stack(record)))
            return dataset.thumbnails.large(record, channel, rgb=rgb)

        return _image(made)

    def values(request: Request) -> Response:
        dataset = _dataset(session, request)
        record = _record(dataset, request)
        row, column = (number(request, name, 1 << 40) for name in ("row", "column"))
        return Answer({"values": dataset.thumbnails.values(record, row, column)})

    def array(request: Request) -> Response:
        dataset = _dataset(session, request)
        stack = dataset.thumbnails.stack(_record(dataset, request))
        return Answer({"statistics": statistics(stack, 0).as_dict(), "shape": stack.shape})

    def piece(request: Request) -> Response:
        dataset = _dataset(session, request)
        stack = dataset.thumbnails.stack(_record(dataset, request))
        index = each(request.query_params.get("index", ""), lambda t: checked(t, "index", 1 << 40))
        row, column = (number(request, name, 1 << 40, 0) for name in ("row", "column"))
        return Answer(window(stack, index, row, column))

    def saved(request: Request) -> Response:
        dataset = _dataset(session, request)
        record = _record(dataset, request)
        array = dataset.records.entry(record).array
        body = npy(dataset.thumbnails.stack(record) if array is None else array())
        return download(body, "application/octet-stream", f"record-{record}.npy")

    def checked_so_far(request: Request) -> Response:
        return Answer(checks(_dataset(session, request)))

    def begin(request: Request) -> Response:
        dataset = _dataset(session, request)
        dataset.checking.begin()
        return Answer(checks(dataset))

    def cancel(request: Request) -> Response:
        dataset = _dataset(session, request)
        dataset.checking.cancel()
        return Answer(checks(dataset))

    base = "/api/files/{file}/records"
    return [
        Route(base, about),
        Route(f"{base}/rows", listed),
        Route(f"{base}/found", found),
        Route(f"{base}/one", one),
        Route(f"{base}/counts", summary),
        Route(f"{base}/thumbnail", thumbnail),
        Route(f"{base}/picture", picture),
        Route(f"{base}/values", values),
        Route(f"{base}/array", array),
        Route(f"{base}/piece", piece),
        Route(f"{base}/array.npy", saved),
        Route(f"{base}/checks", checked_so_far),
        Route(f"{base}/checks/begin", begin, methods=["POST"]),
        Route(f"{base}/checks/cancel", cancel, methods=["POST"]),
    ]


def _dataset(session: Session, request: Request) -> DatasetSubject:
    at = checked(request.path_params["file"], "file", len(session.subjects))
    subject = session.subjects[at]
    if subject.dataset is None:
        raise bad(f"{subject.name} is no dataset")
    return subject.dataset


def _record(dataset: DatasetSubject, request: Request) -> int:
    return number(request, "number", len(dataset.records))


def _image(make: Callable[[], File]) -> Response:
    """A picture, or why there is none: that is an answer too, and no failure of the page."""
    try:
        made = make()
    except RequestError:
        raise
    except UfkitError as error:
        return Answer({"diagnostics": findings(error.diagnostics)})
    return Response(made.data, media_type=made.media, headers={"cache-control": "no-store"})


def _progress(dataset: DatasetSubject, *, complete: bool = False) -> dict[str, object]:
    index = dataset.index
    return {
        "read": index.read,
        "of": index.total,
        "complete": complete or index.complete,
        "broken": findings(index.broken),
    }
