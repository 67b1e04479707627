"""core/render.py: text for people, JSON for programs."""

from __future__ import annotations

import json
import math

import pytest

from ufkit.core import render
from ufkit.core.diag import Diagnostic, Rule, Severity, Where

RULE = Rule("TST001", Severity.WARNING, "a title", why="It matters.", hint="do this")
ERROR = Rule("TST002", Severity.ERROR, "another", why="It matters more.")


def at(node: str, message: str, rule: Rule = RULE) -> Diagnostic:
    return rule.at(Where("f.uff", f"main/{node}"), message)


def test_visible() -> None:
    assert render.visible("conv/\u5165 x") == "conv/\u5165 x"
    assert render.visible("a\x1b[2J\n\u202e\x9b\udcff") == r"a\x1b[2J\n\u202e\x9b\udcff"


@pytest.mark.parametrize(
    ("nbytes", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1 << 30, "1.0 GiB"),
        (1 << 50, "1024.0 TiB"),
    ],
)
def test_size(nbytes: int, shown: str) -> None:
    assert render.size(nbytes) == shown


def test_plural() -> None:
    assert [render.plural(n, "node") for n in (0, 1, 2000)] == ["0 nodes", "1 node", "2,000 nodes"]


def test_columns_never_cut() -> None:
    table = render.columns([("a", "1"), ("b" * 200, "22", "x")], right=(1,))
    assert table.splitlines() == [f"  a{' ' * 199}   1", f"  {'b' * 200}  22  x"]
    assert render.columns([]) == ""


def test_wrapped_counts_what_is_seen() -> None:
    items = [render.paint("12345", "bold", colour=True)] * 4
    lines = render.wrapped(items, first="head  ", width=20).splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("      \x1b")
    assert not lines[-1].endswith(",")


def test_alike_but_for_the_node() -> None:
    text = render.text([at(f"n{i}", f"'n{i}' is odd") for i in range(5)])
    assert text.splitlines() == [
        "warning[TST001] 'n0' is odd  x5",
        "  at f.uff: main/n0",
        "     main/n1",
        "     main/n2",
        "     and 2 more; --verbose lists all",
        "  hint: do this",
    ]


def test_numbers_are_told_apart_while_there_are_few() -> None:
    few = [at(f"n{i}", f"{i} bytes of [{i}, 2]") for i in range(3)]
    assert len(render.grouped(few)) == 3
    many = [at(f"n{i}", f"{i} bytes of [{i}, 2]") for i in range(4)]
    assert len(render.grouped(many)) == 1
    assert "x4, numbers differ" in render.text(many)
    assert render.text(many, verbose=True).count("TST001") == 4


def test_errors_first_and_reasons_once() -> None:
    text = render.text([at("a", "w"), at("b", "e", ERROR), at("c", "w2")], why=True)
    assert text.startswith("error[TST002]")
    assert text.count("why: It matters.") == 1


def test_envelope() -> None:
    found = render.envelope("check", {"x": math.inf}, [at("a", "w")], ok=False)
    assert list(found) == ["schema", "ok", "data", "diagnostics"]
    assert found["schema"] == "ufkit.check/1"
    back = json.loads(render.to_json(found))
    assert back["data"] == {"x": "Infinity"}
    assert set(back["diagnostics"][0]) == {"code", "severity", "where", "message", "hint"}
    assert json.loads(render.to_json([math.nan, -math.inf, (1.5,)])) == ["NaN", "-Infinity", [1.5]]
