"""COCO: one JSON file for all images. https://cocodataset.org/#format-data

Categories are numbered anew from 1, in the order of their ids; the label map keeps the ids as the
names of its items, as SSD's does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.core.files import Source
from ufkit.core.render import plural
from ufkit.datasets.formats.annotated import number, size_of
from ufkit.datasets.formats.files import ImageFolder
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.labels import Classes
from ufkit.datasets.report import Report
from ufkit.datasets.rules import BAD_ANNOTATION, LEFT_OUT, NO_IMAGE
from ufkit.datasets.sample import Box, Lazy, Listing, Sample
from ufkit.ufw.prototxt import Label

_KEYS = re.compile(rb'"(?:images|annotations|categories)"\s*:\s*\[')
_GLANCE = 1 << 16
_FEW = 5  # ids that a finding names
_LEFT_OUT = ("segmentation", "keypoints", "caption")
Record = dict[str, Any]


def _file(path: Path) -> Path | None:
    """The JSON of a path: itself, or the only one that a folder has."""
    if path.is_file():
        return path if path.suffix.lower() == ".json" else None
    found = [*path.glob("*.json"), *path.glob("annotations/*.json")]
    return found[0] if len(found) == 1 else None


def _sniff(path: Path) -> bool:
    file = _file(path)
    if file is None:
        return False
    with open(file, "rb") as data:
        head = data.read(_GLANCE)
        data.seek(max(len(head), os.path.getsize(file) - _GLANCE))
        return len(set(_KEYS.findall(head + b"\n" + data.read()))) >= 2


def _read(path: Path, options: FormatOptions) -> Listing:
    file = _file(path)
    if file is None:
        raise FormatError(BAD_ANNOTATION.at(Where(os.fspath(path)), "there is no one JSON in it"))
    where = Where(os.fspath(file))
    source = Source.open(file)
    try:
        document = json.loads(bytes(source.view(0, source.size)))
    except (ValueError, RecursionError) as error:
        raise FormatError(BAD_ANNOTATION.at(where, f"this is no JSON: {error}")) from error
    images = _records(document, "images", where)
    labels = options.labels or _labels(_records(document, "categories", where), where)
    by_image: dict[Any, list[Record]] = defaultdict(list)
    lost = dict.fromkeys(_LEFT_OUT, 0)
    for record in _records(document, "annotations", where, optional=True):
        by_image[_key(record.get("image_id"))].append(record)
        for name in _LEFT_OUT:
            lost[name] += bool(record.get(name))
    folders = _folders(path, file, options)
    numbers = {item.name: item.label for item in labels}
    if options.labels:
        classes = Classes(labels)
        for record in _records(document, "categories", where, optional=True):
            id_, name = str(record.get("id")), str(record.get("name"))
            if id_ not in numbers:
                numbers[id_] = classes.number(name, where)

    def load(record: Record) -> Sample:
        name = record.get("file_name")
        at = Where(where.file, f"image {record.get('id')}")
        if not isinstance(name, str) or not name:
            raise FormatError(BAD_ANNOTATION.at(at, "it has no file_name"))
        sides = (record.get("width") or 0, record.get("height") or 0)
        width, height = (int(number(side, at, "the size")) for side in sides)
        image = next((p for f in folders if (p := f / name).is_file()), folders[0] / name)
        sample = Sample(name, image, boxes=(), width=width, height=height)
        found = by_image.get(_key(record.get("id")), [])
        if not found:
            return sample
        size = size_of(sample)
        return replace(sample, boxes=tuple(_box(item, numbers, size, at) for item in found))

    known = {_key(record.get("id")) for record in images}
    strangers = {id_: len(found) for id_, found in by_image.items() if id_ not in known}
    findings = [*_left_out(lost, where), *_without_image(strangers, where)]
    return Listing(Lazy(images, load), labels, boxes=True, findings=findings)


def _left_out(lost: dict[str, int], where: Where) -> Iterator[Diagnostic]:
    for name, count in lost.items():
        if count:
            yield LEFT_OUT.at(where, f"{name} of {count:,} annotations: only boxes are taken")


def _without_image(strangers: dict[Any, int], where: Where) -> Iterator[Diagnostic]:
    if strangers:
        ids = ", ".join(map(str, islice(strangers, _FEW)))
        more = ", ..." if len(strangers) > _FEW else ""
        counts = plural(sum(strangers.values()), "annotation"), plural(len(strangers), "image")
        message = f"{counts[0]} of {counts[1]} that the file does not list: {ids}{more}"
        yield NO_IMAGE.at(where, message)


def _records(document: Any, name: str, where: Where, *, optional: bool = False) -> list[Record]:
    rows = document.get(name) if isinstance(document, dict) else None
    if rows is None and optional:
        return []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(BAD_ANNOTATION.at(where, f"{name!r} is no list of objects"))
    return rows


def _key(id_: Any) -> Any:
    """An id that can be looked up."""
    return id_ if isinstance(id_, (int, str)) else repr(id_)


def _folders(path: Path, file: Path, options: FormatOptions) -> list[Path]:
    """Where images may be: in the folder named, else near the JSON."""
    if options.images:
        return [options.images]
    near = [file.parent, path if path.is_dir() else file.parent, file.parent.parent]
    split = file.stem.removeprefix("instances_")
    inside = [folder / name for folder in near for name in ("images", split, "JPEGImages")]
    return list(dict.fromkeys([*near, *inside]))


def _labels(categories: list[Record], where: Where) -> tuple[Label, ...]:
    """The label map that SSD's tools make of COCO's categories."""
    ids = [row.get("id") for row in categories]
    if not all(isinstance(id_, int) for id_ in ids) or len(set(ids)) < len(ids):
        raise FormatError(BAD_ANNOTATION.at(where, "categories do not have an integer id each"))
    rows = sorted(categories, key=lambda row: row["id"])
    return tuple(
        Label(at, str(row["id"]), str(row.get("name") or row["id"]))
        for at, row in enumerate(rows, 1)
    )


def _box(record: Record, numbers: dict[str, int], size: tuple[int, int], where: Where) -> Box:
    at = Where(where.file, f"annotation {record.get('id')}")
    bbox = record.get("bbox")
    if not isinstance(bbox, list) or len(bbox) != 4:
        raise FormatError(BAD_ANNOTATION.at(at, f"bbox is {bbox!r}, not [x, y, width, height]"))
    x, y, w, h = (number(value, at, "bbox") for value in bbox)
    label = numbers.get(str(record.get("category_id")))
    if label is None:
        message = f"category {record.get('category_id')!r} is not among the {len(numbers)} known"
        raise FormatError(BAD_ANNOTATION.at(at, message))
    width, height = size
    corners = (x / width, y / height, (x + w) / width, (y + h) / height)
    score = None if record.get("score") is None else number(record["score"], at, "score")
    return Box(*corners, label, difficult=bool(record.get("iscrowd")), score=score)


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    folder = ImageFolder(path / "images")
    known = Classes(listing.labels).foreground
    ids = _category_ids(known)
    seen: dict[int, int] = {}
    with (
        tempfile.TemporaryFile("w+", dir=path) as rows,  # so that memory does not grow with them
        open(path / "annotations.json", "w", encoding="utf-8", errors="surrogateescape") as out,
    ):
        out.write('{"images": [')
        count = 0
        for sample in samples:
            with report.one():
                name = folder.add(sample)
                width, height = size_of(sample)
                id_ = report.written + 1
                image = {"id": id_, "file_name": name, "width": width, "height": height}
                out.write(f"{',' if id_ > 1 else ''}\n{json.dumps(image)}")
                for box in sample.boxes or ():
                    count += 1
                    label = box.label or 0
                    seen[label] = ids.get(label, label)
                    record = {"id": count, "image_id": id_, "category_id": seen[label]}
                    record |= _annotation(box, width, height)
                    rows.write(f"{',' if count > 1 else ''}\n{json.dumps(record)}")
        out.write('\n],\n"annotations": [')
        rows.seek(0)
        shutil.copyfileobj(rows, out)
        classes = Classes(listing.labels)
        named = {**ids, **seen}
        categories = [{"id": id_, "name": classes.name(label)} for label, id_ in named.items()]
        out.write(f'\n],\n"categories": {json.dumps(categories)}}}\n')


def _category_ids(labels: tuple[Label, ...]) -> dict[int, int]:
    """Ids by label: those that the label map has kept, else the labels."""
    texts = [item.name for item in labels]
    if texts and all(text.isdecimal() for text in texts) and len(set(texts)) == len(texts):
        return {item.label: int(item.name) for item in labels}
    return {item.label: item.label for item in labels}


def _annotation(box: Box, width: int, height: int) -> Record:
    """A box in pixels, to a thousandth."""
    x, y = round(box.xmin * width, 3), round(box.ymin * height, 3)
    w, h = round((box.xmax - box.xmin) * width, 3), round((box.ymax - box.ymin) * height, 3)
    score = {} if box.score is None else {"score": box.score}
    return {"bbox": [x, y, w, h], "area": w * h, "iscrowd": int(bool(box.difficult)), **score}


FORMAT = Format(
    name="coco",
    doc="COCO: one JSON file (annotations.json) for a folder of images; ids of images are new",
    sniff=_sniff,
    read=_read,
    write=_write,
    boxes=True,
    reads=("images", "labels"),
)
