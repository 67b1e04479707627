"""Texts without a schema."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from ufkit.core.diag import FormatError
from ufkit.core.files import Source
from ufkit.wire.pieces import write
from ufkit.wire.tree import Tree, Word, parse_tree
from wire.judge import judge, plain, values


def tree(text: str | bytes) -> Tree:
    return parse_tree(Source(text.encode() if isinstance(text, str) else text, "a.prototxt"))


def written(parsed: Tree) -> str:
    out = io.BytesIO()
    write(parsed.pieces(), out)
    return out.getvalue().decode()


ODD = """# a net
name: "x" 'y' # two texts are one
a { b: [1, 0x10, -7] c <d: true> } ; e: -1.5e3f
list: [ {k: 1}, <k: 2> ]
empty {} word: MAX
"""


def test_values_of_every_kind() -> None:
    parsed = tree(ODD)
    assert parsed.text("name") == "xy"
    (a,) = parsed.trees("a")
    assert [entry.integer() for entry in a.all("b")] == [1, 16, -7]
    assert a.trees("c")[0].all("d")[0].flag() is True
    assert parsed.all("e")[0].real() == -1500
    assert [item.text("k") for item in parsed.trees("list")] == ["1", "2"]
    assert len(parsed.trees("empty")[0]) == 0
    assert parsed.text("word") == "MAX"
    assert parsed.tree("missing") is None
    assert "word" in parsed


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", ODD, "\ufeffa: 1", ODD.rstrip()])
def test_what_was_not_edited_comes_back_as_it_was(text: str) -> None:
    assert written(tree(text)) == text


def test_edits_leave_all_else_alone() -> None:
    parsed = tree(ODD)
    a = parsed.trees("a")[0]
    a.all("b")[1].set(-3)
    a.append("added", 0.25)
    parsed.trees("list")[1].append("k2", Word("SUM"))
    parsed.trees("empty")[0].append("flag", True)
    parsed.append("note", 'say "a\\b"\n')
    text = written(parsed)
    assert "# a net\nname: \"x\" 'y' # two texts are one\n" in text
    assert "b: [1, -3, -7]" in text
    again = tree(text)
    assert again.trees("a")[0].text("added") == "0.25"
    assert again.trees("list")[1].text("k2") == "SUM"
    assert again.trees("empty")[0].text("flag") == "true"
    assert again.text("note") == 'say "a\\b"\n'
    assert [entry.name for entry in again] == [entry.name for entry in parsed]


def test_a_field_goes_behind_the_last_line_and_its_comment() -> None:
    parsed = tree("a {\n  b: 1 # one\n}\n")
    parsed.trees("a")[0].append("c", 2)
    parsed.append("d", 3)
    assert written(parsed) == "a {\n  b: 1 # one\n  c: 2\n}\nd: 3\n"


@pytest.mark.parametrize("text", ["", "# c", "# c\n", "\n\n"])
def test_a_field_can_be_the_first(text: str) -> None:
    parsed = tree(text)
    parsed.append("d", 3)
    assert tree(written(parsed)).text("d") == "3"


def test_a_message_is_no_value_to_set() -> None:
    with pytest.raises(FormatError):
        tree("a {}").all("a")[0].set(1)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: ", 1, 1),
        ("a {\n", 2, 1),
        ("a: 1 }", 1, 6),
        ("a {b: [1,}", 1, 10),
        ("a: [1 2]", 1, 6),
        ('b: 1\na "x"', 2, 2),
        (";a: 1", 1, 1),
        ("a: [{]", 1, 6),
        ('a: "x', 1, 6),
        ("a <b: 1}", 1, 8),
        ("a: 1,, b: 2", 1, 6),
        (b"a: 1\n\xff", 2, 1),
    ],
)
def test_errors_have_line_and_column(text: str | bytes, line: int, column: int) -> None:
    with pytest.raises(FormatError) as raised:
        tree(text)
    finding = raised.value.diagnostic
    assert finding.code == "UFK110"
    assert finding.where.line == line
    assert f"(column {column})" in finding.message


def test_bytes_that_are_no_text_are_kept() -> None:
    entry = tree(b'int8_data: "\\377\\001"').all("int8_data")[0]
    assert entry.text().encode(errors="surrogateescape") == b"\xff\x01"


def test_depth_is_bounded() -> None:
    with pytest.raises(FormatError) as raised:
        tree("a {" * 5000)
    assert raised.value.diagnostic.code == "UFK104"


@pytest.mark.parametrize("ask", ["integer", "real", "flag", "tree"])
def test_a_value_of_another_kind_is_named_with_its_line(ask: str) -> None:
    entry = tree('\n  name: "conv"').all("name")[0]
    with pytest.raises(FormatError) as raised:
        getattr(entry, ask)()
    assert raised.value.diagnostic.where.line == 2
    assert "name: 'conv' is not" in raised.value.diagnostic.message


@given(values(judge("proto2").type("All"), maps=False, closed=True))
def test_what_the_official_writer_prints_is_read(made: dict[str, Any]) -> None:
    judged = judge("proto2")
    type_ = judged.type("All")
    official = judged.official(type_, made)
    text = text_format.MessageToString(official)
    parsed = tree(text)
    assert written(parsed) == text
    count = sum(len(v) if isinstance(v, list) else 1 for v in plain(official, type_).values())
    assert len(parsed) == count


@given(st.text(st.characters(codec="utf-8"), max_size=30) | st.text("a:{}[]<>,;'\"# 1\n"))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(FormatError):
        assert written(tree(text)) == text


def test_corpus(corpus: Path) -> None:
    for path in sorted((corpus / "ufw").glob("*.prototxt")):
        assert written(parse_tree(Source.open(path))).encode() == path.read_bytes()
