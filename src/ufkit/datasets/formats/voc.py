"""Pascal VOC: an XML file for each image. http://host.robots.ox.ac.uk/pascal/VOC/voc2012/

Corners in the files are pixels, and the first pixel is 1: a box around it alone is 1 1 1 1. SSD's
tools divide them by width and height as they are; "ssd", the default, does the same, so that boxes
equal those of existing databases. "voc" takes the 1-based count at its word: left and upper edges
lie one pixel further out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from ufkit.core.diag import FormatError, RequestError, UfkitError, Where
from ufkit.core.files import need
from ufkit.datasets.formats.annotated import Pair, number, pairs, size_of, unannotated
from ufkit.datasets.formats.files import ImageFolder
from ufkit.datasets.formats.format import VOC as ONE_BASED
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.labels import Classes, numbered
from ufkit.datasets.report import Report
from ufkit.datasets.rules import BAD_ANNOTATION, LEFT_OUT, NOT_DATASET, UNSAFE_XML
from ufkit.datasets.sample import Box, Lazy, Listing, Sample

_LONGEST = 64 << 20  # bytes of an XML file that are parsed
_EDGES = ("xmin", "ymin", "xmax", "ymax")
_FOLDERS = ("JPEGImages", "images", "Images")
Named = tuple[str, Box]  # the class by its name; the box in pixels, of no label
Parsed = tuple[tuple[int, int], list[Named]] | UfkitError


def _folders(path: Path) -> tuple[Path, Path]:
    """Where images and annotations are: VOC's own folders, or all in one."""
    texts = path / "Annotations"
    images = next((path / name for name in _FOLDERS if (path / name).is_dir()), path)
    return images, texts if texts.is_dir() else path


def _sniff(path: Path) -> bool:
    return path.is_dir() and any(_folders(path)[1].rglob("*.xml"))


def _read(path: Path, options: FormatOptions) -> Listing:
    images, texts = _folders(path)
    rows = pairs(images, texts, ".xml", frozenset())
    if options.split:
        rows = _split(path, options.split, rows)
    parsed = {row.stem: _parsed(row.annotation) for row in rows if row.annotation}
    known = [found for found in parsed.values() if not isinstance(found, UfkitError)]
    names = sorted({name for _, named in known for name, _ in named})
    labels = options.labels or numbered(names)
    classes = Classes(labels)
    shift = 1.0 if options.pixels == ONE_BASED else 0.0

    def load(row: Pair) -> Sample:
        found = parsed.get(row.stem, ((0, 0), []))
        if isinstance(found, UfkitError):
            raise found
        (width, height), named = found
        image = row.picture()
        sample = Sample(row.name, image, boxes=(), width=width, height=height)
        if not named:
            return sample
        w, h = size_of(sample)
        at = Where(str(row.annotation))
        boxes = tuple(
            replace(
                box,
                label=classes.number(name, at),
                xmin=(box.xmin - shift) / w,
                ymin=(box.ymin - shift) / h,
                xmax=box.xmax / w,
                ymax=box.ymax / h,
            )
            for name, box in named
        )
        return replace(sample, boxes=boxes)

    return Listing(Lazy(rows, load), labels, boxes=True, findings=list(unannotated(rows)))


def _split(path: Path, name: str, rows: list[Pair]) -> list[Pair]:
    """The images of a list under ImageSets/Main. Raises RequestError (DAT001)."""
    file = path / "ImageSets" / "Main" / f"{name}.txt"
    if not file.is_file():
        raise RequestError(NOT_DATASET.at(Where(os.fspath(file)), "there is no such list", hint=""))
    by_stem = {row.stem: row for row in rows}
    stems = [line.split()[0] for line in file.read_text("utf-8").splitlines() if line.split()]
    return [by_stem.get(stem, Pair(stem, "", None, file)) for stem in stems]


