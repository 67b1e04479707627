"""Datasets on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from cli.conftest import Run
from pictures import pixels, png, some_samples, voc_xml, write_coco, write_voc
from ufkit.ufw.dataset import open_dataset
from ufkit.ufw.io import open_blob, open_labels


@pytest.fixture
def coco(tmp_path: Path) -> Path:
    return write_coco(tmp_path / "coco", some_samples(4, boxes=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "in"
    for at in range(4):
        (path / f"class {at % 2}").mkdir(parents=True, exist_ok=True)
        (path / f"class {at % 2}" / f"{at}.png").write_bytes(png(pixels(at)))
    return path


def test_a_folder_of_classes_becomes_a_database(run: Run, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.lmdb"
    done = run("convert", folder, target)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"wrote {target}: lmdb, 4 samples\n"
    records = open_dataset(target)
    assert records.key(0) == b"00000000_class 0/0.png"
    assert [record.label for record in records] == [0, 0, 1, 1]
    labels = open_labels(target / "labelmap.prototxt").labels
    assert [(item.label, item.name) for item in labels] == [(0, "class 0"), (1, "class 1")]


def test_coco_with_its_images_elsewhere(run: Run, coco: Path, tmp_path: Path) -> None:
    images = tmp_path / "elsewhere"
    (coco.parent / "images").rename(images)
    bare = run("convert", coco, tmp_path / "x.lmdb", "--json")
    assert bare.code == 3
    assert bare.codes == ["DAT101"]
    done = run("convert", coco, tmp_path / "x.lmdb", "--images", images, "--json")
    assert done.code == 0
    data = done.json["data"]
    assert (data["from"], data["to"], data["read"], data["written"]) == ("coco", "lmdb", 4, 4)


def test_what_is_left_out_is_told_and_is_exit_code_1(run: Run, coco: Path, tmp_path: Path) -> None:
    (coco.parent / "images" / f"{2:012}.png").write_bytes(b"")
    done = run("convert", coco, tmp_path / "x.lmdb", "--on-error", "skip", "-q")
    assert done.code == 1
    assert "lmdb, 3 samples\nleft out 1 of 4 samples\nerror[DAT102] the file is empty" in done.out


def test_row_21_an_existing_database_is_refused_replaced_or_appended_to(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "x.lmdb"
    run("convert", folder, target)
    again = run("convert", folder, target, "--json")
    assert again.code == 3
    assert again.codes == ["UFK003"]
    assert "--append, --resume, or --force" in again.out
    assert run("convert", folder, target, "--append").code == 0
    assert len(open_dataset(target)) == 8
    assert run("convert", folder, target, "--force").code == 0
    assert len(open_dataset(target)) == 4


def test_row_5_one_file_without_a_lock(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("convert", folder, tmp_path / "x.mdb", "--keys", "ufwio").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in",
        "x.mdb",
        "x.mdb.labelmap.prototxt",
    ]
    assert open_dataset(tmp_path / "x.mdb").key(1) == b"0000000001__class 0/2.png"


def test_row_20_a_small_database_is_a_small_file(run: Run, folder: Path, tmp_path: Path) -> None:
    """Windows allocates the whole map: Caffe's terabyte does not open there."""
    run("convert", folder, tmp_path / "x.lmdb")
    assert (tmp_path / "x.lmdb" / "data.mdb").stat().st_size < 1 << 20


def test_row_1_the_mean_of_a_database(run: Run, folder: Path, tmp_path: Path) -> None:
    run("convert", folder, tmp_path / "x.lmdb")
    target = tmp_path / "mean.binaryproto"
    done = run("convert", tmp_path / "x.lmdb", target)
    assert done.code == 0
    stack = np.stack([pixels(at).transpose(2, 0, 1) for at in range(4)]).astype(np.float64)
    assert np.array_equal(open_blob(target).array()[0], stack.mean(0).astype(np.float32))
    rows = [line.split() for line in done.out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["channel", "B", "G", "R"]
    assert float(rows[1][1]) == pytest.approx(stack.mean((0, 2, 3))[0], rel=1e-5)
    npy = tmp_path / "mean.npy"
    run("convert", tmp_path / "x.lmdb", npy, "--mean-layout", "c", "--rgb")
    assert np.allclose(np.load(npy), stack.mean((0, 2, 3))[::-1], rtol=1e-5)
    assert run("convert", tmp_path / "x.lmdb", npy).code == 3  # exists
    for option in (("--rgb",), ("--mean-layout", "c")):
        done = run("convert", tmp_path / "x.lmdb", tmp_path / "new.binaryproto", *option)
        assert done.code == 2
        assert "concern .npy only" in done.err


def test_options_of_convert_imageset(run: Run, folder: Path, tmp_path: Path) -> None:
    done = run(
        "convert", folder, tmp_path / "x.lmdb", "--resize-height", 10, "--resize-width", 12,
        "--dtype", "float32", "--mean", "104,117,123", "--scale", 0.5, "--bgr2rgb", "--batch",
        "--shuffle", 3, "--workers", 2,
    )  # fmt: skip
    assert done.code == 0, done.err
    record = open_dataset(tmp_path / "x.lmdb")[0].datum
    number = int(open_dataset(tmp_path / "x.lmdb").key(0).decode()[-5])
    image = cv2.resize(pixels(number), (12, 10))[..., ::-1].transpose(2, 0, 1)
    want = (image.astype(np.float32) - np.float32([[[104]], [[117]], [[123]]])) * np.float32(0.5)
    assert np.array_equal(record.array(), want[None])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--opset", 13), "--opset does not concern datasets"),
        (("--voc-pixels", "voc"), "--voc-pixels means nothing here, neither for classes nor"),
        (("--outside", "clip"), "--outside concerns boxes, and there are none"),
        (("--mean", "1"), "--mean needs --dtype float32"),
        (("--mean", "x"), "'x' is not numbers with commas between"),
        (("--encode-type", "jpg", "--bgr2rgb"), "--bgr2rgb concerns arrays"),
        (("--min-dim", 3, "--resize-width", 3), "choose one"),
        (("--append", "--force"), "choose one"),
    ],
)
def test_options_without_effect_are_refused(
    options: tuple[object, ...], message: str, run: Run, folder: Path, tmp_path: Path
) -> None:
    done = run("convert", folder, tmp_path / "x.lmdb", *options)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "x.lmdb").exists()


