"""`ufkit show`: a contact sheet of a dataset."""

from __future__ import annotations

from typing import Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.datasets.options import NAMES
from ufkit.cli.output import Output
from ufkit.core import render


@click.command(
    "show",
    cls=Verb,
    help="""Draw samples of a dataset on one picture: images with their boxes, the names of
    classes, sizes and labels. Boxes that are difficult, or crowds, have a thin line. What cannot
    be read is shown as what is wrong with it.

    SOURCE is a dataset of any format that `ufkit convert` reads. KEY is that of a record, or the
    name of an image; without any, the first samples are shown.""",
    examples=(
        ("ufkit show train.lmdb -o sheet.png", "the first 24"),
        ("ufkit show train.lmdb 00000007_a.jpg b.jpg -o two.png", "these two"),
        ("ufkit show VOC2012 -o sheet.png --shuffle 1 --count 60", "some from everywhere"),
    ),
    codes=codes(0, 2, 3, 70, 130, _5="OpenCV, or what reads the format, is missing"),
)
@click.argument("source", type=click.Path())
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(),
    metavar="SHEET.png",
    required=True,
    cls=Opt,
    help="The picture to write.",
)
@click.option("--force", is_flag=True, cls=Opt, help="Replace the picture if it exists.")
@click.option(
    "--from",
    "source_format",
    type=click.Choice(NAMES),
    cls=Opt,
    help="What SOURCE is; found by its content unless given.",
)
@click.option(
    "--labels",
    type=click.Path(),
    metavar="FILE",
    cls=Opt,
    help="Names of the classes (.prototxt), where SOURCE does not have them.",
)
@click.option(
    "--count",
    type=click.IntRange(1, 2000),
    metavar="N",
    cls=Opt,
    help="How many are shown; 24 unless given.",
)
@click.option(
    "--columns",
    type=click.IntRange(1, 100),
    metavar="N",
    default=6,
    cls=Opt,
    help="Images side by side; 6 unless given.",
)
@click.option(
    "--side",
    type=click.IntRange(32, 4096),
    metavar="N",
    default=220,
    cls=Opt,
    help="Pixels of the square that each image is fitted into; 220 unless given.",
)
@click.option(
    "--shuffle",
    type=click.IntRange(min=0),
    metavar="SEED",
    cls=Opt,
    help="Some from everywhere, the same ones for the same seed.",
)
@common
@click.pass_context
def command(ctx: click.Context, /, source: str, keys: tuple[str, ...], **given: Any) -> int:
    for name in ("count", "shuffle"):
        if keys and given[name] is not None:
            ctx.fail(f"--{name} chooses samples, and so do keys; choose one.")
    return _show(ctx.obj, source, keys, given)


def _show(output: Output, source: str, keys: tuple[str, ...], given: dict[str, Any]) -> int:
    from ufkit.cli.source import refuse_existing
    from ufkit.core.files import replacing
    from ufkit.datasets.formats.format import FormatOptions
    from ufkit.datasets.labels import Classes, read_labels
    from ufkit.datasets.open import list_dataset
    from ufkit.datasets.sheet import chosen, contact_sheet

    target = given["target"]
    refuse_existing(target, force=given["force"])
    labels = read_labels(given["labels"]) if given["labels"] else ()
    listing = list_dataset(source, given["source_format"] or "", FormatOptions(labels=labels))
    samples = list(chosen(listing, keys, count=given["count"] or 24, seed=given["shuffle"]))
    classes = Classes(labels or listing.labels)
    picture = contact_sheet(samples, classes, columns=given["columns"], side=given["side"])
    with replacing(target) as out:
        out.write(picture)
    data = {"source": source, "target": target, "shown": len(samples), "of": len(listing.samples)}
    output.answer(data)
    shown = output.paint(render.visible(target), "bold")
    text = f"wrote {shown}: {len(samples):,} of {render.plural(len(listing.samples), 'sample')}"
    output.print(text, confirms=True)
    return 0
