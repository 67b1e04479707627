"""How fast records of datasets become arrays and arrays records, and how fast LMDBs of them are.

The peer for single records does what ufwio is documented to do, written anew: `float_data` is
extended from `array.flat`, and read with `np.array(datum.float_data)`. For databases it is a bare
`lmdb` cursor that takes each value as bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caffe_nets import compile_schemas, generated
from files import Files
from measure import Action, Side, interleave
from report import Row, mib, seconds

_IMAGE = (1, 3, 640, 640)
_SIZES = {"224 x 224": (3, 224, 224), "32 x 32": (3, 32, 32)}
_MIB_OF_IMAGES = 150
_MANY, _FEW = 2_000_000, 2_000
_LOOKS = 1000


def run(files: Files, rounds: int) -> Iterator[Row]:
    descriptors = str(compile_schemas(files.folder))
    sides = [
        Side("ufkit encode", (), "datum:ufkit_encode"),
        Side("ufwio encode", (descriptors,), "datum:ufwio_encode"),
        Side("ufkit decode", (), "datum:ufkit_decode"),
        Side("ufkit decode, copied", (), "datum:ufkit_decode_copied"),
        Side("ufwio decode", (descriptors,), "datum:ufwio_decode"),
    ]
    taken = interleave(sides, rounds)
    for what, peer, target in (
        ("encode", "encode", 100.0),
        ("decode", "decode", 8.0),
        ("decode, copied", "decode", None),
    ):
        mine, other = taken[f"ufkit {what}"], taken[f"ufwio {peer}"]
        yield Row(
            f"{what}: float32 1x3x640x640, warm",
            seconds(mine.warm),
            seconds(other.warm),
            other.warm / mine.warm,
            at_least=target,
            unit="x faster",
        )
    for name, shape in _SIZES.items():
        yield from _sequential(files.folder, name, shape, rounds)
    yield from _ranks(files.folder, rounds)


def _sequential(folder: Path, name: str, shape: tuple[int, ...], rounds: int) -> Iterator[Row]:
    path = str(_write_images(folder, shape))
    taken = interleave(
        [
            Side("arrays", (path,), "datum:ufkit_arrays"),
            Side("arrays, copied,", (path,), "datum:ufkit_copies"),
            Side("records", (path,), "datum:ufkit_records"),
            Side("cursor", (path,), "datum:raw_cursor"),
        ],
        rounds,
    )
    raw = taken["cursor"].seconds
    for what in ("records", "arrays", "arrays, copied,"):
        mine = taken[what].seconds
        target = 0.8 if shape[-1] > 100 and "copied" not in what else None
        yield Row(
            f"all {what} of {_MIB_OF_IMAGES} MiB of uint8 3 x {name}, against a bare cursor",
            seconds(mine),
            seconds(raw),
            raw / mine,
            at_least=target,
            unit="x the speed",
        )


def _ranks(folder: Path, rounds: int) -> Iterator[Row]:
    few, many = (str(_write_many(folder, count)) for count in (_FEW, _MANY))
    taken = interleave(
        [
            Side(f"{what} {count}", (path,), f"datum:{function}")
            for what, function in (("open", "open_and_len"), ("index", "by_index"))
            for count, path in ((_FEW, few), (_MANY, many))
        ],
        rounds,
    )
    for what, title in (
        ("open", "open and len"),
        ("index", f"{_LOOKS:,} records at random indices"),
    ):
        mine, other = taken[f"{what} {_MANY}"], taken[f"{what} {_FEW}"]
        yield Row(
            f"{title}: {_MANY:,} records, against {_FEW:,}",
            seconds(mine.seconds),
            seconds(other.seconds),
            mine.seconds / other.seconds,
            unit="x the time",
        )
        yield Row(f"{title}, resident growth", mib(mine.grown), mib(other.grown))


# -- files -----------------------------------------------------------------------------------


def _write_images(folder: Path, shape: tuple[int, ...]) -> Path:
    import numpy as np

    from ufkit import Datum, create_dataset

    path = folder / f"images{shape[-1]}"
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    with create_dataset(path) as out:
        for number in range((_MIB_OF_IMAGES << 20) // image.nbytes):
            out.put(Datum.of(image, number, style="caffe"))
    return path


def _write_many(folder: Path, count: int) -> Path:
    from ufkit import Datum, create_dataset

    path = folder / f"labels{count}"
    with create_dataset(path, commit_every=100_000) as out:
        record = Datum.read(b"\x08\x01\x10\x01\x18\x01\x22\x01x\x28\x01").to_bytes()
        for _ in range(count):
            out.put(record)
    return path


# -- ufkit -----------------------------------------------------------------------------------


def _image() -> Any:
    import numpy as np

    return np.random.default_rng(0).standard_normal(_IMAGE).astype(np.float32)


def ufkit_encode() -> Action:
    from ufkit import Datum

    image = _image()
    return lambda: Datum.of(image, 1).to_bytes()


def ufkit_decode() -> Action:
    from ufkit import Datum

    data = Datum.of(_image(), 1).to_bytes()
    return lambda: Datum.read(data).array()


def ufkit_decode_copied() -> Action:
    """With the elements in a row, as the peer has them."""
    import numpy as np

    from ufkit import Datum

    data = Datum.of(_image(), 1).to_bytes()
    return lambda: np.ascontiguousarray(Datum.read(data).array())


def ufkit_records(path: str) -> Action:
    from ufkit import open_dataset

    dataset = open_dataset(path)
    return lambda: sum(1 for _ in dataset)


def ufkit_arrays(path: str) -> Action:
    from ufkit import open_dataset

    dataset = open_dataset(path)
    return lambda: sum(record.array().size for record in dataset)


def ufkit_copies(path: str) -> Action:
    """Each byte touched, as the cursor does when it makes bytes of a value."""
    from ufkit import open_dataset

    dataset = open_dataset(path)
    return lambda: sum(record.array().copy().size for record in dataset)


def open_and_len(path: str) -> Action:
    from ufkit import open_dataset

    return lambda: len(open_dataset(path))


def by_index(path: str) -> Action:
    from ufkit import open_dataset

    dataset = open_dataset(path)
    chosen = random.Random(0).choices(range(len(dataset)), k=_LOOKS)
    return lambda: [dataset[index].datum.label for index in chosen]


# -- the peers -------------------------------------------------------------------------------


def ufwio_encode(descriptors: str) -> Action:
    kind, image = generated(descriptors, "ufw.Datum"), _image()

    def action() -> bytes:
        datum = kind()
        datum.shape.dim.extend(image.shape)
        datum.dtype = 0
        datum.float_data.extend(image.flat)
        datum.label = 1
        return datum.SerializeToString()  # type: ignore[no-any-return]

    return action


def ufwio_decode(descriptors: str) -> Action:
    import numpy as np

    kind, data = generated(descriptors, "ufw.Datum"), ufwio_encode(descriptors)()

    def action() -> object:
        datum = kind.FromString(data)
        return np.array(datum.float_data, np.float32).reshape(tuple(datum.shape.dim))

    return action


def raw_cursor(path: str) -> Action:
    import lmdb

    environment = lmdb.open(path, readonly=True, lock=False)

    def action() -> int:
        with environment.begin() as transaction:
            return sum(len(value) for _, value in transaction.cursor())

    return action
