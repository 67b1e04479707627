"""A viewer, and a browser that looks at it: Debian's Chromium, driven by Playwright.

A page that writes an error to the console, fails to load something, or asks anything but
loopback, fails its test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from viewer.starting import Viewer

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
KEPT = 4  # viewers that run at a time
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser; tests that need it are skipped where none is installed."""
    path = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        pytest.skip(f"no browser is installed: none of {', '.join(PROGRAMS)}")
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=[*FLAGS])
        yield chromium
        chromium.close()


class Watched:
    """What a page did that it must not do."""

    def __init__(self, page: Page) -> None:
        self.faults: list[str] = []
        self.expected: list[str] = []  # parts of faults that the test is about
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("request", lambda request: self._request(request.url))

    def _console(self, message: object) -> None:
        if message.type in ("error", "warning"):  # type: ignore[attr-defined]
            self.faults.append(f"console: {message.text}")  # type: ignore[attr-defined]

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in (
            "127.0.0.1",
            "localhost",
        ):
            self.faults.append(f"it asks {url}")

    def unexpected(self) -> list[str]:
        return [fault for fault in self.faults if not any(map(fault.__contains__, self.expected))]


@pytest.fixture
def page(browser: Browser, viewer: Viewer, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a fresh profile, 1,280 by 800. Mark `expects("...")` allows faults that say so."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    context.set_default_timeout(20_000)
    opened = context.new_page()
    watched = Watched(opened)
    marker = request.node.get_closest_marker("expects")
    watched.expected += marker.args if marker else ()
    yield opened
    context.close()
    assert not watched.unexpected()


class Servers:
    """Viewers that run: one for each list of arguments, the few used last."""

    def __init__(self, cache: Path) -> None:
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        self._running: dict[tuple[str, ...], tuple[subprocess.Popen[str], str]] = {}

    def url(self, *arguments: object) -> str:
        """The address of the page of `ufkit view` with these arguments."""
        key = (*map(str, arguments),)
        found = self._running.pop(key, None) or self._started(key)
        self._running[key] = found
        if len(self._running) > KEPT:
            self._end(self._running.pop(next(iter(self._running))))
        return found[1]

    def _started(self, arguments: tuple[str, ...]) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "ufkit", "view", "--no-browser", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("http://"):
                return process, line.split()[0]
        raise AssertionError(f"it ended with {process.wait()}")

    def _end(self, running: tuple[subprocess.Popen[str], str]) -> None:
        process = running[0]
        process.terminate()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()

    def close(self) -> None:
        """End them all."""
        while self._running:
            self._end(self._running.popitem()[1])


@pytest.fixture(scope="session")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """Runs `ufkit view` with what it is given, and gives the address of the page."""
    servers = Servers(tmp_path_factory.mktemp("cache"))
    yield servers.url
    servers.close()
