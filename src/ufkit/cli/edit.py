"""`ufkit edit`: a UFF file changed, step by step, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.cli.shapes import parse_shapes
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.core.diag import Diagnostic
    from ufkit.uff.edit.change import Change

CHANGES = "Changes, applied in this order"
_OPEN = "open"


def _batch(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
    if text is None or text == _OPEN:
        return -1 if text else None
    if not text.isdecimal() or int(text) == 0:
        raise click.BadParameter(f"{text!r} is no batch: a number from 1 on, or {_OPEN}")
    return int(text)


def _cut(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[Any, Any]:
    if text is None:
        return (), ()
    inputs, dots, outputs = text.partition("..")
    if not dots or ".." in outputs or not (inputs or outputs):
        raise click.BadParameter(
            f"{text!r} is no IN[,IN]..OUT[,OUT]; ids that hold .. or a comma go to --from and --to"
        )
    sides = [[id_ for id_ in side.split(",") if id_] for side in (inputs, outputs)]
    return sides[0], sides[1]


def _names(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    names: dict[str, str] = {}
    for text in texts:
        old, _, new = text.rpartition("=")  # at the last one, since ids may hold one
        if not (old and new):
            raise click.BadParameter(f"{text!r} is no OLD=NEW")
        if old in names:
            raise click.BadParameter(f"{old!r} is renamed twice")
        names[old] = new
    return names


@click.command(
    "edit",
    cls=Verb,
    help="""Change a UFF file of any form and write it to TARGET, in the form that its suffix
    names: .uff or .pb (binary), .pbtxt or .txt (text), .json.

    Changes may be combined; all ids are those of SOURCE, since names change last. What is not
    touched is copied byte for byte. TARGET is written beside and put in place whole; with --force
    it may be SOURCE itself. SOURCE may be - for stdin.""",
    examples=(
        ("ufkit edit twin.pbtxt net.uff --random-weights 0",
         "a text twin without weights, made runnable"),
        ("ufkit edit net.uff head.uff --extract conv3..scores", "the part between two nodes"),
        ("ufkit edit net.uff body.uff --extract ..conv3", "from the Inputs to a node"),
        ("ufkit edit net.uff new.uff --rename input_1=image --rename dense/Softmax=scores",
         "other names for inputs and outputs"),
        ("ufkit edit net.uff new.uff --set-shape input_1=1,28,28,1 --set-batch open",
         "a shape the file did not record, its batch left open"),
        ("ufkit edit net.uff net.uff --force --fix", "what check finds and needs no decision"),
    ),
    codes=codes(0, 3, _2="the command makes no sense, or a change does not fit the file: "
                         "nothing is written"),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path())
@click.option(
    "--fix",
    is_flag=True,
    cls=Opt,
    group=CHANGES,
    help="Mend what has one right answer: stray inputs, missing descriptors, repeated keys, "
    "nodes and data that nothing needs, missing batch, Concat axis.",
)
@click.option(
    "--set-shape",
    multiple=True,
    metavar="NAME=SIZES",
    callback=parse_shapes,
    cls=Opt,
    group=CHANGES,
    help="Write the shape of an Input: input_1=1,28,28,1. A name or -1 leaves a size open. "
    "Repeatable.",
)
@click.option(
    "--set-batch",
    metavar="N|open",
    callback=_batch,
    cls=Opt,
    group=CHANGES,
    help="Give all Inputs this first size, and every Reshape that has the old one written in.",
)
@click.option(
    "--random-weights",
    type=click.IntRange(min=0),
    metavar="SEED",
    cls=Opt,
    group=CHANGES,
    help="Make up the weights that a text twin left out; the same ones for the same SEED.",
)
@click.option(
    "--extract",
    metavar="IN[,IN]..OUT[,OUT]",
    callback=_cut,
    cls=Opt,
    group=CHANGES,
    help="Keep what lies between these nodes; IN become Inputs. Either side may be empty.",
)
@click.option(
    "--from",
    "starts",
    multiple=True,
    metavar="ID",
    cls=Opt,
    group=CHANGES,
    help="One IN of --extract, taken literally. Repeatable.",
)
@click.option(
    "--to",
    "ends",
    multiple=True,
    metavar="ID",
    cls=Opt,
    group=CHANGES,
    help="One OUT of --extract, taken literally. Repeatable.",
)
@click.option(
    "--fold",
    is_flag=True,
    cls=Opt,
    group=CHANGES,
    help="Compute what follows from constants; resolve training leftovers.",
)
@click.option(
    "--remove-unreachable",
    is_flag=True,
    cls=Opt,
    group=CHANGES,
    help="Take out nodes that no output needs, and data that nothing refers to.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="OLD=NEW",
    callback=_names,
    cls=Opt,
    group=CHANGES,
    help="Give a node another id; its takers and its weights follow. Repeatable.",
)
@click.option(
    "--graph",
    metavar="ID",
    cls=Opt,
    help="The graph to change, where a file holds several; --fix and --random-weights take all.",
)
@click.option("--full", is_flag=True, cls=Opt, help="Write the weights into text too.")
@click.option("--force", is_flag=True, cls=Opt, help="Replace TARGET if it exists.")
@common
@click.pass_context
def command(ctx: click.Context, /, source: str, target: str, **given: Any) -> int:
    from ufkit.cli.kinds import identified
    from ufkit.cli.source import refuse_existing
    from ufkit.uff.edit.edits import Edits, edit
    from ufkit.uff.io import open as open_uff
    from ufkit.uff.io import save

    inputs, outputs = given["extract"]
    edits = Edits(
        fix=given["fix"],
        set_shape=given["set_shape"],
        set_batch=given["set_batch"],
        random_weights=given["random_weights"],
        inputs=[*inputs, *given["starts"]],
        outputs=[*outputs, *given["ends"]],
        fold=given["fold"],
        remove_unreachable=given["remove_unreachable"],
        rename=given["rename"],
    )
    if edits == Edits(inputs=[], outputs=[]):
        ctx.fail("Say what to change; ufkit edit --help lists the changes.")
    _check_target(ctx, target, given)
    refuse_existing(target, force=given["force"])
    with open_uff(identified(source).source) as meta:
        changes, remarks = edit(meta.select(given["graph"]), edits)
        save(meta, target, full=given["full"])
    _report(ctx.obj, target, changes, remarks)
    return 0


def _check_target(ctx: click.Context, target: str, given: dict[str, Any]) -> None:
    """Refuse what TARGET cannot be, and options without an effect on it. Raises UsageError."""
    from ufkit.uff.io import TEXT, form_of

    if target.lower().endswith(".onnx"):
        ctx.fail("edit writes UFF; ufkit convert makes ONNX of it.")
    form = form_of(target)
    if given["full"] and form != TEXT:
        ctx.fail(f"--full concerns text (.pbtxt, .txt) only; {form} UFF holds the weights anyway.")
    if given["random_weights"] is not None and form == TEXT and not given["full"]:
        ctx.fail("Text leaves weights out, those made up too; add --full.")


def _report(output: Output, target: str, changes: list[Change], remarks: list[Diagnostic]) -> None:
    data = {"file": target, "changes": [change.as_dict() for change in changes]}
    output.answer(data, remarks)
    rows = [
        (change.edit, change.rule.code if change.rule else "", render.visible(change.message))
        for change in changes
    ]
    output.print(f"wrote {output.paint(render.visible(target), 'bold')}", confirms=True)
    output.print(render.columns(rows), confirms=True)
    output.print(output.findings(remarks))
