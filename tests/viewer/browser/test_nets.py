"""Nets of Caffe and UFW in the browser, and what quantisation costs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from ufkit.ufw.io import open_net, save_net
from ufkit.ufw.net import Net
from ufkit.ufw.quantize import quantize
from ufkit.ufw.table import Table
from ufw.nets import PROTOTXT, small_net, write_net
from viewer.starting import Viewer

THRESHOLDS = {"data": 1.0, "good": 4.0, "bad": 4.0, "ip": 30.0}


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A float net, the same in integers, and the table; one layer is met worse than the other."""
    folder = tmp_path_factory.mktemp("nets")
    rng = np.random.default_rng(3)
    net = Net.new("quantised")
    net.message.set("input", ["data"])
    net.message.set("input_dim", [1, 3, 8, 8])
    good = rng.uniform(-1, 1, (8, 3, 3, 3)).astype(np.float32)
    bad = rng.normal(0, 0.01, (6, 8, 3, 3)).astype(np.float32)
    bad[0, 0, 0, 0] = 1  # one large weight leaves few steps to the others
    net.add("good", "Convolution", ["data"], ["good"], [good, np.float32(np.arange(8) / 8)])
    net.add("bad", "Convolution", ["good"], ["bad"], [bad])
    net.add("ip", "InnerProduct", ["bad"], ["ip"], [np.float32(rng.normal(0, 1, (4, 96)))])
    floats, integers, table = (folder / n for n in ("f.caffemodel", "i.int8umodel", "t.json"))
    save_net(net, floats)
    with open_net(floats) as other:
        quantize(other, Table(dict(THRESHOLDS)), per_channel=False)
        save_net(other, integers)
    table.write_text(json.dumps(THRESHOLDS))
    return floats, integers, table


def names(page: Page) -> list[str]:
    return page.locator(".layers tbody .key").all_inner_texts()


def test_a_net_of_two_files_is_one_graph(page: Page, viewer: Viewer, tmp_path: Path) -> None:
    text = tmp_path / "deploy.prototxt"
    text.write_text(PROTOTXT)
    weights = write_net(small_net(), tmp_path / "net.caffemodel")
    page.goto(viewer(text, "--weights", weights) + "#/0/graph/0?item=1")
    panel = page.locator(".panel")
    expect(panel).to_contain_text("Slides kernels over the axes")
    expect(panel).to_contain_text("1×4×6×6")
    expect(panel.locator(".fields")).to_contain_text("output channels")
    panel.get_by_role("button", name="kernel").click()
    expect(panel).to_contain_text("range by output channel")
    page.goto(viewer(text, "--weights", weights) + "#/0/summary/0")
    expect(page.locator(".summary")).to_contain_text("multiply-accumulates")


def test_layers_are_sorted_by_what_they_lost(
    page: Page, viewer: Viewer, nets: tuple[Path, Path, Path]
) -> None:
    page.goto(viewer(nets[0], nets[1]))
    expect(page.get_by_role("heading", name="What quantisation cost")).to_be_visible()
    expect(page.locator(".layers tbody .bar")).to_have_count(3)
    assert names(page) == ["good", "bad", "ip"]
    page.get_by_role("button", name="SQNR dB").click()
    expect(page.locator(".layers tbody .key").first).to_have_text("bad")
    page.get_by_role("button", name="numbers").click()
    expect(page.locator(".layers tbody .key").first).to_have_text("bad")  # 432 weights
    page.get_by_role("button", name="numbers").click()
    expect(page.locator(".layers tbody .key").last).to_have_text("bad")
    page.reload()
    expect(page.locator(".layers tbody .key").last).to_have_text("bad")
    expect(page.get_by_role("columnheader", name="numbers")).to_have_attribute(
        "aria-sort", "ascending"
    )


def test_a_layer_opens_with_its_numbers_and_leads_to_the_graph(
    page: Page, viewer: Viewer, nets: tuple[Path, Path, Path]
) -> None:
    page.goto(viewer(nets[0], nets[1]))
    page.locator(".layers button", has_text="bad").click()
    panel = page.locator(".panel")
    expect(panel.locator(".plot canvas")).to_have_count(4)
    expect(panel).to_contain_text("8 bits reach")
    page.get_by_role("link", name="show it in the graph").click()
    page.wait_for_url(lambda url: "/graph/" in url and "item=" in url)
    expect(page.locator(".panel .name")).to_have_text("bad")
    page.go_back()
    expect(page.locator(".panel .plot canvas")).to_have_count(4)


def test_the_heat_map_tells_and_chooses(
    page: Page, viewer: Viewer, nets: tuple[Path, Path, Path]
) -> None:
    page.goto(viewer(nets[0], nets[1]))
    expect(page.locator(".layers tbody .bar")).to_have_count(3)
    cells = page.locator(".heat canvas")
    cells.hover(position={"x": 5, "y": 20})
    expect(page.locator(".heat .over")).to_contain_text("bad, channel 0:")
    cells.click(position={"x": 5, "y": 20})
    page.wait_for_url(lambda url: "layer=1" in url)
    expect(page.locator(".panel .name")).to_have_text("bad")


