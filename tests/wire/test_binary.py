"""Binary messages against the official runtime, and what the official runtime cannot do."""

from __future__ import annotations

import random
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ufkit.core.diag import FormatError
from ufkit.wire.message import Message
from ufkit.wire.reader import MAX_DEPTH
from ufkit.wire.schema import MessageType
from wire.judge import binary, field_bytes, fixed32, judge, ours, plain, read, tag, values, varint

P3 = judge("proto3")
P2 = judge("proto2")
ALL, LEAF = P3.type("All"), P3.type("Leaf")
ALL2 = P2.type("All")
NUMBER = {name: field.number for name, field in ALL.fields.items()}


def everything(message: Message) -> None:
    """Decode all there is, at every level."""
    for field in message.type.fields.values():
        found = message.all(field.name) if field.repeated else [message.get(field.name)]
        for value in found:
            if isinstance(value, Message):
                everything(value)
    message.unknown()


# -- random messages, both ways --------------------------------------------------------------


@given(values(ALL))
@settings(max_examples=150)
def test_official_to_ours(made: dict[str, Any]) -> None:
    official = P3.official(ALL, made)
    data = binary(official)
    message = read(ALL, data)
    assert plain(message, ALL) == plain(official, ALL)
    assert binary(message) == data


@given(values(ALL))
@settings(max_examples=150)
def test_ours_to_official(made: dict[str, Any]) -> None:
    message = ours(ALL, made)
    assert plain(P3.parsed(ALL, binary(message)), ALL) == plain(P3.official(ALL, made), ALL)


@given(values(ALL, maps=False))
@settings(max_examples=150)
def test_same_bytes(made: dict[str, Any]) -> None:
    assert binary(ours(ALL, made)) == binary(P3.official(ALL, made))


@given(values(ALL2, closed=True, maps=False))
@settings(max_examples=150)
def test_proto2(made: dict[str, Any]) -> None:
    official = P2.official(ALL2, made)
    data = binary(official)
    assert binary(ours(ALL2, made)) == data
    message = read(ALL2, data)
    assert plain(message, ALL2) == plain(official, ALL2)
    for field in ALL2.fields.values():
        if not field.repeated:
            assert message.has(field.name) == official.HasField(field.name)


def test_proto2_defaults() -> None:
    message, official = read(ALL2, b""), P2.official(ALL2)
    for field in ALL2.fields.values():
        if not field.repeated and field.kind != "message":
            value = message.get(field.name)
            value = bytes(value.view()) if field.kind == "bytes" else value
            assert value == getattr(official, field.name), field.name
            assert type(value) is type(getattr(official, field.name))


