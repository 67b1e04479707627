"""Repeated numbers as arrays, both ways, against the official runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufkit.core.diag import FormatError
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.numbers import Numbers, dtype_of, numbers
from wire.judge import binary, judge, read, scalars, varint

JUDGES = {name: judge(name) for name in ("proto2", "proto3", "ufw")}
FIELDS = [
    (name, type_, field)
    for name, judged in JUDGES.items()
    for type_ in judged.schema.messages.values()
    for field in type_.fields.values()
    if field.repeated and field.kind not in ("message", "string", "bytes")
]
BLOB = JUDGES["ufw"].type("BlobProto")


def test_there_is_something_of_every_kind() -> None:
    kinds = {(field.kind, field.packed) for _, _, field in FIELDS}
    assert {("sint32", True), ("sint32", False), ("float", False), ("double", True)} <= kinds
    assert {kind for kind, _ in kinds} >= {"int64", "uint64", "bool", "enum", "fixed32"}


@given(st.data(), st.sampled_from(range(len(FIELDS))))
def test_what_the_official_runtime_writes_is_read_and_written(data: Any, which: int) -> None:
    name, type_, field = FIELDS[which]
    values = data.draw(st.lists(scalars(field, closed=name != "proto3"), max_size=40))
    values *= data.draw(st.integers(1, 20))
    encoded = binary(JUDGES[name].official(type_, {field.name: values}))
    array = numbers(read(type_, encoded), field.name)
    expected = np.array(values, dtype_of(field))
    assert array.dtype == expected.dtype
    assert array.tobytes() == expected.tobytes()
    message = Message.new(type_)
    message.set(field.name, Numbers(field, expected))
    assert to_bytes(message) == encoded
    assert numbers(message, field.name).tobytes() == expected.tobytes()


def test_long_rows_cross_the_steps_they_are_decoded_in() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-(1 << 31), 1 << 31, 300_000).astype(np.int32)
    values[::7] >>= 25
    message = Message.new(BLOB, int32_data=Numbers(BLOB.fields["int32_data"], values))
    encoded = to_bytes(message)
    assert np.array_equal(numbers(read(BLOB, encoded), "int32_data"), values)
    assert list(JUDGES["ufw"].parsed(BLOB, encoded).int32_data) == values.tolist()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.15, 0.3, 1.0])
@pytest.mark.parametrize("most", [1 << 13, 1 << 30])
def test_long_and_short_numbers_in_any_mixture(share: float, most: int) -> None:
    """Those of one byte are taken as they are while most are such; that must not show."""
    random = np.random.default_rng(5)
    values = np.where(
        random.random(300_000) < share,
        random.integers(-most, most, 300_000),
        random.integers(-64, 64, 300_000),
    )
    encoded = to_bytes(Message.new(BLOB, int32_data=Numbers(BLOB.fields["int32_data"], values)))
    assert np.array_equal(numbers(read(BLOB, encoded), "int32_data"), values)


def test_packed_and_single_values_may_mix() -> None:
    packed = varint(14 << 3 | 2) + varint(3) + b"\x02\x04\x01"
    single = varint(14 << 3) + b"\x06"
    found = numbers(read(BLOB, single + packed + single), "int32_data")
    assert found.tolist() == [3, 1, 2, -1, 3]


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"\x01\x80", "UFK101"),
        (b"\x80" * 10 + b"\x01", "UFK103"),
        (b"\x01" + b"\xff" * 11, "UFK103"),
    ],
)
def test_damage_has_a_place(payload: bytes, code: str) -> None:
    head = varint(14 << 3 | 2) + varint(len(payload))
    with pytest.raises(FormatError) as raised:
        numbers(read(BLOB, head + payload), "int32_data")
    finding = raised.value.diagnostic
    assert finding.code == code
    assert finding.where.start is not None
    assert finding.where.start >= len(head)


def test_floats_that_do_not_fill_their_field() -> None:
    with pytest.raises(FormatError) as raised:
        numbers(read(BLOB, b"\x2a\x05abcde"), "data")
    assert raised.value.diagnostic.code == "UFK106"


def test_floats_in_one_piece_are_a_view() -> None:
    data = bytearray(b"\x2a\x08" + np.array([1, 2], "<f4").tobytes())
    array = numbers(read(BLOB, data), "data")  # type: ignore[arg-type]
    data[2:6] = np.array([7], "<f4").tobytes()
    assert array.tolist() == [7, 2]
    assert not array.flags.writeable
