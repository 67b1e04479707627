"""Numbers of fixed width that follow one another are one record; nothing else changes by it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ufkit
from ufkit.core.files import Source
from ufkit.ufw.schema import BOX, DATUM
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.numbers import numbers
from ufkit.wire.reader import scan
from wire.judge import judge, read

FLOAT, LABEL, UNKNOWN = b"\x35", b"\x28\x07", b"\xfd\x01"  # field 6; field 5 = 7; field 31


def floats(*values: float, tag: bytes = FLOAT) -> bytes:
    return b"".join(tag + struct.pack("<f", value) for value in values)


def values(data: bytes) -> list[float]:
    found = read(DATUM, data)
    assert numbers(found, "float_data").tolist() == found.all("float_data")
    return found.all("float_data")


def test_a_run_is_one_record() -> None:
    data = LABEL + floats(*range(1000)) + LABEL
    records = scan(Source(data), 0, len(data))
    assert records[6] == [(2, 5, 3, 5002)]
    assert len(records[5]) == 2
    assert values(data) == list(range(1000))


@pytest.mark.parametrize("count", [1, 2, 3, 31, 32, 33, 34, 289, 290, 3000])
def test_runs_of_every_length(count: int) -> None:
    assert values(floats(*range(count)) + LABEL) == list(range(count))
    assert values(LABEL + floats(*range(count))) == list(range(count))


def test_values_that_look_like_tags() -> None:
    """0x35 within a number is no tag, and a tag within a number begins none."""
    data = FLOAT + b"\x35\x35\x35\x35" + FLOAT + b"\x28\x07\x35\x35" + LABEL
    wanted = list(struct.unpack("<2f", b"\x35\x35\x35\x35\x28\x07\x35\x35"))
    assert values(data) == wanted
    assert read(DATUM, data).get("label") == 7


@given(st.lists(st.sampled_from([FLOAT, b"\xb5\x00", LABEL, UNKNOWN, b"\x32\x08", b"\x31"]),
                max_size=30))  # fmt: skip
def test_in_any_company(tags: list[bytes]) -> None:
    """Long tags, other fields, packed pieces and fields of other wire types in between."""
    bodies = {LABEL: b"", b"\x32\x08": struct.pack("<2f", 5, 6), b"\x31": bytes(8)}
    data = b"".join(
        tag + bodies.get(tag, struct.pack("<f", number)) for number, tag in enumerate(tags)
    )
    theirs = judge("ufw").parsed(DATUM, data)
    assert values(data) == list(theirs.float_data)
    message = read(DATUM, data)
    assert to_bytes(message) == data
    message.set("channels", 3)
    assert list(judge("ufw").parsed(DATUM, to_bytes(message)).float_data) == list(theirs.float_data)


def test_a_singular_field_is_the_last_of_its_run() -> None:
    assert read(BOX, floats(1, 2, 3, tag=b"\x0d")).get("xmin") == 3


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_a_run_that_breaks_off(cut: int) -> None:
    data = floats(*range(100))[:-cut]
    with pytest.raises(ufkit.FormatError) as raised:
        numbers(Message.read(DATUM, Source(data)), "float_data")
    assert raised.value.diagnostic.where.start == 495
