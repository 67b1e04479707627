"""Diagnostics and tables as text for people, and the JSON object for programs.

What comes out of files is made harmless on its way: a name cannot drive the terminal.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any

from ufkit.core.diag import Diagnostic, Severity, Where

_CODES = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "33", "cyan": "36", "green": "32"}
_SEVERITIES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_PAINT = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST = 60  # characters of a value
_SHOWN = 3  # places of a group that are named
_NUMBERS = re.compile(r"\[[^\[\]]*\]|\d+(?:\.\d+)?")  # whole shapes, and numbers


def visible(text: str) -> str:
    r"""Text in which every character that prints nothing is spelt out: \x1b, \n, \u202e."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def wants_colour(stream: IO[str]) -> bool:
    """Whether a stream is a terminal and nobody asked for plain text (NO_COLOR, TERM=dumb)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and stream.isatty()


def paint(text: str, style: str, *, colour: bool) -> str:
    """Text in a style of `_CODES`, or as it is."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colour and text else text


def size(nbytes: int) -> str:
    """Bytes as people say them: 512 B, 72.1 KiB, 1.0 GiB."""
    value, unit = float(nbytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{nbytes} B" if unit == "B" else f"{value:.1f} {unit}"


def plural(count: int, noun: str) -> str:
    """1 node, 2 nodes, 1,000 nodes."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def short(value: Any) -> str:
    """A value of a field in a few words: [1,1], same; cut where it is long."""
    is_list = isinstance(value, (list, tuple))
    text = f"[{','.join(map(short, value))}]" if is_list else visible(str(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def columns(rows: Sequence[Sequence[str]], *, indent: int = 2, right: Sequence[int] = ()) -> str:
    """Rows in aligned columns, those of index `right` to the right; names are never cut."""
    count = max(map(len, rows), default=0)
    widths = [
        max((len(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)
    ]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(widths[at]) if at in right else cell.ljust(widths[at])
            for at, cell in enumerate(row)
        ]
        lines.append(" " * indent + "  ".join(cells).rstrip())
    return "\n".join(lines)


def wrapped(items: Iterable[str], *, first: str, width: int) -> str:
    """Items with commas between, in lines that begin under the end of `first`."""
    lines, line, indent = [], first, " " * len(first)
    used = len(first)
    for item in items:
        length = len(_PAINT.sub("", item)) + 2
        if used > len(first) and used + length > width:
            lines.append(line.rstrip())
            line, used = indent, len(first)
        line += f"{item}, "
        used += length
    return "\n".join([*lines, line.rstrip().removesuffix(",")])


# -- diagnostics -----------------------------------------------------------------------------


@dataclass(slots=True)
class Group:
    """Findings of one kind: all the same but for the node, or but for nodes and numbers."""

    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def first(self) -> Diagnostic:
        return self.findings[0]

    @property
    def varied(self) -> bool:
        """Whether their numbers differ."""
        return len({_exact(item) for item in self.findings}) > 1


def grouped(diagnostics: Iterable[Diagnostic]) -> list[Group]:
    """Alike findings together; errors first, otherwise in the order they came.

    Alike are findings that differ only in the node; and, where there would be many groups of
    them, those that differ only in numbers.
    """
    rough: dict[tuple[str, ...], dict[tuple[str, ...], Group]] = {}
    for item in diagnostics:
        exact = _exact(item)
        kind = tuple(_NUMBERS.sub("#", part) for part in exact)
        rough.setdefault(kind, {}).setdefault(exact, Group()).findings.append(item)
    groups: list[Group] = []
    for family in rough.values():
        if len(family) > _SHOWN:
            merged = [item for group in family.values() for item in group.findings]
            groups.append(Group(merged))
        else:
            groups += family.values()
    rank = {severity: at for at, severity in enumerate(Severity)}
    return sorted(groups, key=lambda group: rank[group.first.severity])


def _exact(item: Diagnostic) -> tuple[str, ...]:
    message, hint = item.message, item.hint
    if id_ := item.where.node.partition("/")[2]:
        message, hint = message.replace(repr(id_), "_"), hint.replace(id_, "_")
    return str(item.severity), item.code, message, hint


def text(
    diagnostics: Iterable[Diagnostic],
    *,
    colour: bool = False,
    verbose: bool = False,
    why: bool = False,
) -> str:
    """Diagnostics as text; alike ones as one with a count, unless `verbose`.

    `why` adds what goes wrong if a rule is ignored, once per rule.
    """
    groups = [Group([item]) for item in diagnostics] if verbose else grouped(diagnostics)
    explained: set[str] = set()
    lines: list[str] = []
    for group in groups:
        item = group.first
        lines += [_head(group, colour), *_places(group.findings)]
        if why and item.code not in explained:
            lines.append(f"  why: {item.rule.why}")
            explained.add(item.code)
        if item.hint:
            lines.append(f"  hint: {visible(item.hint)}")
    return "\n".join(lines)


def _head(group: Group, colour: bool) -> str:
    item, count = group.first, len(group.findings)
    tag = paint(f"{item.severity}[{item.code}]", _SEVERITIES[item.severity], colour=colour)
    times = f"  x{count}{', numbers differ' if group.varied else ''}" if count > 1 else ""
    return f"{tag} {visible(item.message)}{paint(times, 'bold', colour=colour)}"


def _places(findings: list[Diagnostic]) -> Iterator[str]:
    places = [item.where for item in findings if item.where != Where()]
    label = "  at "
    for where in places[:_SHOWN]:
        yield label + visible(str(where if label == "  at " else replace(where, file="")))
        label = "     "
    if len(places) > _SHOWN:
        yield f"     and {len(places) - _SHOWN:,} more; --verbose lists all"


# -- JSON ------------------------------------------------------------------------------------


def envelope(
    verb: str, data: Any, diagnostics: Iterable[Diagnostic] = (), *, ok: bool = True
) -> dict[str, Any]:
    """The object that `--json` prints, whatever happened."""
    return {
        "schema": f"ufkit.{verb}/1",
        "ok": ok,
        "data": data,
        "diagnostics": [item.as_dict() for item in diagnostics],
    }


def to_json(value: Any) -> str:
    """JSON that every parser takes: infinities and NaN become strings, as Protocol Buffers do."""
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
