"""From a file to the first picture of its graph in a browser, next to Netron in the same one."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from files import Files
from report import Row, seconds

from ufkit.uff.build import Builder
from ufkit.uff.io import save

SIZES = (300, 3000, 5000)
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
PAINTED = "canvas[data-painted]"
NETRON_SHOWN = "body.default"  # what it calls the page once the graph is there
PORT = 8917


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the start of the command to the first picture, and of reloading the page; MiB
    that the server has resident."""

    first: float
    again: float
    resident: float


def run(files: Files, rounds: int) -> Iterator[Row]:
    missing = [name for name in ("playwright", "netron", "starlette") if find_spec(name) is None]
    chromium = shutil.which("chromium")
    if missing or chromium is None:
        yield Row("view", f"skipped: no {', '.join(missing) or 'chromium'}", "")
        return
    from playwright.sync_api import sync_playwright

    folder = files.folder / "view"
    folder.mkdir()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=[*FLAGS])
        for size in SIZES:
            path = folder / f"{size}.uff"
            save(blocks(size).meta, path)
            ours, flat, peer = [], [], []
            for _ in range(rounds):
                ours.append(_ufkit(browser, path, ""))
                flat.append(_ufkit(browser, path, "#/0/graph/0?open=flat"))
                peer.append(_netron(browser, path))
            yield from _rows(size, ours, flat, statistics.median(peer))
        browser.close()


def _rows(size: int, ours: list[Times], flat: list[Times], peer: float) -> Iterator[Row]:
    bound = {"at_most": 0.25} if size == 3000 else {}
    for name, times in (("as it opens", ours), ("every node", flat)):
        first = statistics.median(sample.first for sample in times)
        again = statistics.median(sample.again for sample in times)
        what = f"{size:,} nodes, {name}"
        yield Row(what, seconds(first), seconds(peer), first / peer, **bound, unit="x the time")
        yield Row(f"{what}, reloaded", seconds(again), "0.25 s", again / 0.25, at_most=1)
    resident = max(sample.resident for sample in (*ours, *flat))
    yield Row(
        f"{size:,} nodes, server", f"{resident:.0f} MiB", "100 MiB", resident / 100, at_most=1
    )


def blocks(size: int) -> Builder:
    """Residual blocks of seven nodes, twenty to a stage."""
    builder = Builder()
    last = builder.input("image", [1, 32, 32, 8])
    for number in range((size - 2) // 7):
        scope, begin = f"stage{number // 20}/block{number}", last
        for step in range(3):
            last = builder.op(f"{scope}/exp{step}", "Unary", [last], func="exp")
            last = builder.op(f"{scope}/relu{step}", "Activation", [last], func="relu")
        last = builder.op(f"{scope}/add", "Binary", [last, begin], func="add")
    builder.output(last)
    return builder


@contextmanager
def _running(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _ufkit(browser: Any, path: Path, place: str) -> Times:
    """A first look: nothing is kept of an earlier one."""
    command = [sys.executable, "-m", "ufkit", "view", "--no-browser", str(path)]
    with tempfile.TemporaryDirectory() as cache:
        begin = time.perf_counter()
        with _running(command, {"XDG_CACHE_HOME": cache}) as process:
            assert process.stdout is not None
            url = next(line for line in process.stdout if line.startswith("http")).split()[0]
            page = browser.new_page()
            page.goto(url + place)
            page.locator(PAINTED).wait_for()
            first = time.perf_counter() - begin
            page.reload()
            page.locator(PAINTED).wait_for()
            again = page.evaluate("performance.getEntriesByName('ufkit-painted')[0].startTime")
            status = Path(f"/proc/{process.pid}/status").read_text()
            page.close()
    resident = re.search(r"VmRSS:\s+(\d+)", status)
    return Times(first, again / 1000, int(resident[1]) / 1024 if resident else 0.0)


def _netron(browser: Any, path: Path) -> float:
    """Netron's own server and page; it asks for consent first, which is given beforehand."""
    start = (
        f"import netron; netron.start({str(path)!r}, address={PORT}, browse=False); netron.wait()"
    )
    begin = time.perf_counter()
    with _running([sys.executable, "-c", start], {}):
        context = browser.new_context()
        address = f"http://localhost:{PORT}"
        context.add_cookies([{"name": "consent", "value": str(int(time.time())), "url": address}])
        _answering(address)
        page = context.new_page()
        page.goto(address)
        page.locator(NETRON_SHOWN).wait_for(timeout=300_000)
        taken = time.perf_counter() - begin
        context.close()
    return taken


def _answering(address: str) -> None:
    while True:
        try:
            with urllib.request.urlopen(address):
                return
        except OSError:
            time.sleep(0.02)
