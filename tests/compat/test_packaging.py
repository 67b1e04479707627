"""The second wheel goes with the first."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import graphsurgeon as gs
import uff
import ufkit
import ufkit_compat.tensorflow as tf
import ufwio

_IMPORTED = {"Any", "BY_NAME", "NoReturn", "annotations"}
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


THINGS = (uff, uff.model.Graph, uff.model.MetaGraph, gs, gs.StaticGraph, gs.DynamicGraph, tf, ufwio)


@pytest.mark.parametrize("thing", THINGS)
def test_the_page_names_everything(thing: Any) -> None:
    page = (ROOT / "docs" / "compat.md").read_text("utf-8")
    names = {name for name in vars(thing) if not name.startswith("_")} - _IMPORTED
    names = {name for name in names if not inspect.ismodule(getattr(thing, name, None))}
    assert not {name for name in names if not re.search(rf"\b{name}\b", page)}
