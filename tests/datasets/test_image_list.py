"""Caffe's image lists, with the faults that people's lists have."""

from __future__ import annotations

import contextlib
import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pictures import pixels, png
from ufkit.core.diag import FormatError, RequestError, Where
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.datasets.formats.format import FormatOptions
from ufkit.datasets.formats.image_list import parse_line
from ufkit.datasets.open import list_dataset
from ufkit.ufw.dataset import open_dataset


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        ("a.jpg 3", "a.jpg", (3,)),
        ("a.jpg 3 ", "a.jpg", (3,)),  # Caffe takes the blank for another field
        ("a.jpg\t3\r", "a.jpg", (3,)),
        ("my cat 7.jpg 3", "my cat 7.jpg", (3,)),
        ("a.b.c 9.JPEG -1", "a.b.c 9.JPEG", (-1,)),
        ("a.jpg 1 0 1", "a.jpg", (1, 0, 1)),
        ("a.jpg 0.5 1e-3 .25", "a.jpg", (0.5, 0.001, 0.25)),
        ("a.jpg, 3", "a.jpg", (3,)),
        ("a.jpg", "a.jpg", ()),
        ('"a 1.jpg" 3', "a 1.jpg", (3,)),
        ("no suffix 3", "no suffix", (3,)),
        ("a.jpg.png 4", "a.jpg.png", (4,)),
        ("\u56fe/\u732b.jpg 2", "\u56fe/\u732b.jpg", (2,)),
    ],
)
def test_row_4_lines(line: str, name: str, values: tuple[float, ...]) -> None:
    assert parse_line(line, Where()) == (name, values)


@pytest.mark.parametrize("line", ["a.jpg cat", "a.jpg 3 cat", '"a.jpg" x', "a.jpg 1e999"])
def test_row_4_bad_lines_are_told_with_their_number(line: str, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"ok.jpg 1\n{line}\n")
    listing = list_dataset(tmp_path / "list.txt")
    with pytest.raises(FormatError) as caught:
        listing.samples[1]
    assert caught.value.diagnostic.code == "DAT201"
    assert caught.value.diagnostic.where.line == 2


@given(st.text(max_size=60) | st.text(' ",;.jpg19e-+\ufeff', max_size=40))
def test_any_line_is_a_name_and_numbers_or_an_error_of_ours(line: str) -> None:
    with contextlib.suppress(FormatError):
        name, values = parse_line(line, Where())
        assert name
        assert all(map(math.isfinite, values))


@pytest.mark.parametrize("line", ["a" + " " * 300_000 + "b", "1" * 300_000, "1 " * 100_000 + "x"])
def test_long_lines_take_no_longer_than_they_are(line: str) -> None:
    start = time.perf_counter()
    with contextlib.suppress(FormatError):
        parse_line(line, Where())
    assert time.perf_counter() - start < 2


def write_list(folder: Path, text: str, names: tuple[str, ...]) -> Path:
    for at, name in enumerate(names):
        path = folder / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(pixels(at)))
    (folder / "list.txt").write_text(text, "utf-8")
    return folder / "list.txt"


def test_row_4_missing_files_are_counted_and_named(tmp_path: Path) -> None:
    text = "\ufeff/sub/a b.png 1 \n\nmissing.png 2\nsub\\c.png 0\n"
    source = write_list(tmp_path, text, ("sub/a b.png", "sub/c.png"))
    options = FormatOptions(images=tmp_path / "root")
    with pytest.raises(FormatError, match=r"missing\.png cannot be read: No such file") as caught:
        convert_dataset(source, tmp_path / "x.lmdb", DatasetRequest(options=options))
    assert caught.value.diagnostic.code == "DAT101"
    report = convert_dataset(
        source, tmp_path / "x.lmdb", DatasetRequest(options=options, on_error="skip")
    )
    assert (report.read, report.written, report.skipped) == (3, 2, 1)
    records = open_dataset(tmp_path / "x.lmdb")
    assert [records.key(at) for at in range(2)] == [b"00000000_sub/a b.png", b"00000001_sub/c.png"]
    assert [record.label for record in records] == [1, 0]


def test_row_3_several_labels_go_to_a_second_database(tmp_path: Path) -> None:
    source = write_list(tmp_path, "a.png 0.5 1\nb.png 2 -3.25\n", ("a.png", "b.png"))
    options = FormatOptions(images=tmp_path / "root")
    with pytest.raises(RequestError, match=r"a\.png has the labels 0\.5 1") as caught:
        convert_dataset(source, tmp_path / "x.lmdb", DatasetRequest(options=options))
    assert "--label-db" in caught.value.diagnostic.hint
    options = FormatOptions(images=tmp_path / "root", label_db=tmp_path / "labels.lmdb")
    convert_dataset(source, tmp_path / "x.lmdb", DatasetRequest(options=options))
    images, labels = open_dataset(tmp_path / "x.lmdb"), open_dataset(tmp_path / "labels.lmdb")
    assert list(images.keys()) == list(labels.keys())
    assert [labels[at].datum.array().ravel().tolist() for at in range(2)] == [[0.5, 1], [2, -3.25]]
    assert labels[0].datum.shape == (2, 1, 1)
    # and back into a list
    options = FormatOptions(label_db=tmp_path / "labels.lmdb")
    convert_dataset(
        tmp_path / "x.lmdb", tmp_path / "l", DatasetRequest(target="list", options=options)
    )
    assert (tmp_path / "l" / "list.txt").read_text() == (
        "images/a.png 0.5 1\nimages/b.png 2 -3.25\n"
    )


def test_row_3_different_numbers_of_labels_are_refused(tmp_path: Path) -> None:
    source = write_list(tmp_path, "a.png 1 2\nb.png 3\n", ("a.png", "b.png"))
    options = FormatOptions(images=tmp_path / "root", label_db=tmp_path / "labels.lmdb")
    with pytest.raises(FormatError, match="it has 1 labels, the first one 2"):
        convert_dataset(source, tmp_path / "x.lmdb", DatasetRequest(options=options))


def test_a_list_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("\n\n")
    with pytest.raises(FormatError) as caught:
        list_dataset(tmp_path / "list.txt", "list")
    assert caught.value.diagnostic.code == "DAT002"
