"""One dataset into another, or into its mean image: one call for all formats."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ufkit.core.diag import FileError, RequestError, UfkitError, Where
from ufkit.core.files import PathLike, staging
from ufkit.core.rules import EXISTS
from ufkit.datasets.engine import Progress, changed
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.labels import label_map
from ufkit.datasets.mean import Means, means
from ufkit.datasets.open import list_dataset, source_format, target_format
from ufkit.datasets.report import RAISE, OnError, Report
from ufkit.datasets.rules import CANNOT_HOLD, LEFT_OUT
from ufkit.datasets.sample import Listing, Sample
from ufkit.datasets.transform import Transform
from ufkit.ufw.io import save_labels

_WORTH_IT = 256  # samples from which processes of their own pay
_MOST = 16  # processes; more wait for the one that writes


def _silent(what: str, done: int, total: int) -> None:
    """No progress."""


@dataclass(frozen=True, slots=True)
class DatasetRequest:
    """How a dataset is converted.

    source     name of the source's format; found by content where it is ""
    target     name of the target's; by the suffix where it is ""
    options    what single formats want to know
    transform  what is done to the samples
    seed       shuffle with it; None keeps the order
    workers    processes; 0 for one on each processor where there are enough samples
    on_error   what becomes of bad samples; see Report
    force      replace a file, or a database, that exists; folders of files are never emptied
    """

    source: str = ""
    target: str = ""
    options: FormatOptions = field(default_factory=FormatOptions)
    transform: Transform = field(default_factory=Transform)
    seed: int | None = None
    workers: int = 1
    on_error: OnError = RAISE
    force: bool = False


def convert_dataset(
    source: PathLike,
    target: PathLike,
    request: DatasetRequest | None = None,
    *,
    progress: Progress = _silent,
) -> Report:
    """Write a dataset in another format; see FORMATS for those there are.

    A target is put in place whole, but for a database, which is committed as it grows. The report
    says what became of each sample.
    Raises FileError, FormatError, RequestError, NotSupportedError, MissingExtraError.
    """
    request = request or DatasetRequest()
    reading, writing = source_format(source, request.source), target_format(target, request.target)
    report = Report(os.fspath(source), os.fspath(target), reading.name, writing.name)
    report.on_error = request.on_error
    if os.path.exists(target) and os.path.samefile(source, target):
        message = f"{target} is the source itself"
        raise RequestError(CANNOT_HOLD.at(Where(os.fspath(target)), message, hint=""))
    if not writing.direct:  # a database is asked when it is opened: it may be gone on with
        _refuse_existing(Path(target), writing, request)
    listing = list_dataset(source, reading.name, request.options)
    if listing.boxes and not writing.boxes:
        message = f"{writing.name} has no boxes, which {reading.name} has"
        raise RequestError(CANNOT_HOLD.at(Where(os.fspath(target)), message))
    done = (0, "")
    if writing.last and request.options.mode == "resume" and os.path.exists(target):
        done = writing.last(Path(target))
    with _changed(listing, request, report, writing.arrays, progress, done) as ready:
        samples = ready if writing.label else _without_labels(ready, writing, report)
        if writing.direct:
            mode = "overwrite" if request.force else request.options.mode
            options = replace(request.options, mode=mode)
            parts = nullcontext() if mode == "overwrite" else _telling_of_parts(target, writing)
            with parts:
                writing.write(Path(target), listing, samples, options, report)
        else:
            with staging(target) as staged:
                writing.write(Path(staged), listing, samples, request.options, report)
                report.require_some()
                if listing.labels and not writing.suffixes and (writing.label or writing.boxes):
                    save_labels(listing.labels, label_map(staged, single_file=False))
    return report


def mean_of(
    source: PathLike, request: DatasetRequest | None = None, *, progress: Progress = _silent
) -> tuple[Means, Report]:
    """The mean image of a dataset, as compute_image_mean has it, and the account of its samples.

    Raises as `convert_dataset`; FormatError (DAT104) where sizes differ.
    """
    request = request or DatasetRequest()
    reading = source_format(source, request.source)
    report = Report(os.fspath(source), "", reading.name, "mean", request.on_error)
    listing = list_dataset(source, reading.name, request.options)
    with _changed(listing, request, report, True, progress) as samples:
        found = means(samples, report)
    report.require_some()
    assert found is not None
    return found, report


@contextmanager
def _changed(
    listing: Listing,
    request: DatasetRequest,
    report: Report,
    arrays: bool,
    progress: Progress,
    done: tuple[int, str] = (0, ""),
) -> Iterator[Iterator[Sample]]:
    """The samples on their way; workers end with the block, however that ends."""
    report.note(listing.findings)
    transform = replace(request.transform, arrays=arrays)
    started = time.monotonic()
    samples = changed(
        listing.samples,
        transform,
        report,
        workers=_workers(replace(request, transform=transform), listing),
        seed=request.seed,
        done=done,
        progress=progress,
    )
    try:
        yield samples
    finally:
        samples.close()
        report.seconds = time.monotonic() - started


@contextmanager
def _telling_of_parts(target: PathLike, writing: Format) -> Iterator[None]:
    """Errors that leave a part of the samples in a database say so in their hint."""
    try:
        yield
    except UfkitError as error:
        count = 0
        if writing.last and os.path.exists(target):
            with suppress(UfkitError):  # it may be what is damaged
                count = writing.last(Path(target))[0]
        if not count:
            raise
        first, *others = error.diagnostics
        part = f"{count:,} records are in {os.fspath(target)}: the same with --resume goes on there"
        hint = f"{first.hint}; {part}" if first.hint else part
        raise type(error)(replace(first, hint=hint), *others) from error


def _without_labels(samples: Iterator[Sample], writing: Format, report: Report) -> Iterator[Sample]:
    """The samples, with a note on each label that the target has no place for."""
    for sample in samples:
        if sample.label is not None or sample.values:
            message = f"{writing.name} has no place for the label of an image"
            report.note([LEFT_OUT.at(Where(node=sample.key), message)])
        yield sample


def _refuse_existing(target: Path, writing: Format, request: DatasetRequest) -> None:
    """Raises FileError (UFK003) where something would be lost."""
    where = Where(os.fspath(target))
    if target.is_dir():
        if writing.suffixes or any(target.iterdir()):
            message = f"the folder {target} exists and is not empty"
            hint = "choose another name, or remove it: no option empties a folder"
            raise FileError(EXISTS.at(where, message, hint=hint))
    elif target.exists() and not (request.force and writing.suffixes):
        raise FileError(EXISTS.at(where, f"{target} exists already"))


def _workers(request: DatasetRequest, listing: Listing) -> int:
    """Processes to take: those asked for, or else as many as have something to do."""
    count = len(listing.samples)
    if request.workers or count < _WORTH_IT:
        return request.workers or 1
    try:
        copied = listing.samples[0].array is not None and not request.transform.decodes
    except UfkitError:
        copied = False
    return 1 if copied else min(os.cpu_count() or 1, _MOST)
