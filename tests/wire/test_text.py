"""Text form against the official `text_format`, both ways, and against hostile input."""

from __future__ import annotations

import io
import random
from typing import IO, Any

import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from ufkit.core.diag import FormatError
from ufkit.core.files import Source, Span
from ufkit.wire.message import Message
from ufkit.wire.reader import MAX_DEPTH
from ufkit.wire.schema import MessageType
from ufkit.wire.text import parse_text, text_lines
from wire.judge import binary, judge, ours, plain, read, values

P3 = judge("proto3")
P2 = judge("proto2")
ALL, ALL2 = P3.type("All"), P2.type("All")


def parse(text: str | bytes, type_: MessageType = ALL, **options: Any) -> Message:
    data = text.encode() if isinstance(text, str) else text
    return parse_text(Source(data, "a.pbtxt"), type_, **options)


def written(message: Message, **options: Any) -> str:
    return "".join(text_lines(message, **options))


def official_text(official: Any) -> str:
    return str(text_format.MessageToString(official, as_utf8=False))


def numbered_mood_keys(text: str) -> str:
    """The one place where ours differs: an enum key of an Entry prints as its number."""
    names = P3.schema.enums["judge.Mood"].numbers
    lines = text.split("\n")
    for index, line in enumerate(lines):
        name = line.strip().removeprefix("key: ")
        if name in names and lines[index - 1].strip() == "moods {":
            lines[index] = line.replace(name, str(names[name]))
    return "\n".join(lines)


# -- random messages, both ways --------------------------------------------------------------


@given(values(ALL))
@settings(max_examples=200)
def test_written_as_the_official_writer_does(made: dict[str, Any]) -> None:
    official = P3.official(ALL, made)
    text = numbered_mood_keys(official_text(official))
    assert written(read(ALL, binary(official))) == text
    assert written(ours(ALL, made)) == text


@given(values(ALL2, closed=True))
@settings(max_examples=150)
def test_proto2_written_as_the_official_writer_does(made: dict[str, Any]) -> None:
    official = P2.official(ALL2, made)
    assert written(read(ALL2, binary(official))) == official_text(official)


@given(values(ALL))
@settings(max_examples=150)
def test_official_text_is_read(made: dict[str, Any]) -> None:
    official = P3.official(ALL, made)
    assert plain(parse(official_text(official)), ALL) == plain(official, ALL)
    one_line = text_format.MessageToString(
        official, as_one_line=True, pointy_brackets=True, use_short_repeated_primitives=True
    )
    assert plain(parse(one_line), ALL) == plain(official, ALL)
    utf8 = text_format.MessageToString(official, as_utf8=True, force_colon=True)
    assert plain(parse(utf8), ALL) == plain(official, ALL)


@given(values(ALL2, closed=True))
@settings(max_examples=100)
def test_proto2_text_is_read(made: dict[str, Any]) -> None:
    official = P2.official(ALL2, made)
    assert plain(parse(official_text(official), ALL2), ALL2) == plain(official, ALL2)


@given(values(ALL))
@settings(max_examples=150)
def test_our_text_is_read_by_the_official_parser(made: dict[str, Any]) -> None:
    official = text_format.Parse(written(ours(ALL, made)), P3.official(ALL))
    assert plain(official, ALL) == plain(parse(written(ours(ALL, made))), ALL)


# -- what the grammar allows -----------------------------------------------------------------

