"""Every field and enum value of ufw.proto and caffe.proto, against the official runtime."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import json_format, text_format

from ufkit.core.files import Source
from ufkit.wire.json import json_chunks, parse_json
from ufkit.wire.message import Message
from ufkit.wire.schema import EnumType, FieldType, MessageType
from ufkit.wire.text import parse_text, text_lines
from wire.judge import UFW_PROTO, Judge, binary, field_bytes, judge, ours, plain, read, tag

UFW, CAFFE = judge("ufw"), judge("caffe")
ORIGINAL = UFW_PROTO.parents[4] / "shared" / "seeds" / "blob.proto"

INT32 = [0, 1, -1, (1 << 31) - 1, -(1 << 31)]
VALUES: dict[str, list[Any]] = {
    "int32": INT32,
    "sint32": INT32,
    "uint32": [0, 1, (1 << 32) - 1],
    "int64": [0, 1, -1, (1 << 63) - 1, -(1 << 63)],
    "float": [0.0, -0.0, 0.5, -2.5e30, float("inf")],
    "double": [0.0, -0.0, 0.1, -2.5e300, float("inf")],
    "bool": [False, True],
    "string": ["", "conv1/bn", 'é "quoted"\n'],
    "bytes": [b"", bytes(range(256))],
}


def cases(judged: Judge) -> Iterator[tuple[Judge, MessageType, FieldType, Any]]:
    for type_ in judged.schema.messages.values():
        for field in type_.fields.values():
            if field.kind == "message":
                found: list[Any] = [{}]
            elif field.kind == "enum":
                found = list(field.type.numbers.values())
            else:
                found = VALUES[field.kind]
            for value in [[], found, found[::-1]] if field.repeated else found:
                yield judged, type_, field, value


def name_of(case: Any) -> str:
    return getattr(case, "name", "")


@pytest.mark.parametrize(
    ("judged", "type_", "field", "value"), [*cases(UFW), *cases(CAFFE)], ids=name_of
)
def test_every_field_both_ways(
    judged: Judge, type_: MessageType, field: FieldType, value: Any
) -> None:
    made = {field.name: value}
    official, message = judged.official(type_, made), ours(type_, made)
    data = binary(official)
    assert binary(message) == data
    wanted = plain(official, type_)
    assert plain(read(type_, data), type_) == wanted
    if not field.repeated:
        assert read(type_, data).has(field.name)  # a default that is there is told from none
        assert not read(type_, b"").has(field.name)

    def back(parsed: Message) -> bool:
        return plain(parsed, type_) == wanted and binary(parsed) == data

    as_text = text_format.MessageToString(official)
    as_json = json_format.MessageToJson(official, preserving_proto_field_name=True)
    assert back(parse_text(Source(as_text.encode()), type_))
    assert back(parse_json(Source(as_json.encode()), type_))
    assert "".join(json_chunks(message)) == as_json + "\n"
    text = "".join(text_lines(message))
    assert plain(text_format.Parse(text, judged.official(type_)), type_) == wanted


@pytest.mark.parametrize("judged", [UFW, CAFFE], ids=["ufw", "caffe"])
def test_what_is_not_known_stays_where_it_is(judged: Judge) -> None:
    data = field_bytes(5000, b"fork") + tag(6000, 0) + b"\x07"
    for type_ in judged.schema.messages.values():
        message = read(type_, data)
        assert binary(message) == data
        scalar = next((f for f in type_.fields.values() if f.kind in ("int32", "float")), None)
        if scalar is not None:
            message.set(scalar.name, [3] if scalar.repeated else 3)
            assert binary(message).endswith(data)
            assert len(binary(message)) > len(data)


@pytest.mark.parametrize("judged", [UFW, CAFFE], ids=["ufw", "caffe"])
def test_the_official_runtime_sees_the_same_schema(judged: Judge) -> None:
    for type_ in judged.schema.messages.values():
        official = judged.pool.FindMessageTypeByName(type_.name)
        assert {f.name: f.number for f in type_.fields.values()} == {
            f.name: f.number for f in official.fields
        }
        for field in type_.fields.values():
            other = official.fields_by_name[field.name]
            assert field.repeated == other.is_repeated
            assert field.packed == other.is_packed
            assert field.explicit == other.has_presence
            if field.kind not in ("message", "bytes", "float") and not field.repeated:
                assert read(type_, b"").get(field.name) == other.default_value
            elif field.kind == "float" and not field.repeated:
                assert read(type_, b"").get(field.name) == pytest.approx(other.default_value)


@pytest.mark.parametrize(
    ("judged", "enum"),
    [(judged, enum) for judged in (UFW, CAFFE) for enum in judged.schema.enums.values()],
    ids=name_of,
)
def test_every_enum_value(judged: Judge, enum: EnumType) -> None:
    official = judged.pool.FindEnumTypeByName(enum.name)
    assert enum.numbers == {value.name: value.number for value in official.values}


def described(judged: Judge) -> dict[str, Any]:
    """Names, numbers, kinds and defaults of a schema, whatever its package is called."""
    return {
        name.rpartition(".")[2]: {
            field.name: (field.number, field.kind, field.repeated, field.packed, field.default)
            for field in type_.fields.values()
        }
        for name, type_ in judged.schema.messages.items()
    }


def test_names_and_numbers_are_those_of_the_original() -> None:
    if not ORIGINAL.is_file():
        pytest.skip("../shared/seeds/blob.proto is not here")
    assert described(UFW) == described(Judge(ORIGINAL))


def test_row_6_a_differing_schema_in_the_default_pool_is_no_trouble() -> None:
    """Two of them in one process crash the official runtime; ours is not one of them."""
    script = r"""
import sys
import ufkit
from ufkit.core.files import Source

assert ufkit.open_net(Source(b"\x0a\x01x")).name == "x"
assert not [name for name in sys.modules if name.startswith("google.protobuf")]

from google.protobuf import descriptor_pb2, descriptor_pool

file = descriptor_pb2.FileDescriptorProto(name="blob.proto", package="ufw", syntax="proto2")
file.message_type.add(name="BlobProto").field.add(name="other", number=5, type=9, label=1)
descriptor_pool.Default().Add(file)
assert ufkit.open_net(Source(b"\x0a\x01x")).name == "x"
"""
    subprocess.run([sys.executable, "-c", script], check=True)
