"""Checks and summaries of datasets."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import pytest

import ufkit
from ufkit.core.files import Source
from ufkit.ufw import dataset_check
from ufkit.ufw.annotations import Box, Record
from ufkit.ufw.datum import Datum
from ufkit.ufw.io import open_labels
from ufw.datasets import boxed, floats, made, of_records, record

LABELS = b'item { name: "cat" label: 1 } item { name: "dog" label: 2 }'


def found(path: Path, records: list[Record], *, labels: bool = False) -> dict[str, str]:
    """Findings: place and message by code."""
    known = open_labels(Source(LABELS, "labels")) if labels else None
    findings = ufkit.check_dataset(of_records(path / "db", records), known)
    return {each.code: f"{each.where.node} {each.message}" for each in findings}


def image(height: int, width: int, channels: int = 3, label: int | None = 1) -> Datum:
    rng = np.random.default_rng(height * 100 + width * 10 + channels)
    return Datum.of(rng.integers(1, 9, (channels, height, width), np.uint8), label, style="caffe")


def test_a_sound_dataset(tmp_path: Path) -> None:
    assert list(ufkit.check_dataset(made(tmp_path / "db", 20))) == []


def test_sizes_differ(tmp_path: Path) -> None:
    turned = Datum.of(image(4, 3).array()[:, ::-1], 1, style="caffe")
    assert found(tmp_path, [image(4, 3), image(4, 5), turned, image(4, 6)]) == {
        "UFW309": "00000003_ 3 of them: uint8 4 x 3 2 times, uint8 4 x 5 once, uint8 4 x 6 once"
    }


def test_grey_among_colour(tmp_path: Path) -> None:
    grey = image(4, 5, 1)
    assert found(tmp_path, [image(4, 5), grey]) == {"UFW310": "00000001_ channels: 3 once, 1 once"}


def test_one_image_may_have_four_axes(tmp_path: Path) -> None:
    assert found(tmp_path, [floats(np.ones((1, 3, 2, n))) for n in (2, 4)]).keys() == {"UFW309"}
    records = [floats(np.full((1, 3, 2, 2), n + 1)) for n in range(3)]
    assert found(tmp_path / "..", records) == {}


def test_calibration_inputs(tmp_path: Path) -> None:
    bad = [floats([1, np.inf, np.nan]), floats([0, 0, 0]), floats([1, 2, 3])]
    assert found(tmp_path, list(bad)) == {
        "UFW311": "00000000_ 2 of 3 elements are not finite",
        "UFW312": "00000001_ all 3 elements are 0",
    }


def test_the_same_twice(tmp_path: Path) -> None:
    again = record(1)
    again.message.set("label", 9)
    assert found(tmp_path, [record(0), record(1), again]) == {
        "UFW313": "00000002_ it holds the same as '00000001_', with label 9 in place of 1"
    }


def test_boxes(tmp_path: Path) -> None:
    records: list[Record] = [
        boxed(Box(0, 0, 1, 1, 1), Box(-0.25, 0, 0.5, 1, 1)),
        boxed(Box(0.5, 0, 0.25, 1, 1), number=1),
        boxed(Box(0, 0, 1, 1, 2), number=2),
        boxed(number=3),
    ]
    assert found(tmp_path, records, labels=True) == {
        "UFW314": "00000000_ 1 of 2 boxes, such as [-0.25, 0, 0.5, 1] of class 1",
        "UFW315": "00000001_ 1 of 1 boxes, such as [0.5, 0, 0.25, 1] of class 1",
    }


def test_labels_against_a_label_map(tmp_path: Path) -> None:
    records: list[Record] = [image(4, 5, label=7), image(4, 5, label=1)]
    records[1].datum.message.set("data", bytes(range(60)))
    assert found(tmp_path, records, labels=True) == {
        "UFW316": "00000000_ the label 7, used once, has no entry"
    }


def test_no_labels_is_a_note(tmp_path: Path) -> None:
    path = of_records(tmp_path / "db", [image(4, 5, label=None)])
    (finding,) = ufkit.check_dataset(path)
    assert (finding.code, finding.severity) == ("UFW317", ufkit.Severity.NOTE)


def test_encoded_images(tmp_path: Path) -> None:
    data = cv2.imencode(".jpg", np.full((8, 9, 3), 99, np.uint8))[1].tobytes()
    stated, short = Datum.of_image(data, 1), Datum.of_image(data, 1)
    stated.message.set("height", 300)
    short.message.set("data", data[:30])
    codes = found(tmp_path, [Datum.of_image(data, 1), stated, short])
    assert codes["UFW318"] == "00000001_ the image is [3, 8, 9]; the record states [3, 300, 9]"
    assert codes["UFW302"].startswith("00000002_ ")


def test_a_damaged_record_does_not_hide_the_others(tmp_path: Path) -> None:
    cut = Datum.read(record(0).to_bytes()[:-9])
    codes = found(tmp_path, [record(1), cut, floats([np.nan])])
    assert {"UFK101", "UFW311"} <= codes.keys()
    assert codes["UFK101"].startswith("00000001_")


def test_mixed_kinds(tmp_path: Path) -> None:
    records: list[Record] = [record(0), record(1), boxed(number=2)]
    assert found(tmp_path, records) == {"UFW308": "00000002_ Datum 2 times, AnnotatedDatum once"}
    assert ufkit.open_dataset(tmp_path / "db").kind == "mixed"


def test_many_findings_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_check, "_MOST", 3)
    path = of_records(tmp_path / "db", [floats([np.nan, n]) for n in range(9)])
    told = [each for each in ufkit.check_dataset(path) if each.code == "UFW311"]
    assert len(told) == 4
    assert told[-1].message == "and 6 more, of which this is the last"
    assert told[-1].where.node == "00000008_"


@pytest.mark.parametrize("at", [40, 4096 + 40, 2 * 4096 + 16, 3 * 4096 + 12])
def test_damaged_pages(tmp_path: Path, at: int) -> None:
    """They are told before LMDB trusts them."""
    pytest.importorskip("lmdb.verify")
    path = made(tmp_path / "db", 30) / "data.mdb"
    data = bytearray(path.read_bytes())
    data[at : at + 4] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    try:
        codes = {each.code for each in ufkit.check_dataset(path)}
    except ufkit.FormatError as error:
        codes = {error.diagnostic.code}
    assert codes <= {"UFW304", "UFW305"}


# -- the summary -----------------------------------------------------------------------------


def test_a_summary(tmp_path: Path) -> None:
    records: list[Record] = [boxed(Box(0, 0, 1, 1, 7), Box(0, 0, 1, 1, 3), number=n)
                             for n in range(4)]  # fmt: skip
    summary = ufkit.summarize_dataset(ufkit.open_dataset(of_records(tmp_path / "db", records)))
    assert summary.kind == "AnnotatedDatum"
    assert summary.shapes == {(3, 4, 5): 4}
    assert summary.labels == dict.fromkeys(range(4), 1)
    assert summary.boxes == {7: 4, 3: 4}
    assert summary.values is not None
    assert 1 <= summary.values[0] < summary.values[1] <= 255
    assert (summary.first_key, summary.last_key) == ("00000000_", "00000003_")
    assert summary.as_dict()["boxes"] == [{"label": 3, "boxes": 4}, {"label": 7, "boxes": 4}]


def test_a_summary_decodes_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = cv2.imencode(".jpg", np.full((8, 9, 3), 99, np.uint8))[1].tobytes()
    dataset = ufkit.open_dataset(of_records(tmp_path / "db", [Datum.of_image(data, 1)]))
    monkeypatch.setitem(sys.modules, "cv2", None)
    summary = ufkit.summarize_dataset(dataset)
    assert (summary.shapes, summary.storages, summary.values) == ({(3, 8, 9): 1}, {"jpeg": 1}, None)
    with pytest.raises(ufkit.MissingExtraError, match=r"ufkit\[datasets\]"):
        dataset[0].array()


def test_a_summary_of_a_few_of_many(tmp_path: Path) -> None:
    dataset = ufkit.open_dataset(made(tmp_path / "db", 50))
    summary = ufkit.summarize_dataset(dataset, most=10)
    assert (summary.records, summary.looked_at) == (50, 10)
    assert summary.labels == Counter(range(0, 50, 5))


def test_a_summary_counts_what_is_damaged(tmp_path: Path) -> None:
    broken = Datum.read(b"\x08\x03\x22\xff")
    path = of_records(tmp_path / "db", [*map(record, range(5)), broken, *map(record, range(6))])
    summary = ufkit.summarize_dataset(ufkit.open_dataset(path))
    assert (summary.damaged, summary.looked_at) == (1, 12)
