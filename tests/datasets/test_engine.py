"""Samples on their way: order, workers, what becomes of bad ones."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pictures import jpg, pixels, png, some_samples, write_coco
from ufkit.core.diag import Diagnostic, FileError, FormatError, RequestError
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.datasets.engine import changed
from ufkit.datasets.formats import FORMATS
from ufkit.datasets.formats.format import FormatOptions
from ufkit.datasets.open import target_format
from ufkit.datasets.report import Report
from ufkit.datasets.sample import Box, Lazy, Listing, Sample
from ufkit.datasets.transform import Transform
from ufkit.ufw.dataset import open_dataset
from ufkit.ufw.keys import name_of, shown_key
from ufkit.ufw.writer import create_dataset


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


def test_an_error_says_what_of_a_database_is_there(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for at in range(1001):  # one more than are committed at a time
        (source / f"{at:04}.png").write_bytes(png(pixels(0, 4, 4)))
    (source / "9.png").touch()
    with pytest.raises(FormatError) as caught:
        convert_dataset(source, tmp_path / "x.lmdb")
    assert "1,000 records are in" in caught.value.diagnostic.hint
    (source / "9.png").write_bytes(png(pixels(0, 4, 4)))
    request = DatasetRequest(options=FormatOptions(mode="resume"))
    assert convert_dataset(source, tmp_path / "x.lmdb", request).written == 2
    assert len(open_dataset(tmp_path / "x.lmdb")) == 1002


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


def test_what_was_interrupted_is_gone_on_with(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", 12, bad=(2, 9))
    request = DatasetRequest(on_error="skip", seed=4)
    convert_dataset(source, tmp_path / "whole.lmdb", request)
    whole = [*open_dataset(tmp_path / "whole.lmdb").raw()]
    target = tmp_path / "x.lmdb"
    with create_dataset(target) as out:  # the first four, as if it had been killed then
        for key, value in whole[:4]:
            out.put(value, name_of(shown_key(key)))
    again = replace(request, options=FormatOptions(mode="resume"))
    report = convert_dataset(source, target, again)
    assert [*open_dataset(target).raw()] == whole
    assert report.written == len(whole) - 4
    assert convert_dataset(source, target, again).written == 0  # nothing is left to do
    with pytest.raises(RequestError, match="not the source's sample"):
        convert_dataset(source, target, replace(again, seed=5))


SCRIPT = """
import sys
from ufkit.datasets.convert import DatasetRequest, convert_dataset
if __name__ == "__main__":
    def progress(what, done, total):
        if done == 40:
            print("under way", flush=True)
    request = DatasetRequest(workers=2)
    convert_dataset(sys.argv[1], sys.argv[2], request, progress=progress)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", 400)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, script, source, tmp_path / "x.lmdb"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"under way\n"
        pids = filter(str.isdigit, os.listdir("/proc"))
        children = [int(pid) for pid in pids if parent(pid) == process.pid]
        assert len(children) >= 2
        process.kill()
    deadline = time.monotonic() + 20
    while any(map(alive, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, children))


def parent(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_row_15_names_that_differ_in_their_suffix_only(tmp_path: Path) -> None:
    """a.jpg and a.png would have one annotation file."""
    source = write_coco(tmp_path / "coco", some_samples(1, boxes=True))
    document = json.loads(source.read_text())
    (source.parent / "images" / "x.png").write_bytes(png(pixels(0)))
    (source.parent / "images" / "x.jpg").write_bytes(jpg(pixels(0)))
    document["images"] += [
        {"id": 1, "file_name": "x.png", "width": 32, "height": 24},
        {"id": 2, "file_name": "x.jpg", "width": 32, "height": 24},
    ]
    source.write_text(json.dumps(document))
    report = convert_dataset(
        source, tmp_path / "voc", DatasetRequest(target="voc", on_error="skip")
    )
    assert (report.written, report.counts["DAT005"]) == (2, 1)
    report = convert_dataset(source, tmp_path / "again", DatasetRequest(target="coco"))
    assert report.written == 3


def test_row_18_a_label_that_finds_no_place_is_told(tmp_path: Path) -> None:
    source = tmp_path / "in"
    for at in range(2):
        (source / f"class{at}").mkdir(parents=True)
        (source / f"class{at}" / "a.png").write_bytes(png(pixels(at)))
    report = convert_dataset(source, tmp_path / "out", DatasetRequest(target="images"))
    assert report.counts == {"DAT206": 2}


@pytest.mark.parametrize(
    "transform",
    [Transform(max_side=1), Transform(encode="webp"), Transform(encode="jpg")],
    ids=["nothing left", "webp", "jpg"],
)
def test_sizes_that_cannot_be_are_errors_of_the_image(transform: Transform) -> None:
    long = png(np.zeros((2, 70_000, 3), np.uint8))
    report = Report(on_error="skip")
    assert not list(changed([Sample("long.png", long)], transform, report))
    assert report.found[0].code == "DAT102"
    assert report.found[0].where.node == "long.png"


def test_keys_that_a_database_does_not_take_are_bad_samples(tmp_path: Path) -> None:
    rows = ["x" * 100 + "/" + "y" * 100 + "/" + "z" * 400 + ".png", "a.png"]
    listing = Listing([Sample(name, png(pixels(0))) for name in rows])
    report = Report(on_error="skip")
    samples = changed(listing.samples, Transform(arrays=True), report)
    FORMATS["lmdb"].write(tmp_path / "x.lmdb", listing, samples, FormatOptions(), report)
    assert (report.read, report.written, report.counts["UFW307"]) == (2, 1, 1)


@pytest.mark.parametrize("name", ["s.tar", "s.parquet"])
def test_facts_of_strangers_are_checked(name: str, tmp_path: Path) -> None:
    """What is no number is a bad annotation; what is infinite is dropped."""
    image = png(pixels(0))
    good = [Sample("a.png", image, boxes=(Box(0, 0, float("inf"), 1, 1), Box(0, 0, 1, 1, 2)))]
    listing, report = Listing(good, boxes=True), Report()
    target_format(name).write(tmp_path / name, listing, iter(good), FormatOptions(), report)
    report = convert_dataset(tmp_path / name, tmp_path / "x.lmdb")
    assert report.counts == {"DAT302": 1}
    assert [box.label for box in open_dataset(tmp_path / "x.lmdb")[0].boxes] == [2]


@pytest.mark.parametrize(
    "facts",
    [
        [1], {"label": "x"}, {"boxes": 3}, {"boxes": [{"label": 1}]}, {"width": "w"},
        {"boxes": [{"label": "x", "xmin": 0, "ymin": 0, "xmax": 1, "ymax": 1}]}, {"values": 3},
    ],
)  # fmt: skip
def test_json_of_strangers_is_checked(facts: Any, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "s.tar", "w") as out:
        for name, data in (("a.png", png(pixels(0))), ("a.json", json.dumps(facts).encode())):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))
    with pytest.raises(FormatError) as caught:
        convert_dataset(tmp_path / "s.tar", tmp_path / "x.lmdb")
    assert caught.value.diagnostic.code == "DAT202"
