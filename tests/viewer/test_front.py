"""What is answered before files are open, and what when they cannot be."""

from __future__ import annotations

import threading
from asyncio import run, timeout
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from ufkit.core.diag import FormatError, Where
from ufkit.viewer.rules import NOTHING_TO_SEE
from ufkit.viewer.web.address import Address
from ufkit.viewer.web.asgi import App, Message, Receive, Send, respond
from ufkit.viewer.web.assets import Assets
from ufkit.viewer.web.server import guarded


@pytest.fixture
def coming() -> Future[App]:
    return Future()


@pytest.fixture
def client(coming: Future[App]) -> TestClient:
    return TestClient(guarded(coming, Address()), "http://127.0.0.1:8000")


async def opened(scope: Message, receive: Receive, send: Send) -> None:
    await respond(send, 200, "text/plain", b"opened")


@pytest.mark.parametrize(
    ("path", "media"),
    [
        ("", "text/html"),
        *(
            (f"{Assets().root}{name}", media)
            for name, media in (
                ("app.js", "text/javascript"),
                ("style.css", "text/css"),
                ("icon.svg", "image/svg+xml"),
            )
        ),
    ],
)
def test_the_page_is_there_before_files_are_open(client: TestClient, path: str, media: str) -> None:
    answer = client.get(f"/{path}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(media)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_what_is_asked_about_files_waits_for_them(client: TestClient, coming: Future[App]) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.get, "/api/session")
        with pytest.raises(TimeoutError):
            answer.result(0.2)
        coming.set_result(opened)
        assert answer.result(20).text == "opened"


def test_one_that_no_longer_waits_takes_nothing_from_others(
    client: TestClient, coming: Future[App]
) -> None:
    async def impatient() -> None:
        async def nothing(*_: object) -> None:
            return

        scope = {"type": "http", "path": "/api/session", "method": "GET", "query_string": b""}
        scope["headers"] = [(b"host", b"127.0.0.1")]
        with pytest.raises(TimeoutError):
            async with timeout(0.05):
                await guarded(coming, Address())(scope, nothing, nothing)

    with ThreadPoolExecutor(1) as pool:  # this thread may have a loop of its own
        pool.submit(run, impatient()).result()
    coming.set_result(opened)
    assert client.get("/api/session").text == "opened"


def test_who_waits_for_files_that_cannot_be_opened_is_told_why(
    client: TestClient, coming: Future[App]
) -> None:
    threading.Timer(
        0.1, coming.set_exception, [FormatError(NOTHING_TO_SEE.at(Where("x"), "it is empty"))]
    ).start()
    answer = client.get("/api/session")
    assert answer.status_code == 503
    assert [found["message"] for found in answer.json()["diagnostics"]] == ["it is empty"]
