"""Scenes to draw, laid out from a list of titles and links."""

from __future__ import annotations

from collections.abc import Sequence

from ufkit.viewer.graph.direction import Direction
from ufkit.viewer.graph.scene import (
    FRAME_TITLE,
    JUMP_TEXT,
    Scene,
    SceneBox,
    SceneFrame,
    SceneLink,
    box_height,
)
from ufkit.viewer.layout.compound import lay_out
from ufkit.viewer.layout.diagram import Diagram


def scene_of(
    titles: Sequence[str],
    links: Sequence[tuple[int, int]],
    *,
    lines: Sequence[str] = (),
    label: str = "",
    parents: Sequence[int] = (),
    frames: Sequence[str] = (),
    category: str = "layer",
    mark: str = "",
    change: str = "",
    closed: bool = False,
    direction: Direction = Direction.DOWN,
) -> Scene:
    """Boxes 120 wide, all alike but for their titles; frames side by side."""
    high = box_height(len(lines))
    size = [120.0] * len(titles), [high] * len(titles)
    diagram = direction.turned_diagram(Diagram(*size, links, parents, [-1] * len(frames)))
    spacing = direction.spacing(FRAME_TITLE, (JUMP_TEXT, 20.0), (JUMP_TEXT + 8, 26.0))
    placed = direction.turned_placement(lay_out(diagram, spacing))
    places = zip(titles, placed.x, placed.y, strict=True)
    boxes = [
        SceneBox(x, y, 120.0, high, title, lines, category, closed, mark, change)
        for title, x, y in places
    ]
    ways = [
        SceneLink(start, end, route, label)
        for (start, end), route in zip(links, placed.routes, strict=True)
    ]
    around = [SceneFrame(*frame, name) for frame, name in zip(placed.frames, frames, strict=True)]
    return Scene(placed.width, placed.height, boxes, ways, around, direction)
