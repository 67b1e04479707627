"""The tokens of Protocol Buffers' text form: what a field looks like, and what words mean.

The grammar: https://protobuf.dev/reference/protobuf/textformat-spec/
"""

from __future__ import annotations

import re

from ufkit.core.files import Source
from ufkit.wire.reader import TextFault

# Nothing inside a possessive repeat can fail half way: Python before 3.11.5 gets that wrong.
_WS = rb"\s*+(?:\#[^\n]*\s*)*+"
FIELD = re.compile(
    rb"%(ws)s ([,;])? %(ws)s"
    rb"(?: ([A-Za-z_]\w*+) %(ws)s (:)? %(ws)s"
    rb'  (?: "([^"\\\n\0]*)" (?!\s*+["\'\#]) | ([-+.\w]++) | (["\'{<\[]) )'
    rb"  | ([}>]) )" % {b"ws": _WS},
    re.X,
)
SKIPPED = re.compile(rb"%(ws)s ([,;])? %(ws)s" % {b"ws": _WS}, re.X)
QUOTE = re.compile(rb"%s (?=[\"'])" % _WS, re.X)
ELEMENT = re.compile(rb"%s (?: ([-+.\w]++) | ([\"'{<\],]) )" % _WS, re.X)
NAME = re.compile(rb"[A-Za-z_]\w*")
CLOSING = {b"{": b"}", b"<": b">"}

_INTEGER = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]{1,99})|0([0-7]{0,99})|([1-9][0-9]{0,99}))")
_FLOAT = re.compile(
    r"(-?(?:(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf(?:inity)?|nan))f?",
    re.I,
)
BOOLS = {
    **dict.fromkeys(("true", "True", "t", "1"), True),
    **dict.fromkeys(("false", "False", "f", "0"), False),
}


def integer(word: str) -> int | None:
    """The number that a word spells, decimal, octal or hexadecimal; None for any other word."""
    match = _INTEGER.fullmatch(word)
    if match is None:
        return None
    sign, hexadecimal, octal, decimal = match.groups()
    base = 16 if hexadecimal else 8 if octal else 10
    value = int(hexadecimal or octal or decimal or "0", base)
    return -value if sign else value


def real(word: str) -> float | None:
    """The number that a word spells as a float; None for any other word."""
    match = _FLOAT.fullmatch(word)
    return float(match[1]) if match else None


def check_utf8(source: Source) -> None:
    """Raises TextFault where a text is not UTF-8."""
    at = 0
    while at < source.size:
        stop = min(source.size, at + (1 << 20))
        try:
            str(source.view(at, stop), "utf-8")
        except UnicodeDecodeError as error:
            if stop == source.size or error.start + 3 < stop - at:
                raise TextFault(at + error.start, f"not UTF-8: {error.reason}") from error
            stop = at + error.start  # a character that straddles two steps
        at = stop
