"""What the pages of a dataset are told, and that no record can do harm."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from starlette.testclient import TestClient

import ufkit
from pictures import png, some_samples, voc_xml, write_coco, write_voc
from ufkit.cli.app import run
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.ufw.datum import Datum
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.openers import Wish
from ufkit.viewer.session import Session
from ufkit.viewer.web.routes import application
from viewer.records import DAMAGED, HOSTILE_KEY, NAMES, database, large, of_all_kinds


class Asked:
    """The routes of the first file."""

    def __init__(self, client: TestClient, session: Session) -> None:
        self.client = client
        self.session = session

    def __call__(self, route: str = "", /, status: int = 200, **query: Any) -> Any:
        answer = self.client.get(f"/api/files/0/records{route}", params=query)
        assert answer.status_code == status, answer.text
        return answer.json()

    def image(self, route: str, **query: Any) -> Any:
        """Pixels of a picture, as OpenCV has them."""
        answer = self.client.get(f"/api/files/0/records{route}", params=query)
        assert answer.headers["content-type"].startswith("image/"), answer.text
        return cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_UNCHANGED)

    def complete(self, route: str, **query: Any) -> Any:
        """The answer of a route that reads on, when it has read all."""
        for _ in range(10_000):
            answer = self(route, **query)
            if answer["complete"]:
                return answer
        raise AssertionError("it never ends")


def asked(*paths: Path, **wish: str) -> Iterator[Asked]:
    session = Session([*map(str, paths)], Wish(**wish))
    layouter = Layouter()
    yield Asked(TestClient(application(session, layouter)), session)
    layouter.close()
    session.close()


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    yield from asked(of_all_kinds(tmp_path_factory.mktemp("kinds") / "db"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    yield from asked(large(tmp_path_factory.mktemp("many") / "db"))


# -- many records ----------------------------------------------------------------------------


def test_records_from_anywhere_are_told_without_reading_the_others(many: Asked) -> None:
    assert many()["records"] == 100_000
    for start in (0, 61_234, 99_998):
        rows = many("/rows", **{"from": start, "count": 3})["rows"]
        assert [row["number"] for row in rows] == [*range(start, min(start + 3, 100_000))]
        assert rows[0]["key"] == f"{start:08}_{start}.jpg"
        assert (rows[0]["label"], rows[0]["size"], rows[0]["dtype"]) == (
            start % 10,
            [8, 6],
            "uint8",
        )
    assert many("/found")["read"] == 0


def test_a_filter_is_told_bit_by_bit_and_its_matches_in_order(many: Asked) -> None:
    first = many("/found", label=3, key="7.jpg")
    assert first["total"] == 0 or not first["complete"]
    last = many.complete("/found", label=3, key="33.JPG")
    assert (last["total"], last["read"], last["of"]) == (1000, 100_000, 100_000)
    rows = many("/rows", label=3, key="33.JPG", **{"from": 998, "count": 9})["rows"]
    assert [row["number"] for row in rows] == [99_833, 99_933]
    one = many("/one", number=99_833, label=3, key="33.JPG")
    assert (one["place"], one["total"], one["before"], one["behind"]) == (998, 1000, 99_733, 99_933)
    beside = many("/one", number=99_834, label=3, key="33.JPG")
    assert (beside["place"], beside["before"], beside["behind"]) == (None, 99_833, 99_933)


def test_the_counts_of_many(many: Asked) -> None:
    counts = many.complete("/counts")
    assert [(row["label"], row["records"]) for row in counts["labels"]] == [
        (label, 10_000) for label in range(10)
    ]
    assert counts["sizes"] == [{"size": [8, 6], "records": 100_000}]
    assert counts["widths"]["counts"] == []


# -- records of all kinds --------------------------------------------------------------------


def test_rows_tell_boxes_with_the_names_of_the_label_map(kinds: Asked) -> None:
    row = kinds("/rows", **{"from": 2, "count": 1})["rows"][0]
    assert row["boxed"] == len(row["boxes"]) == 2
    shown = {1: "cat", 2: NAMES[1], 3: "\\u202egod"}  # what turns writing round is spelt out
    assert [box["name"] for box in row["boxes"]] == [shown[box["label"]] for box in row["boxes"]]
    assert [box["difficult"] for box in row["boxes"]] == [False, True]
    assert row["kept"] == "PNG file"
    assert row["label"] is None  # SSD's tools write -1 where there are boxes


def test_damaged_records_come_as_their_findings(kinds: Asked) -> None:
    rows = kinds("/rows", count=24)["rows"]
    assert [row["number"] for row in rows if row["problem"]] == [*DAMAGED]
    for number in DAMAGED:
        assert rows[number]["key"]
        one = kinds("/one", number=number)
        assert one["problem"][0]["where"]["node"] == rows[number]["key"]
        for route in ("/thumbnail", "/picture"):
            assert (
                kinds(route, number=number)["diagnostics"][0]["code"] == one["problem"][0]["code"]
            )
    found = kinds.complete("/found", damaged=1)
    assert found["total"] == len(DAMAGED)


def test_an_image_that_ends_too_early_is_told_where_it_is_drawn(kinds: Asked) -> None:
    for route in ("/thumbnail", "/picture"):
        (finding,) = kinds(route, number=8)["diagnostics"]
        assert finding["code"] == "UFW302"
        assert finding["where"]["node"] == "00000008_8.jpg"


def test_boxes_that_are_no_numbers_are_told_in_words(kinds: Asked) -> None:
    one = kinds("/one", number=7)
    assert one["boxes"][0]["corners"] is None
    assert one["boxes"][0]["words"] == ["nan", "0", "1", "1"]
    assert one["boxes"][1]["corners"] == [-0.5, -0.5, 1.5, 2]
    assert one["boxes"][1]["score"] == "0.25"


def test_the_picture_has_the_pixels_of_the_record(kinds: Asked) -> None:
    dataset = kinds.session.subjects[0].dataset
    assert dataset is not None
    entry = dataset.records.entry(2)
    assert entry.array is not None
    array = entry.array()
    shown = kinds.image("/picture", number=2)
    assert np.array_equal(shown, array.transpose(1, 2, 0))
    assert np.array_equal(kinds.image("/picture", number=2, rgb=1), shown[..., ::-1])
    assert np.array_equal(kinds.image("/picture", number=2, channel=1), array[1])
    assert np.array_equal(kinds.image("/thumbnail", number=2, side=160), shown)
    values = kinds("/values", number=2, row=32, column=32)["values"]
    assert values == array[:, 32:64, 32:64].transpose(1, 2, 0).tolist()


def test_a_thumbnail_is_no_larger_than_asked_and_keeps_proportions(kinds: Asked) -> None:
    small = kinds.image("/thumbnail", number=23, side=32)  # 63 high, 60 wide
    assert max(small.shape[:2]) == 32
    assert kinds.image("/thumbnail", number=21, side=16).shape == (16, 15, 3)


def test_floats_are_stretched_and_their_range_is_told(kinds: Asked) -> None:
    one = kinds("/one", number=5)
    assert (one["channels"], one["coloured"], one["dtype"]) == (7, False, "float32")
    assert kinds.image("/picture", number=5).shape == (20, 30)
    channel = kinds.image("/picture", number=5, channel=6)
    assert (channel.min(), channel.max()) == (0, 255)
    statistics = kinds("/array", number=5)["statistics"]
    assert statistics["not_finite"] == 1
    assert statistics["least"] < 0 < statistics["greatest"]
    assert len(statistics["lows"]) == 7
    assert kinds("/values", number=5, row=0, column=0)["values"][0][0][0] == "nan"


def test_an_array_of_one_axis_is_a_row(kinds: Asked) -> None:
    assert kinds("/one", number=6)["size"] == [12, 1]
    assert kinds.image("/picture", number=6).shape == (1, 12)


def test_an_array_is_saved_as_it_is(kinds: Asked, tmp_path: Path) -> None:
    answer = kinds.client.get("/api/files/0/records/array.npy", params={"number": 5})
    (tmp_path / "a.npy").write_bytes(answer.content)
    assert np.load(tmp_path / "a.npy").shape == (7, 20, 30)
    assert answer.headers["content-disposition"] == 'attachment; filename="record-5.npy"'


def test_a_hostile_key_is_text(kinds: Asked) -> None:
    rows = kinds("/rows", **{"from": 9, "count": 1})["rows"]
    assert rows[0]["key"] == HOSTILE_KEY.decode()
    found = kinds.complete("/found", key="<IMG src")
    assert found["total"] == 1


def test_counts_of_boxes_sizes_and_damage(kinds: Asked) -> None:
    counts = kinds.complete("/counts")
    assert counts["damaged"] == 2
    assert {row["label"] for row in counts["classes"]} == {1, 2, 3}
    assert sum(counts["heights"]["counts"]) == 22
    labels = {row["label"]: row["records"] for row in counts["labels"]}
    assert labels == {None: 20, 1: 1, 2: 1}


# -- the check -------------------------------------------------------------------------------


def checked(asked: Asked) -> Any:
    asked.client.post("/api/files/0/records/checks/begin")
    for _ in range(600):
        answer = asked("/checks")
        if answer["state"] != "running":
            return answer
        time.sleep(0.05)
    raise AssertionError("it never ends")


def test_findings_of_the_check_lead_to_their_records(tmp_path: Path) -> None:
    for dataset in asked(of_all_kinds(tmp_path / "db")):
        assert dataset("/checks")["state"] == "idle"
        answer = checked(dataset)
        assert answer["state"] == "done"
        by_code = {
            row["code"]: row["number"] for row in answer["rows"] if row["number"] is not None
        }
        assert by_code["UFW306"] == 4
        assert by_code["UFW314"] == 7
        assert by_code["UFW302"] == 8


def test_a_check_that_is_cancelled_ends_and_can_be_begun_again(many: Asked) -> None:
    many.client.post("/api/files/0/records/checks/begin")
    answer = many.client.post("/api/files/0/records/checks/cancel").json()
    assert answer["state"] == "cancelled"
    again = many.client.post("/api/files/0/records/checks/begin").json()
    assert again["state"] == "running"
    many.client.post("/api/files/0/records/checks/cancel")


# -- other formats ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["npz", "parquet", "webdataset", "yolo", "coco", "voc", "lmdb"])
def test_each_format_with_boxes(tmp_path: Path, name: str) -> None:
    samples = some_samples(4, boxes=True, same_size=True, flat=True)
    source = write_coco(tmp_path / "coco", samples)
    ends = {"npz": ".npz", "parquet": ".parquet", "webdataset": ".tar", "lmdb": ".lmdb"}
    target = tmp_path / f"made{ends.get(name, '')}"
    convert_dataset(source, target, DatasetRequest(target=name))
    for dataset in asked(target):
        rows = dataset("/rows")["rows"]
        assert [row["boxed"] for row in rows] == [1, 2, 0, 4]
        names = {box["name"] for row in rows for box in row["boxes"]}
        assert "cat" in names or name == "npz"  # which keeps no names
        assert dataset.image("/thumbnail", number=3).shape == (24, 32, 3)
        assert dataset.complete("/found", label=1)["total"] >= 1
        assert checked(dataset)["state"] == "done"


def test_a_folder_of_classes_and_one_of_images(tmp_path: Path) -> None:
    for at, name in enumerate(("cat", "dog")):
        (tmp_path / "set" / name).mkdir(parents=True)
        (tmp_path / "set" / name / "a.png").write_bytes(png(np.full((4, 5, 3), at, np.uint8)))
    for dataset in asked(tmp_path / "set"):
        assert dataset()["description"] == "folder of classes"
        assert [row["name"] for row in dataset("/rows")["rows"]] == ["cat", "dog"]
    for dataset in asked(tmp_path / "set" / "cat"):
        assert dataset()["description"] == "folder of images"


def test_images_that_are_missing_or_none_are_findings(tmp_path: Path) -> None:
    folder = write_voc(tmp_path / "voc", voc_xml("a.jpg", (32, 24), ""))
    write_voc(folder, voc_xml("b.jpg", (32, 24), ""), "b")
    for dataset in asked(folder):
        (folder / "JPEGImages" / "a.jpg").unlink()
        (folder / "JPEGImages" / "b.jpg").write_bytes(b"")
        problems = [row["problem"][0]["code"] for row in dataset("/rows")["rows"]]
        assert problems == ["DAT101", "UFW302"]
        rows = checked(dataset)["rows"]
        assert [(row["code"], row["number"]) for row in rows] == [("DAT101", 0), ("UFW302", 1)]


def test_a_label_map_and_a_format_may_be_given(tmp_path: Path) -> None:
    path = large(tmp_path / "db", 20)
    names = tmp_path / "names.prototxt"
    names.write_text('item { name: "n" label: 3 display_name: "three" }')
    for dataset in asked(path, labels=str(names)):
        assert dataset("/rows")["rows"][3]["name"] == "three"
    with pytest.raises(ufkit.RequestError):
        Session([str(path)], Wish(source="nonsense"))


def test_a_label_map_that_is_none_is_a_mistake_of_the_command(tmp_path: Path) -> None:
    path = large(tmp_path / "db", 20)
    for labels in (tmp_path / "absent", path / "data.mdb"):
        assert run(["view", str(path), "--labels", str(labels), "--no-browser"]) == 3


def test_a_database_that_is_cut_short_shows_why(tmp_path: Path) -> None:
    path = large(tmp_path / "db", 2000)
    data = (path / "data.mdb").read_bytes()
    (path / "data.mdb").write_bytes(data[: len(data) // 2])
    session = Session([str(path)])
    assert session.subjects[0].pages == ["check"]
    assert [item.code for item in session.subjects[0].findings()] == ["UFW305"]


def test_pages_that_are_damaged_are_told_and_the_others_shown(tmp_path: Path) -> None:
    path = large(tmp_path / "db", 5000)
    data = bytearray((path / "data.mdb").read_bytes())
    for at in range(20 * 4096, len(data), 50 * 4096):
        data[at : at + 16] = b"\xff" * 16
    (path / "data.mdb").write_bytes(data)
    for dataset in asked(path):
        rows = dataset("/rows", count=500)["rows"]
        assert any(row["problem"] for row in rows)
        assert any(not row["problem"] for row in rows)
        assert dataset.complete("/found", label=1)["broken"][0]["code"] == "UFW305"


def test_what_is_no_dataset_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ufkit.FormatError):
        Session([str(tmp_path / "empty")])
    with pytest.raises(ufkit.FileError):
        Session([str(tmp_path / "absent")])


# -- requests --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "query"),
    [
        ("/one", {}),
        ("/one", {"number": 24}),
        ("/one", {"number": -1}),
        ("/one", {"number": "../../etc/passwd"}),
        ("/one", {"number": "²"}),
        ("/rows", {"from": "x"}),
        ("/rows", {"count": 100_000}),
        ("/found", {"label": "1e3"}),
        ("/found", {"label": "9" * 30}),
        ("/found", {"width": "-"}),
        ("/found", {"width": "1-2-3"}),
        ("/found", {"height": "a"}),
        ("/thumbnail", {"number": 0, "side": 100_000}),
        ("/thumbnail", {"number": 99}),
        ("/picture", {"number": 0, "channel": 3}),
        ("/values", {"number": 0}),
        ("/piece", {"number": 0, "index": "9"}),
        ("/array.npy", {"number": "%2e%2e"}),
    ],
)
def test_what_is_not_there_is_refused(kinds: Asked, route: str, query: dict[str, Any]) -> None:
    answer = kinds(route, 404, **query)
    assert [finding["code"] for finding in answer["diagnostics"]] == ["VWR002"]


@pytest.mark.parametrize("file", ["1", "-1", "x", "..", "%2e%2e%2f%2e%2e"])
def test_other_files_are_not_reached(kinds: Asked, file: str) -> None:
    assert kinds.client.get(f"/api/files/{file}/records").status_code == 404


def test_values_beyond_the_edge_are_none(kinds: Asked) -> None:
    assert kinds("/values", number=0, row=1 << 30, column=0)["values"] == []


def test_a_picture_of_too_many_elements_is_refused(tmp_path: Path) -> None:
    """The header tells: nothing is decoded."""
    image = bytearray(png(np.zeros((4, 4, 3), np.uint8)))
    image[16:24] = (50_000).to_bytes(4, "big") * 2
    path = database(tmp_path / "db", {b"a": Datum.of_image(bytes(image), 1).to_bytes()})
    for dataset in asked(path):
        assert dataset("/thumbnail", number=0)["diagnostics"][0]["code"] == "VWR101"
        assert dataset("/picture", number=0)["diagnostics"][0]["code"] == "VWR101"


def test_real_databases(corpus: Path) -> None:
    for name in ("thumbs_32x32", "signatures_20x20"):
        for dataset in asked(corpus / "lmdb" / name):
            count = dataset()["records"]
            assert dataset.complete("/counts")["read"] == count
            rows = dataset("/rows", count=500)["rows"]
            assert not any(row["problem"] for row in rows)
            assert dataset.image("/thumbnail", number=count - 1).size
            json.dumps(dataset("/one", number=count // 2))
