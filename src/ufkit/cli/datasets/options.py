"""The options of `ufkit convert` that concern datasets, and which of them a conversion heeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ufkit.cli.command import Opt

if TYPE_CHECKING:
    from ufkit.datasets.convert import DatasetRequest
    from ufkit.datasets.formats.format import Format

F = TypeVar("F", bound=Callable[..., Any])

FORMATS, PIXELS = "Datasets: formats", "Datasets: images and arrays"
BOXES, WORK = "Datasets: labels and boxes", "Datasets: the work"
NAMES = (
    "lmdb",
    "coco",
    "voc",
    "yolo",
    "list",
    "parquet",
    "webdataset",
    "npz",
    "classes",
    "images",
)  # fmt: skip  the keys of ufkit.datasets.formats.FORMATS, which is not loaded for --help

# FormatOptions that single formats heed, by the name of the field of FormatOptions they become.
_OF_FORMATS = {
    "images": "images",
    "labels": "labels",
    "voc_pixels": "pixels",
    "split": "split",
    "append": "mode",
    "resume": "mode",
    "keys": "keys",
    "label_db": "label_db",
    "rgb": "rgb",
}
_OF_ARRAYS = ("bgr2rgb", "dtype", "mean", "scale", "batch")
_OF_IMAGES = ("gray", "resize_height", "resize_width", "min_dim", "max_dim", *_OF_ARRAYS)
_OF_WORK = ("source_format", "target_format", "shuffle", "workers", "on_error")
OPTIONS = (*_OF_FORMATS, *_OF_IMAGES, *_OF_WORK, "encode_type", "outside")


def _numbers(ctx: click.Context, param: click.Parameter, value: str) -> tuple[float, ...]:
    """Numbers with commas between."""
    try:
        return tuple(map(float, value.split(","))) if value else ()
    except ValueError:
        message = f"{value!r} is not numbers with commas between, such as 104,117,123"
        raise click.BadParameter(message) from None


def _option(*names: str, group: str, about: str, **more: Any) -> Callable[[F], F]:
    return click.option(*names, cls=Opt, group=group, help=about, **more)


def _size(name: str, about: str) -> Callable[[F], F]:
    kind = click.IntRange(min=0)
    return _option(name, group=PIXELS, about=about, type=kind, metavar="N", default=0)


_ALL = (
    _option("--from", "source_format", group=FORMATS, type=click.Choice(NAMES),
            about="What SOURCE is; found by its content unless given."),
    _option("--to", "target_format", group=FORMATS, type=click.Choice(NAMES),
            about="What TARGET is to be; by its suffix (.lmdb, .parquet, .tar, .npz) unless given, "
            "which it must be for folders."),
    _option("--images", group=FORMATS, type=click.Path(), metavar="DIR",
            about="The folder that names in a list or a COCO file are relative to."),
    _option("--split", group=FORMATS, metavar="NAME", default="",
            about="VOC: only the images of ImageSets/Main/NAME.txt."),
    _option("--voc-pixels", group=FORMATS, type=click.Choice(["ssd", "voc"]), default="ssd",
            about="VOC's corners: divided as they are, as SSD's tools do (the default), or with "
            "the first pixel as 1, as VOC counts."),
    _option("--append", group=FORMATS, is_flag=True,
            about="LMDB: go on behind the last record of TARGET, where it exists."),
    _option("--resume", group=FORMATS, is_flag=True,
            about="LMDB: as --append, with those samples that come behind the last record: what "
            "was interrupted is gone on with."),
    _option("--keys", group=FORMATS, type=click.Choice(["caffe", "ufwio", "own"]),
            default="caffe", about="LMDB: a number and the name as Caffe (the default) or ufwio "
            "write it, or the name alone."),
    _size("--resize-height", "Rows that images are resized to; 0 keeps them."),
    _size("--resize-width", "Columns that images are resized to; 0 keeps them."),
    _size("--min-dim", "Enlarge smaller images until their shorter side has N."),
    _size("--max-dim", "Make larger ones smaller until their longer side has N."),
    _option("--gray", group=PIXELS, is_flag=True, about="One channel."),
    _option("--encode-type", group=PIXELS, type=click.Choice(["png", "jpg", "bmp", "webp"]),
            about="Store image files of that type. Files that are so already and are not changed "
            "are stored as they are."),
    _option("--bgr2rgb", group=PIXELS, is_flag=True,
            about="Arrays have R G B; without this B G R, as Caffe's have."),
    _option("--dtype", group=PIXELS, type=click.Choice(["uint8", "float32"]), default="uint8",
            about="Element type of arrays; uint8 unless given."),
    _option("--mean", group=PIXELS, callback=_numbers, metavar="F[,F,F]", default="",
            about="Subtract it: one number, or one for each channel as written. float32 only."),
    _option("--scale", group=PIXELS, type=float, metavar="F", default=1.0,
            about="Multiply with it, after the mean was subtracted. float32 only."),
    _option("--batch", group=PIXELS, is_flag=True,
            about="Arrays of four axes, 1 x C x H x W, as UFW's `batch_size: 0` wants them."),
    _option("--labels", group=BOXES, type=click.Path(), metavar="FILE",
            about="Numbers of the classes (.prototxt); else those of SOURCE, or new ones."),
    _option("--label-db", group=BOXES, type=click.Path(), metavar="DIR",
            about="Several labels, or labels with fractions: a second LMDB of the same keys, to "
            "be written, or read where SOURCE is the LMDB."),
    _option("--outside", group=BOXES, type=click.Choice(["keep", "clip", "drop"]), default="keep",
            about="Boxes that reach out of their image: keep (the default), clip, drop."),
    _option("--shuffle", group=WORK, type=click.IntRange(min=0), metavar="SEED",
            about="Shuffle the samples, the same way for the same seed."),
    _option("--workers", group=WORK, type=click.IntRange(min=0), metavar="N", default=0,
            about="Processes that decode; one on each processor unless given."),
    _option("--on-error", group=WORK, type=click.Choice(["raise", "skip"]), default="raise",
            about="A bad image or annotation ends the work (the default), or is left out and "
            "counted."),
)  # fmt: skip


def dataset_options(function: F) -> F:
    """All of them."""
    for option in reversed(_ALL):
        function = option(function)
    return function


def given_options(ctx: click.Context) -> dict[str, click.Parameter]:
    """FormatOptions that stand on the command line, by their names in the function."""
    return {
        str(param.name): param
        for param in ctx.command.params
        if ctx.get_parameter_source(str(param.name)) is click.core.ParameterSource.COMMANDLINE
    }


def refuse_others(ctx: click.Context, reading: Format, writing: Format | None) -> None:
    """Refuse options that would have no effect; `writing` is None for a mean image."""
    given = given_options(ctx)
    shared = {"source", "target", "force", "json", "quiet", "verbose", "debug"}
    means = {"mean_layout"} if writing is None else set()
    for name, param in given.items():
        if name not in {*OPTIONS, *shared, *means}:
            ctx.fail(f"{param.opts[0]} does not concern datasets.")
    heeded = {*reading.reads, *(writing.writes if writing else ("rgb",))}
    what = f"neither for {reading.name} nor for {writing.name if writing else 'a mean image'}"
    for name, field in _OF_FORMATS.items():
        if name in given and field not in heeded:
            ctx.fail(f"{given[name].opts[0]} means nothing here, {what}.")
    _refuse_unused(ctx, given, reading, writing)


def _refuse_unused(
    ctx: click.Context, given: dict[str, click.Parameter], reading: Format, writing: Format | None
) -> None:
    encodes = writing is not None and (not writing.arrays or "encode_type" in given)
    for name in _OF_ARRAYS:
        if name in given and encodes:
            ctx.fail(f"{given[name].opts[0]} concerns arrays, and image files are written here.")
    if "encode_type" in given and (writing is None or not writing.files):
        ctx.fail("--encode-type concerns image files, and arrays are written here.")
    if "outside" in given and (writing is None or not writing.boxes or not reading.boxes):
        ctx.fail("--outside concerns boxes, and there are none.")
    if ctx.params["dtype"] != "float32" and (odd := {"mean", "scale"} & given.keys()):
        ctx.fail(f"--{min(odd)} needs --dtype float32.")
    if {"min_dim", "max_dim"} & given.keys() and {"resize_height", "resize_width"} & given.keys():
        ctx.fail("--min-dim and --max-dim keep the proportions, --resize-... do not; choose one.")
    if len(modes := [f"--{name}" for name in ("append", "resume", "force") if name in given]) > 1:
        ctx.fail(f"{' and '.join(modes)} are different things to do with what exists; choose one.")


def request_of(given: dict[str, Any]) -> DatasetRequest:
    """What was asked for. Raises as `read_labels`."""
    from pathlib import Path

    from ufkit.datasets.convert import DatasetRequest
    from ufkit.datasets.formats.format import FormatOptions
    from ufkit.datasets.labels import read_labels
    from ufkit.datasets.transform import Transform

    def path(name: str) -> Path | None:
        return Path(given[name]) if given[name] else None

    return DatasetRequest(
        source=given["source_format"] or "",
        target=given["target_format"] or "",
        options=FormatOptions(
            images=path("images"),
            labels=read_labels(given["labels"]) if given["labels"] else (),
            pixels=given["voc_pixels"],
            rgb=given["rgb"],
            split=given["split"],
            mode="append" if given["append"] else "resume" if given["resume"] else "new",
            keys=given["keys"],
            label_db=path("label_db"),
        ),
        transform=Transform(
            gray=given["gray"],
            height=given["resize_height"],
            width=given["resize_width"],
            min_side=given["min_dim"],
            max_side=given["max_dim"],
            rgb=given["bgr2rgb"],
            dtype=given["dtype"],
            mean=given["mean"],
            scale=given["scale"],
            batch=given["batch"],
            encode=given["encode_type"] or "",
            outside=given["outside"],
        ),
        seed=given["shuffle"],
        workers=given["workers"],
        on_error=given["on_error"],
        force=given["force"],
    )
