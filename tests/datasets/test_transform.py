"""What is done to images equals what OpenCV-based tools do, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from pictures import jpg, pixels, png
from ufkit.core.diag import FormatError, NotSupportedError
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.datasets.sample import Sample
from ufkit.datasets.transform import Transform
from ufkit.ufw.dataset import open_dataset


@pytest.mark.parametrize("suffix", ["jpg", "png", "bmp"])
@pytest.mark.parametrize("gray", [False, True])
def test_a_database_has_the_bytes_of_a_direct_pipeline(
    suffix: str, gray: bool, tmp_path: Path
) -> None:
    """imread, resize, planes: convert_imageset --resize_height 17 --resize_width 23."""
    folder = tmp_path / "in"
    folder.mkdir()
    flag = cv2.IMREAD_GRAYSCALE if gray else cv2.IMREAD_COLOR
    direct = []
    for at in range(3):
        path = folder / f"{at}.{suffix}"
        cv2.imwrite(str(path), pixels(at, 40 + at, 50))
        image = cv2.resize(cv2.imread(str(path), flag), (23, 17))
        direct.append(image[None] if gray else image.transpose(2, 0, 1))
    transform = Transform(height=17, width=23, gray=gray)
    convert_dataset(folder, tmp_path / "x.lmdb", DatasetRequest(transform=transform))
    records = open_dataset(tmp_path / "x.lmdb")
    assert len(records) == 3
    for record, array in zip(records, direct, strict=True):
        assert bytes(record.datum.data) == array.tobytes()
        assert record.datum.style == "caffe"


def made(image: Any, **how: Any) -> Any:
    sample, findings = Transform(arrays=True, **how)(Sample("a", image))
    assert not findings
    return sample.array


@pytest.mark.parametrize(
    ("given", "how", "size"),
    [
        ((40, 60), {"min_side": 80}, (80, 120)),  # enlarged
        ((40, 60), {"min_side": 20}, (40, 60)),  # large enough
        ((40, 60), {"max_side": 30}, (20, 30)),
        ((40, 60), {"max_side": 90}, (40, 60)),
        ((40, 60), {"min_side": 80, "max_side": 90}, (60, 90)),  # the longer side decides
        ((40, 60), {"height": 10}, (10, 60)),  # 0 keeps
        ((40, 60), {"width": 10}, (40, 10)),
    ],
)
def test_sizes(given: tuple[int, int], how: dict[str, int], size: tuple[int, int]) -> None:
    assert made(pixels(1, *given), **how).shape == (3, *size)


def test_row_7_colour_order_is_the_one_asked_for() -> None:
    red = np.zeros((4, 4, 3), np.uint8)
    red[..., 2] = 255  # B G R
    assert made(png(red))[:, 0, 0].tolist() == [0, 0, 255]
    assert made(png(red), rgb=True)[:, 0, 0].tolist() == [255, 0, 0]


def test_mean_scale_and_type() -> None:
    image = pixels(2)
    want = image.transpose(2, 0, 1).astype(np.float32) - np.float32([[[104]], [[117]], [[123]]])
    got = made(image, dtype="float32", mean=(104, 117, 123), scale=0.017)
    assert got.dtype == np.float32
    assert np.array_equal(got, want * np.float32(0.017))
    assert np.array_equal(made(image, dtype="float32"), image.transpose(2, 0, 1))
    with pytest.raises(FormatError, match="2 means for 3 channels"):
        made(image, dtype="float32", mean=(1, 2))


def test_row_22_three_or_four_axes() -> None:
    image = pixels(3)
    assert made(image).shape == (3, 24, 32)
    assert made(image, batch=True).shape == (1, 3, 24, 32)
    assert made(image, batch=True, gray=True).shape == (1, 1, 24, 32)


def test_row_12_encoded_files_are_stored_as_they_are_and_read_in_true_size(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    data = {"a.jpg": jpg(pixels(1)), "b.png": png(pixels(2)), "gray.jpg": jpg(pixels(3)[..., 0])}
    for name, content in data.items():
        (folder / name).write_bytes(content)
    request = DatasetRequest(transform=Transform(encode="jpg"))
    convert_dataset(folder, tmp_path / "x.lmdb", request)
    records = [record.datum for record in open_dataset(tmp_path / "x.lmdb")]
    assert all(record.encoded for record in records)
    assert bytes(records[0].data) == data["a.jpg"]
    assert bytes(records[1].data)[:3] == b"\xff\xd8\xff"  # of another type: made anew
    assert bytes(records[2].data) == data["gray.jpg"]
    assert [record.stated_shape[1:] for record in records] == [(24, 32)] * 3
    # and a database of arrays from one of files has what OpenCV decodes
    convert_dataset(tmp_path / "x.lmdb", tmp_path / "y.lmdb")
    first = open_dataset(tmp_path / "y.lmdb")[0].datum.array()
    direct = cv2.imdecode(np.frombuffer(data["a.jpg"], np.uint8), cv2.IMREAD_COLOR)
    assert np.array_equal(first, direct.transpose(2, 0, 1))


def test_arrays_that_are_no_pictures_pass_or_are_refused() -> None:
    features = np.ones((8, 5, 5), np.float32)
    sample = Sample("a", array=features)
    assert Transform(arrays=True)(sample)[0].array is features
    with pytest.raises(NotSupportedError, match=r"float32\[8, 5, 5\]"):
        Transform()(sample)


def test_a_jpeg_that_ends_too_early_is_no_image() -> None:
    """OpenCV before 5 gives one, gray below."""
    data = jpg(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8))
    with pytest.raises(FormatError, match="ends too early"):
        made(data[: len(data) // 2])


def test_sixteen_bits_become_eight_as_imread_has_them(tmp_path: Path) -> None:
    deep = np.random.default_rng(1).integers(0, 1 << 16, (6, 7, 3), np.uint16)
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), deep)
    assert np.array_equal(made(path.read_bytes()), cv2.imread(str(path)).transpose(2, 0, 1))