def test_biases_and_layers_without_them(
    page: Page, viewer: Viewer, nets: tuple[Path, Path, Path]
) -> None:
    page.goto(viewer(nets[0], nets[1]))
    page.get_by_role("button", name="bias").click()
    expect(page.locator(".layers tbody tr", has_text="good")).to_contain_text("8")
    expect(page.locator(".layers tbody tr", has_text="bad")).to_contain_text("none in integers")


def test_a_table_can_be_tried_with_each_way_to_count(
    page: Page, viewer: Viewer, nets: tuple[Path, Path, Path]
) -> None:
    page.goto(viewer(nets[0], nets[2]))
    expect(page.get_by_role("heading", name="What these thresholds would cost")).to_be_visible()
    expect(page.locator(".layers tbody .bar")).to_have_count(3)
    row = page.locator(".layers tbody tr", has_text="bad")
    before = row.inner_text()
    page.get_by_role("button", name="a shift for each channel").click()
    expect(row).not_to_have_text(before)
    expect(row).to_contain_text("\u2013")  # from one shift to another
    page.get_by_role("button", name="bm1880").click()
    expect(page.get_by_role("button", name="a shift for each channel")).to_be_disabled()
    page.get_by_role("link", name="t.json").click()
    expect(page.locator("table.rows tbody tr")).to_have_count(4)


def test_layers_that_cannot_be_compared_say_why(
    page: Page, viewer: Viewer, nets: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    table = tmp_path / "few.json"
    table.write_text(json.dumps({"data": 1.0, "good": 4.0, "bad": 4.0}))
    page.goto(viewer(nets[0], table))
    row = page.locator(".layers tbody tr", has_text="InnerProduct")
    expect(row).to_contain_text("has no threshold")
    row.get_by_role("button").click()
    expect(page.locator(".panel .finding")).to_contain_text("UFW202")


def test_names_are_text(page: Page, viewer: Viewer, tmp_path: Path) -> None:
    """Names that would be markup, or turn the line round, are shown as they are."""
    hostile = "<img src=x onerror=alert(1)>\u202e" + "a" * 2000
    net = Net.new("hostile")
    net.message.set("input", [hostile])
    net.add(
        hostile + "1", "Convolution", [hostile], ["y"], [np.full((2, 1, 1, 1), 0.3, np.float32)]
    )
    path, table = tmp_path / "net.caffemodel", tmp_path / "table.json"
    save_net(net, path)
    table.write_text(json.dumps({hostile: 1.0, "y": 1.0, hostile + "1": 1.0}))
    page.on("dialog", lambda dialog: pytest.fail("a name was run"))
    page.goto(viewer(path, table))
    expect(page.locator(".layers tbody .bar")).to_have_count(1)
    assert names(page)[0].startswith("<img src=x")
    assert page.locator("img[src=x]").count() == 0


def test_the_real_pair(page: Page, viewer: Viewer, corpus: Path) -> None:
    folder = corpus / "ufw"
    floats, integers = (folder / f"bm1880_lenet_{kind}.caffemodel" for kind in ("float", "int8"))
    table = folder / "bm1880_lenet_calibration.prototxt"
    page.goto(viewer(floats, integers, "--table", table))
    expect(page.locator(".layers tbody .bar")).to_have_count(4)
    expect(page.locator(".layers tbody tr").first).to_contain_text("42.5")
    page.goto(viewer(floats, table))
    expect(page.locator(".layers tbody tr").first).to_contain_text("42.5")


IN_PLACE = """
input: "data" input_shape { dim: 1 dim: 4 }
layer { name: "a/ip" type: "InnerProduct" bottom: "data" top: "h"
  inner_product_param { num_output: 4 } }
layer { name: "b/early" type: "TanH" bottom: "h" top: "e" }
layer { name: "a/relu" type: "ReLU" bottom: "h" top: "h" }
layer { name: "b/late" type: "Sigmoid" bottom: "h" top: "l" }
"""


def test_what_is_computed_in_place_is_a_value_of_its_own_at_a_link(
    page: Page, viewer: Viewer, tmp_path: Path
) -> None:
    path = tmp_path / "inplace.prototxt"
    path.write_text(IN_PLACE)
    page.goto(viewer(path) + "#/0/graph/0?open=&link=s1-s2")  # from scope a to scope b, both closed
    panel = page.get_by_role("complementary", name="the chosen link")
    expect(panel.get_by_role("heading", level=2)).to_have_text("2 links")
    values = panel.locator("section")
    expect(values).to_have_count(2)
    for number, (giver, taker) in enumerate([("a/ip", "b/early"), ("a/relu", "b/late")]):
        expect(values.nth(number)).to_contain_text(giver)
        expect(values.nth(number)).to_contain_text(taker)
