"""Folders of images: all of one kind, or a folder for each class."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ufkit.core.diag import FileError, FormatError, RequestError, Where
from ufkit.core.rules import CANNOT_READ
from ufkit.datasets.formats.files import ImageFolder, safe_name
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.labels import Classes, numbered
from ufkit.datasets.pictures import SUFFIXES
from ufkit.datasets.report import Report
from ufkit.datasets.rules import CANNOT_HOLD, NOT_DATASET
from ufkit.datasets.sample import Lazy, Listing, Sample


def images_in(folder: Path) -> list[str]:
    """Images below a folder, as names relative to it with `/`, in the order of the names.

    Raises FileError (UFK001).
    """
    return sorted(_walked(folder))


def _walked(folder: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        message = f"cannot read: {error.strerror}"
        raise FileError(CANNOT_READ.at(Where(os.fspath(error.filename)), message)) from error

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = Path(parent).relative_to(folder).as_posix()
        for name in names:
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield name if inside == "." else f"{inside}/{name}"


def _sniff_images(path: Path) -> bool:
    return path.is_dir() and any(map(_is_image, path.iterdir()))


def _is_image(entry: Path) -> bool:
    return entry.name.lower().endswith(SUFFIXES) and entry.is_file()


def _read_images(path: Path, options: FormatOptions) -> Listing:
    names = images_in(path)
    return Listing(Lazy(names, lambda name: Sample(name, path / name)))


def _write_images(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    folder = ImageFolder(path)
    for sample in samples:
        with report.one():
            folder.add(sample)


IMAGES = Format(
    name="images",
    doc="a folder of images, folders in it included; no labels",
    sniff=_sniff_images,
    read=_read_images,
    write=_write_images,
)


def _sniff_classes(path: Path) -> bool:
    if not path.is_dir() or _sniff_images(path):
        return False
    folders = [entry for entry in path.iterdir() if entry.is_dir()]
    return bool(folders) and all(any(_walked(folder)) for folder in folders)


def _read_classes(path: Path, options: FormatOptions) -> Listing:
    names = images_in(path)
    if odd := [name for name in names if "/" not in name]:
        message = f"{odd[0]} and {len(odd) - 1} more images are in no folder of a class"
        raise FormatError(NOT_DATASET.at(Where(os.fspath(path)), message))
    folders = sorted({name.split("/")[0] for name in names})
    labels = options.labels or numbered(folders, first=0)
    classes = Classes(labels)
    numbers = {_folder_name(item.shown): item.label for item in labels}

    def load(name: str) -> Sample:
        file, folder = path / name, name.split("/")[0]
        label = numbers.get(folder)
        if label is None:
            label = classes.number(folder, Where(str(file)))
        return Sample(name, file, label=label)

    return Listing(Lazy(names, load), labels)


def _folder_name(shown: str) -> str:
    return safe_name(shown.replace("/", "_"))


def _write_classes(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    folder = ImageFolder(path)
    classes = Classes(listing.labels)
    for sample in samples:
        with report.one():
            if sample.label is None:
                message = f"{sample.key} has no label, which is the name of its folder"
                raise RequestError(CANNOT_HOLD.at(Where(node=sample.key), message))
            name = _folder_name(classes.name(sample.label))
            rest = PurePosixPath(sample.key)
            inside = rest.relative_to(name) if rest.is_relative_to(name) else rest
            folder.add(sample, f"{name}/{inside}")


CLASSES = Format(
    name="classes",
    doc="a folder for each class, numbered from 0 in the order of their names",
    sniff=_sniff_classes,
    read=_read_classes,
    write=_write_classes,
    label=True,
    reads=("labels",),
)
