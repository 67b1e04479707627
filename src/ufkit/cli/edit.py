"""`ufkit edit`: a UFF file changed, step by step, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.core.diag import Diagnostic
    from ufkit.uff.edit.change import Change


@click.command(
    "edit",
    cls=Verb,
    help="""Change a UFF file of any form and write it to TARGET, in the form that its suffix
    names: .uff or .pb (binary), .pbtxt or .txt (text), .json.

    What is not touched is copied byte for byte. TARGET is written beside and put in place whole;
    with --force it may be SOURCE itself. SOURCE may be - for stdin.""",
    examples=(
        ("ufkit edit net.uff.pbtxt net.uff --random-weights 0",
         "a text twin without weights, made runnable"),
    ),
    codes=codes(0, 2, 3),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path())
@click.option(
    "--random-weights",
    type=click.IntRange(min=0),
    metavar="SEED",
    cls=Opt,
    help="Make up the weights that a text twin left out; the same ones for the same SEED.",
)
@click.option("--full", is_flag=True, cls=Opt, help="Write the weights into text too.")
@click.option("--force", is_flag=True, cls=Opt, help="Replace TARGET if it exists.")
@common
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: str,
    target: str,
    random_weights: int | None,
    full: bool,
    force: bool,
) -> int:
    from ufkit.cli.source import open_source, refuse_existing
    from ufkit.uff.edit.change import Change
    from ufkit.uff.edit.random_weights import random_weights as make_up
    from ufkit.uff.io import TEXT, form_of, save

    output: Output = ctx.obj
    if random_weights is None:
        ctx.fail("Say what to change; ufkit edit --help lists the changes.")
    if target.lower().endswith(".onnx"):
        ctx.fail("edit writes UFF; ufkit convert makes ONNX of it.")
    form = form_of(target)
    if full and form != TEXT:
        ctx.fail(f"--full concerns text (.pbtxt, .txt) only; {form} UFF holds the weights anyway.")
    if form == TEXT and not full:
        ctx.fail("Text leaves weights out, those made up too; add --full.")
    refuse_existing(target, force=force)
    with open_source(source).meta as meta:
        made = make_up(meta, random_weights)
        changes = [Change("random-weights", str(made))]
        save(meta, target, full=full)
    return _report(output, target, changes, made.kept)


def _report(output: Output, target: str, changes: list[Change], findings: list[Diagnostic]) -> int:
    data = {"file": target, "changes": [change.as_dict() for change in changes]}
    output.answer(data, findings)
    rows = [(change.edit, render.visible(change.message)) for change in changes]
    output.print(f"wrote {output.paint(render.visible(target), 'bold')}", confirms=True)
    output.print(render.columns(rows), confirms=True)
    output.print(output.findings(findings))
    return 0
