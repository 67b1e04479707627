"""Samples on their way: order, workers, what becomes of bad ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pictures import pixels, png, some_samples
from ufkit.core.diag import Diagnostic, FileError, FormatError
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.datasets.engine import changed
from ufkit.datasets.report import Report
from ufkit.datasets.sample import Lazy, Sample
from ufkit.datasets.transform import Transform
from ufkit.ufw.dataset import open_dataset


def folder_of(path: Path, count: int, bad: tuple[int, ...] = ()) -> Path:
    path.mkdir()
    for at in range(count):
        data = b"no image" if at in bad else png(pixels(at))
        (path / f"{at:03}.png").write_bytes(data)
    return path


def test_workers_give_what_one_process_gives(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", 40, bad=(3, 17))
    files = []
    for workers in (1, 2):
        target = tmp_path / f"{workers}.lmdb"
        request = DatasetRequest(workers=workers, on_error="skip", seed=5)
        report = convert_dataset(source, target, request)
        assert (report.read, report.written, report.skipped) == (40, 38, 2)
        assert [item.where.node for item in report.found].count("003.png") == 1
        files.append([*open_dataset(target).raw()])
    assert files[0] == files[1]


def test_shuffling_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", 12)

    def keys(name: str, seed: int | None) -> list[str]:
        convert_dataset(source, tmp_path / name, DatasetRequest(seed=seed))
        return [key.decode()[9:] for key in open_dataset(tmp_path / name).keys()]  # noqa: SIM118

    plain = keys("a.lmdb", None)
    assert plain == sorted(plain)
    assert keys("b.lmdb", 1) == keys("c.lmdb", 1) != keys("d.lmdb", 2)
    assert sorted(keys("e.lmdb", 3)) == plain


def test_a_bad_image_ends_the_work_names_itself_and_keeps_no_half_of_it(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", 3, bad=(2,))
    with pytest.raises(FormatError) as caught:
        convert_dataset(source, tmp_path / "x.lmdb")
    assert caught.value.diagnostic.where.file.endswith("002.png")
    assert not (tmp_path / "x.lmdb").exists()


def test_a_function_is_given_each_bad_sample(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", 4, bad=(0, 2))
    seen: list[Diagnostic] = []
    report = convert_dataset(source, tmp_path / "x.lmdb", DatasetRequest(on_error=seen.append))
    assert [item.code for item in seen] == ["DAT102", "DAT102"]
    assert (report.written, report.skipped) == (2, 2)


def test_row_4_nothing_but_bad_images_is_an_error_with_all_of_them(tmp_path: Path) -> None:
    """A total of 0 images."""
    source = folder_of(tmp_path / "in", 2, bad=(0, 1))
    with pytest.raises(FormatError) as caught:
        convert_dataset(source, tmp_path / "x.lmdb", DatasetRequest(on_error="skip"))
    assert [item.code for item in caught.value.diagnostics] == ["DAT002", "DAT102", "DAT102"]
    assert not (tmp_path / "x.lmdb").exists()


def test_no_more_than_a_few_samples_are_held() -> None:
    made = 0

    def load(at: int) -> Sample:
        nonlocal made
        made += 1
        return some_samples(1)[0]

    samples = changed(Lazy(range(10_000), load), Transform(), Report(), workers=2)
    next(samples)
    samples.close()
    assert made <= 100


class _Killed(Transform):
    """Ends the process that it is called in, as the system does for lack of memory."""

    def __call__(self, sample: Sample) -> Any:
        os._exit(1)


def test_a_worker_that_dies_is_an_error_of_ours() -> None:
    with pytest.raises(FileError) as caught:
        list(changed(some_samples(3), _Killed(), Report(), workers=2))
    assert caught.value.diagnostic.code == "DAT004"


def test_only_so_many_findings_are_kept_and_all_are_counted() -> None:
    report = Report(on_error="skip")
    samples = [Sample(str(at), b"") for at in range(300)]
    assert list(changed(samples, Transform(), report)) == []
    assert (report.skipped, report.counts["DAT102"], len(report.found)) == (300, 300, 100)


def test_row_10_a_record_beyond_the_limits_of_protobuf(tmp_path: Path) -> None:
    """Its readers stop at 64 MB unless they are told otherwise."""
    np.save(tmp_path / "x.npy", np.full((1, 1, 8200, 8200), 7, np.uint8))
    convert_dataset(tmp_path / "x.npy", tmp_path / "x.lmdb")
    record = open_dataset(tmp_path / "x.lmdb")[0].datum
    assert record.shape == (1, 8200, 8200)
    assert record.data.nbytes > 64 << 20
    assert record.data[-1] == 7


def test_large_arrays_cross_processes_unchanged() -> None:
    array = np.random.default_rng(0).random((3, 300, 300), np.float32)
    (sample,) = changed([Sample("a", array=array)], Transform(arrays=True), Report(), workers=2)
    assert np.array_equal(sample.array, array)  # type: ignore[arg-type]
