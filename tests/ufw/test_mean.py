"""Mean images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ufkit
from ufkit.ufw.io import open_blob
from ufkit.ufw.mean import channel_means, mean_array, mean_blob
from ufkit.wire.message import to_bytes
from ufw.nets import blob_of

IMAGE = np.arange(24, dtype=np.float32).reshape(3, 2, 4)


@pytest.mark.parametrize(
    "array", [IMAGE, IMAGE[None], IMAGE.astype(np.float64), IMAGE.mean((1, 2))]
)
def test_arrays_of_every_layout(array: np.ndarray) -> None:
    blob = mean_blob(array)
    assert blob.legacy
    assert blob.shape == (1, 3, *(array.shape[-2:] if array.ndim > 1 else (1, 1)))
    assert channel_means(blob) == pytest.approx(IMAGE.mean((1, 2)))


@pytest.mark.parametrize("fields", [{"dim": [1, 3, 2, 4]}, {"dim": [3, 2, 4]}])
def test_blobs_of_every_shape(fields: dict[str, list[int]]) -> None:
    blob = blob_of(data=IMAGE.reshape(-1), **fields)
    assert np.array_equal(mean_array(blob), IMAGE[None])
    assert np.array_equal(mean_array(blob, "chw"), IMAGE)
    assert mean_array(blob, "c").tolist() == [3.5, 11.5, 19.5]
    assert mean_array(blob, "c", rgb=True).tolist() == [19.5, 11.5, 3.5]
    assert np.array_equal(mean_array(blob, "chw", rgb=True), IMAGE[::-1])


@given(st.booleans(), st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3)))
def test_there_and_back(rgb: bool, sizes: tuple[int, int, int]) -> None:
    image = np.random.default_rng(0).standard_normal(sizes).astype(np.float32)
    assert np.array_equal(mean_array(mean_blob(image, rgb=rgb), "chw", rgb=rgb), image)


@pytest.mark.parametrize("shape", [(), (2, 3), (2, 3, 4, 5), (1, 1, 3, 4, 5), (0,), (3, 0, 2)])
def test_what_is_no_image_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ufkit.RequestError) as raised:
        mean_blob(np.zeros(shape))
    assert raised.value.diagnostic.code == "UFW110"
    with pytest.raises(ufkit.RequestError):
        mean_array(blob_of(dim=[2, 3, 4, 5], data=np.zeros(120)))


def test_the_corpus(corpus: Path, tmp_path: Path) -> None:
    path = corpus / "ufw" / "mean.binaryproto"
    ufkit.convert(path, tmp_path / "m.npy")
    assert np.load(tmp_path / "m.npy").shape == (1, 3, 256, 256)
    ufkit.convert(tmp_path / "m.npy", tmp_path / "m.binaryproto")
    assert (tmp_path / "m.binaryproto").read_bytes() == path.read_bytes()
    assert to_bytes(open_blob(path).message) == path.read_bytes()


def test_an_array_file_that_is_none(tmp_path: Path) -> None:
    for number, data in enumerate(
        (
            b"\x93NUMPY",
            b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4'}",
        )
    ):
        path = tmp_path / f"{number}.npy"
        path.write_bytes(data)
        with pytest.raises(ufkit.FormatError) as raised:
            ufkit.convert(path, tmp_path / "m.binaryproto")
        assert raised.value.diagnostic.code == "CNV005"
