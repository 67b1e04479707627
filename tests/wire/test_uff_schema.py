"""Every field and enum value of uff.proto, one by one, against the official runtime."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format

from ufkit.core.files import Source
from ufkit.wire.json import json_chunks, parse_json
from ufkit.wire.message import Message
from ufkit.wire.proto import parse_proto
from ufkit.wire.schema import EnumType, FieldType, MessageType
from ufkit.wire.text import parse_text, text_lines
from wire.judge import UFF_PROTO, Judge, binary, judge, ours, plain, read

UFF = judge("uff")
ORIGINAL = UFF_PROTO.parents[4] / "shared" / "seeds" / "uff.proto"

VALUES: dict[str, list[Any]] = {
    "int64": [0, 1, -1, (1 << 63) - 1, -(1 << 63)],
    "double": [0.0, -0.0, 0.1, -2.5e300, float("inf")],
    "bool": [False, True],
    "string": ["", "net/conv", 'é "quoted"\n'],
    "bytes": [b"", bytes(range(256))],
}


def cases() -> Iterator[tuple[MessageType, FieldType, Any]]:
    for type_ in UFF.schema.messages.values():
        for field in type_.fields.values():
            if field.kind == "message":
                found: list[Any] = [{}]
            elif field.kind == "enum":
                found = [*field.type.numbers.values(), 7]
            else:
                found = VALUES[field.kind]
            for value in [[], found, found[::-1]] if field.repeated else found:
                yield type_, field, value


def name_of(case: Any) -> str:
    return getattr(case, "name", "")


@pytest.mark.parametrize(("type_", "field", "value"), list(cases()), ids=name_of)
def test_every_field_both_ways(type_: MessageType, field: FieldType, value: Any) -> None:
    made = {field.name: value}
    official, message = UFF.official(type_, made), ours(type_, made)
    data = binary(official)
    assert binary(message) == data
    wanted = plain(official, type_)
    assert plain(read(type_, data), type_) == wanted

    def back(parsed: Message) -> bool:
        return plain(parsed, type_) == wanted and binary(parsed) == data

    as_text = text_format.MessageToString(official)
    as_json = json_format.MessageToJson(official, preserving_proto_field_name=True)
    assert back(parse_text(Source(as_text.encode()), type_))
    assert back(parse_json(Source(as_json.encode()), type_))
    assert "".join(json_chunks(message)) == as_json + "\n"
    text = "".join(text_lines(message))
    assert plain(text_format.Parse(text, UFF.official(type_)), type_) == wanted


@pytest.mark.parametrize("enum", list(UFF.schema.enums.values()), ids=name_of)
def test_every_enum_value(enum: EnumType) -> None:
    official = UFF.pool.FindEnumTypeByName(enum.name)
    assert enum.numbers == {value.name: value.number for value in official.values}
    for name, number in enum.numbers.items():
        assert enum.name_of(number) == name


def test_the_official_runtime_sees_the_same_schema() -> None:
    for type_ in UFF.schema.messages.values():
        official = UFF.pool.FindMessageTypeByName(type_.name)
        assert {f.name: f.number for f in type_.fields.values()} == {
            f.name: f.number for f in official.fields
        }
        for field in type_.fields.values():
            other = official.fields_by_name[field.name]
            assert field.repeated == other.is_repeated
            assert field.packed == other.is_packed
            assert field.explicit == other.has_presence
            assert field.oneof == (other.containing_oneof.name if other.containing_oneof else "")


def described(judged: Judge) -> dict[str, Any]:
    """Names, numbers and kinds of a schema; a oneof's name is not on the wire."""
    return {
        "messages": {
            type_.name: {
                field.name: (field.number, field.kind, field.repeated, bool(field.oneof))
                for field in type_.fields.values()
            }
            for type_ in judged.schema.messages.values()
        },
        "enums": {enum.name: enum.numbers for enum in judged.schema.enums.values()},
    }


def test_names_and_numbers_are_those_of_the_original() -> None:
    if not ORIGINAL.is_file():
        pytest.skip("../shared/seeds/uff.proto is not here")
    assert described(UFF) == described(Judge(ORIGINAL))


_DOUBLE = re.compile(r"\bd: (\S+)")

# -- real files ------------------------------------------------------------------------------


def test_text_twin_of_a_real_file(corpus: Path) -> None:
    folder = corpus / "uff"
    meta = Message.read(UFF.type("MetaGraph"), Source.open(folder / "netvlad_short.uff"))
    sort_entries(meta)
    text = "".join(
        text_lines(
            meta,
            blob=lambda span: (
                b"(...%d bytes skipped...)" % span.nbytes if span.nbytes > 32 else None
            ),
        )
    )
    twin = (folder / "netvlad_short.uff.pbtxt").read_text("utf-8")
    assert _DOUBLE.sub(as_python2_prints, text) == twin


def as_python2_prints(match: re.Match[str]) -> str:
    """The twin is of Python 2, whose str(float) kept 12 digits; writers of today keep them all."""
    return f"d: {float(match[1]):.12g}"


def sort_entries(message: Message) -> None:
    for field in list(message.known()):
        if field.kind != "message":
            continue
        inner = message.all(field.name) if field.repeated else [message.get(field.name)]
        for item in inner:
            sort_entries(item)
        if field.repeated and field.type.name.endswith("Entry"):
            message.set(field.name, sorted(inner, key=lambda entry: entry.get("key")))


def test_real_texts_are_read_as_the_official_parser_does(corpus: Path) -> None:
    type_ = UFF.type("MetaGraph")
    paths = sorted((corpus / "uff").glob("*.pbtxt"))
    assert paths
    for path in paths:
        official = text_format.Parse(path.read_bytes(), UFF.official(type_))
        assert binary(parse_text(Source.open(path), type_)) == binary(official)


def test_real_files_through_both_forms(corpus: Path) -> None:
    type_ = UFF.type("MetaGraph")
    for path in sorted((corpus / "uff").glob("*.uff")):
        data = path.read_bytes()
        if data.startswith(b"version https"):
            continue
        message = read(type_, data)
        assert binary(message) == data
        text = "".join(text_lines(message)).encode()
        assert binary(parse_text(Source(text), type_)) == data
        text = "".join(json_chunks(message)).encode()
        assert binary(parse_json(Source(text), type_)) == data


# -- the .proto reader -----------------------------------------------------------------------

BAD_PROTOS = [
    "import 'a.proto';",
    "message A { Missing x = 1; }",
    "message A { int32 x = 1; int64 x = 2; }",
    "message A { int32 x = 1; int64 y = 1; }",
    "syntax 'proto3';",
]


@pytest.mark.parametrize("text", BAD_PROTOS)
def test_schemas_it_does_not_understand_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_proto(text)