def _parsed(path: Path) -> Parsed:
    """What an annotation says; the error where it is malformed, for when the image is wanted."""
    where = Where(str(path))
    etree = need("defusedxml.ElementTree", extra="datasets")
    common = need("defusedxml.common", extra="datasets")
    try:
        if path.stat().st_size > _LONGEST:
            raise FormatError(BAD_ANNOTATION.at(where, f"it has more than {_LONGEST:,} bytes"))
        root = etree.fromstring(path.read_bytes(), forbid_dtd=True)
        return _size(root, where), [
            _object(n, item, where) for n, item in enumerate(root.iter("object"), 1)
        ]
    except common.DefusedXmlException as error:
        return FormatError(UNSAFE_XML.at(where, f"it has {type(error).__name__}"))
    except etree.ParseError as error:
        return FormatError(BAD_ANNOTATION.at(where, f"this is no XML: {error}"))
    except OSError as error:
        return FormatError(BAD_ANNOTATION.at(where, f"cannot read: {error.strerror}"))
    except (LookupError, ValueError) as error:
        if isinstance(error, UfkitError):
            return error
        return FormatError(BAD_ANNOTATION.at(where, f"this is no XML: {error}"))


def _size(root: Any, where: Where) -> tuple[int, int]:
    """Width and height; (0, 0) where they are not told."""
    sizes = [root.findtext(f"size/{name}") for name in ("width", "height")]
    if not all(sizes):
        return 0, 0
    width, height = (int(number(text, where, "the size")) for text in sizes)
    return (width, height) if width > 0 and height > 0 else (0, 0)


def _object(count: int, item: Any, where: Where) -> Named:
    """An object, whatever the sequence of what is in it."""
    at = Where(where.file, f"object {count}")
    name = (item.findtext("name") or "").strip()
    bounds = item.find("bndbox")
    if not name or bounds is None:
        missing = "name" if not name else "bndbox"
        raise FormatError(BAD_ANNOTATION.at(at, f"it has no <{missing}>"))
    xmin, ymin, xmax, ymax = (number(bounds.findtext(edge), at, f"<{edge}>") for edge in _EDGES)
    flag = number((item.findtext("difficult") or "0").strip() or "0", at, "<difficult>")
    return name, Box(xmin, ymin, xmax, ymax, difficult=bool(flag))


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    folder = ImageFolder(path / "JPEGImages", by_stem=True)
    classes = Classes(listing.labels)
    lists = path / "ImageSets" / "Main"
    lists.mkdir(parents=True)
    with open(lists / "all.txt", "w", encoding="utf-8", errors="surrogateescape") as out:
        for sample in samples:
            with report.one():
                name = folder.add(sample)
                stem = name.rpartition(".")[0]
                target = path / "Annotations" / f"{stem}.xml"
                target.parent.mkdir(parents=True, exist_ok=True)
                text = _xml(name, sample, classes, options.pixels)
                target.write_text(text, "utf-8", "surrogateescape")
                out.write(f"{stem}\n")
                if any(box.score is not None for box in sample.boxes or ()):
                    report.note([LEFT_OUT.at(Where(node=sample.key), "VOC has no scores")])


def _xml(name: str, sample: Sample, classes: Classes, pixels: str) -> str:
    width, height = size_of(sample)
    shift = 1.0 if pixels == ONE_BASED else 0.0
    lines = [
        "<annotation>",
        f"  <filename>{_text(name)}</filename>",
        f"  <size><width>{width}</width><height>{height}</height><depth>3</depth></size>",
        "  <segmented>0</segmented>",
    ]
    for box in sample.boxes or ():
        left, upper = box.xmin * width + shift, box.ymin * height + shift
        corners = (left, upper, box.xmax * width, box.ymax * height)
        edges = "".join(
            f"<{edge}>{_pixel(value)}</{edge}>" for edge, value in zip(_EDGES, corners, strict=True)
        )
        lines += [
            "  <object>",
            f"    <name>{_text(classes.name(box.label or 0))}</name>",
            f"    <difficult>{int(bool(box.difficult))}</difficult>",
            f"    <bndbox>{edges}</bndbox>",
            "  </object>",
        ]
    return "\n".join([*lines, "</annotation>", ""])


def _pixel(value: float) -> str:
    """A coordinate to a thousandth of a pixel: whole where it was, single precision aside."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _text(value: str) -> str:
    """Text without the characters that XML cannot have."""
    return escape("".join(char for char in value if char.isprintable()))


FORMAT = Format(
    name="voc",
    doc="Pascal VOC: JPEGImages and Annotations, an XML file for each image",
    sniff=_sniff,
    read=_read,
    write=_write,
    boxes=True,
    reads=("labels", "pixels", "split"),
    writes=("pixels",),
)
