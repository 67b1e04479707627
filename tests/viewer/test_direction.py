"""Graphs that run across the page: what holds for their places, and how they are drawn."""

from __future__ import annotations

from itertools import combinations
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given

from ufkit.viewer.drawing.labels import labels
from ufkit.viewer.drawing.measure import text_width
from ufkit.viewer.drawing.png import to_png
from ufkit.viewer.drawing.svg import to_svg
from ufkit.viewer.drawing.ways import curve, head
from ufkit.viewer.graph.direction import Direction
from ufkit.viewer.graph.scene import FRAME_TITLE, HEAD, LABEL_SIZE, Scene
from ufkit.viewer.layout.compound import lay_out
from ufkit.viewer.layout.diagram import Diagram, Placement, Point, Spacing
from viewer.drawing.scenes import scene_of
from viewer.layout.diagrams import diagrams
from viewer.layout.soundness import faults

DOWN, ACROSS = Direction.DOWN, Direction.ACROSS
TEXT, JUMP = (90.0, 20.0), (96.0, 26.0)
Rectangle = tuple[float, float, float, float]


def placed(diagram: Diagram, direction: Direction) -> Placement:
    spacing = direction.spacing(FRAME_TITLE, TEXT, JUMP)
    return direction.turned_placement(lay_out(direction.turned_diagram(diagram), spacing))


def rectangles(diagram: Diagram, placement: Placement) -> list[Rectangle]:
    sizes = placement.x, placement.y, diagram.widths, diagram.heights
    return [*zip(*sizes, strict=True)]


def apart(a: Rectangle, b: Rectangle) -> bool:
    """Whether they have no point within both."""
    near = 1e-6
    beside = a[0] + a[2] <= b[0] + near or b[0] + b[2] <= a[0] + near
    return beside or a[1] + a[3] <= b[1] + near or b[1] + b[3] <= a[1] + near


def on_side(point: Point, box: Rectangle) -> bool:
    """Whether a point is on the left or the right edge."""
    near = pytest.approx(point[0], abs=1e-6)
    return near in (box[0], box[0] + box[2]) and box[1] <= point[1] <= box[1] + box[3]


@given(diagrams())
def test_what_runs_across_is_as_sound_as_what_runs_down(diagram: Diagram) -> None:
    placement = placed(diagram, ACROSS)
    turned, back = ACROSS.turned_diagram(diagram), ACROSS.turned_placement(placement)
    assert faults(turned, back) == []
    boxes = rectangles(diagram, placement)
    assert all(apart(a, b) for a, b in combinations(boxes, 2))
    for (a, b), route in zip(diagram.links, placement.routes, strict=True):
        assert on_side(route.points[0], boxes[a])
        assert on_side((route.landing or route.points)[-1], boxes[b])


@pytest.mark.parametrize("direction", Direction)
@given(diagram=diagrams())
def test_members_are_below_the_title_of_their_frame(diagram: Diagram, direction: Direction) -> None:
    placement = placed(diagram, direction)
    boxes = rectangles(diagram, placement)
    inner = [*zip(diagram.parents, boxes, strict=True)]
    inner += zip(diagram.group_parents, placement.frames, strict=True)
    for parent, (x, y, width, height) in inner:
        if parent < 0:
            continue
        left, top, wide, high = placement.frames[parent]
        assert left <= x + 1e-6
        assert x + width <= left + wide + 1e-6
        assert top + FRAME_TITLE <= y + 1e-6
        assert y + height <= top + high + 1e-6
    for (wide, high), frame in zip(diagram.frame_sizes, placement.frames, strict=True):
        assert frame[2] >= wide
        assert frame[3] >= high


def test_links_lead_to_the_right_and_leave_room_for_what_is_written() -> None:
    chain = Diagram([80.0, 120.0, 60.0], [24.0, 60.0, 24.0], [(0, 1), (1, 2)])
    placement = placed(chain, ACROSS)
    assert placement.x[1] - placement.x[0] - 80 >= TEXT[0]
    assert placement.x[2] - placement.x[1] - 120 >= TEXT[0]
    assert placement.height < placement.width


def test_down_is_what_the_layout_gives() -> None:
    diagram = Diagram([80.0, 120.0], [24.0, 60.0], [(0, 1)], [0, 0], [-1], [(50.0, 0.0)])
    assert placed(diagram, DOWN) == lay_out(diagram)
    assert DOWN.spacing(FRAME_TITLE, TEXT, JUMP) == Spacing()


def test_curves_and_heads_follow_the_direction() -> None:
    way = [(0.0, 0.0), (40.0, 100.0), (60.0, 100.0)]
    assert [*curve(way, ACROSS)] == [((20, 0), (20, 100), (40, 100)), ((60, 100),)]
    assert [*curve(way, DOWN)] == [((0, 50), (40, 50), (40, 100)), ((60, 100),)]
    assert head(way, ACROSS) == ((60, 100), (60 - HEAD, 96.5), (60 - HEAD, 103.5))
    assert head(way[::-1], ACROSS)[1][0] == HEAD  # it arrives from the right
    assert head([(0.0, 0.0), (0.0, 50.0)], DOWN)[1] == (-3.5, 50 - HEAD)


def across(titles: list[str], links: list[tuple[int, int]], **more: object) -> Scene:
    return scene_of(titles, links, direction=ACROSS, **more)  # type: ignore[arg-type]


LONG = [f"node{at}" for at in range(40)], [*((at, at + 1) for at in range(39)), (0, 39)]
SCENES = (
    across(["a", "b", "c"], [(0, 1), (0, 2), (1, 2)], label="N×28×28×64"),
    across(["a", "b"], [(0, 0), (0, 1), (1, 0)], label="N×8"),
    across(*LONG, label="int64 N×8"),
    across(LONG[0], [*LONG[1], (1, 38), (2, 39)]),
    across(["a", "b", "c"], [(0, 1), (1, 2)], label="N×8", parents=[0, 0, -1], frames=["f"]),
)


@pytest.mark.parametrize("scene", SCENES)
def test_texts_beside_links_are_on_no_box_and_not_on_each_other(scene: Scene) -> None:
    written = [
        (x, y - LABEL_SIZE / 2, text_width(text, LABEL_SIZE), LABEL_SIZE)
        for texts in labels(scene)
        for x, y, text in texts
    ]
    assert written
    boxes = [(box.x, box.y, box.width, box.height) for box in scene.boxes]
    assert all(apart(text, box) for text in written for box in boxes)
    assert all(apart(a, b) for a, b in combinations(written, 2))


@pytest.mark.parametrize("scene", SCENES)
def test_what_runs_across_is_drawn_whole(scene: Scene) -> None:
    root = fromstring(to_svg(scene))
    assert float(root.attrib["width"]) > float(root.attrib["height"])
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {box.title for box in scene.boxes} <= {*texts}
    assert to_png(scene).startswith(b"\x89PNG")
