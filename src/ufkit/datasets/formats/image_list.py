"""Caffe's image lists: a line for each image, its name and its label."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import Source
from ufkit.datasets.formats.files import ImageFolder
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.pictures import SUFFIXES
from ufkit.datasets.report import Report
from ufkit.datasets.rules import BAD_LINE
from ufkit.datasets.sample import Lazy, Listing, Sample

_WORD = re.compile(r"[^\s,;]+")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_ENDED = re.compile(rf"(?:{'|'.join(map(re.escape, SUFFIXES))})\s", re.I)  # a name, and more
_NAME = "list.txt"  # in the folders written here
_GLANCE = 20  # lines


def parse_line(line: str, where: Where) -> tuple[str, tuple[float, ...]]:
    """The name and the labels of a line: the words at its end that are numbers.

    Names may have spaces in them, or quotes around. Raises FormatError (DAT201).
    """
    text = line.strip("\ufeff").strip()
    quoted = text.find('"', 1) if text.startswith('"') else -1
    words = list(_WORD.finditer(text, quoted + 1))
    last = len(words)
    while last > (0 if quoted > 0 else 1) and _NUMBER.fullmatch(words[last - 1][0]):
        last -= 1
    name = text[1:quoted] if quoted > 0 else text[: words[last - 1].end()] if words else ""
    if not name or (quoted > 0 and last) or _ENDED.search(name):
        message = f"{text[:200]!r} is not a name and numbers behind it"
        raise FormatError(BAD_LINE.at(where, message))
    values = tuple(float(word[0]) for word in words[last:])
    if not all(map(math.isfinite, values)):
        raise FormatError(BAD_LINE.at(where, f"a label of {name!r} is beyond what floats hold"))
    return name, values


def _sniff(path: Path) -> bool:
    path = path / _NAME if path.is_dir() else path
    if not path.is_file() or path.suffix.lower() not in (".txt", ".list", ".lst", ".csv", ""):
        return False
    with open(path, "rb") as file:
        head = file.read(1 << 16).decode("utf-8", "replace")
    lines = [line for line in head.split("\n")[:_GLANCE] if line.strip()]
    return bool(lines) and all(
        any(suffix in line.lower() for suffix in SUFFIXES) for line in lines[:-1] or lines
    )


def _read(path: Path, options: FormatOptions) -> Listing:
    path = path / _NAME if path.is_dir() else path
    source = Source.open(path)
    data = bytes(source.view(0, source.size))
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    root = options.images or path.parent

    def load(row: tuple[int, str]) -> Sample:
        name, values = parse_line(row[1], Where(os.fspath(path), line=row[0]))
        name = name.replace("\\", "/")
        # "/train/1.jpg" is meant below the root: Caffe puts the two texts together
        file = (
            Path(name) if not options.images and Path(name).is_file() else root / name.lstrip("/")
        )
        whole = len(values) == 1 and values[0].is_integer() and abs(values[0]) < 1 << 31
        if whole:
            return Sample(name.lstrip("/"), file, label=int(values[0]))
        return Sample(name.lstrip("/"), file, values=values)

    return Listing(Lazy(rows, load), options.labels)


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    folder = ImageFolder(path / "images")
    with open(path / _NAME, "w", encoding="utf-8", errors="surrogateescape") as out:
        for sample in samples:
            with report.one():
                name = folder.add(sample)
                labels = sample.values or ((sample.label,) if sample.label is not None else ())
                out.write(
                    " ".join([f"images/{name}", *(f"{value:.9g}" for value in labels)]) + "\n"
                )


FORMAT = Format(
    name="list",
    doc="Caffe's image list: a line for each image, its name and one or several labels",
    sniff=_sniff,
    read=_read,
    write=_write,
    label=True,
    reads=("images", "labels"),
)
