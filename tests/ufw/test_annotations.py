"""Records with boxes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ufkit
from ufkit.ufw.annotations import AnnotatedDatum, Box
from ufkit.ufw.datum import Datum
from ufkit.ufw.records import kind_of, read_record
from ufkit.ufw.schema import ANNOTATED_DATUM, DATUM
from wire.judge import judge

IMAGE = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
NUMBERS = st.none() | st.integers(-5, 20)
REALS = st.floats(-1, 2, width=32)

boxes = st.builds(
    Box, REALS, REALS, REALS, REALS, label=NUMBERS, instance=st.integers(0, 9),
    difficult=st.none() | st.booleans(), score=st.none() | REALS, size=st.none() | REALS,
    own_label=NUMBERS,
)  # fmt: skip


def annotated(*found: Box, label: int = -1) -> AnnotatedDatum:
    return AnnotatedDatum.of(Datum.of(IMAGE, label, style="caffe"), found)


@given(st.lists(boxes, max_size=8))
def test_every_field_comes_back_present_or_not(found: list[Box]) -> None:
    record = read_record(annotated(*found).to_bytes())
    assert isinstance(record, AnnotatedDatum)
    first_seen = list(dict.fromkeys(box.label for box in found))
    assert [label for label, _ in record.groups] == first_seen
    assert record.boxes == sorted(found, key=lambda box: first_seen.index(box.label))


def test_as_ssd_writes_it() -> None:
    """Groups by first appearance, instances from 0 in each, the class in group_label only."""
    made = annotated(
        Box(0.5, 0.25, 1, 1, 7, difficult=False), Box(0, 0, 0.5, 0.5, 3), Box(0, 0, 1, 1, 7)
    )
    found = judge("ufw").parsed(ANNOTATED_DATUM, made.to_bytes())
    assert found.type == 0
    assert found.HasField("type")
    assert found.datum.label == -1
    assert found.datum.data == IMAGE.tobytes()
    assert [group.group_label for group in found.annotation_group] == [7, 3]
    first, second = found.annotation_group[0].annotation
    assert [first.instance_id, second.instance_id] == [0, 1]
    assert [first.bbox.xmin, first.bbox.ymin, first.bbox.xmax, first.bbox.ymax] == [0.5, 0.25, 1, 1]
    assert first.bbox.HasField("difficult")
    assert not second.bbox.HasField("difficult")
    for absent in ("label", "score", "size"):
        assert not first.bbox.HasField(absent)


def test_a_set_for_classifiers_has_no_type() -> None:
    record = read_record(AnnotatedDatum.of(Datum.of(IMAGE, 4), None).to_bytes())
    assert isinstance(record, AnnotatedDatum)
    assert (record.type, record.label, record.boxes) == ("", 4, [])
    assert annotated().type == "BBOX"


def test_annotated_datum_read_as_datum_is_told_apart() -> None:
    """Caffe's reader sees 0 x 0 x 0 there; here each record is what it is."""
    detector, plain = annotated(Box(0, 0, 1, 1, 2)), Datum.of(IMAGE, 3, style="caffe")
    for record in (detector, plain, Datum.of(IMAGE), Datum.of(IMAGE.astype(np.float32), 1)):
        found = read_record(record.to_bytes())
        assert type(found) is type(record) is kind_of(record.to_bytes())
        assert np.array_equal(found.array(), IMAGE)
        assert found.datum.label == record.label
    assert plain.boxes == ()


@given(
    st.fixed_dictionaries(
        {"data": st.binary(max_size=9)},
        optional={
            "label": st.integers(0, 9),
            "channels": st.just(3),
            "encoded": st.booleans(),
            "float_data": st.lists(REALS, max_size=3),
        },
    )
)
def test_a_datum_of_any_fields_is_one(values: dict[str, Any]) -> None:
    assert kind_of(judge("ufw").official(DATUM, values).SerializeToString()) is Datum


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xff\xd8\xff\xe0" + bytes(40), "a JPEG file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "a PNG file"),
        (b"hello world", "a text that begins with 'hello world'"),
        (b"\x80\x04\x95" + bytes(40), "a Python pickle"),
        (b"", "0 bytes, nothing first"),
        (b"\xff" * 30, "30 bytes, ff ff"),
    ],
)
def test_foreign_record(data: bytes, says: str) -> None:
    with pytest.raises(ufkit.FormatError, match=says) as raised:
        read_record(data)
    assert raised.value.diagnostic.code == "UFW306"


def test_new_boxes_leave_the_rest_as_it_was() -> None:
    data = annotated(Box(0, 0, 1, 1, 2)).to_bytes() + b"\xf8\x07\x05"  # a field nobody knows
    record = AnnotatedDatum.read(data)
    assert record.to_bytes() == data
    record.set_boxes([Box(0.25, 0, 0.5, 1, 9)])
    again = AnnotatedDatum.read(record.to_bytes())
    assert [(box.label, box.xmin) for box in again.boxes] == [(9, 0.25)]
    assert np.array_equal(again.array(), IMAGE)
    assert record.to_bytes().endswith(b"\xf8\x07\x05")


def test_numbers_that_do_not_fit_are_refused() -> None:
    for box in (Box(0, 0, 1, 1, 1 << 40), Box(0, 0, 1, 1, 1, score="high")):  # type: ignore[arg-type]
        with pytest.raises(ufkit.RequestError):
            annotated(box)


def test_a_box_has_every_field_of_the_format() -> None:
    ours = {field.name for field in fields(Box)} - {"label", "instance"}
    assert {"label" if name == "own_label" else name for name in ours} == set(
        ANNOTATED_DATUM.fields["annotation_group"].type.fields["annotation"].type.fields["bbox"]
        .type.fields
    )  # fmt: skip
