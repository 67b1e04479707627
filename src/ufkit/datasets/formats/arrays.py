"""NumPy's files: .npz of all samples, and stacks of images in .npy.

A .npz has `images` (the arrays of all samples, one stack), `keys`, `sizes` (width and height), and,
where samples have them, `labels`, `values` and `boxes`: rows of item, label, instance, xmin, ymin,
xmax, ymax, difficult, which are those of Caffe's AnnotatedData layer.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np

from ufkit.core.diag import FormatError, Where
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.pictures import where
from ufkit.datasets.report import Report
from ufkit.datasets.rules import LEFT_OUT, NOT_DATASET, SIZES_DIFFER
from ufkit.datasets.sample import Array, Box, Lazy, Listing, Sample

_CHANNELS = (1, 3)
_BAD = (ValueError, EOFError, SyntaxError, TokenError, TypeError, KeyError, zipfile.BadZipFile)


def _sniff(path: Path) -> bool:
    if not path.is_file() or path.suffix.lower() not in (".npz", ".npy"):
        return False
    with open(path, "rb") as file:
        return file.read(6) in (
            b"\x93NUMPY",
            b"PK\x03\x04\x14\0",
            b"PK\x03\x04\x2d\0",
            b"PK\x05\x06\0\0",
        )


def _members(path: Path) -> Mapping[str, Array]:
    """The arrays of a file, those of a .npy not read. Raises FormatError (DAT001)."""
    where_ = Where(os.fspath(path))
    try:
        if path.suffix.lower() == ".npy":
            return {"images": np.lib.format.open_memmap(path, mode="r")}
        with open(path, "rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except _BAD as error:
        raise FormatError(NOT_DATASET.at(where_, f"its arrays cannot be read: {error}")) from error


def _read(path: Path, options: FormatOptions) -> Listing:
    where_ = Where(os.fspath(path))
    members = dict(_members(path))
    large = [name for name, array in members.items() if array.ndim >= 3]
    name = "images" if "images" in members else large[0] if len(large) == 1 else ""
    if not name or members[name].ndim < 2:
        shown = ", ".join(f"{key} {list(array.shape)}" for key, array in members.items())
        message = f"there is no one stack of images among: {shown or 'nothing'}"
        raise FormatError(NOT_DATASET.at(where_, message, hint="name it `images`"))
    stack = members[name]
    columns = {key: members.get(key) for key in ("keys", "sizes", "labels", "values", "boxes")}
    for key, column in columns.items():
        if column is not None and key != "boxes" and len(column) != len(stack):
            message = f"{key} has {len(column)} rows for {len(stack)} images"
            raise FormatError(NOT_DATASET.at(where_, message))
    boxes = _boxes(columns["boxes"], len(stack), where_)
    stem = path.stem

    def load(at: int) -> Sample:
        def of(key: str) -> Any:
            column = columns[key]
            return None if column is None else column[at]

        key, label, size, values = of("keys"), of("labels"), of("sizes"), of("values")
        image, array = _image(np.asarray(stack[at]), rgb=options.rgb)
        return Sample(
            key=f"{stem}_{at:08}" if key is None else str(key),
            image=image,
            array=array,
            label=None if label is None or np.ndim(label) or label < 0 else int(label),
            values=() if values is None else tuple(map(float, np.ravel(values))),
            boxes=None if boxes is None else boxes.get(at, ()),
            width=0 if size is None else int(size[0]),
            height=0 if size is None else int(size[1]),
        )

    return Listing(Lazy(range(len(stack)), load), options.labels, boxes=boxes is not None)


def _image(array: Array, *, rgb: bool) -> tuple[Array | None, Array | None]:
    """One of the stack as pixels, where it is H x W (x 3) of uint8, or else as an array."""
    if array.dtype == np.uint8:
        planes = array.ndim == 3 and array.shape[0] in _CHANNELS
        if array.ndim == 2:
            return array, None
        if array.ndim == 3 and not planes and array.shape[2] in _CHANNELS:
            return (array[..., 0] if array.shape[2] == 1 else array[..., :: -1 if rgb else 1]), None
    if rgb and array.ndim >= 3 and array.shape[-3] == 3:
        array = array[..., ::-1, :, :]
    return None, array


def _boxes(rows: Array | None, count: int, where_: Where) -> dict[int, tuple[Box, ...]] | None:
    if rows is None:
        return None
    if rows.ndim != 2 or rows.shape[1] != 8 or not np.isfinite(rows).all():
        message = f"boxes is {list(rows.shape)}, not N x 8 finite numbers"
        raise FormatError(NOT_DATASET.at(where_, message))
    found: dict[int, tuple[Box, ...]] = {}
    for item, label, _, xmin, ymin, xmax, ymax, difficult in rows.tolist():
        if not 0 <= item < count:
            raise FormatError(NOT_DATASET.at(where_, f"a box is of image {item:g} of {count}"))
        box = Box(xmin, ymin, xmax, ymax, int(label), difficult=bool(difficult))
        found[int(item)] = (*found.get(int(item), ()), box)
    return found


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    columns: dict[str, list[Any]] = {
        "keys": [],
        "sizes": [],
        "labels": [],
        "values": [],
        "boxes": [],
    }
    first: Array | None = None
    with tempfile.TemporaryFile(dir=path.parent) as pixels:
        for sample in samples:
            with report.one():
                array = sample.array
                assert array is not None
                first = array if first is None else first
                if (array.shape, array.dtype) != (first.shape, first.dtype):
                    there = f"{first.dtype}{list(first.shape)}"
                    message = f"it is {array.dtype}{list(array.shape)} after {there}"
                    raise FormatError(SIZES_DIFFER.at(where(sample), message))
                pixels.write(np.ascontiguousarray(array).data)
                _add(columns, sample, report)
        pixels.seek(0)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as out:
            with out.open("images.npy", "w", force_zip64=True) as member:
                _stack(member, pixels, first, report.written)
            for name, array in _columns(columns).items():
                with out.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)


def _add(columns: dict[str, list[Any]], sample: Sample, report: Report) -> None:
    at = len(columns["keys"])
    columns["keys"].append(sample.key)
    columns["sizes"].append((sample.width, sample.height))
    columns["labels"].append(-1 if sample.label is None else sample.label)
    columns["values"].append(sample.values)
    instances: dict[int, int] = {}
    for box in sample.boxes or ():
        label = box.label or 0
        instance = instances[label] = instances.get(label, -1) + 1
        corners = (box.xmin, box.ymin, box.xmax, box.ymax)
        columns["boxes"].append((at, label, instance, *corners, bool(box.difficult)))
        if box.score is not None:
            report.note([LEFT_OUT.at(where(sample), "rows of boxes have no score")])


def _columns(columns: dict[str, list[Any]]) -> dict[str, Array]:
    """The columns that say something."""
    found = {
        "keys": np.array(columns["keys"], np.str_),
        "sizes": np.array(columns["sizes"], np.int32).reshape(-1, 2),
    }
    if any(label >= 0 for label in columns["labels"]):
        found["labels"] = np.array(columns["labels"], np.int32)
    if len(set(map(len, columns["values"]))) == 1 and columns["values"][0]:
        found["values"] = np.array(columns["values"], np.float32)
    if columns["boxes"]:
        found["boxes"] = np.array(columns["boxes"], np.float64).reshape(-1, 8)
    return found


def _stack(member: IO[bytes], pixels: IO[bytes], first: Array | None, count: int) -> None:
    """The arrays one after another, under the header of a .npy: never all in memory."""
    shape = (count, *(() if first is None else first.shape))
    dtype = np.dtype(np.uint8) if first is None else first.dtype
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(member, header)
    shutil.copyfileobj(pixels, member, 1 << 20)


FORMAT = Format(
    name="npz",
    doc="NumPy: one stack of arrays of one shape, with keys, labels and rows of boxes",
    sniff=_sniff,
    read=_read,
    write=_write,
    suffixes=(".npz",),
    arrays=True,
    files=False,
    boxes=True,
    label=True,
    reads=("labels", "rgb"),
)
