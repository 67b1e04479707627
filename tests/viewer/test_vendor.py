"""Third-party files of the page: each is accounted for, with its licence, and unchanged."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from ufkit.viewer.web.assets import FOLDER as STATIC
from ufkit.viewer.web.assets import Assets

FOLDER = STATIC / "vendor"
ROWS: list[dict[str, Any]] = json.loads((FOLDER / "vendor.json").read_text())


@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
def test_a_file_is_what_the_list_says(row: dict[str, Any]) -> None:
    assert hashlib.sha256((FOLDER / row["file"]).read_bytes()).hexdigest() == row["sha256"]
    for name in row["texts"]:
        assert "Permission is hereby granted" in (text := (FOLDER / name).read_text()) or (
            "Apache License" in text
        )


def test_no_file_is_there_that_the_list_does_not_know() -> None:
    known = {row["file"] for row in ROWS} | {name for row in ROWS for name in row["texts"]}
    assert {path.name for path in FOLDER.iterdir()} == known | {"vendor.json"}


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    for path in [*STATIC.glob("*.js"), *STATIC.glob("*.css"), STATIC / "index.html"]:
        text = path.read_text()
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text


def test_the_page_names_the_modules_that_it_begins_with() -> None:
    modules = Assets().modules()
    assert {"vendor/htm-preact.js", "graph.js", "picture.js", "canvas.js"} <= {*modules}
    assert not {"records.js", "quant.js", "vendor/uplot.js"} & {*modules}  # loaded when needed