ACCEPTED: dict[str, dict[str, Any]] = {
    "": {},
    "# nothing\n": {},
    "# no newline": {},
    "\ufefff_int32: 1": {"f_int32": 1},
    'f_string:"a"f_int64:2': {"f_string": "a", "f_int64": 2},
    "f_leaf { number: 1 }": {"f_leaf": {"number": 1}},
    "f_leaf: < number: 1 >": {"f_leaf": {"number": 1}},
    "f_leaf:{}": {"f_leaf": {}},
    "f_int32: 1, f_int64: 2; f_uint32: 3": {"f_int32": 1, "f_int64": 2, "f_uint32": 3},
    "f_leaf { number: 1; } , f_int32: 1": {"f_leaf": {"number": 1}, "f_int32": 1},
    "f_int32 # c\n : # d\n\n 5 # e": {"f_int32": 5},
    "f_int32: 0x1F f_int64: -0X1f": {"f_int32": 31, "f_int64": -31},
    "f_int32: 017 f_int64: -010": {"f_int32": 15, "f_int64": -8},
    "f_int32: 0 f_int64: -0": {},
    "o_int32: 0": {"o_int32": 0},
    "f_uint64: 18446744073709551615": {"f_uint64": 2**64 - 1},
    "f_int64: -9223372036854775808": {"f_int64": -(2**63)},
    "f_double: 1.5f": {"f_double": "1.5"},
    "f_double: 1F": {"f_double": "1.0"},
    "f_double: .5e1": {"f_double": "5.0"},
    "f_double: 5.": {"f_double": "5.0"},
    "f_double: -1e+3": {"f_double": "-1000.0"},
    "f_double: 1e999": {"f_double": "inf"},
    "f_float: 1e39": {"f_float": "inf"},
    "f_float: 0.1": {"f_float": repr(0.10000000149011612)},
    "f_double: inf f_float: -inf": {"f_double": "inf", "f_float": "-inf"},
    "f_double: Infinity f_float: nan": {"f_double": "inf", "f_float": "nan"},
    "f_double: inff f_float: nanf": {"f_double": "inf", "f_float": "nan"},
    "f_enum: SAD": {"f_enum": -1},
    "f_enum: -1": {"f_enum": -1},
    "f_enum: 12345": {"f_enum": 12345},
    "r_bool: [true, false, t, f, 1, 0, True, False]": {"r_bool": [True, False] * 4},
    "r_int32: [1, 2] r_int32: 3 r_int32: []": {"r_int32": [1, 2, 3]},
    "r_leaf [{number: 1}, <>, {}] r_leaf {}": {"r_leaf": [{"number": 1}, {}, {}, {}]},
    "r_leaf: []": {},
    "r_string: ['a' \"b\", 'c']": {"r_string": ["ab", "c"]},
    "r_enum: [SAD, 0]": {"r_enum": [-1, 0]},
    "f_string: 'a' # c\n \"b\"\n'c'": {"f_string": "abc"},
    r"f_string: '\a\b\f\n\r\t\v\\\'\"\?'": {"f_string": "\a\b\f\n\r\t\v\\'\"?"},
    r"f_bytes: '\1\12\123\0009\377\78'": {"f_bytes": b"\1\12\1239"[:3] + b"\0009\377\0078"},
    r"f_bytes: '\x1\x1F\xfg\x123'": {"f_bytes": b"\x01\x1f\x0fg\x123"},
    r"f_string: '\u00e9\U0001F600é'": {"f_string": "é\U0001f600é"},
    r"f_bytes: '\\u0041\\\x41'": {"f_bytes": rb"\u0041\A"},
    'f_bytes: "é"': {"f_bytes": "é".encode()},
    'm_string_int32 { key: "a" value: 1 } m_string_int32 { key: "a" value: 2 }': {
        "m_string_int32": {"a": 2}
    },
    'm_string_self { key: "a" }': {"m_string_self": {"a": {}}},
    "moods { key: -1 } moods { key: GLAD }": {"moods": [{"key": -1}, {"key": 1}]},
}


@pytest.mark.parametrize("text", list(ACCEPTED))
def test_accepted(text: str) -> None:
    wanted = ACCEPTED[text]
    message = parse(text)
    assert plain(message, ALL) == wanted
    official = text_format.Parse(written(message), P3.official(ALL))
    assert plain(official, ALL) == wanted