def test_options_of_datasets_are_refused_for_models(run: Run, net: Path, tmp_path: Path) -> None:
    done = run("convert", net, tmp_path / "x.onnx", "--gray")
    assert done.code == 2
    assert "--gray concerns datasets only" in done.err


def test_a_folder_of_nothing_known(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("convert", tmp_path / "empty", tmp_path / "x.lmdb", "--json")
    assert done.code == 3
    assert done.codes == ["DAT001"]
    done = run("convert", tmp_path / "absent", tmp_path / "x.lmdb", "--json")
    assert done.codes == ["UFK001"]


def test_a_label_map_numbers_the_classes(run: Run, tmp_path: Path) -> None:
    box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>"
    write_voc(
        tmp_path / "voc", voc_xml("a.jpg", (32, 24), f"<object><name>dog</name>{box}</object>")
    )
    labels = tmp_path / "map.prototxt"
    labels.write_text('item { name: "dog" label: 12 display_name: "Hund" }\n')
    done = run("convert", tmp_path / "voc", tmp_path / "x.lmdb", "--labels", labels)
    assert done.code == 0, done.err
    assert [box.label for box in open_dataset(tmp_path / "x.lmdb")[0].boxes] == [12]
    labels.write_text('item { name: "cat" label: 1 display_name: "cat" }\n')
    done = run("convert", tmp_path / "voc", tmp_path / "y.lmdb", "--labels", labels, "--json")
    assert done.codes == ["DAT204"]


def test_formats_named_for_the_command_line_are_those_there_are() -> None:
    from ufkit.cli.datasets.options import NAMES
    from ufkit.datasets.formats import FORMATS

    assert set(NAMES) == set(FORMATS)


def test_out_again_to_every_format(run: Run, coco: Path, tmp_path: Path) -> None:
    run("convert", coco, tmp_path / "x.lmdb", "--resize-height", 20, "--resize-width", 30)
    for name in ("coco", "voc", "yolo", "parquet", "webdataset", "npz", "lmdb"):
        done = run("convert", tmp_path / "x.lmdb", tmp_path / f"out-{name}", "--to", name, "--json")
        assert done.code == 0, done.out
        assert done.json["data"]["written"] == 4
    annotations = json.loads((tmp_path / "out-coco" / "annotations.json").read_text())
    assert {row["height"] for row in annotations["images"]} == {20}


def test_show_draws_boxes_labels_and_what_is_wrong(run: Run, coco: Path, tmp_path: Path) -> None:
    run("convert", coco, tmp_path / "x.lmdb")
    sheet = tmp_path / "sheet.png"
    done = run("show", tmp_path / "x.lmdb", "-o", sheet, "--side", 100, "--columns", 2)
    assert (done.code, done.out) == (0, f"wrote {sheet}: 4 of 4 samples\n")
    picture = cv2.imread(str(sheet))
    assert picture.shape == (2 * (136 + 10) + 10, 2 * (100 + 10) + 10, 3)
    # the first image, enlarged, but for its box
    cell = picture[10 + 12 : 110 - 12, 10:110]
    plain = cv2.resize(pixels(0), (100, 75), interpolation=cv2.INTER_NEAREST)[:76]
    same = (cell[:75] == plain[: len(cell)]).all(2).mean()
    assert 0.5 < same < 0.99
    (coco.parent / "images" / f"{1:012}.png").write_bytes(b"")
    assert run("show", coco, "-o", tmp_path / "bad.png").code == 0


def test_show_finds_keys(run: Run, coco: Path, tmp_path: Path) -> None:
    run("convert", coco, tmp_path / "x.lmdb")
    keys = ["00000001_000000000001.png", "000000000003.png"]
    done = run("show", tmp_path / "x.lmdb", *keys, "-o", tmp_path / "s.png", "--json")
    assert done.json["data"]["shown"] == 2
    done = run("show", tmp_path / "x.lmdb", "absent", "-o", tmp_path / "t.png")
    assert done.code == 2
    assert "there is no sample 'absent'" in done.err
    done = run("show", tmp_path / "x.lmdb", *keys, "-o", tmp_path / "t.png", "--count", 3)
    assert done.code == 2
    done = run("show", tmp_path / "x.lmdb", "-o", tmp_path / "s.png", "--json")
    assert done.codes == ["UFK003"]


def test_show_takes_arrays_that_are_no_pictures(run: Run, tmp_path: Path) -> None:
    arrays = np.random.default_rng(0).standard_normal((3, 8, 5, 6), np.float32)
    arrays[1] = np.nan
    np.save(tmp_path / "x.npy", arrays)
    assert run("show", tmp_path / "x.npy", "-o", tmp_path / "s.png").code == 0
