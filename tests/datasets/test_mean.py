"""Mean images, held against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pictures import pixels, png
from ufkit.core.diag import FormatError
from ufkit.datasets.convert import DatasetRequest, convert_dataset, mean_of
from ufkit.datasets.transform import Transform


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "in"
    path.mkdir()
    for at in range(7):
        (path / f"{at}.png").write_bytes(png(pixels(at)))
    return path


def test_row_1_mean_image_and_channels_of_a_database(folder: Path, tmp_path: Path) -> None:
    convert_dataset(folder, tmp_path / "x.lmdb")
    found, report = mean_of(tmp_path / "x.lmdb")
    stack = np.stack([pixels(at).transpose(2, 0, 1) for at in range(7)]).astype(np.float64)
    assert report.written == 7
    assert found.image.dtype == np.float32
    assert np.array_equal(found.image, stack.mean(0).astype(np.float32))
    assert np.allclose(found.channels, stack.mean((0, 2, 3)), rtol=1e-12)
    assert np.allclose(found.deviation, stack.std((0, 2, 3)), rtol=1e-9)


def test_means_of_what_is_resized_on_the_way(folder: Path) -> None:
    found, _ = mean_of(folder, DatasetRequest(transform=Transform(height=8, width=9, gray=True)))
    assert found.image.shape == (1, 8, 9)


def test_different_sizes_have_no_mean(folder: Path) -> None:
    (folder / "5.png").write_bytes(png(pixels(0, 9, 9)))
    with pytest.raises(FormatError) as caught:
        mean_of(folder)
    assert caught.value.diagnostic.code == "DAT104"
    _, report = mean_of(folder, DatasetRequest(on_error="skip"))
    assert (report.written, report.skipped) == (6, 1)
