"""Scenes to draw, laid out from a list of titles and links."""

from __future__ import annotations

from collections.abc import Sequence

from ufkit.viewer.graph.scene import Scene, SceneBox, SceneFrame, SceneLink, box_height
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
) -> Scene:
    """Boxes 120 wide, all alike but for their titles; frames side by side."""
    high = box_height(len(lines))
    size = [120.0] * len(titles), [high] * len(titles)
    placed = lay_out(Diagram(*size, links, parents, [-1] * len(frames)))
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
    return Scene(placed.width, placed.height, boxes, ways, around)
