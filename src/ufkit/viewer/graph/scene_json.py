"""A scene as the JSON that the page draws from."""

from __future__ import annotations

from typing import Any

from ufkit.viewer.content import Picture
from ufkit.viewer.drawing.labels import labels
from ufkit.viewer.encoding import encoded
from ufkit.viewer.graph.groups import Box, View
from ufkit.viewer.graph.look import Look
from ufkit.viewer.graph.scene import METRICS, Scene, SceneBox, SceneFrame
from ufkit.viewer.subject import Subject


def as_json(
    subject: Subject, picture: int, look: Look, seen: View, scene: Scene, opened: list[int]
) -> bytes:
    """The scene for the page: places rounded to a tenth of a pixel."""
    assert subject.model is not None
    shown, scopes = subject.model.pictures[picture], subject.scopes[picture]
    members: list[list[int]] = [[] for _ in seen.boxes]
    for item, box in seen.box_of.items():
        members[box].append(item)
    folded = {
        index: subject.owner(picture, index)
        for index, item in enumerate(shown.items)
        if item.folded
    }
    body: dict[str, Any] = {
        "width": round(scene.width, 1),
        "height": round(scene.height, 1),
        "flat": look.flat,
        "across": look.across,
        "said": sorted(look.said_in(shown)),
        "open": opened,
        "scopes": len(scopes.all()),
        "boxes": [
            {
                **_rectangle(box),
                "title": box.title,
                "lines": box.lines,
                "category": box.category,
                "change": box.change,
                "scope": at.scope if at.scope >= 0 else None,
                "around": seen.frames[at.frame][0] if at.frame >= 0 else None,
                "items": members[number],
                "spoken": _spoken(shown, at, box),
            }
            for number, (at, box) in enumerate(zip(seen.boxes, scene.boxes, strict=True))
        ],
        "links": [
            {
                "from": link.start,
                "to": link.end,
                "points": _points(link.route.points),
                "landing": _points(link.route.landing),
                "label": [(round(x, 1), round(y, 1), text) for x, y, text in written],
            }
            for link, written in zip(scene.links, labels(scene), strict=True)
        ],
        "frames": [
            {**_rectangle(frame), "title": frame.title, "scope": scope}
            for frame, (scope, _) in zip(scene.frames, seen.frames, strict=True)
        ],
        "folded": folded,
        "metrics": METRICS,
    }
    return encoded(body)


def _rectangle(box: SceneBox | SceneFrame) -> dict[str, float]:
    numbers = (box.x, box.y, box.width, box.height)
    return dict(zip("xywh", (round(number, 1) for number in numbers), strict=True))


def _points(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(round(x, 1), round(y, 1)) for x, y in points]


def _spoken(picture: Picture, at: Box, box: SceneBox) -> str:
    """What a screen reader says of a box."""
    if at.scope >= 0:
        return f"scope {box.title}, closed, {', '.join(box.lines)}"
    item = picture.items[at.item]
    return ", ".join(part for part in (box.title, item.key, item.value) if part)
