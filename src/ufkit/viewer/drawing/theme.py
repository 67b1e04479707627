"""Colours, one table for the page, SVG and PNG.

Text has a contrast of at least 4.5:1 to what it is written on, and marks and edges of changed boxes
at least 3:1, as WCAG 2.2 asks (1.4.3, 1.4.11).
"""

from __future__ import annotations

from typing import Any

_WHITE = "#ffffff"
_HEADS = {
    "input": "#46586b",
    "output": "#46586b",
    "constant": "#6a7078",
    "layer": "#2b5fad",
    "pool": "#1f7550",
    "normalization": "#2a6f7f",
    "activation": "#a23a34",
    "shape": "#7b5a28",
    "join": "#6a4ba3",
    "arithmetic": "#4c5a8f",
    "detection": "#98427f",
    "plugin": "#ab4a10",
    "other": "#5c6269",
}


def _categories(scope: str, scope_text: str) -> dict[str, dict[str, str]]:
    heads = {name: {"head": head, "text": _WHITE} for name, head in _HEADS.items()}
    return heads | {"scope": {"head": scope, "text": scope_text}}


COLOURS: dict[str, dict[str, Any]] = {
    "light": {
        "page": _WHITE,
        "box": _WHITE,
        "boxEdge": "#9aa4b0",
        "text": "#1b1f24",
        "frame": "#f4f6f9",
        "frameEdge": "#c9d1da",
        "frameText": "#515b66",
        "link": "#7d8895",
        "linkText": "#59626d",
        "accent": "#1f5fbf",
        "error": "#b3261e",
        "warning": "#a85f00",
        "note": "#1f5fbf",
        "added": "#1a7f37",
        "removed": "#b3261e",
        "changed": "#a85f00",
        "renamed": "#6a4ba3",
        "categories": _categories("#dbe3ed", "#22303f"),
    },
    "dark": {
        "page": "#15181d",
        "box": "#20252d",
        "boxEdge": "#59636f",
        "text": "#e4e8ed",
        "frame": "#1a1e25",
        "frameEdge": "#3a424d",
        "frameText": "#a9b3bf",
        "link": "#78838f",
        "linkText": "#a9b3bf",
        "accent": "#6ea8fe",
        "error": "#ff7b72",
        "warning": "#e3a13b",
        "note": "#6ea8fe",
        "added": "#56c271",
        "removed": "#ff7b72",
        "changed": "#e3a13b",
        "renamed": "#b79cf0",
        "categories": _categories("#354254", "#e4e8ed"),
    },
}
