"""Shapes that the user gave for inputs: each model takes those of its own."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufkit.uff.inputs import GivenShapes


def of_these(shapes: GivenShapes | None, inputs: Collection[str]) -> GivenShapes:
    """The shapes of these inputs; the others may be another file's."""
    return {name: shape for name, shape in (shapes or {}).items() if name in inputs}
