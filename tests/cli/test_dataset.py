"""The verbs on datasets."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ufkit.ufw.annotations import Box
from ufkit.ufw.datum import Datum
from ufw.datasets import boxed, foreign, made, of_records, record


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return made(tmp_path / "train_lmdb")


@pytest.fixture
def detector(tmp_path: Path) -> Path:
    boxes = [boxed(Box(0, 0, 0.5, 1, 2), Box(0, 0, 1, 1, 1), number=n) for n in range(3)]
    return of_records(tmp_path / "ssd_lmdb", boxes)


def test_info(run: Any, dataset: Path) -> None:
    for path in (dataset, dataset / "data.mdb"):
        result = run("info", path)
        assert result.code == 0
        assert "LMDB of 5 records" in result.out
        assert "[3, 4, 5]        5" in result.out
        assert "records by label  0: 1, 1: 1, 2: 1" in result.out
        assert "keys     00000000_0.jpg ... 00000004_4.jpg" in result.out
    data = run("info", dataset, "--json").json["data"]
    assert (data["form"], data["kind"], data["records"], data["key_style"]) == (
        "lmdb", "Datum", 5, "caffe",
    )  # fmt: skip
    assert data["shapes"] == [{"shape": [3, 4, 5], "records": 5}]
    assert data["labels"][1] == {"label": 1, "records": 1}


def test_info_of_boxes(run: Any, detector: Path) -> None:
    assert "boxes by class  1: 3, 2: 3" in run("info", detector).out


def test_info_of_nothing(run: Any, tmp_path: Path) -> None:
    assert "no record in it" in run("info", made(tmp_path / "db", 0)).out


def test_check(run: Any, dataset: Path, tmp_path: Path) -> None:
    assert run("check", dataset).code == 0
    zero = of_records(tmp_path / "zero", [Datum.of(np.zeros((1, 2, 2), np.uint8), 1)])
    assert run("check", zero).code == 0
    result = run("check", zero, "--strict", "--json")
    assert (result.code, result.codes) == (1, ["UFW312"])
    assert result.json["diagnostics"][0]["where"]["node"] == "00000000_"


def test_check_with_a_label_map(run: Any, detector: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labelmap.prototxt"
    labels.write_text('item { name: "a" label: 1 }')
    assert run("check", detector, "--labels", labels, "--json").codes == ["UFW316"]
    labels.write_text('item { name: "a" label: 1 } item { name: "b" label: 2 }')
    assert run("check", detector, "--labels", labels, "--json").codes == []


def test_options_that_concern_other_files(run: Any, dataset: Path, net: Path) -> None:
    assert run("check", net, "--labels", "x").code == 2
    assert run("check", dataset, "--weights", "x").code == 2
    assert run("weights", dataset).code == 2


def test_dump(run: Any, dataset: Path, detector: Path) -> None:
    out = run("dump", dataset).out
    assert out.startswith("# 00000000_0.jpg: Datum\nchannels: 3\nheight: 4\nwidth: 5\n# data: ")
    assert out.count("label: ") == 5
    one = run("dump", detector, "--node", "00000001_").out
    assert one.startswith("# 00000001_: AnnotatedDatum\ndatum {\n")
    assert one.count("group_label") == 2
    assert run("dump", dataset, "--node", "absent").code == 2


def test_dump_as_json(run: Any, dataset: Path, tmp_path: Path) -> None:
    rows = run("dump", dataset, "--json").json["records"]
    assert [row["key"] for row in rows] == [f"{n:08d}_{n}.jpg" for n in range(5)]
    first = rows[0]["record"]
    assert base64.b64decode(first["data"]) == record(0).array().tobytes()
    assert run("dump", made(tmp_path / "empty", 0), "--json").json == {"records": []}


def test_what_cannot_be_read(run: Any, dataset: Path, tmp_path: Path) -> None:
    data = (dataset / "data.mdb").read_bytes()
    (tmp_path / "cut.mdb").write_bytes(data[:-5000])
    odd = foreign(tmp_path / "odd", {b"image-1": b"\xff\xd8\xff" + bytes(9)})
    (tmp_path / "folder").mkdir()
    for path, code in ((tmp_path / "cut.mdb", "UFW305"), (odd, "UFW306"),
                       (tmp_path / "folder", "UFK001")):  # fmt: skip
        for verb in ("info", "dump", "check"):
            result = run(verb, path, "--json")
            assert (result.code, result.codes) in ((3, [code]), (1, [code]))
