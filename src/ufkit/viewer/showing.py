"""From a picture and its open scopes to what is drawn, and to the JSON of it for the page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ufkit.core.diag import Severity
from ufkit.viewer.answers import Answer, checked, each
from ufkit.viewer.content import Picture
from ufkit.viewer.drawing.labels import labels
from ufkit.viewer.drawing.measure import text_width
from ufkit.viewer.groups import SEPARATOR, Box, Joined, Scopes, View, flat, kinds, view
from ufkit.viewer.layout import Diagram, Placement
from ufkit.viewer.layouter import Layouter
from ufkit.viewer.scene import (
    FRAME_SIZE,
    LINE_SIZE,
    METRICS,
    SIDE,
    TITLE_SIZE,
    Scene,
    SceneBox,
    SceneFrame,
    SceneLink,
    box_height,
)
from ufkit.viewer.session import Subject

FLAT = "flat"
_WIDEST, _NARROWEST = 260.0, 64.0
_KEPT = 16  # scenes whose JSON is kept
_KINDS = 3  # operations that a closed scope names
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


class Showing:
    """Scenes of pictures; the last few are kept as they were sent."""

    def __init__(self, layouter: Layouter) -> None:
        self._layouter = layouter
        self._sent: OrderedDict[tuple[int, int, str | None, bool], bytes] = OrderedDict()

    def scene(
        self,
        subject: Subject,
        picture: int,
        opened: str | None,
        changes: Mapping[int, str] | None = None,
    ) -> bytes:
        """The JSON of a scene. `opened` is None, "flat", or numbers of scopes with commas.

        `changes` say what differs about items of this picture from those of another.

        Raises RequestError for scopes that are not there (VWR002), and as `Layouter.lay_out`.
        """
        key = subject.number, picture, opened, changes is not None
        if key not in self._sent:
            seen, chosen = self._seen(subject, picture, opened)
            drawn = self._drawn(subject, picture, seen, changes or {})
            self._sent[key] = _json(subject, picture, seen, drawn, chosen, opened == FLAT)
            if len(self._sent) > _KEPT:
                self._sent.popitem(last=False)
        return self._sent[key]

    def drawn(self, subject: Subject, picture: int, opened: str | None) -> Scene:
        """The scene itself."""
        return self._drawn(subject, picture, self._seen(subject, picture, opened)[0], {})

    def _seen(self, subject: Subject, picture: int, opened: str | None) -> tuple[View, list[int]]:
        assert subject.model is not None
        shown, scopes = subject.model.pictures[picture], subject.scopes[picture]
        if opened == FLAT:
            return flat(shown), []
        if opened is None:
            chosen = scopes.opened()
        else:
            chosen = each(opened, lambda text: checked(text, "open", len(scopes.tree)))
        return view(shown, scopes, chosen), chosen

    def _drawn(
        self, subject: Subject, picture: int, seen: View, changes: Mapping[int, str]
    ) -> Scene:
        assert subject.model is not None
        shown, scopes = subject.model.pictures[picture], subject.scopes[picture]
        texts = [_text(box, shown, scopes) for box in seen.boxes]
        titles = [_frame_title(scopes, scope, seen, frame) for scope, frame in seen.frames]
        diagram = Diagram(
            [_width(title, lines) for title, lines, _ in texts],
            [box_height(len(lines)) for _, lines, _ in texts],
            [(joined.source, joined.target) for joined in seen.links],
            [box.frame for box in seen.boxes],
            [frame for _, frame in seen.frames],
            [text_width(title, FRAME_SIZE) for title in titles],
        )
        marks = _marks(subject, picture, seen), _changed(seen, changes)
        return _scene(seen, diagram, self._layouter.lay_out(diagram), texts, titles, marks)


def _text(box: Box, picture: Picture, scopes: Scopes) -> tuple[str, list[str], str]:
    """Title, lines and category of a box."""
    if box.scope < 0:
        item = picture.items[box.item]
        return item.title or item.operation, item.lines, item.category
    scope = scopes.tree[box.scope]
    parent = scopes.tree[scope.parent].name if scope.parent else ""
    counts = kinds(picture, scopes, box.scope)
    lines = [f"{count} {name}" for name, count in counts[:_KINDS]]
    if len(counts) > _KINDS:
        lines.append(f"{scope.count} nodes in all")
    return _under(scope.name, parent), lines, "scope"


def _under(name: str, parent: str) -> str:
    """A scope's name without that of the scope around it."""
    return name.removeprefix(parent + SEPARATOR) if parent else name


def _frame_title(scopes: Scopes, scope: int, seen: View, frame: int) -> str:
    parent = scopes.tree[seen.frames[frame][0]].name if frame >= 0 else ""
    return _under(scopes.tree[scope].name, parent)


def _width(title: str, lines: list[str]) -> float:
    wide = max(
        [text_width(title, TITLE_SIZE, bold=True), *(text_width(s, LINE_SIZE) for s in lines)]
    )
    return round(min(_WIDEST, max(_NARROWEST, wide + 2 * SIDE + 4)))


def _marks(subject: Subject, picture: int, seen: View) -> dict[int, str]:
    """The worst severity of what was found about each box."""
    assert subject.model is not None
    places = subject.model.places()
    worst: dict[int, Severity] = {}
    for finding in subject.findings():
        at = places.get(finding.where.node)
        box = seen.box_of.get(at[1]) if at and at[0] == picture else None
        if box is not None:
            known = worst.get(box, Severity.NOTE)
            worst[box] = min(known, finding.severity, key=_ORDER.index)
    return {box: str(severity) for box, severity in worst.items()}


def _changed(seen: View, changes: Mapping[int, str]) -> dict[int, str]:
    """What differs about each box; a closed scope with several kinds of change is changed."""
    found: dict[int, str] = {}
    for item, change in changes.items():
        if (box := seen.box_of.get(item)) is not None:
            alone = seen.boxes[box].scope < 0 or found.get(box, change) == change
            found[box] = change if alone else "changed"
    return found


def _scene(
    seen: View,
    diagram: Diagram,
    placed: Placement,
    texts: list[tuple[str, list[str], str]],
    titles: list[str],
    marks: tuple[dict[int, str], dict[int, str]],
) -> Scene:
    boxes = [
        SceneBox(
            placed.x[at],
            placed.y[at],
            diagram.widths[at],
            diagram.heights[at],
            title,
            lines,
            category,
            closed=seen.boxes[at].scope >= 0,
            mark=marks[0].get(at, ""),
            change=marks[1].get(at, ""),
        )
        for at, (title, lines, category) in enumerate(texts)
    ]
    links = [
        SceneLink(joined.source, joined.target, route, _label(joined))
        for joined, route in zip(seen.links, placed.routes, strict=True)
    ]
    frames = [SceneFrame(*frame, title) for frame, title in zip(placed.frames, titles, strict=True)]
    return Scene(placed.width, placed.height, boxes, links, frames)


def _label(joined: Joined) -> str:
    labels = [*dict.fromkeys(link.label for link in joined.links if link.label)]
    if len(joined.links) > 1 and len(labels) != 1:
        return f"{len(joined.links)} links"
    return labels[0] if labels else ""


# -- JSON ------------------------------------------------------------------------------------


def _json(
    subject: Subject, picture: int, seen: View, scene: Scene, opened: list[int], is_flat: bool
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
        "flat": is_flat,
        "open": opened,
        "scopes": len(scopes.all()),
        "boxes": [
            {
                **_rectangle(box),
                "title": box.title,
                "lines": box.lines,
                "category": box.category,
                "mark": box.mark,
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
    return Answer(body).body  # type: ignore[return-value]


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
