"""How `ufkit view` begins and ends, as a program among others: pipes, signals, wrong files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import pytest

from graphs import small_net
from ufkit.uff.io import save

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.uff"
    save(small_net().meta, path)
    return path


@contextmanager
def viewing(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command, and the address that it printed into a pipe."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [sys.executable, "-m", "ufkit", "view", "--no-browser", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().split()[0]
    finally:
        process.kill()
        process.communicate()


def asked(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return bytes(answer.read())


def test_who_reads_a_pipe_has_the_address_at_once(net: Path) -> None:
    with viewing(net) as (process, url):
        assert b"<title>ufkit</title>" in asked(url)
        assert process.stdout is not None
        assert process.stdout.readline() == "net.uff: UFF, binary\n"
        assert b"net.uff" in asked(f"{url}api/session")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_it_quietly(net: Path, number: int, code: int) -> None:
    with viewing(net) as (process, url):
        asked(f"{url}api/session")
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
        assert process.returncode in (code, -number)
        assert "Traceback" not in said


def test_json_comes_into_a_pipe_when_files_are_open(net: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ufkit", "view", "--no-browser", "--json", str(net)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = [*takewhile("}\n".__ne__, process.stdout), "}"]
        data = json.loads("".join(lines))["data"]
        assert [file["name"] for file in data["files"]] == ["net.uff"]
        assert b"<title>ufkit</title>" in asked(data["url"])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("option", "said"),
    [("--shape=nobody=1", "'nobody' is no input"), ("--table=table.json", "--table goes with")],
)
def test_what_goes_wrong_while_files_are_opened_ends_it(net: Path, option: str, said: str) -> None:
    """It listens already by then: nothing is left behind that does."""
    (net.parent / "table.json").write_text('{"conv": 1.5}')
    command = [sys.executable, "-m", "ufkit", "view", "--no-browser", option, net.name]
    done = subprocess.run(command, cwd=net.parent, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
