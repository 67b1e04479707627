"""YOLO: a text for each image, a line for each box: class, centre and size in fractions.

Classes count from 0 there; here 0 is the background's, so that class i is label i + 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ufkit.core.diag import FormatError, RequestError, Where
from ufkit.datasets.formats.annotated import Pair, number, pairs, unannotated
from ufkit.datasets.formats.files import ImageFolder
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.labels import Classes, numbered
from ufkit.datasets.report import Report
from ufkit.datasets.rules import BAD_ANNOTATION, CANNOT_HOLD, LEFT_OUT
from ufkit.datasets.sample import Box, Lazy, Listing, Sample
from ufkit.ufw.prototxt import Label

_NAMES = ("classes.txt", "obj.names", "labels/classes.txt")
_YAML = ("data.yaml", "dataset.yaml", "data.yml")
_NO_BOXES = frozenset(("classes.txt", "train.txt", "val.txt", "test.txt", "readme.txt"))
_LINE = re.compile(r"\d+(\.0*)?(\s+[-+.\deE]+){4,}\s*")


def _folders(path: Path) -> tuple[Path, Path]:
    images, labels = path / "images", path / "labels"
    return (images, labels) if images.is_dir() and labels.is_dir() else (path, path)


def _sniff(path: Path) -> bool:
    if not path.is_dir():
        return False
    if any((path / name).is_file() for name in (*_NAMES, *_YAML)):
        return True
    for text in _folders(path)[1].rglob("*.txt"):
        if text.name not in _NO_BOXES and text.stat().st_size:
            with open(text, errors="replace") as lines:
                return _LINE.fullmatch(lines.readline(256)) is not None
    return False


def _classes(path: Path) -> list[str]:
    """Names of the classes, where a file of the folder has them."""
    for name in (*_NAMES, *(item.name for item in sorted(path.glob("*.names")))):
        if (path / name).is_file():
            lines = (path / name).read_text("utf-8", "surrogateescape").splitlines()
            return [line.strip() for line in lines if line.strip()]
    for name in _YAML:
        if (path / name).is_file():
            return _yaml_names((path / name).read_text("utf-8", "surrogateescape"))
    return []


def _yaml_names(text: str) -> list[str]:
    """The `names` of a data.yaml, in any of its three forms: [a, b], - a, 0: a."""
    match = re.search(r"^names\s*:[ \t]*(\[[^\]]*\]|\{[^}]*\})?", text, re.M)
    if match is None:
        return []
    if match[1]:
        rows = [item for item in re.split(r",\s*", match[1][1:-1].strip()) if item]
    else:
        block = re.match(r"(?:[ \t]*(?:#.*)?\n|[ \t]*- .*\n?|[ \t]+\S.*\n?)*", text[match.end() :])
        assert block is not None
        rows = [line.split(" #")[0] for line in block[0].splitlines() if line.strip()]
    keyed = [re.sub(r"^\s*(?:-\s+|\d+\s*:\s*)", "", row).strip().strip("'\"") for row in rows]
    return [name for name in keyed if name and not name.startswith("#")]


def _read(path: Path, options: FormatOptions) -> Listing:
    images, texts = _folders(path)
    rows = pairs(images, texts, ".txt", _NO_BOXES)
    if images == texts:  # lists and notes lie there too
        rows = [row for row in rows if row.image is not None]
    labels = options.labels or numbered(_classes(path))
    order = Classes(labels).foreground

    def load(row: Pair) -> Sample:
        boxes: tuple[Box, ...] = ()
        if row.annotation is not None:
            lines = row.annotation.read_text("utf-8", "replace").splitlines()
            boxes = tuple(
                _box(line.split(), order, Where(str(row.annotation), line=count))
                for count, line in enumerate(lines, 1)
                if line.strip()
            )
        return Sample(row.name, row.picture(), boxes=boxes)

    return Listing(Lazy(rows, load), labels, boxes=True, findings=list(unannotated(rows)))


def _box(words: list[str], order: tuple[Label, ...], where: Where) -> Box:
    values = [number(word, where, "a number") for word in words]
    class_ = values[0]
    if len(values) < 5 or not class_.is_integer() or class_ < 0:
        message = f"{' '.join(words[:6])!r} is not: class, centre x, centre y, width, height"
        raise FormatError(BAD_ANNOTATION.at(where, message))
    if order and class_ >= len(order):
        message = f"class {int(class_)} is beyond the {len(order)} classes, which count from 0"
        raise FormatError(BAD_ANNOTATION.at(where, message))
    label = order[int(class_)].label if order else int(class_) + 1
    if len(values) > 6:  # a polygon: what lies around it
        xs, ys = values[1::2], values[2::2]
        if len(xs) != len(ys):
            raise FormatError(BAD_ANNOTATION.at(where, "a polygon has a corner without its y"))
        return Box(min(xs), min(ys), max(xs), max(ys), label)
    x, y, w, h = values[1:5]
    score = values[5] if len(values) == 6 else None
    return Box(x - w / 2, y - h / 2, x + w / 2, y + h / 2, label, score=score)


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    folder = ImageFolder(path / "images", by_stem=True)
    order = Classes(listing.labels).foreground
    index = {item.label: at for at, item in enumerate(order)}
    largest = -1
    for sample in samples:
        with report.one():
            numbers = [_class(box, index, sample) for box in sample.boxes or ()]
            target = path / "labels" / f"{folder.add(sample).rpartition('.')[0]}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            rows = zip(numbers, sample.boxes or (), strict=True)
            target.write_text("".join(_line(class_, box) for class_, box in rows))
            largest = max(largest, *numbers, -1)
            if any(box.difficult for box in sample.boxes or ()):
                message = "YOLO has no mark for difficult objects"
                report.note([LEFT_OUT.at(Where(node=sample.key), message)])
    names = [item.shown for item in order] or [str(at + 1) for at in range(largest + 1)]
    plain = [" ".join(name.split()) for name in names]
    (path / "classes.txt").write_text("".join(f"{name}\n" for name in plain), "utf-8")
    head = "path: .\ntrain: images\nval: images\n"
    yaml = f"{head}names: {json.dumps(plain, ensure_ascii=False)}\n"
    (path / "data.yaml").write_text(yaml, "utf-8")


def _class(box: Box, index: dict[int, int], sample: Sample) -> int:
    """YOLO's number of a class. Raises RequestError (DAT003) for one that has none."""
    label = box.label or 0
    number_ = index.get(label, -1) if index else label - 1
    if number_ < 0:
        message = f"label {label} is none of the {len(index)} classes, which do not have 0"
        raise RequestError(CANNOT_HOLD.at(Where(node=sample.key), message))
    return number_


def _line(class_: int, box: Box) -> str:
    """Ten digits: a line read again gives the same single precision corners."""
    centre = (box.xmin + box.xmax) / 2, (box.ymin + box.ymax) / 2
    numbers = (*centre, box.xmax - box.xmin, box.ymax - box.ymin)
    score = () if box.score is None else (box.score,)
    return " ".join([str(class_), *(f"{value:.10g}" for value in (*numbers, *score))]) + "\n"


FORMAT = Format(
    name="yolo",
    doc="YOLO: images and labels, a text for each image; classes.txt or data.yaml has the names",
    sniff=_sniff,
    read=_read,
    write=_write,
    boxes=True,
    reads=("labels",),
)
