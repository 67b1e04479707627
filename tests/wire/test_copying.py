"""Copies of messages say the same and are edited apart."""

from __future__ import annotations

from ufkit.core.files import Source
from ufkit.wire.copying import copied
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.proto import parse_proto

SCHEMA = parse_proto(
    """
    syntax = "proto3";
    message Node {
      string name = 1;
      repeated string inputs = 2;
      Leaf leaf = 3;
      repeated Leaf all = 4;
    }
    message Leaf { int64 size = 1; bytes data = 2; }
    """
)
NODE, LEAF = SCHEMA["Node"], SCHEMA["Leaf"]


def leaf(size: int) -> Message:
    return Message.new(LEAF, size=size, data=b"data")


def read() -> Message:
    made = Message.new(NODE, name="n", inputs=["a"], leaf=leaf(1), all=[leaf(2), leaf(3)])
    return Message.read(NODE, Source(to_bytes(made) + b"\x98\x06\x01"))  # and field 99


def test_what_was_not_edited_is_the_same_bytes_of_the_file() -> None:
    message = read()
    twin = copied(message)
    assert twin.original is not None
    assert twin.span.source is message.span.source
    assert to_bytes(twin) == to_bytes(message)
    twin.get("leaf").set("size", 5)
    assert message.original is not None
    assert message.get("leaf").get("size") == 1


def test_edits_are_copied_and_then_apart() -> None:
    message = read()
    message.append("inputs", "b")
    message.all("all")[1].set("size", 9)
    message.append("all", leaf(4))
    before = to_bytes(message)
    twin = copied(message)
    assert to_bytes(twin) == before
    assert b"\x98\x06\x01" in before
    assert twin.get("leaf").get("data").source is message.span.source  # still in the file
    twin.append("inputs", "c")
    twin.all("all")[1].set("size", 0)
    twin.all("all")[2].set("size", 0)
    twin.get("leaf").set("size", 0)
    twin.set("name", "m")
    assert to_bytes(message) == before
    assert [found.get("size") for found in message.all("all")] == [2, 9, 4]


def test_a_part_becomes_a_message_of_its_own() -> None:
    message = read()
    message.get("leaf").set("size", 7)
    twin = copied(message.get("leaf"))
    twin.set("size", 8)
    assert message.get("leaf").get("size") == 7
    other = Message.new(NODE, leaf=twin)
    assert Message.read(NODE, Source(to_bytes(other))).get("leaf").get("size") == 8
