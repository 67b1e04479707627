"""The page of a graph, as a user with a browser meets it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from graphs import small_net
from ufkit.uff.build import Builder
from ufkit.uff.const import constant
from ufkit.uff.io import save
from viewer.starting import Viewer

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("net") / "net.uff"
    save(small_net().meta, path)
    return path


@pytest.fixture(scope="module")
def scopes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scopes") / "scopes.uff"
    save(scoped(60).meta, path)
    return path


def scoped(blocks: int, layers: int = 8) -> Builder:
    """A chain of blocks, each with a scope of its own."""
    builder = Builder()
    last = builder.input("image", [1, 8, 8, 4])
    for block in range(blocks):
        for layer in range(layers):
            last = builder.op(f"block{block}/layer{layer}/relu", "Activation", [last], func="relu")
            last = builder.op(f"block{block}/layer{layer}/exp", "Unary", [last], func="exp")
    builder.output(last)
    return builder


def open_at(page: Page, url: str, place: str = "") -> None:
    page.goto(url + place)
    page.locator("canvas[data-painted]").first.wait_for()


def scene_at(page: Page, url: str) -> dict[str, Any]:
    """The scene that the page shows, as its address has it."""
    query = urlsplit(urlsplit(page.url).fragment).query
    scene: dict[str, Any] = page.request.get(f"{url}api/files/0/pictures/0/scene?{query}").json()
    return scene


def find(page: Page, words: str) -> None:
    """Search, and go to the first thing found."""
    page.keyboard.press("/")
    page.get_by_role("combobox").fill(words)
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Enter")


def test_the_first_page_shows_the_graph_and_says_what_it_is(
    page: Page, viewer: Viewer, net: Path
) -> None:
    open_at(page, viewer(net))
    assert page.title() == "net.uff \N{EN DASH} ufkit"
    expect(page.locator("canvas").first).to_have_attribute("aria-label", re.compile("boxes"))
    pixels = page.evaluate(
        """() => { const c = document.querySelector("canvas");
        const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        return new Set(new Uint32Array(d.buffer)).size }"""
    )
    assert pixels > 20  # boxes, text and lines: not one colour


def test_search_leads_to_the_panel_with_fields_defaults_and_weights(
    page: Page, viewer: Viewer, net: Path
) -> None:
    open_at(page, viewer(net))
    find(page, "conv")
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("heading", level=2)).to_have_text("Conv")
    expect(panel).to_contain_text("multiply-accumulates")
    expect(panel).to_contain_text(re.compile(r"bytes [\d,]+ to [\d,]+"))
    expect(panel.locator("tr.default").first).to_contain_text("default")
    expect(panel.get_by_text("deviation")).to_be_visible()  # the one array is open
    expect(panel.locator(".slice td").first).to_be_visible()
    expect(panel.locator(".plot canvas").first).to_be_visible()


def test_search_finds_by_field(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("func=max")
    expect(page.get_by_role("option")).to_have_count(1)
    page.get_by_role("combobox").fill("no such thing")
    expect(page.get_by_text("nothing found")).to_be_visible()


def test_arrows_walk_along_the_graph_and_back_returns(
    page: Page, viewer: Viewer, net: Path
) -> None:
    open_at(page, viewer(net))
    heading = page.get_by_role("complementary").get_by_role("heading", level=2)
    page.keyboard.press("ArrowDown")
    first = page.url
    page.keyboard.press("ArrowDown")
    expect(heading).to_have_text("Conv")
    page.keyboard.press("ArrowDown")
    expect(heading).to_have_text("Binary add")
    page.go_back()
    expect(heading).to_have_text("Conv")
    page.go_back()
    assert page.url == first
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_a_link_opens_the_same_place_again(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    find(page, "conv")
    link = page.url
    page.goto("about:blank")
    open_at(page, link)
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_have_text("Conv")


def test_what_takes_a_node_is_a_link_to_it(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    find(page, "conv")
    panel = page.get_by_role("complementary")
    panel.locator("ul.ends a").first.click()
    expect(panel.get_by_role("heading", level=2)).to_have_text("Binary add")


def test_an_array_is_saved_as_it_is_in_the_file(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    find(page, "conv")
    page.locator(".slice td").first.wait_for()  # until then the link moves down
    page.locator(".plot canvas").first.wait_for()
    with page.expect_download() as download:
        page.get_by_text("save as .npy").click()
    values = np.load(download.value.path())
    kernel = next(node for node in small_net().graph if node.operation == "Conv").inputs[1]
    assert np.array_equal(values, constant(small_net().graph[kernel]).numpy())


def test_drawings_are_saved(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    with page.expect_download() as download:
        page.get_by_role("link", name="SVG").click()
    assert download.value.suggested_filename == "net.uff.svg"
    root = ElementTree.parse(download.value.path()).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "Conv" in "".join(root.itertext())
    with page.expect_download() as download:
        page.get_by_role("link", name="PNG").click()
    assert Path(download.value.path()).read_bytes().startswith(PNG)


def test_scopes_open_and_close_by_key(page: Page, viewer: Viewer, scopes: Path) -> None:
    open_at(page, viewer(scopes))
    boxes = page.locator("canvas").first
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert "scope=" in page.url
    before = boxes.get_attribute("aria-label") or ""
    page.keyboard.press("Enter")
    expect(boxes).not_to_have_attribute("aria-label", before)
    assert "open=" in page.url
    page.keyboard.press("g")
    expect(boxes).to_have_attribute("aria-label", re.compile(r"^graph of 962 boxes"))
    page.keyboard.press("g")
    expect(boxes).to_have_attribute("aria-label", before)


def test_names_are_drawn_when_asked_for(page: Page, viewer: Viewer, net: Path) -> None:
    url = viewer(net)
    open_at(page, url)
    page.keyboard.press("n")
    page.wait_for_url(lambda address: "names" in address)
    scene = scene_at(page, url)
    shown = {line for box in scene["boxes"] for line in box["lines"]}
    keys = {node.id.rpartition("/")[2] for node in small_net().graph if node.operation == "Conv"}
    assert keys <= shown
    page.keyboard.press("n")
    page.wait_for_url(lambda address: "names" not in address)


def test_fields_and_weights_leave_the_boxes_by_key_and_by_button(
    page: Page, viewer: Viewer, net: Path
) -> None:
    url = viewer(net)
    open_at(page, url)
    page.keyboard.press("w")
    page.wait_for_url(lambda address: "show=fields" in address)
    fields = said(scene_at(page, url))
    assert fields
    assert not any("⟨" in line for line in fields)  # as shapes of arrays are written
    weights = page.get_by_role("button", name="weights", exact=True)
    expect(weights).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="fields", exact=True).click()
    page.wait_for_url(lambda address: address.endswith("show="))
    page.reload()
    expect(weights).to_have_attribute("aria-pressed", "false")
    assert said(scene_at(page, url)) == set()
    drawing = page.get_by_role("link", name="SVG").get_attribute("href") or ""
    assert "show=&" in drawing
    page.keyboard.press("e")
    page.keyboard.press("w")
    expect(weights).to_have_attribute("aria-pressed", "true")


def said(scene: dict[str, Any]) -> set[str]:
    """What the boxes of a scene say, inputs and outputs left out."""
    boxes = (box for box in scene["boxes"] if box["category"] not in ("input", "output"))
    return {line for box in boxes for line in box["lines"]}


def test_a_graph_is_turned_by_key_and_stays_so(page: Page, viewer: Viewer, net: Path) -> None:
    url = viewer(net)
    open_at(page, url)
    tall = scene_at(page, url)
    page.keyboard.press("l")
    page.wait_for_url(lambda address: "across=1" in address)
    wide = scene_at(page, url)
    assert wide["across"]
    assert wide["width"] > tall["width"]
    assert wide["height"] < tall["height"]
    assert "across=1" in (page.get_by_role("link", name="PNG").get_attribute("href") or "")
    page.reload()
    button = page.get_by_role("button", name="across")
    expect(button).to_have_attribute("aria-pressed", "true")
    heading = page.get_by_role("complementary").get_by_role("heading", level=2)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(heading).to_have_text("Conv")
    page.keyboard.press("ArrowRight")
    expect(heading).to_have_text("Binary add")
    page.keyboard.press("ArrowLeft")
    expect(heading).to_have_text("Conv")
    page.keyboard.press("ArrowDown")  # nothing is beside it
    expect(heading).to_have_text("Conv")
    button.click()
    page.wait_for_url(lambda address: "across" not in address)


def test_trace_and_path_say_how_much_they_found(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    find(page, "conv")
    page.keyboard.press("a")
    expect(page.locator("p.sr")).to_have_text(re.compile(r"1 before, \d+ behind"))
    page.keyboard.press("a")
    page.keyboard.press("p")
    expect(page.get_by_text("choose where the path ends")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("p.sr")).to_have_text("a path of 2 nodes")


def test_the_table_has_every_node_and_follows_the_keyboard(
    page: Page, viewer: Viewer, scopes: Path
) -> None:
    open_at(page, viewer(scopes))
    page.keyboard.press("t")
    table = page.get_by_role("table")
    expect(table).to_have_attribute("aria-rowcount", "963")
    page.locator(".table").evaluate("table => table.scrollTop = table.scrollHeight")
    expect(page.get_by_role("row").last).to_contain_text("MarkOutput")
    page.get_by_role("row").last.get_by_role("button").press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary")).to_contain_text("block59")


def test_findings_stand_at_their_node_and_lead_to_it(
    page: Page, viewer: Viewer, tmp_path: Path
) -> None:
    builder = Builder()
    image = builder.input("image", [-1, 8])
    builder.output(builder.op("odd", "_Nonsense", [image]))
    path = tmp_path / "odd.uff"
    save(builder.meta, path)
    open_at(page, viewer(path))
    page.get_by_role("navigation", name="pages").get_by_text("Check").click()
    page.get_by_text("show it in the graph").first.click()
    panel = page.get_by_role("complementary")
    expect(panel.locator(".finding").first).to_be_visible()
    expect(panel).to_contain_text("_Nonsense")


def test_the_summary_counts_and_sorts(page: Page, viewer: Viewer, net: Path) -> None:
    page.goto(viewer(net) + "#/0/summary/0")
    expect(page.locator(".tiles")).to_contain_text("multiply-accumulates")
    expect(page.locator(".ends-of")).to_contain_text("input")
    expect(page.locator(".facts")).to_contain_text("core operations")
    page.get_by_role("button", name="parameters").first.click()
    counts = (
        page.locator("table.rows:not(.ends-of)")
        .first.locator("tbody tr td:nth-child(3)")
        .all_inner_texts()
    )
    numbers = [int(text.replace(",", "")) for text in counts]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > 0


def test_dark_and_light_are_turned_by_key_and_kept(
    page: Page, viewer: Viewer, net: Path, scopes: Path
) -> None:
    """Also by the next viewer, which has another port."""
    open_at(page, viewer(net))
    assert page.locator("html").get_attribute("data-theme") == "light"
    page.keyboard.press("d")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    open_at(page, viewer(scopes))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_help_lists_the_keys(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("shortest path")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe",
    "a" * 10_000,
    "javascript:alert(1)",
    "line\nbreak\x00\x1b[31m",
    "${html`<b>`}",
)


def test_names_are_text_whatever_they_say(page: Page, viewer: Viewer, tmp_path: Path) -> None:
    builder = Builder()
    last = builder.input(HOSTILE[0], [1, 4])
    for name in HOSTILE[1:]:
        last = builder.op(name, "_" + name[:200], [last], **{name[:300]: name})
    builder.output(last)
    path = tmp_path / "hostile.uff"
    save(builder.meta, path)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    url = viewer(path)
    for item in range(len(HOSTILE)):
        open_at(page, url, f"#/0/graph/0?item={item}")
        expect(page.locator(".panel .name")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator(".stage [role='table']")).to_contain_text("<script>")
    for name in ("check", "summary"):
        page.goto(f"{url}#/0/{name}/0")
        expect(page.locator(".page h1")).to_be_visible()
    assert page.locator("script:not([src^='static/'])").count() == 0
    assert page.locator("img[src='x']").count() == 0
    svg = page.request.get(url + "api/files/0/pictures/0/drawing.svg").text()
    root = ElementTree.fromstring(svg)
    assert not [tag for tag in root.iter() if tag.tag.endswith(("script", "img", "foreignObject"))]


@pytest.mark.expects("422", "404")
def test_a_damaged_file_shows_what_is_wrong_with_it(
    page: Page, viewer: Viewer, net: Path, tmp_path: Path
) -> None:
    path = tmp_path / "half.uff"
    path.write_bytes(net.read_bytes()[: net.stat().st_size // 2])
    page.goto(viewer(path))
    expect(page.locator(".finding, .failure").first).to_be_visible()
    expect(page.locator("main")).to_contain_text(re.compile("UFK1|UFF"))


@pytest.mark.expects("404")
@pytest.mark.parametrize(
    "place",
    [
        "#/7/graph/0",
        "#/0/graph/9",
        "#/0/none/0",
        "#//\\",
        "#/0/graph/0?item=999",
        "#/0/graph/0?open=777",
    ],
)
def test_an_address_that_leads_nowhere_is_no_blank_page(
    page: Page, viewer: Viewer, net: Path, place: str
) -> None:
    page.goto(viewer(net) + place)
    expect(page.locator("canvas, .failure").first).to_be_visible()


CORPUS = (
    "lenet5.uff",
    "netvlad.uff",
    "vlad_stack.uff",
    "allcnn.uff",
    "mlp_leaky.uff",
    "degenerate_io.uff",
    "netvlad_short.uff.pbtxt",
    "ssd_mobilenet_v2_coco.pbtxt",
)


@pytest.mark.parametrize("name", CORPUS)
def test_real_files_open_and_their_nodes_are_found(
    page: Page, viewer: Viewer, corpus: Path, name: str
) -> None:
    open_at(page, viewer(corpus / "uff" / name))
    find(page, "input")
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page.locator("canvas").first).to_be_visible()


def test_a_press_chooses_and_a_drag_moves(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    page.keyboard.press("ArrowDown")
    page.wait_for_url(lambda address: "item=" in address)
    chosen = page.url
    page.locator("canvas").first.click(position={"x": 20, "y": 200})  # where nothing is
    page.wait_for_url(lambda address: "item=" not in address)
    scene = page.request.get(page.url.split("#")[0] + "api/files/0/pictures/0/scene").json()
    page.keyboard.press("f")
    stage = page.locator("canvas").first.bounding_box()
    assert stage is not None
    middle = stage["x"] + stage["width"] / 2
    page.mouse.move(middle, stage["y"] + 300)
    page.mouse.down()
    page.mouse.move(middle - 250, stage["y"] + 300, steps=4)
    page.mouse.up()
    assert "item=" not in page.url  # a drag chooses nothing
    first = min(scene["boxes"], key=lambda box: box["y"])
    scale = min(1, (stage["width"] - 48) / scene["width"], (stage["height"] - 48) / scene["height"])
    x = middle - 250 + (first["x"] + first["w"] / 2 - scene["width"] / 2) * scale
    y = stage["y"] + stage["height"] / 2
    y += (first["y"] + first["h"] / 2 - scene["height"] / 2) * scale
    page.mouse.click(x, y)
    page.wait_for_url(chosen)


def on_link(page: Page, scene: dict[str, Any], number: int) -> dict[str, float]:
    """Where on the canvas a link begins, of a scene that is shown whole."""
    box = page.locator("canvas").first.bounding_box()
    assert box is not None
    room = box["width"] - 48, box["height"] - 48
    scale = min(1, room[0] / scene["width"], room[1] / scene["height"])
    (x, y), (_, below) = scene["links"][number]["points"][:2]
    return {
        "x": (x - scene["width"] / 2) * scale + box["width"] / 2,
        "y": ((y + below) / 2 - scene["height"] / 2) * scale + box["height"] / 2,
    }


def test_a_link_that_is_pressed_tells_its_value(page: Page, viewer: Viewer, net: Path) -> None:
    url = viewer(net)
    open_at(page, url)
    scene = scene_at(page, url)
    at = on_link(page, scene, 0)
    canvas = page.locator("canvas").first
    canvas.hover(position=at)  # type: ignore[arg-type]
    expect(canvas).to_have_class("over")
    canvas.click(position=at)  # type: ignore[arg-type]
    panel = page.get_by_role("complementary", name="the chosen link")
    start, end = (scene["boxes"][scene["links"][0][name]] for name in ("from", "to"))
    expect(panel.get_by_role("heading", level=2)).to_have_text("Value")
    expect(panel.locator("ul.ends a").first).to_contain_text(start["spoken"].split(", ")[1])
    expect(panel.locator("ul.ends a").last).to_contain_text(end["spoken"].split(", ")[1])
    shared = page.url
    assert f"link={start['items'][0]}-{end['items'][0]}" in shared
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.go_back()
    expect(panel).to_be_visible()
    panel.locator("ul.ends a").last.click()
    expect(page.get_by_role("complementary", name="the chosen node")).to_be_visible()
    assert "link=" not in page.url


def test_the_shape_of_an_input_leads_to_the_value(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    find(page, "Conv")
    page.locator(".panel ol.ends a.shape").first.click()
    expect(page.get_by_role("complementary", name="the chosen link")).to_be_visible()


def test_a_link_to_a_closed_scope_lists_all_that_it_stands_for(
    page: Page, viewer: Viewer, tmp_path: Path
) -> None:
    builder = Builder()
    image = builder.input("image", [1, 4])
    ends = [builder.op(f"scope/{name}", "Unary", [image], func=name) for name in ("exp", "abs")]
    builder.output(builder.op("add", "Binary", ends, func="add"))
    save(builder.meta, tmp_path / "net.uff")
    url = viewer(tmp_path / "net.uff")
    open_at(page, url, "#/0/graph/0?open=")
    scene = scene_at(page, url)
    closed = next(box["scope"] for box in scene["boxes"] if box["scope"] is not None)
    add = next(box for box in scene["boxes"] if box["title"] == "Binary add")
    open_at(page, url, f"#/0/graph/0?open=&link=s{closed}-{add['items'][0]}")
    panel = page.get_by_role("complementary", name="the chosen link")
    expect(panel.get_by_role("heading", level=2)).to_have_text("2 links")
    expect(panel.locator(".name")).to_have_text(["scope/exp", "scope/abs"])


def test_leaving_the_choice_of_a_path_keeps_the_node(page: Page, viewer: Viewer, net: Path) -> None:
    open_at(page, viewer(net))
    find(page, "Conv")
    page.keyboard.press("p")
    expect(page.get_by_text("choose where the path ends")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("choose where the path ends")).to_have_count(0)
    expect(page.locator(".panel")).to_be_visible()


def test_a_graph_without_nodes_says_so(page: Page, viewer: Viewer, tmp_path: Path) -> None:
    save(Builder().meta, tmp_path / "empty.uff")
    page.goto(viewer(tmp_path / "empty.uff"))
    expect(page.get_by_text("this graph has no nodes")).to_be_visible()


@pytest.mark.expects("404")
def test_scopes_that_are_no_longer_there_have_a_way_back(
    page: Page, viewer: Viewer, net: Path
) -> None:
    page.goto(f"{viewer(net)}#/0/graph/0?open=999")
    expect(page.get_by_role("alert")).to_contain_text("open")
    page.get_by_role("link", name="the graph as it opens").click()
    page.locator("canvas[data-painted]").first.wait_for()
