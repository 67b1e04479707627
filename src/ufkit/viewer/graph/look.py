"""How a picture is looked at: what addresses of pages and drawings tell."""

from __future__ import annotations

from dataclasses import dataclass

from ufkit.viewer.content import Picture
from ufkit.viewer.graph.direction import Direction

FLAT = "flat"


@dataclass(frozen=True, slots=True)
class Look:
    """How a picture is looked at.

    opened   None for as many scopes as can be read, "flat" for none, or their numbers with commas
    said     of `content.SAID`, what boxes say; None for what the picture's do when it opens
    across   whether it runs from left to right, and not from the top down
    """

    opened: str | None = None
    said: frozenset[str] | None = None
    across: bool = False

    @property
    def flat(self) -> bool:
        return self.opened == FLAT

    @property
    def direction(self) -> Direction:
        return Direction.ACROSS if self.across else Direction.DOWN

    def said_in(self, picture: Picture) -> frozenset[str]:
        """What the boxes of a picture say."""
        return picture.said if self.said is None else self.said
