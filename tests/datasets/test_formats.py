"""Every format gives back what it was given, as far as it says it can."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pictures import LABELS, pixels, png, some_samples
from ufkit.core.diag import FileError, FormatError, RequestError, UfkitError
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.datasets.engine import changed
from ufkit.datasets.formats import FORMATS
from ufkit.datasets.formats.files import safe_name
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.open import list_dataset, source_format, target_format
from ufkit.datasets.report import Report
from ufkit.datasets.sample import Box, Listing, Sample
from ufkit.datasets.transform import Transform
from ufkit.ufw.io import save_labels

each = pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)


def written(form: Format, folder: Path, samples: list[Sample], transform: Transform) -> Path:
    path = folder / f"data{form.suffixes[0] if form.suffixes else ''}"
    report = Report()
    listing = Listing(samples, LABELS, boxes=form.boxes)
    form.write(path, listing, changed(samples, transform, report), FormatOptions(), report)
    assert report.written == report.read == len(samples)
    if path.is_dir() and (form.boxes or form.label):
        save_labels(LABELS, path / "labelmap.prototxt")
    return path


def plain(key: str) -> str:
    """What all formats keep of a key: the name of the file without its suffix."""
    return key.rpartition("/")[2].removesuffix(".png").replace(".", "_")


def same_box(a: Box, b: Box, w: int, h: int) -> bool:
    half = 0.5
    return a.label == b.label and all(
        abs(x - y) * size <= half
        for x, y, size in (
            (a.xmin, b.xmin, w),
            (a.ymin, b.ymin, h),
            (a.xmax, b.xmax, w),
            (a.ymax, b.ymax, h),
        )
    )


@each
def test_read_of_write_gives_the_samples(form: Format, tmp_path: Path) -> None:
    samples = some_samples(
        boxes=form.boxes,
        label=form.label,
        same_size=form.name == "npz",
        flat=form.name == "images",  # its folders would be taken for classes
    )
    path = written(form, tmp_path, samples, Transform(arrays=form.arrays))
    assert source_format(path) is form
    assert target_format(path, "" if form.suffixes else form.name) is form
    listing = list_dataset(path)
    assert listing.boxes == form.boxes
    # by name: folders come in the order of the names, lists and databases in their own
    found = sorted(listing.samples, key=lambda sample: plain(sample.key))
    assert [plain(s.key) for s in found] == [plain(s.key) for s in samples]
    look = Transform(arrays=True)
    for got, want in zip(found, samples, strict=True):
        assert np.array_equal(look(got)[0].array, look(want)[0].array)
        if form.label:
            assert got.label == want.label
        if form.boxes:
            assert got.boxes is not None
            assert want.boxes is not None
            key = lambda box: (box.label, box.xmin)  # noqa: E731  databases group by class
            for a, b in zip(sorted(got.boxes, key=key), sorted(want.boxes, key=key), strict=True):
                assert same_box(a, b, want.width, want.height)
                if form.name != "yolo":
                    assert bool(a.difficult) == bool(b.difficult)


@each
def test_files_that_are_not_changed_are_copied_byte_for_byte(form: Format, tmp_path: Path) -> None:
    if form.arrays:
        pytest.skip("it holds arrays")
    samples = some_samples(2, boxes=form.boxes, label=form.label)
    path = written(form, tmp_path, samples, Transform())
    found = [sample.image for sample in list_dataset(path).samples]
    files = {image.read_bytes() if isinstance(image, Path) else image for image in found}
    assert files == {sample.image for sample in samples}


@each
def test_a_damaged_file_is_an_error_of_ours(form: Format, tmp_path: Path) -> None:
    samples = some_samples(2, boxes=form.boxes, label=form.label, same_size=True)
    path = written(form, tmp_path, samples, Transform(arrays=form.arrays))
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    rng = np.random.default_rng(0)
    for file in files:
        data = file.read_bytes()
        for cut in {0, 1, len(data) // 3, len(data) - 1, *rng.integers(0, len(data), 5).tolist()}:
            copy = (
                tmp_path / f"{files.index(file)}-{cut}" / path.name
            )  # no file changes while it is open
            copy.parent.mkdir(exist_ok=True)
            (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
            damaged = copy / file.relative_to(path) if path.is_dir() else copy
            damaged.write_bytes(data[:cut] + bytes(rng.integers(0, 256, 3, np.uint8)))
            try:
                listing = list_dataset(copy, form.name)
                report = Report(on_error="skip")
                kept = list(changed(listing.samples, Transform(), report))
                assert len(kept) + report.skipped == len(listing.samples) == report.read
            except UfkitError:
                pass


@each
def test_what_exists_is_not_lost(form: Format, tmp_path: Path) -> None:
    samples = some_samples(2, boxes=form.boxes, label=form.label, same_size=True)
    (tmp_path / "a").mkdir()
    source = written(form, tmp_path / "a", samples, Transform(arrays=form.arrays))
    target = tmp_path / f"there{form.suffixes[0] if form.suffixes else ''}"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(FileError) as caught:
        convert_dataset(source, target, DatasetRequest(target=form.name, force=True))
    assert caught.value.diagnostic.code == "UFK003"
    assert [p.name for p in target.iterdir()] == ["mine.txt"]


@each
def test_a_failure_leaves_nothing_behind(form: Format, tmp_path: Path) -> None:
    if form.direct:
        pytest.skip("a database keeps what was committed")
    good = some_samples(2, boxes=form.boxes, label=form.label, same_size=True)
    bad = replace(good[0], key="bad.png", image=png(pixels(0))[:60])
    folder = tmp_path / "source"
    form_ = FORMATS["webdataset"]
    folder.mkdir()
    report = Report()
    listing = Listing([*good, bad], LABELS, boxes=form.boxes)
    form_.write(folder / "s.tar", listing, iter([*good, bad]), FormatOptions(), report)
    target = tmp_path / f"out{form.suffixes[0] if form.suffixes else ''}"
    with pytest.raises(FormatError) as caught:
        convert_dataset(folder / "s.tar", target, DatasetRequest(target=form.name))
    assert caught.value.diagnostic.code == "DAT102"
    assert [p.name for p in tmp_path.iterdir()] == ["source"]


def test_formats_are_told_by_content_or_named() -> None:
    with pytest.raises(RequestError, match="--to coco") as caught:
        target_format("somewhere")
    assert ".parquet" in str(caught.value)
    with pytest.raises(RequestError, match="no format 'x'"):
        target_format("somewhere", "x")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/abs/a.jpg", "abs/a.jpg"),
        ("00000012_dir/a.jpg", "dir/a.jpg"),
        ("0000000012__cat.jpg", "cat.jpg"),
        ("0000000000__ ", "0000000000__"),
        ("a\0b:c.png", "a_b_c.png"),
        ("", "_"),
    ],
)
def test_keys_of_strangers_stay_in_the_folder(key: str, name: str) -> None:
    assert safe_name(key) == name


def test_two_samples_of_one_name_are_refused(tmp_path: Path) -> None:
    """Row 15: same base name overwrites."""
    image = png(pixels(0))
    samples = [Sample("a.png", image), Sample("A.png", image)]
    with pytest.raises(FormatError, match="written already"):
        written(FORMATS["images"], tmp_path, samples, Transform())
