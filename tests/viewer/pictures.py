"""Pictures for tests of the viewer, made without a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ufkit.viewer.content import Item, Link, Picture


def picture(takes: Mapping[str, Sequence[str]], operation: str = "Unary") -> Picture:
    """Items by key, each with the keys of the items that it takes."""
    at = {key: number for number, key in enumerate(takes)}
    items = [
        Item(
            key,
            operation,
            "arithmetic",
            title=operation,
            takes=[Link(at[source], slot) for slot, source in enumerate(sources)],
        )
        for key, sources in takes.items()
    ]
    return Picture("main", items)
