"""JSON form against the official `json_format`, both ways, and against hostile input."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given, settings

from ufkit.core.diag import FormatError
from ufkit.core.files import Source, Span
from ufkit.wire.json import json_chunks, parse_json
from ufkit.wire.message import Message
from ufkit.wire.reader import MAX_DEPTH
from ufkit.wire.schema import MessageType
from wire.judge import FLOAT32_MAX, binary, judge, ours, plain, read, values

P3 = judge("proto3")
P2 = judge("proto2")
ALL, ALL2 = P3.type("All"), P2.type("All")


def parse(text: str | bytes, type_: MessageType = ALL) -> Message:
    data = text.encode() if isinstance(text, str) else text
    return parse_json(Source(data, "a.json"), type_)


def written(message: Message) -> str:
    return "".join(json_chunks(message))


def official_json(official: Any, **options: Any) -> str:
    options.setdefault("preserving_proto_field_name", True)
    return str(json_format.MessageToJson(official, **options))


# -- random messages, both ways --------------------------------------------------------------


@given(values(ALL, maps=False))
@settings(max_examples=200)
def test_written_as_the_official_writer_does(made: dict[str, Any]) -> None:
    official = P3.official(ALL, made)
    assert written(read(ALL, binary(official))) == official_json(official) + "\n"
    assert written(ours(ALL, made)) == official_json(official) + "\n"


@given(values(ALL))
@settings(max_examples=150)
def test_maps_say_the_same(made: dict[str, Any]) -> None:  # the official order is that of a hash
    official = P3.official(ALL, made)
    wanted = json.loads(official_json(official))
    assert json.loads(written(read(ALL, binary(official)))) == wanted
    assert json.loads(written(ours(ALL, made))) == wanted


@given(values(ALL2, maps=False, closed=True))
@settings(max_examples=100)
def test_proto2(made: dict[str, Any]) -> None:
    official = P2.official(ALL2, made)
    text = written(read(ALL2, binary(official)))
    assert text == official_json(official) + "\n"
    assert plain(parse(text, ALL2), ALL2) == plain(official, ALL2)


@given(values(ALL))
@settings(max_examples=150)
def test_official_json_is_read(made: dict[str, Any]) -> None:
    official = P3.official(ALL, made)
    wanted = plain(json_format.Parse(official_json(official), P3.official(ALL)), ALL)
    assert plain(parse(official_json(official)), ALL) == wanted
    camel = official_json(official, preserving_proto_field_name=False, indent=None)
    assert plain(parse(camel), ALL) == wanted
    numbers = official_json(official, use_integers_for_enums=True, unquote_int64_if_possible=True)
    assert plain(parse(numbers), ALL) == wanted


@given(values(ALL))
@settings(max_examples=150)
def test_our_json_is_read_by_the_official_parser(made: dict[str, Any]) -> None:
    official = json_format.Parse(written(ours(ALL, made)), P3.official(ALL))
    assert plain(official, ALL) == plain(parse(written(ours(ALL, made))), ALL)


# -- what the mapping allows -----------------------------------------------------------------

ACCEPTED: dict[str, dict[str, Any]] = {
    "{}": {},
    "\ufeff{}": {},
    '{"f_int32": 5, "f_int64": "6", "f_uint64": "18446744073709551615"}': {
        "f_int32": 5,
        "f_int64": 6,
        "f_uint64": 2**64 - 1,
    },
    '{"f_int32": 1e2, "f_int64": -5.0, "f_uint32": "1e1"}': {
        "f_int32": 100,
        "f_int64": -5,
        "f_uint32": 10,
    },
    '{"f_uint64": 18446744073709551615}': {"f_uint64": 2**64 - 1},
    '{"f_double": "NaN", "f_float": "-Infinity"}': {"f_double": "nan", "f_float": "-inf"},
    '{"f_double": "1.5", "f_float": 2}': {"f_double": "1.5", "f_float": "2.0"},
    '{"f_enum": "SAD", "o_enum": 7}': {"f_enum": -1, "o_enum": 7},
    '{"f_bytes": "AP/+", "o_bytes": "AP_-", "c_bytes": "AA"}': {
        "f_bytes": b"\0\xff\xfe",
        "o_bytes": b"\0\xff\xfe",
        "c_bytes": b"\0",
    },
    '{"f_int32": null, "r_int32": null, "f_leaf": null, "c_int32": null, "c_string": "a"}': {
        "c_string": "a"
    },
    '{"o_int32": 0, "f_int32": 0, "f_leaf": {}, "c_string": ""}': {
        "o_int32": 0,
        "f_leaf": {},
        "c_string": "",
    },
    '{"m_bool_double": {"true": 1, "false": 0}, "m_sint64_enum": {"-5": "SAD"}}': {
        "m_bool_double": {False: "0.0", True: "1.0"},
        "m_sint64_enum": {-5: -1},
    },
    '{"m_string_self": {"": {"f_int32": 1}}}': {"m_string_self": {"": {"f_int32": 1}}},
    '{"r_leaf": [{}, {"number": 1}], "r_int32": []}': {"r_leaf": [{}, {"number": 1}]},
    '{"f_string": "\\ud83d\\ude00\\u0000"}': {"f_string": "\U0001f600\0"},
}


@pytest.mark.parametrize("text", list(ACCEPTED), ids=lambda text: text[:30])
def test_accepted(text: str) -> None:
    message = parse(text)
    assert plain(message, ALL) == ACCEPTED[text]
    official = json_format.Parse(text.removeprefix("\ufeff"), P3.official(ALL))
    assert plain(official, ALL) == ACCEPTED[text]
    assert plain(parse(written(message)), ALL) == ACCEPTED[text]


REFUSED = {
    "": ("", "no JSON: Expecting value (column 1)", ""),
    "[]": ("", "expected an object, found an array", ""),
    '{"r_leaf": [{}, {"numbr": 1}]}': (
        "r_leaf[1].numbr",
        "judge.Leaf has no field 'numbr'",
        "did you mean 'number'?",
    ),
    '{"f_self": {"r_enum": ["SAD", "GLADD"]}}': (
        "f_self.r_enum[1]",
        "'GLADD' is no judge.Mood",
        "did you mean 'GLAD'?",
    ),
    '{"f_int32": 2147483648}': ("f_int32", "f_int32: 2147483648 is outside", ""),
    '{"f_uint32": "-1"}': ("f_uint32", "-1 is outside 0", ""),
    '{"f_enum": 2147483648}': ("f_enum", "outside", ""),
    '{"f_int32": 1.5}': ("f_int32", "1.5 is no int32", ""),
    '{"f_int32": true}': ("f_int32", "true is no int32", ""),
    '{"f_int32": "a"}': ("f_int32", "'a' is no int32", ""),
    '{"f_int32": [1]}': ("f_int32", "an array is no int32", ""),
    '{"f_int32": NaN}': ("f_int32", "NaN is no int32", ""),
    '{"f_double": NaN}': ("f_double", "NaN is no double", ""),
    '{"f_double": 1e999}': ("f_double", "Infinity is no double", ""),
    '{"f_float": 1e39}': ("f_float", "1e+39 is no float", ""),
    '{"f_double": "nan"}': ("f_double", "'nan' is no double", ""),
    '{"f_bool": 1}': ("f_bool", "1 is no bool", ""),
    '{"f_bool": "true"}': ("f_bool", "'true' is no bool", ""),
    '{"f_string": 1}': ("f_string", "1 is no string", ""),
    '{"f_string": "\\ud800"}': ("f_string", "is no string", ""),
    '{"f_bytes": "A"}': ("f_bytes", "'A' is no bytes", ""),
    '{"f_bytes": "é"}': ("f_bytes", "'é' is no bytes", ""),
    '{"f_leaf": 1}': ("f_leaf", "expected an object, found 1", ""),
    '{"r_int32": 1}': ("r_int32", "expected an array, found 1", ""),
    '{"r_int32": [1, null]}': ("r_int32[1]", "null is no int32", ""),
    '{"r_leaf": [null]}': ("r_leaf[0]", "expected an object, found null", ""),
    '{"f_int32": 1, "f_int32": 1}': ("", "'f_int32' is given twice", ""),
    '{"f_self": {"f_int32": 1, "f_int32": 1}}': ("f_self", "'f_int32' is given twice", ""),
    '{"f_int32": 1, "fInt32": 1}': ("fInt32", "'f_int32' was given too", ""),
    '{"c_int32": 1, "c_string": "a"}': ("c_string", "'c_int32' was given too", ""),
    '{"m_int64_leaf": {"5": 1}}': ("m_int64_leaf['5']", "expected an object", ""),
    '{"m_int64_leaf": {"a": {}}}': ("m_int64_leaf['a']", "the key 'a' is no int64", ""),
    '{"m_bool_double": {"1": 1}}': ("m_bool_double['1']", "the key '1' is no bool", ""),
    '{"m_uint32_bytes": {"-1": ""}}': ("m_uint32_bytes['-1']", "outside", ""),
    '{"f_int32": ' + "9" * 5000 + "}": ("", "an integer of thousands of digits", ""),
    '{"f_int32": "' + "9" * 5000 + '"}': ("f_int32", "is no int32", ""),
    '{"f_int64": 1e300}': ("f_int64", "outside", ""),
}

# What the official parser lets pass, losing or wrapping something.
STRICTER = (
    "[]",
    '{"f_enum": 2147483648}',
    '{"f_bytes": "é"}',
    '{"f_int32": 1, "fInt32": 1}',
)


@pytest.mark.parametrize("text", list(REFUSED), ids=lambda text: text[:30])
def test_refused_with_path_and_reason(text: str) -> None:
    path, reason, hint = REFUSED[text]
    with pytest.raises(FormatError) as error:
        parse(text)
    found = error.value.diagnostic
    assert (found.code, found.where.file, found.where.field) == ("UFK111", "a.json", path)
    assert reason in found.message
    assert found.hint == hint
    if text not in STRICTER:
        with pytest.raises(json_format.ParseError):
            json_format.Parse(text, P3.official(ALL))


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_invalid_utf8(start: bytes) -> None:
    with pytest.raises(FormatError) as error:
        parse(start + b'{"f_string":\n "\xff"}')
    assert error.value.diagnostic.code == "UFK111"
    assert error.value.diagnostic.where.line == 2


def test_a_syntax_error_has_its_line() -> None:
    with pytest.raises(FormatError) as error:
        parse('{\n"f_int32": 1,\n}')
    assert error.value.diagnostic.where.line == 3


def test_depth_is_limited() -> None:
    parse('{"f_self":' * MAX_DEPTH + "{}" + "}" * MAX_DEPTH)
    deep = MAX_DEPTH + 1
    for text in ('{"f_self":' * deep + "{}" + "}" * deep, "[" * 100_000, '{"a":' * 100_000):
        with pytest.raises(FormatError) as error:
            parse(text)
        assert error.value.diagnostic.code == "UFK104"


def test_large_blobs_come_in_pieces_and_go_back() -> None:
    data = bytes(range(256)) * 4096 + b"x"
    pieces = list(json_chunks(Message.new(ALL, f_bytes=data)))
    assert max(map(len, pieces)) <= 1 << 16
    blob: Span = parse("".join(pieces)).get("f_bytes")
    assert bytes(blob.view()) == data


def test_the_greatest_float_goes_back() -> None:
    message = Message.new(ALL, r_float=[FLOAT32_MAX, -FLOAT32_MAX])
    assert parse(written(message)).all("r_float") == [FLOAT32_MAX, -FLOAT32_MAX]


def test_enum_numbers_without_a_name_stay_numbers() -> None:
    assert json.loads(written(read(ALL2, b"\x80\x01\x63"))) == {"f_enum": 99}


RICH = official_json(
    P3.official(
        ALL,
        {
            "f_int32": -1,
            "f_int64": 7,
            "f_double": 2.5,
            "f_string": "text é",
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
    chance = random.Random(3)
    parts = [*(bytes([c]) for c in b'{}[]:,"\\-.0\0'), b"\xff", b"null", b"true", b"1e9", b"NaN"]
    for _ in range(1500):
        data = bytearray(RICH)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 3)] = chance.choice(parts) * chance.randint(0, 2)
        survives(bytes(data))
