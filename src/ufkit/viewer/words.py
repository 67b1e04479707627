"""Shapes and values as they are written into boxes and at links."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 28  # letters of a value in a box


def sizes_text(shape: Sequence[object] | None) -> str:
    """A shape as it is written at a link: `N×28×28×1`, ? for an open size; "" if not known."""
    if shape is None:
        return ""
    return "×".join("?" if size is None else str(size) for size in shape) or "scalar"


def clipped(text: str) -> str:
    """A text in the room that a box has."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