@given(values(ALL, depth=1), values(ALL, depth=1))
@settings(max_examples=100)
def test_edits_of_a_file_equal_edits_of_the_official_message(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    message = read(ALL, binary(P3.official(ALL, before)))
    wanted = P3.official(ALL, before)
    for name in after:
        wanted.ClearField(name)
        message.clear(name)
    assert plain(message, ALL) == plain(wanted, ALL)
    assert plain(P3.parsed(ALL, binary(message)), ALL) == plain(wanted, ALL)
    change = ours(ALL, after)
    for name in after:
        field = ALL.fields[name]
        if not field.oneof or change.has(name):
            message.set(name, change.all(name) if field.repeated else change.get(name))
    wanted.MergeFrom(P3.official(ALL, after))
    if not any(ALL.fields[name].oneof for name in after):  # those merge, ours replace
        assert plain(message, ALL) == plain(wanted, ALL)
        assert plain(P3.parsed(ALL, binary(message)), ALL) == plain(wanted, ALL)
    assert plain(read(ALL, binary(message)), ALL) == plain(message, ALL)


# -- literal bytes ---------------------------------------------------------------------------

GOLDEN = [
    ({"f_int32": 150}, "08 9601"),
    ({"f_int32": -1}, "08 ffffffffffffffffff01"),
    ({"f_sint32": -2}, "28 03"),
    ({"f_sint64": -(1 << 63)}, "30 ffffffffffffffffff01"),
    ({"f_uint64": (1 << 64) - 1}, "20 ffffffffffffffffff01"),
    ({"f_fixed32": 1}, "3d 01000000"),
    ({"f_sfixed64": -2}, "51 feffffffffffffff"),
    ({"f_float": 1.0}, "5d 0000803f"),
    ({"f_float": -0.0}, "5d 00000080"),
    ({"f_double": 0.5}, "61 000000000000e03f"),
    ({"f_string": "testing"}, "72 07 74657374696e67"),
    ({"f_bytes": b""}, ""),
    ({"o_bytes": b""}, "9a02 00"),
    ({"f_bool": False}, ""),
    ({"o_bool": False}, "8802 00"),
    ({"f_enum": -1}, "8001 ffffffffffffffffff01"),
    ({"f_leaf": {}}, "8a01 00"),
    ({"f_leaf": {"number": 1, "name": "a"}}, "8a01 05 0801 120161"),
    ({"r_int32": [3, 270, 86942]}, "ca02 06 03 8e02 9ea705"),
    ({"u_int32": [1, 2]}, "e803 01 e803 02"),
    ({"c_int32": 0}, "8805 00"),
    ({"m_string_int32": {"a": 0}}, "ca0c 05 0a0161 1000"),
]


@pytest.mark.parametrize(("made", "expected"), GOLDEN, ids=lambda x: str(x)[:30])
def test_golden(made: dict[str, Any], expected: str) -> None:
    data = bytes.fromhex(expected)
    assert binary(ours(ALL, made)) == data
    assert binary(P3.official(ALL, made)) == data
    assert plain(read(ALL, data), ALL) == plain(P3.official(ALL, made), ALL)


# -- what the wire allows --------------------------------------------------------------------

GROUP = tag(2000, 3) + tag(1, 0) + b"\x05" + tag(7, 3) + tag(7, 4) + tag(2000, 4)
UNKNOWN = [
    tag(1999, 0) + varint(1 << 40),
    field_bytes(1998, b"kept"),
    fixed32(1997, 9),
    tag(1996, 1) + b"12345678",
    GROUP,
    fixed32(NUMBER["f_int32"], 9),  # of a known field, but of the wrong wire type
    field_bytes(NUMBER["f_int64"], b"\x01"),
    tag(NUMBER["f_leaf"], 0) + b"\x01",
    tag(NUMBER["r_string"], 0) + b"\x01",
]


def test_unknown_fields_stay_where_they_are() -> None:
    parts = [UNKNOWN[0], tag(2, 0) + b"\x07", *UNKNOWN[1:4], field_bytes(14, b"x"), *UNKNOWN[4:]]
    data = b"".join(parts)
    message = read(ALL, data)
    assert len(message.unknown()) == len(UNKNOWN)
    assert not message.has("f_leaf")
    assert (
        plain(message, ALL) == plain(P3.parsed(ALL, data), ALL) == {"f_int64": 7, "f_string": "x"}
    )
    message.set("f_int64", 8)
    message.set("f_string", "y")
    parts[1], parts[5] = tag(2, 0) + b"\x08", field_bytes(14, b"y")
    assert binary(message) == b"".join(parts)


def test_setting_a_field_of_which_only_a_wrong_wire_type_is_there() -> None:
    message = read(ALL, fixed32(1, 9))
    message.set("f_int32", 5)
    assert read(ALL, binary(message)).get("f_int32") == 5
    assert fixed32(1, 9) in binary(message)


def test_an_edit_rewrites_only_what_changed() -> None:
    overlong = tag(1, 0) + b"\x85\x80\x00"  # 5 in three bytes: would be one if written anew
    inner = overlong + field_bytes(2, b"old")
    untouched = field_bytes(57, overlong)
    data = overlong + untouched + field_bytes(57, inner) + untouched
    message = read(ALL, data)
    message.all("r_leaf")[1].set("name", "newer")
    changed = field_bytes(57, overlong + field_bytes(2, b"newer"))
    assert binary(message) == overlong + untouched + changed + untouched


def test_new_fields_go_before_greater_numbers() -> None:
    message = read(ALL, fixed32(7, 1) + tag(4, 0) + b"\x01" + fixed32(9, 2))
    message.set("f_int64", 1)
    message.set("f_sfixed64", 3)
    assert [record[0] >> 3 for record in _tags(binary(message))] == [2, 7, 4, 9, 10]


def _tags(data: bytes) -> list[tuple[int, int]]:
    message = read(P3.type("MoodEntry"), data)
    records = sorted(r for found in message._scanned().values() for r in found)
    return [(data[record[0]], record[1]) for record in records]


SAME_MEANING = {
    "last scalar wins": tag(1, 0) + b"\x01" + tag(1, 0) + b"\x02",
    "over-long varint": tag(1, 0) + b"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00",
    "varint cut to 32 bits": tag(1, 0) + varint(1 << 40 | 7),
    "negative enum in ten bytes": tag(16, 0) + varint(-1),
    "negative enum in five bytes": tag(16, 0) + varint(0xFFFF_FFFF),
    "bool of any number": tag(13, 0) + varint(1 << 40),
    "over-long tag": b"\x88\x80\x80\x00\x05",
    "packed and unpacked mixed": field_bytes(41, b"\x01\x02")
    + tag(41, 0)
    + b"\x03"
    + field_bytes(41, b"\x04"),
    "packed where unpacked is declared": field_bytes(61, b"\x01\x02") + tag(61, 0) + b"\x03",
    "packed, empty": field_bytes(41, b""),
    "fixed, packed and not": field_bytes(47, b"\1\0\0\0\2\0\0\0") + fixed32(47, 3),
    "messages merge": field_bytes(17, b"\x08\x01\x12\x01a") + field_bytes(17, b"\x12\x01b"),
    "oneof: last wins": tag(81, 0) + b"\x01" + field_bytes(82, b"x") + tag(85, 0) + b"\x01",
    "oneof: messages merge": field_bytes(84, b"\x08\x01") + field_bytes(84, b"\x12\x01b"),
    "oneof: another member between": field_bytes(84, b"\x08\x01")
    + field_bytes(82, b"x")
    + field_bytes(84, b"\x12\x01b"),
    "map: last key wins": field_bytes(201, b"\x0a\x01a\x10\x01") + field_bytes(201, b"\x0a\x01a"),
    "map: nothing in the entry": field_bytes(201, b"") + field_bytes(203, b"\x08\x01"),
    "implicit defaults on the wire": tag(1, 0) + b"\x00" + field_bytes(15, b""),
}


@pytest.mark.parametrize("data", list(SAME_MEANING.values()), ids=SAME_MEANING)
def test_same_meaning(data: bytes) -> None:
    message = read(ALL, data)
    assert plain(message, ALL) == plain(P3.parsed(ALL, data), ALL)
    assert binary(message) == data
    message.set("o_int32", 1)  # and still the same once something else was edited
    wanted = P3.parsed(ALL, data)
    wanted.o_int32 = 1
    assert plain(P3.parsed(ALL, binary(message)), ALL) == plain(wanted, ALL)


def test_editing_a_merged_message() -> None:
    first, second = field_bytes(17, b"\x08\x01"), field_bytes(17, b"\x12\x01b")
    message = read(ALL, first + fixed32(9, 1) + second)
    message.get("f_leaf").set("name", "c")
    assert plain(P3.parsed(ALL, binary(message)), ALL)["f_leaf"] == {"number": 1, "name": "c"}


def test_clearing_a_oneof_brings_nothing_back() -> None:
    data = tag(81, 0) + b"\x01" + field_bytes(82, b"x")
    message = read(ALL, data)
    message.clear("c_int32")  # does not count, so there is nothing to clear
    assert binary(message) == data
    message.clear("c_string")
    assert message.which("choice") is None
    assert binary(message) == b""


def test_append_keeps_what_is_there() -> None:
    message = read(ALL, field_bytes(41, b"\x01\x02"))
    message.append("r_int32", 3)
    assert binary(message) == field_bytes(41, b"\x01\x02\x03")


# -- damage ----------------------------------------------------------------------------------


def nested(depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        data = field_bytes(18, data)
    return data


def deepest(message: Message) -> int:
    depth = 0
    while (inner := message.get("f_self")) is not None:
        message, depth = inner, depth + 1
    return depth


def test_depth_is_limited() -> None:
    assert deepest(read(ALL, nested(MAX_DEPTH))) == MAX_DEPTH
    with pytest.raises(FormatError) as error:
        deepest(read(ALL, nested(MAX_DEPTH + 1)))
    assert error.value.diagnostic.code == "UFK104"
    with pytest.raises(FormatError) as error:
        read(ALL, tag(2000, 3) * 100_000).unknown()
    assert error.value.diagnostic.code == "UFK104"


DAMAGED = {
    "UFK101": [
        b"\x08",
        b"\x08\x80",
        b"\x0d\x01",
        b"\x72\x05abc",
        tag(2000, 3),
        b"\x80",
        b"\x72\xff",
    ],
    "UFK102": [
        b"\x00\x00",
        b"\x0c\x00",
        b"\x0f\x00",
        b"\x0e\x00",
        tag(2000, 3) + tag(1, 4),
        varint(1 << 40) + b"\x00",
    ],
    "UFK103": [b"\x08" + b"\x80" * 10 + b"\x01", b"\x80" * 11],
    "UFK105": [field_bytes(14, b"\xff")],
    "UFK106": [field_bytes(47, b"abc")],
}


@pytest.mark.parametrize(
    ("code", "data"), [(code, data) for code, found in DAMAGED.items() for data in found]
)
def test_damage_is_named(code: str, data: bytes) -> None:
    with pytest.raises(FormatError) as error:
        everything(read(ALL, data))
    assert error.value.diagnostic.code == code
    assert error.value.diagnostic.where.start is not None
    with pytest.raises(DecodeError):
        P3.parsed(ALL, data)


RICH = binary(
    P3.official(
        ALL,
        {
            "f_int32": -1,
            "f_double": 2.5,
            "f_string": "text é",
            "f_self": {"f_self": {"r_leaf": [{"number": 300, "name": "leaf"}] * 2}},
            "r_fixed32": [1, 2],
            "r_sint64": [-1, 1 << 40],
            "u_float": [1.5, 2.5],
            "c_leaf": {"number": 1},
            "m_int64_leaf": {5: {"name": "five"}},
        },
    )
) + b"".join(UNKNOWN)


def survives(type_: MessageType, data: bytes) -> None:
    """Reading ends well or in a FormatError; what was not edited is written as it came."""
    message = read(type_, data)
    try:
        everything(message)
        message.set(next(iter(type_.fields)), 1)
        written = binary(message)
    except FormatError:
        assert binary(read(type_, data)) == data
        return
    everything(read(type_, written))


def test_cut_at_every_byte() -> None:
    for stop in range(len(RICH)):
        survives(ALL, RICH[:stop])


def test_random_damage() -> None:
    chance = random.Random(1)
    for _ in range(1500):
        data = bytearray(RICH)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            how = chance.randrange(3)
            if how == 0:
                data[at] = chance.randrange(256)
            elif how == 1:
                del data[at : at + chance.randint(1, 9)]
            else:
                data[at:at] = chance.randbytes(chance.randint(1, 9))
        survives(ALL, bytes(data))


@given(st.binary(max_size=60))
@example(b"\x92\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
def test_any_bytes(data: bytes) -> None:
    survives(ALL, data)
