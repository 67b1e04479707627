"""Colours can be told apart from what they are on, in both themes."""

from __future__ import annotations

from typing import Any

import pytest

from ufkit.viewer.categories import CATEGORIES, OTHER, PLUGIN
from ufkit.viewer.drawing.theme import COLOURS

THEMES = pytest.mark.parametrize("theme", COLOURS)


def luminance(colour: str) -> float:
    """Relative luminance, after WCAG 2.2."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_what_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@THEMES
def test_text_can_be_read(theme: str) -> None:
    colours: dict[str, Any] = COLOURS[theme]
    pairs = [("text", "box"), ("text", "page"), ("frameText", "frame"), ("frameText", "page")]
    pairs += [("linkText", "page"), ("linkText", "frame")]
    pairs += [(name, "page") for name in ("accent", "error", "warning", "note")]
    for ink, ground in pairs:
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for name, head in colours["categories"].items():
        assert contrast(head["text"], head["head"]) >= 4.5, name


@THEMES
def test_marks_and_edges_can_be_seen(theme: str) -> None:
    colours: dict[str, Any] = COLOURS[theme]
    for name in ("error", "warning", "note", "added", "removed", "changed", "accent"):
        for ground in ("page", "frame", "box"):
            assert contrast(colours[name], colours[ground]) >= 3, (name, ground)
    for ground in ("page", "frame"):
        assert contrast(colours["link"], colours[ground]) >= 3, ground


@THEMES
def test_every_category_has_a_colour(theme: str) -> None:
    assert set(COLOURS[theme]["categories"]) == {*CATEGORIES, PLUGIN, OTHER, "scope"}


def test_themes_name_the_same_things() -> None:
    assert set(COLOURS["light"]) == set(COLOURS["dark"])


@THEMES
def test_categories_differ(theme: str) -> None:
    heads = {name: head["head"] for name, head in COLOURS[theme]["categories"].items()}
    del heads["output"]  # as input
    assert len(set(heads.values())) == len(heads)
