"""Boxes and classes on their way between formats, judged by pycocotools and plain XML."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pycocotools.coco import COCO

from pictures import LABELS, some_samples, voc_xml, write_coco, write_voc
from ufkit.core.diag import FormatError, RequestError
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.datasets.formats.format import FormatOptions
from ufkit.datasets.open import list_dataset
from ufkit.datasets.report import Report
from ufkit.datasets.sample import Box, Sample
from ufkit.datasets.transform import Transform
from ufkit.ufw.dataset import open_dataset

Row = tuple[str, str, list[float], int]


def coco_rows(path: Path) -> list[Row]:
    """File, class, corners in pixels and iscrowd of each annotation, by COCO's own reader."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(path))
    names = {row["id"]: row["name"] for row in coco.loadCats(coco.getCatIds())}
    rows = []
    for image in coco.loadImgs(coco.getImgIds()):
        for row in coco.loadAnns(coco.getAnnIds(imgIds=image["id"])):
            x, y, w, h = row["bbox"]
            corners = [x, y, x + w, y + h]
            rows.append((image["file_name"], names[row["category_id"]], corners, row["iscrowd"]))
    return rows


def voc_rows(path: Path) -> list[Row]:
    rows = []
    for file in path.rglob("*.xml"):
        root = ElementTree.parse(file).getroot()
        for item in root.iter("object"):
            box = item.find("bndbox")
            assert box is not None
            corners = [float(box.findtext(e) or "") for e in ("xmin", "ymin", "xmax", "ymax")]
            flag = int(item.findtext("difficult") or 0)
            rows.append(
                (root.findtext("filename") or "", item.findtext("name") or "", corners, flag)
            )
    return rows


def assert_same(a: Sequence[Row], b: Sequence[Row], within: float = 0.5) -> None:
    assert len(a) == len(b) > 0
    for (file, name, corners, flag), (file2, name2, corners2, flag2) in zip(
        sorted(a), sorted(b), strict=True
    ):
        assert (file, name, flag) == (file2, name2, flag2)
        assert max(abs(x - y) for x, y in zip(corners, corners2, strict=True)) <= within


@pytest.fixture
def coco(tmp_path: Path) -> Path:
    return write_coco(tmp_path / "coco", some_samples(8, boxes=True))


def test_coco_to_lmdb_to_coco(coco: Path, tmp_path: Path) -> None:
    convert_dataset(coco, tmp_path / "x.lmdb")
    convert_dataset(tmp_path / "x.lmdb", tmp_path / "back", DatasetRequest(target="coco"))
    back = tmp_path / "back" / "annotations.json"
    assert_same(coco_rows(coco), coco_rows(back), within=0.002)
    before, after = (json.loads(path.read_text()) for path in (coco, back))
    assert after["categories"] == before["categories"]  # ids that are not in a row, too
    sizes = [[(i["width"], i["height"]) for i in doc["images"]] for doc in (before, after)]
    assert sizes[0] == sizes[1]


def test_voc_to_lmdb_to_voc(coco: Path, tmp_path: Path) -> None:
    voc = tmp_path / "voc"
    convert_dataset(coco, voc, DatasetRequest(target="voc"))
    (voc / "labelmap.prototxt").unlink()  # as VOC itself comes: classes by their names
    convert_dataset(voc, tmp_path / "x.lmdb")
    convert_dataset(tmp_path / "x.lmdb", tmp_path / "back", DatasetRequest(target="voc"))
    assert_same(voc_rows(voc), voc_rows(tmp_path / "back"), within=0.002)


def test_yolo_to_lmdb_to_yolo(coco: Path, tmp_path: Path) -> None:
    yolo = tmp_path / "yolo"
    convert_dataset(coco, yolo, DatasetRequest(target="yolo"))
    convert_dataset(yolo, tmp_path / "x.lmdb")
    convert_dataset(tmp_path / "x.lmdb", tmp_path / "back", DatasetRequest(target="yolo"))
    for file in (yolo / "labels").rglob("*.txt"):
        again = tmp_path / "back" / file.relative_to(yolo)
        lines, lines2 = (sorted(f.read_text().splitlines()) for f in (file, again))
        assert len(lines) == len(lines2)
        for one, two in zip(lines, lines2, strict=True):
            a, b = one.split(), two.split()
            assert a[0] == b[0]
            assert all(abs(float(x) - float(y)) < 1e-6 for x, y in zip(a, b, strict=True))
    assert (yolo / "classes.txt").read_text() == "cat\ndog & <pet>\nZebra\n"


