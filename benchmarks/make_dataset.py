"""How fast a folder of images becomes a database of floats for calibration.

The peer is what scripts around ufwio do, in one thread: OpenCV reads and resizes, `float_data` is
extended from `array.flat`, `lmdb` puts the record and commits at the end. The other bound is
decoding and resizing alone, in one thread as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caffe_nets import compile_schemas, generated
from files import Files
from measure import Action, Side, interleave
from report import Row, seconds

_COUNT = 64
_STORED, _WANTED = (720, 960), (640, 640)


def run(files: Files, rounds: int) -> Iterator[Row]:
    images, descriptors = str(_write_images(files.folder)), str(compile_schemas(files.folder))
    out = str(files.folder / "made.lmdb")
    taken = interleave(
        [
            Side("ufkit", (images, out), "make_dataset:ufkit_makes"),
            Side("ufwio", (images, out + "2", descriptors), "make_dataset:ufwio_makes"),
            Side("bare", (images,), "make_dataset:decode_and_resize"),
        ],
        rounds,
    )
    ours, peer, bare = (taken[name].seconds for name in ("ufkit", "ufwio", "bare"))
    what = f"{_COUNT} images to float32 1x3x640x640, two workers"
    yield Row(
        f"{what}, against a ufwio-style loop",
        seconds(ours),
        seconds(peer),
        peer / ours,
        at_least=10.0,
        unit="x faster",
    )
    yield Row(
        f"{what}, against decoding and resizing alone",
        seconds(ours),
        seconds(bare),
        ours / bare,
        at_most=1.2,
        unit="x the time",
    )


def _write_images(folder: Path) -> Path:
    """Smooth noise, which JPEG packs as it packs photographs."""
    import cv2
    import numpy as np

    images, rng = folder / "images", np.random.default_rng(0)
    images.mkdir(exist_ok=True)
    for number in range(_COUNT):
        coarse = rng.integers(0, 256, (45, 60, 3), np.uint8)
        cv2.imwrite(str(images / f"{number:04}.jpg"), cv2.resize(coarse, _STORED[::-1]))
    return images


def ufkit_makes(images: str, out: str) -> Action:
    from ufkit import Transform, convert_dataset
    from ufkit.datasets.convert import DatasetRequest

    transform = Transform(
        height=_WANTED[0], width=_WANTED[1], dtype="float32", batch=True, arrays=True
    )
    request = DatasetRequest(source="images", transform=transform, workers=2, force=True)
    return lambda: convert_dataset(images, out, request)


def ufwio_makes(images: str, out: str, descriptors: str) -> Action:
    import lmdb
    import numpy as np

    kind: Any = generated(descriptors, "ufw.Datum")
    pictures = decode_and_resize(images)

    def action() -> None:
        with lmdb.open(out, map_size=4 << 30) as database, database.begin(write=True) as change:
            found: Any = pictures()
            for number, picture in enumerate(found):
                array = picture.transpose(2, 0, 1)[None].astype(np.float32)
                datum = kind(dtype=0)
                datum.shape.dim.extend(array.shape)
                datum.float_data.extend(array.flat)
                change.put(b"%010d__ " % number, datum.SerializeToString())

    return action


def decode_and_resize(images: str) -> Action:
    """All pictures, one after the other in one thread."""
    import cv2

    cv2.setNumThreads(1)
    paths = sorted(map(str, Path(images).iterdir()))
    read: Any = cv2.imread
    return lambda: [cv2.resize(read(path), _WANTED[::-1]) for path in paths]
