"""Layouts are made within a time, can be cancelled, and are kept."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ufkit.core.diag import RequestError
from ufkit.viewer.graph import cache as module
from ufkit.viewer.graph.cache import Cache
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.layout.compound import lay_out
from ufkit.viewer.layout.diagram import Diagram, Placement, Spacing

CHAIN = Diagram(
    [60.0] * 4,
    [24.0] * 4,
    [(0, 1), (1, 2), (1, 3)],
    [0, 0, 1, -1],
    [-1, 0],
    [(40.0, 0.0), (20.0, 0.0)],
)
# more than is laid out without a process
LONG = Diagram([60.0] * 500, [24.0] * 500, [(a, a + 1) for a in range(499)])
# work for seconds: every box linked to hundreds
HARD = Diagram(
    [60.0] * 4000, [24.0] * 4000, [(a, a + b) for a in range(3400) for b in range(1, 600, 7)]
)


@pytest.fixture
def layouter(tmp_path: Path) -> Iterator[Layouter]:
    made = Layouter(tmp_path)
    yield made
    made.close()


def test_the_process_gives_what_the_function_gives(layouter: Layouter) -> None:
    assert layouter.lay_out(LONG) == lay_out(LONG)


def test_a_small_one_needs_no_process(layouter: Layouter) -> None:
    assert layouter.lay_out(CHAIN) == lay_out(CHAIN)
    assert layouter._worker is None


def test_a_layout_is_kept(layouter: Layouter, tmp_path: Path) -> None:
    first = layouter.lay_out(LONG)
    layouter.close()
    again = Layouter(tmp_path, limit=-1)  # nothing is made in so little time
    assert again.lay_out(LONG) == first


def test_other_distances_are_another_layout(layouter: Layouter) -> None:
    wide = Spacing(ranks=110, title=(26, 0))
    first = layouter.lay_out(LONG)
    assert layouter.lay_out(LONG, wide) == lay_out(LONG, wide) != first
    assert layouter.lay_out(LONG) == first


def test_a_cache_that_cannot_be_written_or_is_damaged_is_as_if_it_were_not_there(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "cache"
    cache = Cache(folder)
    cache.keep("key", lay_out(CHAIN))
    assert isinstance(cache.read("key"), Placement)
    (folder / "key").write_bytes(b"no layout")
    assert cache.read("key") is None
    (tmp_path / "file").write_text("in the way of the folder")
    blocked = Cache(tmp_path / "file")
    blocked.keep("key", lay_out(CHAIN))
    assert blocked.read("key") is None


def test_old_layouts_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    for number in range(4):
        cache.keep(f"key{number}", lay_out(CHAIN))
        os.utime(tmp_path / f"key{number}", (number, number))
    size = (tmp_path / "key0").stat().st_size
    monkeypatch.setattr(module, "_KEPT", 2 * size + 1)
    cache.keep("new", lay_out(CHAIN))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key3", "new"]


def test_what_takes_too_long_is_ended_and_the_next_layout_is_made(tmp_path: Path) -> None:
    layouter = Layouter(tmp_path, limit=0.2)
    try:
        with pytest.raises(RequestError) as caught:
            layouter.lay_out(HARD)
        assert caught.value.diagnostic.code == "VWR003"
        assert "4,000 boxes" in str(caught.value)
        layouter._limit = 60
        assert layouter.lay_out(LONG) == lay_out(LONG)
    finally:
        layouter.close()


def test_a_layout_can_be_cancelled(layouter: Layouter) -> None:
    errors: list[RequestError] = []

    def ask() -> None:
        try:
            layouter.lay_out(HARD)
        except RequestError as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        time.sleep(0.05)
        layouter.cancel()
    asking.join(30)
    assert [error.diagnostic.code for error in errors] == ["VWR003"]
    assert layouter.lay_out(LONG) == lay_out(LONG)
