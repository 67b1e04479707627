"""WebDataset: tars in which files of one stem are one sample. https://github.com/webdataset

`KEY.jpg` is the image, `KEY.cls` its label, `KEY.json` all that ufkit knows of it: key, width,
height, label, values, boxes in fractions. Classes stand in the tar's own (pax) header.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ufkit.core.diag import FormatError, Where
from ufkit.datasets.formats.annotated import box_of
from ufkit.datasets.formats.files import safe_name
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.pictures import SUFFIXES, suffix_of
from ufkit.datasets.report import Report
from ufkit.datasets.rules import BAD_ANNOTATION, DUPLICATE, MISSING_IMAGE, NOT_DATASET
from ufkit.datasets.sample import Lazy, Listing, Sample
from ufkit.ufw.prototxt import Label

_LABELS = "ufkit.labels"
_LARGEST = 1 << 20  # bytes of a .cls or .json that are read
_BOX = ("label", "xmin", "ymin", "xmax", "ymax", "difficult", "score")


class _Part(NamedTuple):
    """Where a file lies in a tar."""

    tar: Path
    start: int
    size: int

    def read(self) -> bytes:
        with open(self.tar, "rb") as file:
            file.seek(self.start)
            return file.read(self.size)


class _Item(NamedTuple):
    key: str
    parts: dict[str, _Part]  # by suffix, without its dot


def _tars(path: Path) -> list[Path]:
    return sorted(path.glob("*.tar")) if path.is_dir() else [path]


def _sniff(path: Path) -> bool:
    if path.is_dir():
        return bool(_tars(path))
    return path.is_file() and path.suffix.lower() == ".tar" and tarfile.is_tarfile(path)


def _items(tars: list[Path]) -> tuple[list[_Item], str]:
    """What lies in the tars, by sample; and their header of classes. Only headers are read."""
    found: list[_Item] = []
    labels = ""
    for tar in tars:
        try:
            with tarfile.open(tar, "r:") as members:
                for member in members:
                    labels = members.pax_headers.get(_LABELS, labels)
                    if not member.isreg():
                        continue
                    folder, _, name = member.name.rpartition("/")
                    stem, _, suffix = name.partition(".")
                    key = f"{folder}/{stem}" if folder else stem
                    if not found or found[-1].key != key:
                        found.append(_Item(key, {}))
                    part = _Part(tar, member.offset_data, member.size)
                    found[-1].parts[suffix.lower()] = part
        except (tarfile.TarError, EOFError, OSError, ValueError) as error:
            message = f"this tar cannot be read: {error}"
            raise FormatError(NOT_DATASET.at(Where(os.fspath(tar)), message)) from error
    return found, labels


def _read(path: Path, options: FormatOptions) -> Listing:
    items, text = _items(_tars(path))
    boxes = bool(items) and "json" in items[0].parts and _load(items[0]).boxes is not None
    return Listing(Lazy(items, _load), options.labels or _labels(text), boxes=boxes)


def _labels(text: str) -> tuple[Label, ...]:
    return tuple(Label(int(n), str(a), str(b)) for n, a, b in json.loads(text)) if text else ()


def _load(item: _Item) -> Sample:
    where = Where(str(next(iter(item.parts.values())).tar), item.key)
    suffix = next((name for name in item.parts if f".{name}".endswith(SUFFIXES)), None)
    if suffix is None:
        message = f"there is no image among {item.key}.{{{','.join(item.parts)}}}"
        raise FormatError(MISSING_IMAGE.at(where, message))
    image = item.parts[suffix].read()
    try:
        said = _small(item, "json")
        facts: dict[str, Any] = json.loads(said) if said else {}
        label = facts.get("label")
        if (text := _small(item, "cls")) and label is None:
            label = text
        rows = facts.get("boxes")
        boxes = None if rows is None else tuple(map(box_of, rows))
        return Sample(
            key=str(facts.get("key") or f"{item.key}.{suffix}"),
            image=image,
            label=None if label is None else int(label),
            values=tuple(map(float, facts.get("values") or ())),
            boxes=boxes,
            width=int(facts.get("width") or 0),
            height=int(facts.get("height") or 0),
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        message = f"its .cls or .json cannot be understood: {error}"
        raise FormatError(BAD_ANNOTATION.at(where, message)) from error


def _small(item: _Item, suffix: str) -> bytes:
    part = item.parts.get(suffix)
    return part._replace(size=min(part.size, _LARGEST)).read() if part else b""


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    rows = [[item.label, item.name, item.display_name] for item in listing.labels]
    taken: set[str] = set()
    header = {_LABELS: json.dumps(rows)} if rows else {}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT, pax_headers=header) as out:
        for sample in samples:
            with report.one():
                _put(out, _stem(sample, taken), sample)


def _stem(sample: Sample, taken: set[str]) -> str:
    """What the members of a sample are named. Raises FormatError (DAT005) for a second one."""
    folder, _, name = safe_name(sample.key).rpartition("/")
    known = next((end for end in SUFFIXES if name.lower().endswith(end)), "")
    stem = name[: len(name) - len(known)].replace(".", "_")  # a dot ends it
    stem = f"{folder}/{stem}" if folder else stem
    if stem in taken:
        raise FormatError(DUPLICATE.at(Where(node=sample.key), f"{stem} is written already"))
    taken.add(stem)
    return stem


def _put(out: tarfile.TarFile, stem: str, sample: Sample) -> None:
    assert isinstance(sample.image, bytes)
    _add(out, f"{stem}.{suffix_of(sample.image)}", sample.image)
    if sample.label is not None:
        _add(out, f"{stem}.cls", str(sample.label).encode())
    _add(out, f"{stem}.json", json.dumps(_facts(sample)).encode())


def _facts(sample: Sample) -> dict[str, Any]:
    boxes = sample.boxes
    return {
        "key": sample.key,
        "width": sample.width,
        "height": sample.height,
        "label": sample.label,
        "values": sample.values,
        "boxes": None if boxes is None else [{n: getattr(box, n) for n in _BOX} for box in boxes],
    }


def _add(out: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    out.addfile(member, io.BytesIO(data))


FORMAT = Format(
    name="webdataset",
    doc="WebDataset: a tar, or a folder of them, with an image, .cls and .json for each sample",
    sniff=_sniff,
    read=_read,
    write=_write,
    suffixes=(".tar",),
    boxes=True,
    label=True,
    reads=("labels",),
)
