"""Small datasets for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lmdb
import numpy as np

import ufkit
from ufkit.ufw.annotations import AnnotatedDatum, Box, Record
from ufkit.ufw.datum import Datum


def record(number: int, *, size: int = 1) -> Datum:
    """An image told by its number."""
    rng = np.random.default_rng(number)
    return Datum.of(rng.integers(1, 256, (3, 4 * size, 5 * size), np.uint8), number, style="caffe")


def made(path: Path, count: int = 5, **options: Any) -> Path:
    """A dataset of so many images, written by the writer."""
    with ufkit.create_dataset(path, **options) as out:
        for number in range(count):
            out.put(record(number), f"{number}.jpg")
    return path


def foreign(path: Path, items: dict[bytes, bytes]) -> Path:
    """A database of any keys and values, as another tool writes it."""
    environment = lmdb.open(str(path), map_size=1 << 22)
    with environment.begin(write=True) as transaction:
        for key, value in items.items():
            transaction.put(key, value)
    environment.close()
    return path


def of_records(path: Path, records: Iterable[Record]) -> Path:
    """A dataset of records of whatever kinds."""
    return foreign(path, {b"%08d_" % n: each.to_bytes() for n, each in enumerate(records)})


def floats(values: Any, label: int | None = 0) -> Datum:
    return Datum.of(np.asarray(values, np.float32), label)


def boxed(*boxes: Box, number: int = 0) -> AnnotatedDatum:
    return AnnotatedDatum.of(record(number), boxes)
