"""The command as a process: pipes, signals, terminals, missing streams, time."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ufkit

UFKIT = [sys.executable, "-c", "import sys; from ufkit.cli import main; sys.exit(main())"]


def popen(*args: object, **more: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*UFKIT, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,  # type: ignore[call-overload]
    )


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A file whose dump is longer than any pipe holds."""
    builder = ufkit.Builder()
    last = builder.input("x", [-1, 4])
    for number in range(3000):
        last = builder.op(f"node{number}", "Unary", [last], func="neg")
    builder.output(last)
    path = tmp_path / "long.uff"
    ufkit.save(builder.meta, path)
    return path


@pytest.mark.parametrize("args", [["dump"], ["dump", "--json"], ["info", "--nodes"]])
def test_a_reader_that_has_enough(long: Path, args: list[str]) -> None:
    process = popen(*args, long)
    assert process.stdout is not None
    process.stdout.read(100)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(60) == 0
    process.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("verb", ["dump", "info", "check"])
def test_a_full_disk(long: Path, verb: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*UFKIT, verb, long], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
@pytest.mark.parametrize(
    ("sent", "code", "said"), [(signal.SIGINT, 130, b"interrupted\n"), (signal.SIGTERM, 143, b"")]
)
def test_interrupted(tmp_path: Path, sent: signal.Signals, code: int, said: bytes) -> None:
    fifo = tmp_path / "model.uff"
    os.mkfifo(fifo)
    target = tmp_path / "out.npz"
    process = popen("weights", fifo, target)
    writer = os.open(fifo, os.O_WRONLY)  # opens when ufkit reads
    time.sleep(0.3)
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    os.close(writer)
    assert process.returncode == code
    assert err == said
    assert sorted(os.listdir(tmp_path)) == ["model.uff"]


def test_stdin(net: Path, tmp_path: Path) -> None:
    content = net.read_bytes()
    for args in (["info", "-"], ["check", "-"], ["dump", "-"], ["weights", "-"],
                 ["convert", "-", str(tmp_path / "x.onnx")]):  # fmt: skip
        piped = subprocess.run([*UFKIT, *args], input=content, capture_output=True)
        assert piped.returncode == 0, piped.stderr
        assert piped.stdout


def test_no_stdout(net: Path) -> None:
    command = " ".join(f"'{word}'" for word in [*UFKIT, "info", str(net)])
    done = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True)
    assert done.returncode == 0
    assert done.stderr == b""


def test_ascii_terminal(tmp_path: Path) -> None:
    builder = ufkit.Builder()
    builder.output(builder.input("\u5165\u529b", [2]))
    path = tmp_path / "x.uff"
    ufkit.save(builder.meta, path)
    done = subprocess.run(
        [*UFKIT, "info", path],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "\\u5165" in done.stdout


def on_terminal(*args: object, **env: str) -> str:
    """What a command prints on a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*UFKIT, *map(str, args)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", **env},
    )
    os.close(follower)
    out = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(leader)
    process.wait(60)
    return out.decode()


def test_colour_on_a_terminal_only(custom: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[33mwarning[UFF201]\x1b[0m" in on_terminal("check", custom)
    assert "\x1b[" not in on_terminal("check", custom, NO_COLOR="1")
    assert "\x1b[" not in on_terminal("check", custom, TERM="dumb")
    assert "Examples" in on_terminal("convert", "--help")


def test_progress_of_long_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ufkit.Builder()
    builder.const("w", np.zeros(64 << 20, np.int8))
    builder.output("w")
    path = tmp_path / "big.uff"
    ufkit.save(builder.meta, path)
    code = (
        "import sys; from ufkit.cli import progress, main; progress._PATIENCE = -1.0; "
        "sys.exit(main())"
    )
    for quiet in ([], ["-q"]):
        done = subprocess.run(
            [sys.executable, "-c", code, "weights", path, tmp_path / "w.npz", "--force", *quiet],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0
        assert done.stderr.startswith("writing: ") == (not quiet)


def cpu(command: list[str]) -> float:
    """Processor seconds of a process, the least of several runs."""
    best = float("inf")
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime
        best = min(best, used + after.ru_stime - before.ru_stime)
    return best


def test_help_starts_fast() -> None:
    plain = cpu([sys.executable, "-c", "pass"])
    assert cpu([*UFKIT, "--help"]) <= 5 * plain