REFUSED = {
    "f_int32: 1\nf_int23: 2": (2, 1, "no field 'f_int23'", "did you mean 'f_int32'?"),
    "\n  f_enum: SADD": (2, 11, "'SADD' is no judge.Mood", "did you mean 'SAD'?"),
    "f_int32: 2147483648": (1, 10, "outside -2147483648 to 2147483647", ""),
    "f_uint32: -1": (1, 11, "-1 is outside 0 to 4294967295", ""),
    "f_enum: 2147483648": (1, 9, "outside", ""),
    "f_int32: 1f_int64: 2": (1, 10, "'1f_int64' is no int32", ""),
    "f_int32: 08": (1, 10, "'08' is no int32", ""),
    "f_int32: 1.5": (1, 10, "'1.5' is no int32", ""),
    "f_int32: " + "9" * 5000: (1, 10, "...' is no int32", ""),
    "f_double: 0x10": (1, 11, "'0x10' is no double", ""),
    "f_double: 01": (1, 11, "'01' is no double", ""),
    "f_bool: 2": (1, 9, "'2' is no bool", ""),
    "f_string: abc": (1, 11, "'abc' is no string", ""),
    "f_int32: 'a'": (1, 10, "a string is no int32", ""),
    "f_int32: 1 f_int32: 1": (1, 21, "f_int32 was given before", ""),
    "f_leaf {} f_leaf {}": (1, 18, "f_leaf was given before", ""),
    "c_int32: 1 c_string: 'a'": (1, 22, "another member of the oneof choice", ""),
    "f_int32 1": (1, 9, "expected ':' after f_int32", ""),
    "f_int32": (1, 1, "expected ':' and a value", ""),
    "f_int32:": (1, 1, "expected ':' and a value", ""),
    "f_int32: {}": (1, 10, "expected a value for f_int32", ""),
    "f_int32: [1]": (1, 10, "takes one value", ""),
    "f_leaf: [{}]": (1, 9, "expected '{' after f_leaf", ""),
    "f_leaf: 1": (1, 9, "expected '{' after f_leaf", ""),
    "r_int32: [1 2]": (1, 12, "expected ',' or ']'", ""),
    "r_int32: [1,]": (1, 13, "expected a value for r_int32", ""),
    "r_int32: [": (1, 11, "expected a value in the list", ""),
    "r_leaf [{},]": (1, 13, "expected '{' in the list of r_leaf", ""),
    "f_leaf {": (1, 9, "'}' missing: judge.Leaf is not closed", ""),
    "f_leaf { >": (1, 10, "expected '}', found '>'", ""),
    "f_leaf {}\n}": (2, 1, "nothing is open", ""),
    ", f_int32: 1": (1, 1, "unexpected ','", ""),
    "f_int32: 1,;": (1, 12, "expected a field name, found ';'", ""),
    "f_leaf {;}": (1, 9, "unexpected ';'", ""),
    ";": (1, 1, "unexpected ';'", ""),
    "é": (1, 1, "expected a field name, found 'é'", ""),
    "[a.b]: 1": (1, 1, "expected a field name, found '['", ""),
    "1: 1": (1, 1, "expected a field name, found '1'", ""),
    "f_string: 'é\nb'": (1, 13, "not closed on its line", ""),
    "f_string: 'a": (1, 13, "not closed on its line", ""),
    "f_string: 'a\0'": (1, 13, "a NUL byte inside a string", ""),
    "\0": (1, 1, "expected a field name", ""),
    r"f_string: 'é\q'": (1, 13, "bad escape", ""),
    r"f_string: '\400'": (1, 12, "bad escape", ""),
    r"f_string: '\x'": (1, 12, "bad escape", ""),
    r"f_string: '\u12'": (1, 12, "bad escape", ""),
    r"f_string: '\ud800'": (1, 12, "is no character", ""),
    r"f_string: '\U00110000'": (1, 12, "is no character", ""),
    r"f_string: '\xff'": (1, 11, "f_string is not UTF-8", ""),
}


@pytest.mark.parametrize("text", list(REFUSED), ids=lambda text: text[:30])
def test_refused_with_line_column_and_reason(text: str) -> None:
    line, column, reason, hint = REFUSED[text]
    with pytest.raises(FormatError) as error:
        parse(text)
    found = error.value.diagnostic
    assert found.code == "UFK110"
    assert reason in found.message
    assert found.message.endswith(f"(column {column})")
    assert (found.where.file, found.where.line, found.hint) == ("a.pbtxt", line, hint)


@pytest.mark.parametrize("pad", [0, (1 << 20) - 1, (1 << 20) - 2])
def test_invalid_utf8(pad: int) -> None:
    good = b"#" + b" " * pad + "é".encode() + b"\n"
    assert plain(parse(good + b"f_int32: 1"), ALL) == {"f_int32": 1}
    for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80"):
        with pytest.raises(FormatError) as error:
            parse(good + b"# " + bad)
        assert error.value.diagnostic.where.line == 2
        assert "(column 3)" in error.value.diagnostic.message


def test_depth_is_limited() -> None:
    parse("f_self {" * MAX_DEPTH + "}" * MAX_DEPTH)
    for text in ("f_self {" * (MAX_DEPTH + 1), "f_self {" * 100_000, "r_leaf [" * 100_000):
        with pytest.raises(FormatError) as error:
            parse(text)
        assert error.value.diagnostic.code == ("UFK104" if "self" in text else "UFK110")


