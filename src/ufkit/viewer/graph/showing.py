"""From a picture and its open scopes to what is drawn."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from ufkit.core.diag import Severity, UfkitError
from ufkit.viewer.asking import checked, each
from ufkit.viewer.content import Picture
from ufkit.viewer.drawing.measure import text_width
from ufkit.viewer.graph.groups import SEPARATOR, Box, Joined, Scopes, View, flat, kinds, view
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.graph.scene import (
    FRAME_SIZE,
    LINE_SIZE,
    SIDE,
    TITLE_SIZE,
    Scene,
    SceneBox,
    SceneFrame,
    SceneLink,
    box_height,
)
from ufkit.viewer.graph.scene_json import as_json
from ufkit.viewer.layout.diagram import Diagram, Placement
from ufkit.viewer.subject import Subject

FLAT = "flat"
_WIDEST, _NARROWEST = 260.0, 64.0
_KEPT = 16  # scenes whose JSON is kept
_KINDS = 3  # operations that a closed scope names
_NONE: Mapping[int, str] = {}
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Look:
    """How a picture is looked at.

    opened   None for as many scopes as can be read, "flat" for none, or their numbers with commas
    names    whether boxes say what their items are called
    """

    opened: str | None = None
    names: bool = False


class Showing:
    """Scenes of pictures; the last few are kept as they were sent."""

    def __init__(self, layouter: Layouter) -> None:
        self._layouter = layouter
        self._lock = threading.Lock()
        self._sent: OrderedDict[tuple[int, int, Look, bool], bytes] = OrderedDict()

    def scene(
        self,
        subject: Subject,
        picture: int,
        look: Look,
        changes: Mapping[int, str] | None = None,
    ) -> bytes:
        """The JSON of a scene; `changes` say what differs about items from those of another.

        Raises RequestError for scopes that are not there (VWR002), and as `Layouter.lay_out`.
        """
        key = subject.number, picture, look, changes is not None
        with self._lock:  # the page asks for what is being made when it opens
            if key not in self._sent:
                seen, chosen = self._seen(subject, picture, look)
                drawn = self._drawn(subject, picture, seen, look, changes=changes or {})
                is_flat = look.opened == FLAT
                self._sent[key] = as_json(subject, picture, seen, drawn, chosen, is_flat)
                if len(self._sent) > _KEPT:
                    self._sent.popitem(last=False)
            return self._sent[key]

    def ahead(self, subject: Subject) -> None:
        """Begin with the scene that is asked for first, while the browser starts."""

        def work() -> None:
            with contextlib.suppress(UfkitError):
                self.scene(subject, 0, Look())
            self._layouter.prepare()

        if subject.model and subject.model.pictures:
            threading.Thread(target=work, daemon=True).start()

    def drawn(self, subject: Subject, picture: int, look: Look) -> Scene:
        """The scene itself, with a mark at each box that something was found about."""
        seen = self._seen(subject, picture, look)[0]
        return self._drawn(subject, picture, seen, look, found=marks(subject, picture))

    def _seen(self, subject: Subject, picture: int, look: Look) -> tuple[View, list[int]]:
        assert subject.model is not None
        shown, scopes = subject.model.pictures[picture], subject.scopes[picture]
        opened = look.opened
        if opened == FLAT:
            return flat(shown), []
        if opened is None:
            chosen = scopes.opened()
        else:
            chosen = each(opened, lambda text: checked(text, "open", len(scopes.tree)))
        return view(shown, scopes, chosen), chosen

    def _drawn(
        self,
        subject: Subject,
        picture: int,
        seen: View,
        look: Look,
        *,
        changes: Mapping[int, str] = _NONE,
        found: Mapping[int, str] = _NONE,
    ) -> Scene:
        assert subject.model is not None
        shown, scopes = subject.model.pictures[picture], subject.scopes[picture]
        texts = [_text(box, shown, scopes, names=look.names) for box in seen.boxes]
        titles = [_frame_title(scopes, scope, seen, frame) for scope, frame in seen.frames]
        diagram = Diagram(
            [_width(title, lines) for title, lines, _ in texts],
            [box_height(len(lines)) for _, lines, _ in texts],
            [(joined.source, joined.target) for joined in seen.links],
            [box.frame for box in seen.boxes],
            [frame for _, frame in seen.frames],
            [text_width(title, FRAME_SIZE, bold=True) for title in titles],
        )
        placed = self._layouter.lay_out(diagram)
        notes = _worst(seen, found), _changed(seen, changes)
        return _scene(seen, diagram, placed, texts, titles, notes)


def _text(box: Box, picture: Picture, scopes: Scopes, *, names: bool) -> tuple[str, list[str], str]:
    """Title, lines and category of a box; with `names`, that of the item comes first."""
    if box.scope < 0:
        item = picture.items[box.item]
        title = item.title or item.operation
        name = _under(item.key, scopes.tree[scopes.of[box.item]].name)
        lines = [name, *item.lines] if names and name != title else item.lines
        return title, lines, item.category
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


def marks(subject: Subject, picture: int) -> dict[int, str]:
    """The worst severity of what was found about items, by their number; of what is drawn inside
    another, by the number of that."""
    assert subject.model is not None
    places = subject.model.places()
    worst: dict[int, Severity] = {}
    for finding in subject.findings():
        at = places.get(finding.where.node)
        if at and at[0] == picture:
            item = subject.owner(picture, at[1])
            worst[item] = min(worst.get(item, Severity.NOTE), finding.severity, key=_ORDER.index)
    return {item: str(severity) for item, severity in worst.items()}


def _worst(seen: View, found: Mapping[int, str]) -> dict[int, str]:
    """What was found about items, by box."""
    worst: dict[int, str] = {}
    for item, severity in found.items():
        if (box := seen.box_of.get(item)) is not None:
            worst[box] = min(worst.get(box, severity), severity, key=_ORDER.index)
    return worst


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
    notes: tuple[dict[int, str], dict[int, str]],
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
            mark=notes[0].get(at, ""),
            change=notes[1].get(at, ""),
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
