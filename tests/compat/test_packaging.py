"""The second wheel goes with the first."""

from __future__ import annotations

import tomllib
from pathlib import Path

import ufkit

ROOT = Path(__file__).resolve().parent.parent.parent


def test_both_wheels_are_of_one_version() -> None:
    projects = [
        tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        for folder in (ROOT, ROOT / "compat")
    ]
    assert [project["version"] for project in projects] == [ufkit.__version__] * 2
    assert f"ufkit=={ufkit.__version__}" in projects[1]["dependencies"]
    assert projects[0]["requires-python"] == projects[1]["requires-python"]
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "compat" / "LICENSE").read_bytes()
