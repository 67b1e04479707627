"""Which format a dataset is of, and opening it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ufkit.core.diag import FileError, FormatError, RequestError, Where
from ufkit.core.files import PathLike
from ufkit.core.rules import CANNOT_READ
from ufkit.datasets.formats import FORMATS
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.labels import label_map, read_labels
from ufkit.datasets.rules import NO_SAMPLES, NOT_DATASET
from ufkit.datasets.sample import Listing


def source_format(path: PathLike, name: str = "") -> Format:
    """The format of a dataset, by its content unless it is named.

    Raises FileError where there is nothing; FormatError (DAT001); RequestError (DAT001).
    """
    where = Where(os.fspath(path))
    if not os.path.exists(path):
        raise FileError(CANNOT_READ.at(where, "cannot read: there is no such file or folder"))
    if name:
        return _named(name)
    try:
        found = next((item for item in FORMATS.values() if item.sniff(Path(path))), None)
    except OSError as error:
        raise FileError(CANNOT_READ.at(where, f"cannot read: {error.strerror}")) from error
    if found is None:
        raise FormatError(NOT_DATASET.at(where, "this is no dataset of a format that is known"))
    return found


def target_format(path: PathLike, name: str = "") -> Format:
    """The format written, by the suffix unless it is named. Raises RequestError (DAT001)."""
    if name:
        return _named(name)
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    found = next((item for item in FORMATS.values() if suffix in item.suffixes), None)
    if found is None:
        suffixes = [end for item in FORMATS.values() for end in item.suffixes]
        folders = [item.name for item in FORMATS.values() if not item.suffixes]
        message = f"the name {os.fspath(path)!r} does not tell which format is to be written"
        hint = f"end it in {', '.join(suffixes)}; for a folder, say --to {', '.join(folders)}"
        raise RequestError(NOT_DATASET.at(Where(os.fspath(path)), message, hint=hint))
    return found


def _named(name: str) -> Format:
    if name not in FORMATS:
        message = f"there is no format {name!r}; there are {', '.join(FORMATS)}"
        raise RequestError(NOT_DATASET.at(Where(), message, hint=""))
    return FORMATS[name]


def list_dataset(path: PathLike, name: str = "", options: FormatOptions | None = None) -> Listing:
    """A dataset of any format: its samples are listed, and read when asked for.

    A label map (labelmap.prototxt) in its folder counts, unless `options` has labels.
    Raises FileError; FormatError, also for a dataset without samples (DAT002).
    """
    item, options = source_format(path, name), options or FormatOptions()
    beside = label_map(path, single_file=os.path.isfile(path))
    if not options.labels and beside.is_file():
        options = replace(options, labels=read_labels(beside))
    try:
        listing = item.read(Path(path), options)
    except OSError as error:
        message = f"cannot read: {error.strerror or error}"
        raise FileError(CANNOT_READ.at(Where(os.fspath(path)), message)) from error
    if not len(listing.samples):
        message = f"no sample was found in it, read as {item.doc}"
        raise FormatError(NO_SAMPLES.at(Where(os.fspath(path)), message))
    return listing
