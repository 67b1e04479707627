"""The pages of a dataset, as a user with a browser meets them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from viewer.records import large, of_all_kinds
from viewer.starting import Viewer

SCROLL = "(grid, share) => { grid.scrollTop = grid.scrollHeight * share; }"
SCROLL_THROUGH = """async (grid, steps) => {
  for (let at = 1; at <= steps; at += 1) {
    grid.scrollTop = (grid.scrollHeight * at) / steps;
    await new Promise(requestAnimationFrame);
  }
}"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large(tmp_path_factory.mktemp("many") / "db")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_all_kinds(tmp_path_factory.mktemp("kinds") / "db")


def cell(page: Page, key: str) -> Locator:
    return page.get_by_role("gridcell", name=re.compile(f"^{re.escape(key)},"))


def drawn(page: Page, key: str) -> None:
    """The cell of a record is there, with its picture."""
    expect(cell(page, key).locator("img")).to_be_visible()
    assert cell(page, key).locator("img").evaluate("image => image.naturalWidth") > 0


def test_the_first_page_has_the_records_and_says_how_many(
    page: Page, viewer: Viewer, many: Path
) -> None:
    page.goto(viewer(many))
    expect(page.locator(".count")).to_have_text("100,000 records")
    drawn(page, "00000000_0.jpg")
    assert page.get_by_role("gridcell").count() < 100


def test_a_hundred_thousand_are_scrolled_through_to_the_end_and_back(
    page: Page, viewer: Viewer, many: Path
) -> None:
    page.goto(viewer(many))
    drawn(page, "00000000_0.jpg")
    grid = page.get_by_role("grid")
    for share in range(1, 40):
        grid.evaluate(SCROLL, share / 40)
    grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight; }")
    drawn(page, "00099999_99999.jpg")
    assert page.get_by_role("gridcell").count() < 100
    grid.evaluate("grid => { grid.scrollTop = 0; }")
    drawn(page, "00000000_0.jpg")
    for _ in range(5):
        page.mouse.move(600, 400)
        page.mouse.wheel(0, 300)
    drawn(page, "00000056_56.jpg")


def test_more_rows_than_an_element_can_be_high(page: Page, viewer: Viewer, many: Path) -> None:
    """Two columns of large pictures are 15 million pixels: the bar stands for more than it has."""
    page.set_viewport_size({"width": 560, "height": 800})
    page.goto(viewer(many) + "#/0/records/0?side=large")
    drawn(page, "00000000_0.jpg")
    grid = page.get_by_role("grid")
    assert grid.evaluate("grid => grid.scrollHeight") == 8_000_000
    grid.evaluate(SCROLL, 0.5)
    page.wait_for_url(re.compile("at="))
    place = str(page.get_by_role("gridcell", selected=True).get_attribute("id"))
    first = int(place.removeprefix("record-"))
    assert 49_900 < first < 50_100
    expect(page.locator(f"#record-{first + 5}")).to_be_hidden()
    page.mouse.move(250, 400)
    page.mouse.wheel(0, 600)  # two rows, whatever the bar stands for
    expect(page.locator(f"#record-{first + 5}")).to_be_visible()
    grid.evaluate(SCROLL, 1)
    drawn(page, "00099999_99999.jpg")


def test_records_that_are_scrolled_past_are_not_asked_for(
    page: Page, viewer: Viewer, many: Path
) -> None:
    page.goto(viewer(many))
    drawn(page, "00000000_0.jpg")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("grid").evaluate(SCROLL_THROUGH, 100)
    drawn(page, "00099999_99999.jpg")
    assert len(asked) < 100 * page.get_by_role("gridcell").count() / 4


def test_the_keyboard_reaches_the_last_record_and_opens_it(
    page: Page, viewer: Viewer, many: Path
) -> None:
    page.goto(viewer(many))
    drawn(page, "00000000_0.jpg")
    page.get_by_role("grid").focus()
    page.keyboard.press("End")
    drawn(page, "00099999_99999.jpg")
    page.keyboard.press("ArrowLeft")
    expect(cell(page, "00099998_99998.jpg")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="00099998_99998.jpg")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="00099999_99999.jpg")).to_be_visible()
    expect(page.locator(".count")).to_have_text("100,000 of 100,000")
    page.keyboard.press("Escape")
    drawn(page, "00099999_99999.jpg")


def test_a_filter_finds_records_and_its_link_finds_them_again(
    page: Page, viewer: Viewer, many: Path
) -> None:
    page.goto(viewer(many))
    page.get_by_label("label").fill("7")
    page.get_by_label("key", exact=True).fill("99997")
    expect(page.locator(".count")).to_have_text("1 of 100,000", timeout=60_000)
    drawn(page, "00099997_99997.jpg")
    expect(page.get_by_role("gridcell")).to_have_count(1)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("gridcell")).to_have_count(1)
    page.get_by_role("button", name="clear").click()
    expect(page.locator(".count")).to_have_text("100,000 records")
    page.get_by_label("width").fill("9-")
    expect(page.get_by_text("No record fits the filter.")).to_be_visible(timeout=60_000)


