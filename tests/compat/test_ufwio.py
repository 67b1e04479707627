"""Sophon's `ufwio`: datasets for its quantisation tools."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit
import ufwio
from ufwio.io import LMDB_Dataset
from ufwio.lmdb_info import main


def arrays(path: Path) -> dict[str, Any]:
    return {key: array.tolist() for key, array in ufwio.lmdb_data(path)}


def test_arrays_are_kept_in_their_shape_and_type(tmp_path: Path) -> None:
    image = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    with LMDB_Dataset(str(tmp_path / "d"), queuesize=1) as dataset:
        dataset.put(image, labels=3)
        dataset.put([np.int8([1, 2]), np.uint8([3])], labels=[4, 5], keys=["a", "b"])
    with ufkit.open_dataset(tmp_path / "d") as found:
        assert [*found.keys()] == [b"0000000000__ ", b"0000000001__a", b"0000000002__b"]
        records = [found[at].datum for at in range(3)]
        assert [record.label for record in records] == [3, 4, 5]
        assert [record.array().dtype.name for record in records] == ["float32", "int8", "uint8"]
        np.testing.assert_array_equal(records[0].array(), image)
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["data.mdb"]  # no lock, as ufwio


def test_a_buffer_can_be_used_again(tmp_path: Path) -> None:
    buffer = np.zeros(2, np.float32)
    dataset = LMDB_Dataset(tmp_path / "d", mapsize=20e6)
    for number in range(3):
        buffer[:] = number
        dataset.put(buffer)
    dataset.close()
    assert list(arrays(tmp_path / "d").values()) == [[0, 0], [1, 1], [2, 2]]


def test_what_is_there_is_replaced_when_the_new_one_is_closed(tmp_path: Path) -> None:
    for value in (1, 2):
        dataset = LMDB_Dataset(tmp_path / "d")
        dataset.put(np.float32([value]))
        assert value == 1 or list(arrays(tmp_path / "d").values()) == [[1]]
        dataset.close()
    assert list(arrays(tmp_path / "d").values()) == [[2]]
    with pytest.raises(ufkit.RequestError), LMDB_Dataset(tmp_path / "d") as dataset:
        dataset.put(np.float32([3]), labels=[])
    assert list(arrays(tmp_path / "d").values()) == [[2]]


def test_it_is_closed_when_the_program_ends(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import numpy as np, ufwio\n"
        f"dataset = ufwio.LMDB_Dataset({str(tmp_path / 'd')!r})\n"
        "dataset.put(np.float32([1]))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(arrays(tmp_path / "d").values()) == [[1]]


@pytest.mark.parametrize(
    ("put", "code"),
    [
        ({"data": [np.zeros(1, np.int8)] * 2, "labels": 7}, "UFW303.*1 labels for 2 arrays"),
        ({"data": np.zeros(1, np.int8), "keys": ["a", "b"]}, "UFW303.*2 keys for 1 arrays"),
        ({"data": np.zeros(1)}, "UFW303.*float64"),
        ({"data": [np.zeros(1, np.int8), np.zeros(1)]}, "UFW303.*float64"),
    ],
)
def test_what_does_not_go_together_is_refused(
    tmp_path: Path, put: dict[str, Any], code: str
) -> None:
    with LMDB_Dataset(tmp_path / "d") as dataset:
        with pytest.raises(ufkit.RequestError, match=code):
            dataset.put(**put)
        dataset.put(np.float32([1]))
    assert list(arrays(tmp_path / "d").values()) == [[1]]


def test_what_is_in_a_database_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LMDB_Dataset(tmp_path / "d") as dataset:
        dataset.put(np.zeros((1, 2), np.float32), labels=3, keys="a")
        dataset.put(np.zeros(4, np.uint8))
    assert main([str(tmp_path / "d")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "0000000000__a: float32[1, 2], label 3",
        "0000000001__ : uint8[4]",
        "2 records",
    ]
    assert main([]) == 2
    assert main([str(tmp_path / "none")]) == 3
    assert "Traceback" not in capsys.readouterr().err
    (tmp_path / "file").touch()
    with pytest.raises(ufkit.FileError, match="UFK002"):
        LMDB_Dataset(tmp_path / "file")
