"""What an edit did, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ufkit.core.diag import Rule


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was done.

    edit      which edit did it, by the name of its option
    message   what, with ids and numbers
    rule      of a fix: what was wrong
    """

    edit: str
    message: str
    rule: Rule | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: edit, code, message."""
        code = self.rule.code if self.rule else None
        return {"edit": self.edit, "code": code, "message": self.message}