def test_the_address_keeps_what_is_in_sight(page: Page, viewer: Viewer, many: Path) -> None:
    page.goto(viewer(many))
    drawn(page, "00000000_0.jpg")
    page.get_by_role("grid").evaluate(SCROLL, 0.5)
    page.wait_for_url(re.compile("at="))
    first = page.get_by_role("gridcell", selected=True).get_attribute("aria-label")
    page.reload()
    expect(page.get_by_role("gridcell", selected=True)).to_have_attribute("aria-label", str(first))
    expect(page.get_by_role("gridcell", selected=True).locator("img")).to_be_in_viewport()


def test_a_link_to_a_record_of_a_filter_knows_its_neighbours(
    page: Page, viewer: Viewer, kinds: Path
) -> None:
    page.goto(viewer(kinds) + "#/0/records/0?label=3&record=7")
    expect(page.locator(".count")).to_have_text(re.compile(r"^\d+ of \d+$"))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="00000007_7.jpg")).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="00000007_7.jpg")).to_be_visible()


def test_damaged_records_say_so_and_hostile_names_are_text(
    page: Page, viewer: Viewer, kinds: Path
) -> None:
    page.goto(viewer(kinds))
    drawn(page, "00000002_2.jpg")
    expect(page.locator(".damaged")).to_have_count(3)  # two records, and an image
    expect(cell(page, "00000004_4.jpg")).to_contain_text("UFW306")
    expect(cell(page, "00000008_8.jpg")).to_contain_text("ends too early")
    expect(page.get_by_text("onerror=alert(1)").first).to_be_visible()
    assert page.locator("img[src='x']").count() == 0
    page.get_by_label("damaged").check()
    expect(page.get_by_role("gridcell")).to_have_count(2)
    cell(page, "00000004_4.jpg").click()
    expect(page.locator(".finding")).to_contain_text("UFW306")


def test_a_record_shows_boxes_pixels_and_channels(page: Page, viewer: Viewer, kinds: Path) -> None:
    page.goto(viewer(kinds) + "#/0/records/0?record=2")
    expect(page.get_by_role("heading", name="2 boxes")).to_be_visible()
    canvas = page.get_by_role("img", name="picture of 00000002_2.jpg")
    place = canvas.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(page.locator(".elements")).to_have_text(re.compile(r"B \d+\s*G \d+\s*R \d+"))
    page.keyboard.press("Shift+ArrowRight")
    page.locator("table.boxes button").nth(1).click()
    expect(page.locator("table.boxes tr[aria-selected='true']")).to_have_count(1)
    assert "box=1" in page.url
    page.get_by_role("button", name="G", exact=True).click()
    assert "channel=1" in page.url
    page.keyboard.press("r")
    expect(page.get_by_role("group", name="channel")).to_have_text("colourRGB")
    for key in ("+", "+", "-", "0", "f", "c", "b"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="boxes")).to_have_attribute("aria-pressed", "false")


def test_floats_show_their_range(page: Page, viewer: Viewer, kinds: Path) -> None:
    page.goto(viewer(kinds) + "#/0/records/0?record=5")
    expect(page.get_by_text("float32 7 × 20 × 30")).to_be_visible()
    expect(page.get_by_text("not finite")).to_be_visible()
    expect(page.get_by_role("img", name="histogram of the elements")).to_be_visible()


def test_the_counts_lead_to_the_records_they_count(page: Page, viewer: Viewer, kinds: Path) -> None:
    page.goto(viewer(kinds))
    page.get_by_role("navigation", name="pages").get_by_role("link", name="Summary").click()
    expect(page.get_by_role("img", name="histogram of the heights")).to_be_visible()
    page.get_by_role("link", name="<script>alert(1)</script>").last.click()
    expect(page.locator(".count")).to_have_text(re.compile(r"^\d+ of 24$"))
    expect(page.get_by_role("gridcell").first).to_be_visible()


def test_findings_lead_to_their_records(page: Page, viewer: Viewer, kinds: Path) -> None:
    page.goto(viewer(kinds) + "#/0/faults/0")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("findings"))
    page.get_by_role("link", name="show record 7", exact=True).first.click()
    expect(page.get_by_role("heading", name="00000007_7.jpg")).to_be_visible()


def test_many_records_are_checked_when_asked_and_no_longer_than_wanted(
    page: Page, viewer: Viewer, many: Path
) -> None:
    page.goto(viewer(many) + "#/0/faults/0")
    page.get_by_role("button", name="check them").click()
    page.get_by_role("button", name="stop").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Checked in part")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("place", ["records/0", "records/0?record=2", "counts/0", "faults/0"])
def test_every_page_opens_in_both_themes(
    page: Page, viewer: Viewer, kinds: Path, theme: str, place: str
) -> None:
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(viewer(kinds) + f"#/0/{place}")
    expect(page.locator(".bar-of-tools, h1").first).to_be_visible()
    expect(page.locator(":root")).to_have_attribute("data-theme", theme)
