"""`ufkit quantize`: a net from floats to integers, with a report of what it costs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.ufw.quantize import Part, Quantised, Report

TABLES, REPORT = "Thresholds and shifts", "Report"


@click.command(
    "quantize",
    cls=Verb,
    help="""Quantise the weights of a net (.caffemodel, .fp32umodel) for layers that compute in
    integers: Convolution, Deconvolution, InnerProduct. What else has weights stays in floats.

    The table has the threshold of each blob, the largest number it has to hold: the text that
    Bitmain's calibration writes, or JSON such as {"data": 0.99, "conv1": 1.39}. All blobs that
    lack one are named, and nothing is written. The report compares the weights of the net with
    what their integers stand for. NET may be - for stdin.""",
    examples=(
        ("ufkit quantize net.caffemodel net.int8umodel --table net.json",
         "UFW: full scale 127, scales kept with the integers"),
        ("ufkit quantize net.caffemodel net.int8umodel --table net.json --per-channel --plot plots",
         "a shift for each channel, and a picture of each layer"),
        ("ufkit quantize net.caffemodel i8.caffemodel --profile bm1880 --table t --table-out u",
         "BM1880: full scale 128, shifts in a table of their own"),
    ),
    codes=codes(0, 2, 3, _0="written; the report says how exact",
                _2="a blob has no threshold, or the net nothing to quantise",
                _5="--plot needs matplotlib: pip install 'ufkit[plot]'"),
)  # fmt: skip
@click.argument("net", type=click.Path(allow_dash=True))
@click.argument("out", type=click.Path())
@click.option("--force", is_flag=True, cls=Opt, help="Replace outputs that exist.")
@click.option(
    "--table",
    type=click.Path(),
    metavar="T",
    required=True,
    cls=Opt,
    group=TABLES,
    help="Thresholds of blobs: Bitmain's text, or JSON of names and numbers.",
)
@click.option(
    "--profile",
    type=click.Choice(["ufw", "bm1880"]),
    default="ufw",
    cls=Opt,
    group=TABLES,
    help="Whose integers: UFW's (the default) or the BM1880's.",
)
@click.option(
    "--per-channel",
    is_flag=True,
    cls=Opt,
    group=TABLES,
    help="A shift for each output channel (UFW only).",
)
@click.option(
    "--table-out",
    type=click.Path(),
    metavar="T",
    cls=Opt,
    group=TABLES,
    help="Write the table with the shifts of layers; the BM1880's nets do not hold them.",
)
@click.option(
    "--channels",
    is_flag=True,
    cls=Opt,
    group=REPORT,
    help="List every channel; --json always does.",
)
@click.option(
    "--plot",
    type=click.Path(file_okay=False),
    metavar="DIR",
    cls=Opt,
    group=REPORT,
    help="Draw weights and errors of each layer into files of this folder.",
)
@common
@click.pass_context
def command(ctx: click.Context, /, net: str, out: str, **given: Any) -> int:
    _check_options(ctx, given)
    from ufkit.cli.progress import showing
    from ufkit.cli.source import path_of, refuse_existing
    from ufkit.core.files import need
    from ufkit.ufw.io import open_net, save_net
    from ufkit.ufw.quant import PROFILES
    from ufkit.ufw.quantize import quantize
    from ufkit.ufw.table import open_table, save_table

    output: Output = ctx.obj
    for path in filter(None, (out, given["table_out"])):
        refuse_existing(path, force=given["force"])
    if given["plot"]:
        need("matplotlib", extra="plot")
    table = open_table(given["table"])
    with open_net(path_of(net)) as opened, showing(output) as progress:
        report = quantize(
            opened,
            table,
            PROFILES[given["profile"]],
            per_channel=given["per_channel"],
            progress=lambda done, total: progress("quantising", done, total),
        )
        pictures = _draw(report, given["plot"], force=given["force"], progress=progress)
        if given["table_out"]:
            save_table(report.table, given["table_out"])
        save_net(opened, out)
    output.answer(_as_dict(report, out, given, pictures), report.diagnostics)
    output.print(_text(report, output, given["channels"]))
    _confirm(output, out, given["table_out"], pictures)
    return 0


def _check_options(ctx: click.Context, given: dict[str, Any]) -> None:
    """Refuse what has no effect, or loses something. Raises UsageError."""
    if given["profile"] == "bm1880":
        if given["per_channel"]:
            ctx.fail("--per-channel is for UFW; a BM1880's table has one shift for each layer.")
        if not given["table_out"]:
            ctx.fail("--profile bm1880 needs --table-out, since the net does not hold the shifts.")
    if given["channels"] and ctx.obj.json:
        ctx.fail("--channels adds to the text; --json has all channels anyway.")
    if given["table_out"] and given["table_out"].lower().endswith(".json"):
        ctx.fail("--table-out writes text with shifts (.prototxt); JSON has no place for them.")
    targets = [os.path.realpath(path) for path in (ctx.params["out"], given["table_out"]) if path]
    if len(set(targets)) < len(targets):
        ctx.fail("OUT and --table-out are the same file.")


def _draw(report: Report, folder: str | None, *, force: bool, progress: Any) -> list[Path]:
    if folder is None:
        return []
    from ufkit.cli.source import refuse_existing
    from ufkit.core.diag import FileError, Where
    from ufkit.core.rules import CANNOT_WRITE
    from ufkit.ufw.plot import draw, pictures

    for path in pictures(report.layers, folder):
        refuse_existing(str(path), force=force)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        message = f"cannot make the folder: {error.strerror or error}"
        raise FileError(CANNOT_WRITE.at(Where(folder), message)) from error
    drawn = []
    for path in draw(report.layers, folder):
        drawn.append(path)
        progress("drawing", len(drawn), len(report.layers))
    return drawn


# -- the report ------------------------------------------------------------------------------


def _as_dict(
    report: Report, out: str, given: dict[str, Any], pictures: list[Path]
) -> dict[str, Any]:
    return {
        "file": out,
        "bytes": _size(out),
        "profile": given["profile"],
        "table": given["table_out"],
        "pictures": [str(path) for path in pictures],
        "layers": [_layer(layer) for layer in report.layers],
    }


def _layer(layer: Quantised) -> dict[str, Any]:
    return {
        "name": layer.name,
        "type": layer.type,
        "threshold_in": layer.thresholds[0],
        "threshold_out": layer.thresholds[1],
        "shift": layer.shift.tolist(),
        "parts": [_part(name, part) for name, part in layer.parts.items()],
    }


def _part(name: str, part: Part) -> dict[str, Any]:
    (whole,) = part.errors.whole.rows()
    return {
        "name": name,
        "count": part.floats.size,
        "scale": part.scale.tolist(),
        **whole,
        "channels": part.errors.rows(),
    }


_HEAD = ("layer", "", "numbers", "shift", "max error", "MSE", "SQNR dB", "cosine", "saturated",
         "worst channel")  # fmt: skip


def _text(report: Report, output: Output, channels: bool) -> str:
    rows: list[tuple[str, ...]] = [_HEAD]
    for layer in report.layers:
        name = render.visible(layer.name)
        for kind, part in layer.parts.items():
            (whole,) = part.errors.whole.rows()
            each = part.errors.rows()
            worst = min(each, key=lambda row: row["sqnr"])
            numbers = (f"{part.floats.size:,}", _shift(layer), *_numbers(whole))
            rows.append((name, kind, *numbers, _worst(each.index(worst), worst)))
            if channels:
                shifts = layer.shift.tolist() if layer.shift.ndim else [""] * len(each)
                rows += [
                    ("", f"{kind} {at}", "", str(shift), *_numbers(row))
                    for at, (shift, row) in enumerate(zip(shifts, each, strict=True))
                ]
            name = ""
    found = output.findings(report.diagnostics) if not output.quiet else ""
    table = render.columns(rows, indent=0, right=range(2, len(_HEAD)))
    return "\n".join(filter(None, (table, found)))


def _shift(layer: Quantised) -> str:
    low, high = int(layer.shift.min()), int(layer.shift.max())
    return str(low) if low == high else f"{low} to {high}"


def _numbers(row: dict[str, float]) -> tuple[str, ...]:
    saturated = f"{row['saturated']:.2%}" if row["saturated"] else "-"
    errors = (f"{row['max_abs']:.3g}", f"{row['mse']:.3g}", f"{row['sqnr']:.1f}")
    return (*errors, f"{row['cosine']:.6f}", saturated)


def _worst(at: int, row: dict[str, float]) -> str:
    return "-" if row["sqnr"] == float("inf") else f"{row['sqnr']:.1f} ({at})"


def _size(path: str) -> int | None:
    """Bytes of a file; None of what is none, such as /dev/stdout."""
    return os.path.getsize(path) if os.path.isfile(path) else None


def _confirm(output: Output, out: str, table: str | None, pictures: list[Path]) -> None:
    nbytes = _size(out)
    written = [(out, "" if nbytes is None else render.size(nbytes))]
    if table:
        written.append((table, "thresholds and shifts"))
    if pictures:
        written.append((str(pictures[0].parent), render.plural(len(pictures), "picture")))
    for path, what in written:
        name = output.paint(render.visible(path), "bold")
        output.print(f"wrote {name}{': ' if what else ''}{what}", confirms=True)
