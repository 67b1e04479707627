"""What the page is told, as JSON that holds no text as markup."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ufkit.core.diag import Diagnostic


def encoded(content: Any) -> bytes:
    """JSON in UTF-8. What is not a number in JSON is a fault of ours, so it fails."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def findings(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Diagnostics for the page."""
    return [
        {**item.as_dict(), "title": item.rule.title, "why": item.rule.why, "place": str(item.where)}
        for item in diagnostics
    ]
