"""Two models side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from graphs import small_net
from ufkit.uff.const import constant
from ufkit.uff.io import save
from viewer.starting import Viewer


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A net, and the same with other weights, another field, and a node more."""
    folder = tmp_path_factory.mktemp("sides")
    first, second = folder / "before.uff", folder / "after.uff"
    save(small_net().meta, first)
    other = small_net()
    conv = next(node for node in other.graph if node.operation == "Conv")
    kernel = other.graph[conv.inputs[1]]
    kernel.fields["values"] = (constant(kernel).numpy() + np.float32(0.5)).tobytes()
    pool = next(node for node in other.graph if node.operation == "Pool")
    pool.fields["func"] = "avg"
    other.graph.add("more", "Unary", [other.graph.outputs[0]], func="exp")
    save(other.meta, second)
    return first, second


def test_what_differs_is_listed_and_leads_into_both_graphs(
    page: Page, viewer: Viewer, sides: tuple[Path, Path]
) -> None:
    page.goto(viewer(*sides))
    rows = page.locator("ol.differences li")
    expect(rows).to_have_count(3)
    expect(page.locator("li.added")).to_contain_text("more")
    expect(page.locator("li.changed")).to_contain_text("avg")
    page.locator("li.changed button").click()
    assert "item=" in page.url
    assert "itemB=" in page.url
    page.locator("li.weights button").click()
    expect(page.locator(".plot canvas")).to_have_count(3)
    expect(page.locator("aside.differences")).to_contain_text("largest 0.5")


def test_what_is_chosen_on_one_side_is_chosen_on_the_other(
    page: Page, viewer: Viewer, sides: tuple[Path, Path]
) -> None:
    page.goto(viewer(*sides))
    expect(page.locator(".side canvas").first).to_be_visible()
    page.locator("canvas[data-painted]").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_url(lambda url: "item=" in url and "itemB=" in url)


def test_both_sides_are_turned_and_say_the_same(
    page: Page, viewer: Viewer, sides: tuple[Path, Path]
) -> None:
    page.goto(viewer(*sides))
    page.locator("canvas[data-painted]").nth(1).wait_for()
    page.keyboard.press("l")
    page.wait_for_url(lambda url: "across=1" in url)
    across = page.get_by_role("button", name="across")
    for side in (0, 1):
        expect(across.nth(side)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="weights", exact=True).nth(1).click()
    page.wait_for_url(lambda url: "show=fields" in url)
    for side in (0, 1):
        button = page.get_by_role("button", name="weights", exact=True).nth(side)
        expect(button).to_have_attribute("aria-pressed", "false")


def test_equal_files_say_so(page: Page, viewer: Viewer, sides: tuple[Path, Path]) -> None:
    page.goto(viewer(sides[0], sides[0]))
    expect(page.get_by_role("heading", name="No difference")).to_be_visible()
