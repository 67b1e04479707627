"""What boxes, frames and links say."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from ufkit.viewer.content import FIELDS, NAMES, WEIGHTS, Picture
from ufkit.viewer.drawing.measure import text_width
from ufkit.viewer.graph.groups import SEPARATOR, Box, Joined, Scopes, View, kinds
from ufkit.viewer.graph.scene import LINE_SIZE, SIDE, TITLE_SIZE, box_height

_WIDEST, _NARROWEST = 260.0, 64.0
_MOST = 5  # lines about fields and weights
_NAMED = ("input", "output")  # categories whose titles are names
_KINDS = 3  # operations that a closed scope names


class BoxText(NamedTuple):
    """Title, lines below it, and category of a box."""

    title: str
    lines: list[str]
    category: str

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a box that says this, in CSS pixels."""
        lines = [text_width(line, LINE_SIZE) for line in self.lines]
        wide = max([text_width(self.title, TITLE_SIZE, bold=True), *lines])
        width = round(min(_WIDEST, max(_NARROWEST, wide + 2 * SIDE + 4)))
        return float(width), box_height(len(self.lines))


def box_text(picture: Picture, scopes: Scopes, seen: View, box: Box, said: Set[str]) -> BoxText:
    """What a box says of its item, which is what `said` names; of a closed scope, what is in it."""
    around = scopes.tree[seen.frames[box.frame][0]].name if box.frame >= 0 else ""
    if box.scope < 0:
        item = picture.items[box.item]
        named = NAMES in said and item.category not in _NAMED
        name = [_under(item.key, around)] if named else []
        more = [
            *(item.field_lines if FIELDS in said else ()),
            *(item.weight_lines if WEIGHTS in said else ()),
        ]
        lines = [*name, *item.lines, *more[:_MOST]]
        return BoxText(item.title or item.operation, lines, item.category)
    scope = scopes.tree[box.scope]
    counts = kinds(picture, scopes, box.scope)
    lines = [f"{count} {name}" for name, count in counts[:_KINDS]]
    if len(counts) > _KINDS:
        lines.append(f"{scope.count} nodes in all")
    return BoxText(_under(scope.name, around), lines, "scope")


def frame_titles(scopes: Scopes, seen: View) -> list[str]:
    """The name of each open scope without that of the frame around it."""
    names = [scopes.tree[scope].name for scope, _ in seen.frames]
    return [
        _under(name, names[frame] if frame >= 0 else "")
        for name, (_, frame) in zip(names, seen.frames, strict=True)
    ]


def _under(name: str, parent: str) -> str:
    """A scope's name without that of the scope around it."""
    return name.removeprefix(parent + SEPARATOR) if parent else name


def link_text(joined: Joined) -> str:
    """The value of a link, or how many links are drawn as this one."""
    labels = [*dict.fromkeys(link.label for link in joined.links if link.label)]
    if len(joined.links) > 1 and len(labels) != 1:
        return f"{len(joined.links)} links"
    return labels[0] if labels else ""
