"""Widths of texts are those of a font, and what is cut fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageFont

from ufkit.viewer.drawing.measure import ELLIPSIS, shortened, text_width

WORDS = "N\u00d7112\u00d7112\u00d764 Conv fire2/squeeze1x1 _PlaceholderWithDefault (1, 2) {x} ~!"
PLAIN = "".join(map(chr, range(0x20, 0x7F)))


def font(name: str, size: int) -> ImageFont.FreeTypeFont:
    try:
        return ImageFont.truetype(name, size, layout_engine=ImageFont.Layout.BASIC)
    except OSError:
        pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize(
    ("name", "bold"), [("DejaVuSans.ttf", False), ("DejaVuSans-Bold.ttf", True)]
)
def test_widths_are_those_of_the_font(name: str, bold: bool) -> None:
    measured = font(name, 1000)
    for letter in PLAIN:
        assert text_width(letter, 1000, bold) == pytest.approx(measured.getlength(letter), abs=1)


@pytest.mark.parametrize("text", WORDS.split())
@pytest.mark.parametrize(
    ("name", "bold"), [("LiberationSans-Regular.ttf", False), ("LiberationSans-Bold.ttf", True)]
)
def test_a_text_is_not_wider_in_other_fonts(name: str, bold: bool, text: str) -> None:
    assert font(name, 100).getlength(text) <= text_width(text, 100, bold)


def test_letters_of_east_asia_are_square_and_marks_take_no_room() -> None:
    assert text_width("\u5c42", 10) == 10
    assert text_width("e\u0301", 10) == text_width("e", 10)


@given(st.text(max_size=60), st.floats(20, 300), st.booleans())
def test_what_is_cut_fits(text: str, most: float, bold: bool) -> None:
    short = shortened(text, most, 12, bold)
    assert text_width(short, 12, bold) <= most
    if short != text:
        assert short.endswith(ELLIPSIS)
        assert text.startswith(short.removesuffix(ELLIPSIS))
        assert text_width(text, 12, bold) > most
