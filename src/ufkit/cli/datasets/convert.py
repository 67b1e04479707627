"""`ufkit convert` for datasets: into another format, or into the mean image."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.datasets.options import given_options, refuse_others, request_of
from ufkit.cli.output import Output
from ufkit.core import render
from ufkit.core.diag import FileError, Where
from ufkit.core.rules import EXISTS

if TYPE_CHECKING:
    from ufkit.datasets.formats.format import Format
    from ufkit.datasets.mean import Means
    from ufkit.datasets.report import Report

_SOURCES = (".mdb", ".npz", ".parquet", ".tar")
_TARGETS = (*_SOURCES, ".lmdb")
_MEANS = (".binaryproto", ".npy")


def concerns(source: str, target: str, given: dict[str, Any]) -> bool:
    """Whether these are datasets: by --from and --to, by suffix, or a folder that is no model."""
    if given["source_format"] or given["target_format"]:
        return True
    folder = os.path.isdir(source) and not os.path.exists(os.path.join(source, "saved_model.pb"))
    return folder or _suffix(source) in _SOURCES or _suffix(target) in _TARGETS


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def run(ctx: click.Context, source: str, target: str, given: dict[str, Any]) -> int:
    """Convert and say what became of the samples: 1 if some were left out, else 0."""
    from ufkit.datasets.open import source_format, target_format
    from ufkit.ufw.store import DATA

    reading = source_format(source, given["source_format"] or "")
    if _suffix(target) in _MEANS and not given["target_format"]:
        if _suffix(target) == ".binaryproto":
            _refuse_layouts(ctx, reading)
        refuse_others(ctx, reading, None)
        return _mean(ctx.obj, source, target, given)
    writing = target_format(target, given["target_format"] or "")
    refuse_others(ctx, reading, writing)
    going_on = given["append"] or given["resume"] or given["force"]
    exists = os.path.isfile(target) or os.path.isfile(os.path.join(target, DATA))
    if writing.direct and exists and not going_on:
        hint = "choose another name, or --append, --resume, or --force to replace it"
        raise FileError(EXISTS.at(Where(target), f"{target} exists already", hint=hint))
    return _convert(ctx.obj, source, target, given)


def _refuse_layouts(ctx: click.Context, reading: Format) -> None:
    """Refuse what concerns arrays: a .binaryproto is 1 x C x H x W, B G R."""
    given = given_options(ctx)
    if "mean_layout" in given or ("rgb" in given and "rgb" not in reading.reads):
        ctx.fail("--mean-layout and --rgb concern .npy only; a .binaryproto has one form.")


def _convert(output: Output, source: str, target: str, given: dict[str, Any]) -> int:
    from ufkit.cli.progress import showing
    from ufkit.datasets.convert import convert_dataset

    with showing(output) as progress:
        report = convert_dataset(source, target, request_of(given), progress=progress)
    output.answer(report.as_dict(), report.found, ok=not report.skipped)
    _say(output, report, f"{report.target_format}, {render.plural(report.written, 'sample')}")
    return 1 if report.skipped else 0


def _mean(output: Output, source: str, target: str, given: dict[str, Any]) -> int:
    import numpy as np

    from ufkit.cli.progress import showing
    from ufkit.cli.source import refuse_existing
    from ufkit.core.files import replacing
    from ufkit.datasets.convert import mean_of
    from ufkit.ufw.io import save_blob
    from ufkit.ufw.mean import mean_array, mean_blob

    refuse_existing(target, force=given["force"])
    with showing(output) as progress:
        found, report = mean_of(source, request_of(given), progress=progress)
    report.target = target
    blob = mean_blob(found.image)
    if _suffix(target) == ".npy":
        array = mean_array(blob, given["mean_layout"] or "nchw", rgb=given["rgb"])
        with replacing(target) as out:
            np.lib.format.write_array(out, array, allow_pickle=False)
    else:
        save_blob(blob, target)
    data = {**report.as_dict(), "mean": found.channels, "deviation": found.deviation}
    output.answer(data, report.found, ok=not report.skipped)
    shape = " x ".join(map(str, found.image.shape))
    _say(output, report, f"mean of {render.plural(report.written, 'sample')}, {shape}")
    output.print(_channels(found, rgb=given["bgr2rgb"]), confirms=True)
    return 1 if report.skipped else 0


def _channels(found: Means, *, rgb: bool) -> str:
    names = ("R", "G", "B") if rgb else ("B", "G", "R")
    count = len(found.channels)
    shown = names if count == 3 else tuple(str(at) for at in range(count))
    rows = [
        (name, f"{mean:.6g}", f"{deviation:.6g}")
        for name, mean, deviation in zip(shown, found.channels, found.deviation, strict=True)
    ]
    return render.columns([("channel", "mean", "deviation"), *rows], right=(1, 2))


def _say(output: Output, report: Report, what: str) -> None:
    """The account: what was written, what was left out, what was noticed."""
    target = output.paint(render.visible(report.target), "bold")
    rate = f" ({report.rate:,.0f} a second)" if report.seconds >= 1 else ""
    lines = [f"wrote {target}: {what}{rate}"]
    if report.skipped:
        left = f"left out {report.skipped:,} of {report.read:,} samples"
        lines.append(output.paint(left, "yellow"))
    output.print("\n".join(lines), confirms=not report.skipped)
    output.print(output.findings(report.found), confirms=not report.skipped)
    hidden = sum(report.counts.values()) - len(report.found)
    if hidden:
        counts = ", ".join(f"{code} {count:,}" for code, count in report.counts.items())
        output.print(f"in all: {counts}", confirms=not report.skipped)
