"""Who is answered: the page that was served, on this machine, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from graphs import small_net
from ufkit.uff.io import save
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.session import Session
from ufkit.viewer.web.address import Address
from ufkit.viewer.web.asgi import App
from ufkit.viewer.web.assets import Assets
from ufkit.viewer.web.routes import application
from ufkit.viewer.web.server import guarded

TOKEN = "a-token-of-this-test"
ROUTES = ("/", "/api/session", f"/{Assets().root}app.js", "/api/files/0/pictures/0/item?item=0")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = tmp_path_factory.mktemp("net") / "net.uff"
    save(small_net().meta, path)
    session = Session([str(path)])
    yield session
    session.close()


@pytest.fixture
def layouter(tmp_path: Path) -> Iterator[Layouter]:
    layouter = Layouter(tmp_path)
    yield layouter
    layouter.close()


def served(session: Session, layouter: Layouter, address: Address) -> App:
    """The page, and the application behind it."""
    coming: Future[App] = Future()
    coming.set_result(application(session, layouter))
    return guarded(coming, address)


@pytest.fixture
def client(session: Session, layouter: Layouter) -> TestClient:
    return TestClient(served(session, layouter, Address()), "http://127.0.0.1:8000")


@pytest.fixture
def remote(session: Session, layouter: Layouter) -> TestClient:
    """A server that other machines reach."""
    app = served(session, layouter, Address("0.0.0.0", 0, TOKEN))
    return TestClient(app, "http://board.local:8000")


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:9999", "[::1]:8000", "localhost"])
def test_loopback_is_answered_whatever_the_port(client: TestClient, route: str, host: str) -> None:
    """ssh and containers forward ports, so that the Host may have another one."""
    assert client.get(route, headers={"host": host}).status_code == 200


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8000", ""]
)
def test_a_name_that_was_made_to_point_here_is_not_answered(
    client: TestClient, route: str, host: str
) -> None:
    assert client.get(route, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1234"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("route", ROUTES[1:])
def test_requests_of_other_pages_are_refused(
    client: TestClient, route: str, headers: dict[str, str]
) -> None:
    assert client.get(route, headers=headers).status_code == 403


def test_a_link_to_the_page_may_be_followed_from_anywhere(client: TestClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=headers).status_code == 200
    assert client.get("/api/session", headers=headers).status_code == 403


@pytest.mark.parametrize("route", ROUTES)
def test_every_answer_forbids_scripts_and_frames_from_elsewhere(
    client: TestClient, route: str
) -> None:
    headers = client.get(route).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("route", ROUTES)
def test_other_machines_need_the_token(remote: TestClient, route: str) -> None:
    assert remote.get(route).status_code == 403
    assert remote.get(route, params={"token": "a-token-of-another"}).status_code == 403


def test_the_token_of_the_address_is_enough_from_then_on(remote: TestClient) -> None:
    assert remote.get("/", params={"token": TOKEN}).status_code == 200
    assert remote.get("/api/session").status_code == 200


def test_the_token_is_kept_from_scripts_and_other_sites(remote: TestClient) -> None:
    cookie = remote.get("/", params={"token": TOKEN}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_there_is_nothing_to_change(client: TestClient, method: str) -> None:
    assert client.request(method, "/api/session").status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        f"/{Assets().root}../server.py",
        f"/{Assets().root}..%2fserver.py",
        f"/{Assets().root}%2e%2e/%2e%2e/__init__.py",
        f"/{Assets().root}/etc/passwd",
        f"/{Assets().root}vendor/../../session.py",
        "/static/app.js",
        "/api/files/../../../etc/passwd/findings",
        "/api/files/%2fetc%2fpasswd/findings",
        "/api/files/1/findings",
        "/api/files/-1/findings",
        "/api/files/0x0/findings",
        "/api/files/99999999999999999999/findings",
        "/api/files/0/pictures/1/scene",
        "/api/files/0/pictures/0/item?item=999",
        "/api/files/0/pictures/0/item?item=",
        "/api/files/0/pictures/0/array?item=0&array=0",
        "/api/files/0/pictures/0/scene?open=99",
        "/api/files/0/pictures/0/scene?open=,",
        "/api/files/0/pictures/0/drawing.gif",
        "/api/files/0/pictures/0/items?from=5&count=99999999",
    ],
)
def test_what_was_not_named_cannot_be_reached(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text
