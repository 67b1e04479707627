"""What a link of the drawing stands for: values, who gives them, and who takes them."""

from __future__ import annotations

from typing import Any

from ufkit.viewer.asking import checked
from ufkit.viewer.content import Picture
from ufkit.viewer.graph.groups import Scopes, members
from ufkit.viewer.graph.panel import named
from ufkit.viewer.subject import Subject

_MOST = 500
_SCOPE = "s"  # before the number of a closed scope, where the end of a link is no item


def between(subject: Subject, picture: int, start: str, end: str) -> dict[str, Any]:
    """The links from one box to another: an item's number, or `s` and that of a closed scope.

    Raises RequestError (VWR002) for what is neither.
    """
    assert subject.model is not None
    shown, scopes = subject.model.pictures[picture], subject.scopes[picture]
    sources = _items(shown, scopes, start, "from")
    rows = []
    for taker in sorted(_items(shown, scopes, end, "to")):
        for link in shown.items[taker].takes:
            if link.source in sources:
                giver = shown.items[link.source]
                rows.append(
                    {
                        "value": link.value or giver.key,
                        "label": link.label,
                        "slot": link.slot,
                        "role": link.role,
                        "from": named(giver, link.source),
                        "to": named(shown.items[taker], taker),
                    }
                )
    return {"total": len(rows), "rows": rows[:_MOST]}


def _items(picture: Picture, scopes: Scopes, text: str, name: str) -> set[int]:
    if text.startswith(_SCOPE):
        return {*members(scopes, checked(text.removeprefix(_SCOPE), name, len(scopes.tree)))}
    return {checked(text, name, len(picture.items))}
