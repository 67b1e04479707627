"""`ufkit diff`: what differs between two models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output

if TYPE_CHECKING:
    from ufkit.core.comparison import Comparison


@click.command(
    "diff",
    cls=Verb,
    help="""Say what differs between two models: nodes added, removed, renamed and changed, their
    fields with both values, and weights with how far they are apart.

    A and B are UFF files of any form (binary, text, JSON) or ONNX files, or two Caffe or UFW nets,
    with weights or as text, whose layers go together by name. Nodes go together by id,
    whatever their order in the file. Weights that a text leaves out are counted, not compared.
    Against ONNX that ufkit made, a UFF is converted again; against that of other programs inputs,
    outputs and weights go together by name (-v lists the nodes that do not). One of A and B may
    be - for stdin.""",
    examples=(
        ("ufkit diff old.uff new.uff", "what changed?"),
        ("ufkit diff net.uff net.onnx", "is this the ONNX of that UFF?"),
        ("ufkit diff old.uff new.uff --tolerance 1e-6", "weights may be that far apart"),
        ("ufkit diff old.uff new.uff --no-weights", "the graphs only, whatever the weights"),
        ("ufkit diff float.caffemodel int8.caffemodel", "how far integers are from floats"),
        ("ufkit diff a.uff b.uff -q && echo same", "for scripts; nothing is printed"),
        ("ufkit diff a.uff b.uff --json | jq '.data.changed'", "all of it, not capped"),
    ),
    codes=codes(0, 2, 3, _0="they are the same", _1="they differ"),
)  # fmt: skip
@click.argument("a", type=click.Path(allow_dash=True))
@click.argument("b", type=click.Path(allow_dash=True))
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="F",
    cls=Opt,
    help="Weights this far apart, against the largest value of B, count as the same.",
)
@click.option(
    "--no-weights",
    is_flag=True,
    cls=Opt,
    help="Compare types and shapes of weights, not their values.",
)
@common
@click.pass_context
def command(
    ctx: click.Context, /, a: str, b: str, tolerance: float | None, no_weights: bool
) -> int:
    from ufkit.cli.diff_text import text
    from ufkit.cli.progress import showing
    from ufkit.cli.source import path_of
    from ufkit.conversion.compare import diff

    output: Output = ctx.obj
    if a == b == "-":
        ctx.fail("only one of the files can come from stdin.")
    if no_weights and tolerance is not None:
        ctx.fail("--tolerance is for the values of weights, which --no-weights leaves aside.")
    with showing(output) as progress:
        result: Comparison = diff(
            path_of(a),
            path_of(b),
            tolerance=tolerance or 0.0,
            weights=not no_weights,
            progress=lambda done, total: progress("comparing", done, total),
        )
    output.answer(result.as_dict(), result.diagnostics, ok=result.same)
    if not output.quiet:
        output.print(text(result, output))
        output.print(output.findings(result.diagnostics))
    return 0 if result.same else 1
