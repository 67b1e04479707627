"""From a picture and its open scopes to what is drawn."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Mapping

from ufkit.core.diag import Severity, UfkitError
from ufkit.viewer.asking import checked, each
from ufkit.viewer.drawing.measure import text_width
from ufkit.viewer.graph.direction import Direction
from ufkit.viewer.graph.groups import View, flat, view
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.graph.look import Look
from ufkit.viewer.graph.scene import (
    ASIDE,
    FRAME_SIZE,
    FRAME_TITLE,
    HEAD,
    JUMP_TEXT,
    LABEL_SIZE,
    LABEL_TEXT,
    Scene,
    SceneBox,
    SceneFrame,
    SceneLink,
)
from ufkit.viewer.graph.scene_json import as_json
from ufkit.viewer.graph.texts import box_text, frame_titles, link_text
from ufkit.viewer.layout.diagram import Diagram, Placement, Spacing
from ufkit.viewer.subject import Subject

_KEPT = 16  # scenes whose JSON is kept
_NONE: Mapping[int, str] = {}
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


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
                self._sent[key] = as_json(subject, picture, look, seen, drawn, chosen)
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
        if look.flat:
            return flat(shown), []
        if look.opened is None:
            chosen = scopes.opened()
        else:
            chosen = each(look.opened, lambda text: checked(text, "open", len(scopes.tree)))
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
        said = look.said_in(shown)
        texts = [box_text(shown, scopes, seen, box, said) for box in seen.boxes]
        titles, labels = frame_titles(scopes, seen), [link_text(joined) for joined in seen.links]
        diagram = Diagram(
            [text.size[0] for text in texts],
            [text.size[1] for text in texts],
            [(joined.source, joined.target) for joined in seen.links],
            [box.frame for box in seen.boxes],
            [frame for _, frame in seen.frames],
            [(text_width(title, FRAME_SIZE, bold=True), 0.0) for title in titles],
        )
        placed = self._placed(diagram, look.direction, labels)
        notes = _worst(seen, found), _changed(seen, changes)
        boxes = [
            SceneBox(
                *(placed.x[at], placed.y[at], diagram.widths[at], diagram.heights[at]),
                *text,
                closed=seen.boxes[at].scope >= 0,
                mark=notes[0].get(at, ""),
                change=notes[1].get(at, ""),
            )
            for at, text in enumerate(texts)
        ]
        links = [
            SceneLink(joined.source, joined.target, route, label)
            for joined, route, label in zip(seen.links, placed.routes, labels, strict=True)
        ]
        frames = [SceneFrame(*at, title) for at, title in zip(placed.frames, titles, strict=True)]
        return Scene(placed.width, placed.height, boxes, links, frames, look.direction)

    def _placed(self, diagram: Diagram, direction: Direction, labels: list[str]) -> Placement:
        """Everything in its place, with room for what is written at links."""
        widest = max([text_width(label, LABEL_SIZE) for label in {*labels}], default=0.0)
        if len(diagram.widths) > Spacing().longest:  # there may be jumps
            widest = max(widest, JUMP_TEXT)
        label = min(widest, LABEL_TEXT) + 2 * ASIDE + HEAD, LABEL_SIZE + 2 * ASIDE
        spacing = direction.spacing(FRAME_TITLE, label, (JUMP_TEXT + 8, 2 * LABEL_SIZE + ASIDE))
        placed = self._layouter.lay_out(direction.turned_diagram(diagram), spacing)
        return direction.turned_placement(placed)


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
