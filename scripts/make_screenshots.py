"""Makes the pictures of the viewer in `docs/`: what a browser shows of files that are made here.

    python scripts/make_screenshots.py [FOLDER]

Needs Chromium and the packages of the group `dev`. Colours are reduced to 128, so that the pictures
stay small.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_digits

import ufkit

ROOT = Path(__file__).resolve().parent.parent
DIGITS = ROOT / "examples" / "digits.uff"
SIZE = {"width": 1200, "height": 720}
COLOURS = 128
SEED = 7


def changed_digits(path: Path) -> None:
    """The example with other weights, another field and a node more."""
    with ufkit.open(DIGITS) as model:
        graph = model.graph
        kernel = next(n for n in graph if n.operation == "Const" and len(n.fields["shape"]) == 4)
        values = ufkit.constant(kernel).numpy()
        noise = np.random.default_rng(SEED).normal(0, 0.02, values.shape)
        kernel.fields["values"] = (values + noise).astype("<f4").tobytes()
        next(n for n in graph if n.operation == "Pool").fields["func"] = "avg"
        graph.add("confidence", "Unary", [graph.outputs[0]], func="log")
        ufkit.save(model, path)


def caffe_digits(floats: Path, integers: Path) -> None:
    """A Caffe net of LeNet's kind with random weights, and the same in integers."""
    random = np.random.default_rng(SEED)

    def weights(*shape: int) -> Any:
        scale = random.uniform(0.3, 1.7, (shape[0], *[1] * (len(shape) - 1)))
        return (random.laplace(0, 0.05, shape) * scale).astype(np.float32)

    def net() -> ufkit.Net:
        made = ufkit.Net.new("digits")
        made.add("data", "Input", (), ["data"])
        made.add("conv1", "Convolution", ["data"], ["conv1"], [weights(20, 1, 5, 5)])
        made.add("pool1", "Pooling", ["conv1"], ["pool1"])
        made.add("conv2", "Convolution", ["pool1"], ["conv2"], [weights(50, 20, 5, 5)])
        made.add("pool2", "Pooling", ["conv2"], ["pool2"])
        made.add("ip1", "InnerProduct", ["pool2"], ["ip1"], [weights(120, 800)])
        made.add("relu1", "ReLU", ["ip1"], ["ip1"])
        made.add("ip2", "InnerProduct", ["ip1"], ["ip2"], [weights(10, 120)])
        return made

    made = net()
    ufkit.save_net(made, floats)
    blobs = ("data", "conv1", "pool1", "conv2", "pool2", "ip1", "ip2")
    thresholds = dict(zip(blobs, (1.0, 2.2, 2.2, 3.8, 3.8, 6.0, 9.5), strict=True))
    ufkit.quantize(made, ufkit.Table(thresholds))
    ufkit.save_net(made, integers)


def records(path: Path) -> None:
    """Digits on dark ground, each with its box: a dataset as SSD's tools make them."""
    random = np.random.default_rng(SEED)
    bunch = load_digits()
    with ufkit.create_dataset(path) as out:
        for number in range(400):
            ground = np.full((120, 160, 3), random.integers(20, 70, 3), np.uint8)
            boxes = []
            for _ in range(random.integers(1, 4)):
                chosen = random.integers(len(bunch.images))
                side = int(random.integers(28, 60))
                x, y = random.integers(0, 160 - side), random.integers(0, 120 - side)
                glyph = cv2.resize(bunch.images[chosen] * 15, (side, side))
                piece = ground[y : y + side, x : x + side]
                piece[...] = np.maximum(piece, (glyph[..., None] * (1, 0.9, 0.7)).astype(np.uint8))
                corners = np.array((x, y, x + side, y + side)) / (160, 120, 160, 120)
                left, top, right, bottom = corners.tolist()
                digit = int(bunch.target[chosen])
                boxes.append(ufkit.Box(left, top, right, bottom, label=digit))
            data = cv2.imencode(".jpg", ground)[1].tobytes()
            datum = ufkit.Datum.of_image(data, -1)
            out.put(ufkit.AnnotatedDatum.of(datum, boxes), f"digits_{number}.jpg")


@contextmanager
def viewed(*arguments: object) -> Iterator[str]:
    """The address of a viewer of these files, while it is needed."""
    command = [sys.executable, "-m", "ufkit", "view", "--no-browser", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(line.split()[0] for line in process.stdout if line.startswith("http"))
        finally:
            process.terminate()


def keep(page: Page, path: Path) -> None:
    """The page as a small PNG."""
    page.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size:,} bytes")


def main() -> int:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        changed_digits(folder / "digits_changed.uff")
        caffe_digits(folder / "digits.caffemodel", folder / "digits.int8umodel")
        records(folder / "digits_lmdb")
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

        def opened(url: str, theme: Any = "light") -> Page:
            page = browser.new_page(viewport=SIZE, color_scheme=theme)  # type: ignore[arg-type]
            page.goto(url)
            return page

        with viewed(DIGITS) as url:
            page = opened(url)
            page.locator("canvas[data-painted]").wait_for()
            page.keyboard.press("/")
            page.get_by_role("combobox").fill("conv1/Conv")
            page.get_by_role("option").first.click()
            page.locator(".plot canvas").first.wait_for()
            keep(page, target / "view-graph.png")
        with viewed(DIGITS, folder / "digits_changed.uff") as url:
            page = opened(url, "dark")
            page.locator("li.weights button").first.click()
            page.locator(".plot canvas").nth(2).wait_for()
            keep(page, target / "view-compare.png")
        with viewed(folder / "digits.caffemodel", folder / "digits.int8umodel") as url:
            page = opened(url)
            page.locator("table tbody tr button").nth(1).click()
            page.locator(".plot canvas").first.wait_for()
            keep(page, target / "view-quantisation.png")
        with viewed(folder / "digits_lmdb") as url:
            page = opened(url, "dark")
            page.locator(".thumb img").first.wait_for()
            keep(page, target / "view-records.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
