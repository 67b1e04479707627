"""The fuzzer finds nothing in a few seconds, says how fast it was, and can tell a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = "25" if os.environ.get("CI") else "3"  # a target; longer runs by hand


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "fuzz.py", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


@pytest.mark.parametrize("target", ["wire", "uff", "convert", "text", "json", "net", "onnx"])
def test_a_short_run_finds_nothing(target: str) -> None:
    done = fuzz("--seconds", SECONDS, "--target", target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{target}: ")


def test_a_good_file_can_be_tried_alone(tmp_path: Path) -> None:
    path = tmp_path / "good.uff"
    path.write_bytes(b"\x08\x01\x10\x01")
    done = fuzz("--target", "uff", "--input", str(path))
    assert (done.returncode, done.stdout) == (0, "nothing found\n")
