"""How wide a text is, without a font: boxes are sized before anything is drawn.

The widths are those of DejaVu Sans, the widest of the usual sans-serif fonts: whatever font a
browser takes, a text fits where it fits by this table.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Thousandths of the size, from the space (U+0020) to the tilde (U+007E); measured with FreeType.
_REGULAR = (
    "318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 "
    "636 636 636 636 337 337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 "
    "557 863 748 787 603 787 695 635 611 732 684 989 685 611 685 390 337 390 838 500 500 613 "
    "635 550 635 615 352 635 634 278 278 579 278 974 634 612 635 635 411 521 392 634 592 818 "
    "592 592 525 636 337 636 838 "
)
_BOLD = (
    "348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 "
    "696 696 696 696 400 400 838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 "
    "637 995 837 850 733 850 770 720 682 812 774 1103 771 724 725 457 365 457 838 500 500 675 "
    "716 593 716 678 435 716 712 343 343 665 343 1042 712 687 716 716 493 595 478 712 652 924 "
    "645 652 582 712 365 712 838 "
)
_FIRST, _LAST = 0x20, 0x7E
_TABLES = {
    bold: [int(width) for width in table.split()]
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}
_WIDE, _OTHER = 1000, 750  # of characters of East Asia, and of all that are not in the table
_NO_WIDTH = ("Mn", "Me", "Cf")  # categories of Unicode: marks on the letter before, and the like
ELLIPSIS = "\u2026"


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text in CSS pixels, for letters of `size`; rather too much."""
    table = _TABLES[bold]
    total = 0
    for letter in text:
        code = ord(letter)
        total += table[code - _FIRST] if _FIRST <= code <= _LAST else _rare(letter)
    return total * size / 1000


@lru_cache(4096)
def _rare(letter: str) -> int:
    if unicodedata.category(letter) in _NO_WIDTH:
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER


def shortened(text: str, most: float, size: float, bold: bool = False) -> str:
    """The text, or as much of its beginning as fits `most` pixels with an ellipsis behind it."""
    if text_width(text, size, bold) <= most:
        return text
    most -= text_width(ELLIPSIS, size, bold)
    table = _TABLES[bold]
    total = 0.0
    for at, letter in enumerate(text):
        code = ord(letter)
        width = table[code - _FIRST] if _FIRST <= code <= _LAST else _rare(letter)
        total += width * size / 1000
        if total > most:
            return text[:at] + ELLIPSIS
    return text
