"""PNG shows the scene in its places and colours, within bounds."""

from __future__ import annotations

import io
import sys

import pytest
from PIL import Image

from ufkit.core.diag import MissingExtraError, RequestError
from ufkit.viewer.drawing.png import to_png
from ufkit.viewer.drawing.theme import COLOURS
from ufkit.viewer.graph.scene import Scene
from viewer.drawing.scenes import scene_of

Pixel = tuple[int, int, int]


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def pixel(picture: Image.Image, x: float, y: float, scale: float = 1) -> Pixel:
    found = picture.getpixel((round(x * scale), round(y * scale)))
    assert isinstance(found, tuple)
    return found[0], found[1], found[2]


def rgb(colour: str) -> Pixel:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@pytest.mark.parametrize("theme", COLOURS)
@pytest.mark.parametrize("scale", [1, 2, 3.5])
def test_boxes_and_frames_are_where_the_scene_says(theme: str, scale: float) -> None:
    scene = scene_of(
        ["a", "b"], [(0, 1)], lines=["x"], parents=[0, 0], frames=["f"], category="pool"
    )
    picture = opened(to_png(scene, theme, scale))
    assert picture.size == (round(scene.width * scale), round(scene.height * scale))
    colours = COLOURS[theme]
    box, frame = scene.boxes[0], scene.frames[0]
    assert pixel(picture, 1, 1, scale) == rgb(colours["page"])
    assert pixel(picture, box.x + 6, box.y + 12, scale) == rgb(
        colours["categories"]["pool"]["head"]
    )
    assert pixel(picture, box.x + 100, box.y + 40, scale) == rgb(colours["box"])
    assert pixel(picture, frame.x + 4, frame.y + 40, scale) == rgb(colours["frame"])


def test_a_link_is_drawn_from_box_to_box() -> None:
    scene = scene_of(["a", "b"], [(0, 1)])
    (x, top), (_, bottom) = scene.links[0].route.points
    picture = opened(to_png(scene, "light", 2))
    for y in (top + 4, (top + bottom) / 2):
        assert min(pixel(picture, x, y, 2)) < 200
        assert pixel(picture, x - 4, y, 2) == (255, 255, 255)
    assert min(pixel(picture, x - 2, bottom - 5, 2)) < 200  # the head of the arrow


def test_titles_are_written() -> None:
    """The head of a box with a title has other colours in it, that without has none."""
    for title, expected in (("Convolution", True), ("", False)):
        scene = scene_of([title], [], category="layer")
        box = scene.boxes[0]
        inside = (box.x + 6, box.y + 4, box.x + box.width - 6, box.y + box.height - 4)
        part = opened(to_png(scene, "light", 1)).crop(tuple(map(round, inside)))
        assert (len(set(part.get_flattened_data())) > 1) is expected


@pytest.mark.parametrize("title", ["<script>", "\u202e\x00\ud800", "\u5c42", "a" * 10_000])
def test_any_title_can_be_drawn(title: str) -> None:
    assert opened(to_png(scene_of([title], [(0, 0)], lines=[title], label=title))).size[0] > 0


def test_without_a_scale_it_is_two() -> None:
    scene = scene_of(["a"], [])
    assert opened(to_png(scene)).size[0] == round(scene.width * 2)


def test_a_large_scene_is_made_smaller_to_fit() -> None:
    width, height = opened(to_png(Scene(30_000, 5_000))).size
    assert 30_000_000 < width * height <= 32_100_000


def test_what_would_not_fit_is_refused() -> None:
    with pytest.raises(RequestError, match=r"VWR005.*30000 x 5000 at scale 1"):
        to_png(Scene(30_000, 5_000), "light", 1)
    with pytest.raises(RequestError, match="VWR005"):
        to_png(Scene(100_000, 5_000_000))


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_a_scale_is_a_positive_number(scale: float) -> None:
    with pytest.raises(RequestError, match="VWR005"):
        to_png(Scene(100, 100), "light", scale)


def test_a_scene_higher_than_a_strip_has_no_seams() -> None:
    """A chain is the same everywhere: each box looks like the first."""
    scene = scene_of(["node"] * 30, [(at, at + 1) for at in range(29)])
    picture = opened(to_png(scene, "light", 1))
    crops = set()
    for box in scene.boxes:
        x, y = round(box.x), round(box.y)
        crops.add(picture.crop((x - 4, y - 4, x + 124, y + 28)).tobytes())
    assert len(crops) <= 3  # the first has no link above it, the last none below


def test_nothing_is_a_picture_of_one_pixel() -> None:
    assert opened(to_png(Scene(0, 0), "light", 1)).size == (1, 1)


def test_without_pillow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingExtraError, match=r"ufkit\[viewer\]"):
        to_png(Scene(10, 10))