def test_aliases_stand_in_for_unknown_names_only() -> None:
    text = "number: 1 n: 'x'"
    leaf = P3.type("Leaf")
    message = parse(text, leaf, aliases={"n": "name", "number": "name", "k": "nowhere"})
    assert plain(message, leaf) == {"number": 1, "name": "x"}
    with pytest.raises(FormatError):
        parse(text, leaf)


# -- blobs -----------------------------------------------------------------------------------


class Late:
    """Bytes that are made when they are written."""

    nbytes = 3

    def write_to(self, out: IO[bytes]) -> None:
        out.write(b"\0ab")


def test_blob_hook_and_payloads() -> None:
    message = Message.new(ALL, f_bytes=b"x" * 40, r_bytes=[b"short", Late()])
    text = written(message, blob=lambda span: b"(...)" if span.nbytes > 32 else None)
    assert text == 'f_bytes: "(...)"\nr_bytes: "short"\nr_bytes: "\\000ab"\n'


def test_large_blobs_come_in_pieces_and_go_back() -> None:
    data = bytes(range(256)) * 4096
    message = Message.new(ALL, f_bytes=data)
    pieces = list(text_lines(message))
    assert max(map(len, pieces)) <= 4 << 16
    blob: Span = parse("".join(pieces)).get("f_bytes")
    assert bytes(blob.view()) == data


def test_entries_sorted_on_demand() -> None:
    text = 'table {\n  key: "b"\n}\ntable {\n  key: "a"\n}\n'
    text += "moods {\n  key: 1\n}\nmoods {\n  key: -1\n}\n"
    message = parse(text)
    assert written(message) == text
    keys = [
        line.strip() for line in written(message, sort_entries=True).split("\n") if "key" in line
    ]
    assert keys == ['key: "a"', 'key: "b"', "key: -1", "key: 1"]


def test_damaged_message_is_no_text() -> None:
    with pytest.raises(FormatError):
        written(read(ALL, b"\x72\x01\xff"))


# -- hostile input ---------------------------------------------------------------------------

RICH = official_text(
    P3.official(
        ALL,
        {
            "f_int32": -1,
            "f_float": 2.5,
            "f_string": "text é '\"",
            "f_self": {"f_self": {"r_leaf": [{"number": 300, "name": "leaf"}] * 2}},
            "r_fixed32": [1, 2],
            "f_bytes": b"\0\xff\n",
            "f_enum": -1,
            "c_leaf": {"number": 1},
            "m_int64_leaf": {5: {"name": "five"}},
        },
    )
).encode()


def survives(data: bytes) -> None:
    try:
        message = parse(data)
    except FormatError:
        return
    assert plain(parse(written(message)), ALL) == plain(message, ALL)


def test_cut_at_every_byte() -> None:
    for stop in range(len(RICH)):
        survives(RICH[:stop])


def test_random_damage() -> None:
    chance = random.Random(2)
    parts = [b"{", b"}", b"<", b">", b"[", b"]", b":", b",", b";", b"#", b'"', b"'", b"\\", b"\n"]
    parts += [
        b"\0",
        b"\xff",
        b"-",
        b"1e",
        b"0x",
        b"f_leaf",
        b"r_leaf",
        b"\\u",
        b"\\x",
        b"\\7",
        b".",
    ]
    for _ in range(1500):
        data = bytearray(RICH)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 3)] = chance.choice(parts) * chance.randint(0, 2)
        survives(bytes(data))


WORDS = st.sampled_from(["f_leaf", "r_leaf", "f_int32", "number", "r_int32", "f_string"]) | (
    st.sampled_from(["f_self", "f_bytes", "f_double", "1", "nan", "'a'", *'{}<>[]:,;#-\\"\n '])
)


@given(st.lists(WORDS, max_size=25).map("".join))
@settings(max_examples=300)
def test_any_words(text: str) -> None:
    survives(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        b"#\n" * 200_000,
        b" " * 400_000,
        b"f_int32 " + b"#\n" * 200_000,
        b'f_string: "' + b"a" * 400_000,
    ],
    ids=["comments", "spaces", "comments inside", "open string"],
)
def test_long_runs_are_cheap(text: bytes) -> None:
    survives(text)
    survives(text + b"\0")


def test_read_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "a.pbtxt"
    path.write_bytes(RICH)
    out = io.StringIO()
    out.writelines(text_lines(parse_text(Source.open(path), ALL)))
    assert out.getvalue().encode() == RICH