@pytest.mark.parametrize("middle", ["voc", "yolo", "x.parquet", "x.tar", "x.lmdb"])
def test_coco_by_way_of_any_format(middle: str, coco: Path, tmp_path: Path) -> None:
    name = "" if "." in middle else middle
    convert_dataset(coco, tmp_path / middle, DatasetRequest(target=name))
    convert_dataset(tmp_path / middle, tmp_path / "back", DatasetRequest(target="coco"))
    rows = coco_rows(coco)
    if middle == "yolo":  # has no crowds
        rows = [(file, class_, corners, 0) for file, class_, corners, _ in rows]
    assert_same(rows, coco_rows(tmp_path / "back" / "annotations.json"))


def test_row_9_decimals_in_voc_are_kept(tmp_path: Path) -> None:
    """SSD's tool reads coordinates as integers: 4.5 becomes 0 there."""
    objects = (
        "<object><name>cat</name><bndbox><xmin>4.5</xmin><ymin>1e0</ymin>"
        "<xmax>16.25</xmax><ymax> 12 </ymax></bndbox></object>"
    )
    write_voc(tmp_path, voc_xml("a.jpg", (32, 24), objects))
    (box,) = boxes_of(tmp_path)
    assert (box.xmin, box.ymin, box.xmax, box.ymax) == (4.5 / 32, 1 / 24, 16.25 / 32, 0.5)


def boxes_of(path: Path, **options: Any) -> tuple[Box, ...]:
    (sample,) = list_dataset(path, options=FormatOptions(**options)).samples
    assert sample.boxes is not None
    return sample.boxes


def test_row_8_voc_objects_in_any_sequence(tmp_path: Path) -> None:
    """SSD's tool loses a `difficult` behind the box, and aborts on a box before its name."""
    parts = [
        "<name>cat</name>",
        "<difficult>1</difficult>",
        "<part><name>head</name><bndbox><xmin>9</xmin></bndbox></part>",
        "<bndbox><ymax>12</ymax><xmin>4</xmin><xmax>16</xmax><ymin>6</ymin></bndbox>",
    ]
    found = set()
    for seed in range(12):
        random.Random(seed).shuffle(parts)
        write_voc(tmp_path, voc_xml("a.jpg", (32, 24), f"<object>{''.join(parts)}</object>"))
        found |= set(boxes_of(tmp_path))
    assert found == {Box(4 / 32, 6 / 24, 16 / 32, 12 / 24, 1, difficult=True)}


def test_voc_pixels_as_ssd_or_as_voc_counts_them(tmp_path: Path) -> None:
    objects = (
        "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
        "<xmax>32</xmax><ymax>24</ymax></bndbox></object>"
    )
    write_voc(tmp_path / "voc", voc_xml("a.jpg", (32, 24), objects))
    (ssd,) = boxes_of(tmp_path / "voc")
    assert (ssd.xmin, ssd.ymin, ssd.xmax, ssd.ymax) == (1 / 32, 1 / 24, 1, 1)
    (voc,) = boxes_of(tmp_path / "voc", pixels="voc")
    assert (voc.xmin, voc.ymin, voc.xmax, voc.ymax) == (0, 0, 1, 1)
    request = DatasetRequest(target="voc", options=FormatOptions(pixels="voc"))
    convert_dataset(tmp_path / "voc", tmp_path / "again", request)
    assert voc_rows(tmp_path / "again") == [("a.jpg", "cat", [1, 1, 32, 24], 0)]


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        ('<!DOCTYPE a [<!ENTITY b "c">]><annotation>&b;</annotation>', "DAT203"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><annotation/>", "DAT203"),
        ("<annotation>", "DAT202"),
        ("", "DAT202"),
        (voc_xml("a", (9, 9), "<object><bndbox/></object>"), "DAT202"),
        (voc_xml("a", (9, 9), "<object><name>x</name></object>"), "DAT202"),
        (voc_xml("a", (9, 9), "<object><name>x</name><bndbox/></object>"), "DAT202"),
    ],
)
def test_row_8_an_error_names_file_and_object(xml: str, code: str, tmp_path: Path) -> None:
    write_voc(tmp_path, xml)
    with pytest.raises(FormatError) as caught:
        boxes_of(tmp_path)
    finding = caught.value.diagnostic
    assert finding.code == code
    assert finding.where.file.endswith("a.xml")
    if "<object>" in xml:
        assert finding.where.node == "object 1"


