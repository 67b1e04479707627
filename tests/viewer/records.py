"""Datasets for tests of the viewer: large ones, and ones that mean harm."""

from __future__ import annotations

import json
from pathlib import Path

import lmdb
import numpy as np

from pictures import jpg, pixels, png, some_boxes
from ufkit.ufw.annotations import AnnotatedDatum, Box
from ufkit.ufw.datum import Datum

NAMES = ("cat", "<script>alert(1)</script>", "\N{RIGHT-TO-LEFT OVERRIDE}god")
HOSTILE_KEY = b"00000009_<img src=x onerror=alert(1)>\xe2\x80\xae../../etc/passwd" + b"x" * 300
DAMAGED = (3, 4)


def database(folder: Path, records: dict[bytes, bytes]) -> Path:
    """An LMDB of these keys and values."""
    environment = lmdb.open(str(folder), map_size=1 << 30, sync=False)
    with environment.begin(write=True) as transaction:
        for key in sorted(records):
            transaction.put(key, records[key], append=True)
    environment.close()
    return folder


def large(folder: Path, count: int = 100_000) -> Path:
    """Small images with labels 0 to 9, in the sequence of their keys."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (10, 3, 6, 8), np.uint8)
    values = [Datum.of(image, at, style="caffe").to_bytes() for at, image in enumerate(images)]
    return database(folder, {b"%08d_%d.jpg" % (n, n): values[n % 10] for n in range(count)})


def of_all_kinds(folder: Path, count: int = 24) -> Path:
    """Encoded images with boxes, arrays of odd kinds, damaged records, hostile names."""
    rng = np.random.default_rng(1)
    records: dict[bytes, bytes] = {}
    for at in range(count):
        shown = pixels(at, 40 + at, 60)
        image = (jpg if at % 2 else png)(shown)
        datum = Datum.of_image(image, -1)
        boxes = some_boxes(at, at % 4)
        records[b"%08d_%d.jpg" % (at, at)] = AnnotatedDatum.of(datum, boxes).to_bytes()
    keys = sorted(records)
    records[keys[3]] = records[keys[3]][:50]
    records[keys[4]] = b"hello, this is no record"
    floats = rng.normal(0, 5, (7, 20, 30)).astype(np.float32)
    floats[0, 0, 0] = np.nan
    records[keys[5]] = AnnotatedDatum.of(Datum.of(floats, 2), None).to_bytes()
    records[keys[6]] = AnnotatedDatum.of(
        Datum.of(np.arange(12.0, dtype=np.float32), 1), None
    ).to_bytes()
    odd = [Box(float("nan"), 0, 1, 1, 2), Box(-0.5, -0.5, 1.5, 2, 3, score=0.25)]
    records[keys[7]] = AnnotatedDatum.of(Datum.of_image(png(pixels(7)), -1), odd).to_bytes()
    cut = Datum.of_image(jpg(pixels(8))[:-200], -1)
    records[keys[8]] = AnnotatedDatum.of(cut, []).to_bytes()
    records[HOSTILE_KEY] = records.pop(keys[9])
    path = database(folder, records)
    rows = (
        f"item {{ name: {json.dumps(name)} label: {at} display_name: {json.dumps(name)} }}"
        for at, name in enumerate(NAMES, 1)
    )
    (folder / "labelmap.prototxt").write_text("\n".join(rows), "utf-8")
    return path
