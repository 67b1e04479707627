"""What several pages share: numbers as they are written, panels in narrow windows."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from graphs import small_net
from ufkit.uff.io import save
from viewer.starting import Viewer


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.uff"
    save(small_net().meta, path)
    return path


def test_numbers_keep_their_size_however_they_are_shortened(
    page: Page, viewer: Viewer, net: Path
) -> None:
    page.goto(viewer(net))
    written = page.evaluate(
        """async () => {
          const { href } = document.querySelector('link[href$="/parts.js"]');
          const { real, count } = await import(href);
          return [[120000.4, -450000.3, 0.25, 1e300, 1.5e-10, 100.5, 1234567].map(real),
                  [99_999, 999_600, 999_400, 1_000_000, 123_456_789].map(count)];
        }"""
    )
    assert written == [
        ["120000", "-450000", "0.25", "1e+300", "1.5e-10", "100.5", "1.23457e+6"],
        ["99,999", "1.00 M", "999 k", "1.00 M", "123 M"],
    ]


def test_in_a_narrow_window_the_panel_covers_nothing_of_the_picture(
    page: Page, viewer: Viewer, net: Path
) -> None:
    page.set_viewport_size({"width": 640, "height": 500})
    page.goto(f"{viewer(net)}#/0/graph/0?item=3")
    page.wait_for_selector("aside.panel h2")
    stage, panel = page.locator(".stage").bounding_box(), page.locator(".panel").bounding_box()
    assert stage is not None
    assert panel is not None
    assert stage["height"] > 100
    assert stage["y"] + stage["height"] <= panel["y"] + 1