def test_row_11_the_class_of_a_box_is_that_of_its_group(coco: Path, tmp_path: Path) -> None:
    convert_dataset(coco, tmp_path / "x.lmdb")
    records = open_dataset(tmp_path / "x.lmdb")
    assert records.kind == "AnnotatedDatum"
    record = records[1]
    assert record.datum.label == -1  # as SSD's tools write it
    assert [label for label, _ in record.groups] == [  # type: ignore[union-attr]
        *dict.fromkeys(box.label for box in some_samples(8, boxes=True)[1].boxes or ())
    ]
    assert all(box.own_label is None for box in record.boxes)
    assert records.key(1) == b"00000001_000000000001.png"


def outside(mode: str) -> tuple[list[Box], Report]:
    boxes = (
        Box(-0.25, 0.5, 0.5, 1.5, 1),  # reaches out
        Box(0.5, 0.5, 0.5, 0.75, 2),  # encloses nothing
        Box(1.5, 0, 2, 1, 3),  # wholly outside
        Box(0.25, 0.25, 0.75, 0.75, 4),
    )
    report = Report()
    (sample,) = some_samples(1)
    changed, findings = Transform(outside=mode)(Sample("a", sample.image, boxes=boxes))
    report.note(findings)
    return list(changed.boxes or ()), report


def test_row_9_boxes_outside_are_kept_clipped_or_dropped_and_counted() -> None:
    kept, report = outside("keep")
    assert len(kept) == 4
    assert report.counts == {"DAT301": 2, "DAT302": 1}
    clipped, report = outside("clip")
    assert clipped == [Box(0, 0.5, 0.5, 1, 1), Box(0.25, 0.25, 0.75, 0.75, 4)]
    assert report.counts == {"DAT301": 2, "DAT302": 2}
    dropped, report = outside("drop")
    assert [box.label for box in dropped] == [4]


def test_an_annotation_of_another_image_size_is_told(tmp_path: Path) -> None:
    objects = (
        "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
        "<xmax>32</xmax><ymax>24</ymax></bndbox></object>"
    )
    write_voc(tmp_path / "voc", voc_xml("a.jpg", (64, 48), objects))
    report = convert_dataset(tmp_path / "voc", tmp_path / "x.lmdb")
    assert [item.code for item in report.found] == ["DAT303"]
    assert "64 x 48, the image has 32 x 24" in report.found[0].message


def test_row_18_boxes_are_refused_where_they_would_be_lost(coco: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="images has no boxes"):
        convert_dataset(coco, tmp_path / "x", DatasetRequest(target="images"))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names: [cat, 'big dog']\nnc: 2\n", ["cat", "big dog"]),
        ("nc: 2\nnames:\n  - cat\n  - big dog  # x\n", ["cat", "big dog"]),
        ("names:\n- cat\n- big dog\nnc: 2", ["cat", "big dog"]),
        ('path: .\nnames:\n  0: cat\n  1: "big dog"\ntrain: a\n', ["cat", "big dog"]),
        ("names: {0: cat, 1: big dog}\n", ["cat", "big dog"]),
    ],
)
def test_classes_of_a_data_yaml(text: str, names: list[str], coco: Path, tmp_path: Path) -> None:
    sample = some_samples(1)[0]
    assert isinstance(sample.image, bytes)
    for folder in ("images", "labels"):
        (tmp_path / "y" / folder).mkdir(parents=True)
    (tmp_path / "y" / "images" / "a.png").write_bytes(sample.image)
    (tmp_path / "y" / "labels" / "a.txt").write_text("1 0.5 0.5 0.25 0.5\n1 0 0 .5 0 .5 .5\n")
    (tmp_path / "y" / "data.yaml").write_text(text)
    listing = list_dataset(tmp_path / "y")
    assert [item.name for item in listing.labels] == names
    assert listing.samples[0].boxes == (
        Box(0.375, 0.25, 0.625, 0.75, 2),
        Box(0, 0, 0.5, 0.5, 2),  # around a polygon
    )


def test_appending_with_other_classes_is_refused(coco: Path, tmp_path: Path) -> None:
    convert_dataset(coco, tmp_path / "x.lmdb")
    other = [label._replace(display_name="bird") for label in LABELS]
    more = write_coco(tmp_path / "more", some_samples(1, boxes=True), other)
    request = DatasetRequest(options=FormatOptions(mode="append"))
    with pytest.raises(RequestError, match="label 1 is 'bird', there it is 'cat'"):
        convert_dataset(more, tmp_path / "x.lmdb", request)
    convert_dataset(coco, tmp_path / "x.lmdb", request)
    records = open_dataset(tmp_path / "x.lmdb")
    assert len(records) == 16
    assert records.key(15) == b"00000015_000000000007.png"
