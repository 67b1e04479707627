"""What may be set, and in which form it is kept."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from ufkit.core.diag import RequestError
from ufkit.wire.message import Message
from ufkit.wire.values import shortest
from wire.judge import binary, judge

P3 = judge("proto3")
ALL = P3.type("All")

MISFITS: list[tuple[str, Any]] = [
    ("f_int32", 1 << 31),
    ("f_int32", -(1 << 31) - 1),
    ("f_uint64", -1),
    ("f_int64", 1.0),
    ("f_int64", "1"),
    ("f_int64", b"1"),
    ("f_int64", True),
    ("f_int64", None),
    ("f_int64", 1 << 100_000),
    ("f_double", "one"),
    ("f_double", 10**400),
    ("f_bool", "false"),
    ("f_bool", 1.0),
    ("f_string", b"a"),
    ("f_string", "\ud800"),
    ("f_string", 1 << 100_000),
    ("f_bytes", "a"),
    ("f_bytes", 5),
    ("f_enum", 1 << 31),
    ("r_int32", [1, 1 << 40]),
]


@pytest.mark.parametrize(("name", "value"), MISFITS, ids=lambda value: type(value).__name__)
def test_misfits_are_refused(name: str, value: Any) -> None:
    message = Message.new(ALL)
    with pytest.raises(RequestError) as error:
        message.set(name, value)
    assert error.value.diagnostic.code == "UFK112"
    assert len(error.value.diagnostic.message) < 200
    assert not message.has(name)


def test_floats_are_kept_as_float32() -> None:
    message = Message.new(ALL, f_float=0.1, r_float=[1e39, -1e39, 1e-50])
    assert message.get("f_float") == struct.unpack("<f", struct.pack("<f", 0.1))[0]
    assert message.all("r_float") == [float("inf"), float("-inf"), 0.0]
    assert binary(message) == binary(
        P3.official(ALL, {"f_float": 0.1, "r_float": [1e39, -1e39, 1e-50]})
    )
    assert shortest(message.get("f_float")) == 0.1


def test_views_of_wider_elements_are_taken_as_bytes() -> None:
    view = memoryview(struct.pack("<2f", 1, 2)).cast("f")
    message = Message.new(ALL, f_bytes=view)
    assert bytes(message.get("f_bytes").view()) == bytes(view)
    assert binary(message) == binary(P3.official(ALL, {"f_bytes": bytes(view)}))


def test_a_message_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError):
        Message.new(ALL).set("f_leaf", Message.new(ALL))
