"""`ufkit check`: everything that can be said of a file without running it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.cli.shapes import Shapes, shape_option
from ufkit.core import render
from ufkit.core.diag import Diagnostic, Severity

if TYPE_CHECKING:
    from ufkit.cli.kinds import File


@click.command(
    "check",
    cls=Verb,
    help="""Find what is wrong with a file: damage, references that lead nowhere, shapes that do
    not fit, operations nobody knows, weights that are missing, fields that mean nothing. In Caffe
    and UFW nets also NaN, blobs of other sizes than their shapes, blobs of forks; in datasets
    (LMDB) images that cannot be decoded, sizes that differ, what comes twice, boxes outside.

    Each finding has a code, a place (node, field, bytes), the numbers, why it matters and what
    to do. Errors make a file unfit for use, warnings may, notes say how something ambiguous is
    read. Alike findings are shown once with a count. SOURCE may be - for stdin.""",
    examples=(
        ("ufkit check net.uff", "what is wrong?"),
        ("ufkit check net.uff --strict", "for CI: warnings fail too"),
        ("ufkit check net.uff --shape input_1=N,28,28,1",
         "with a shape the file does not record, so that those behind it can be checked"),
        ("ufkit check deploy.prototxt --weights net.caffemodel", "and whether the two fit"),
        ("ufkit check train_lmdb --labels labelmap.prototxt", "a dataset, and its classes"),
        ("ufkit check net.uff --json | jq '.diagnostics[].code'", "for scripts"),
    ),
    codes=codes(0, _0="no errors (--strict: and no warnings)", _1="there are some",
                _3="it cannot be read, or is of no kind that is checked"),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.option("--strict", is_flag=True, cls=Opt, help="Warnings count as errors.")
@shape_option
@common
@click.option(
    "--weights",
    type=click.Path(),
    metavar="FILE",
    cls=Opt,
    help="The weights of a Caffe prototxt: check them too, and whether the two fit.",
)
@click.option(
    "--labels",
    type=click.Path(),
    metavar="FILE",
    cls=Opt,
    help="The label map (.prototxt) that has the classes of a dataset.",
)
@click.pass_context
def command(ctx: click.Context, /, source: str, **given: Any) -> int:
    from ufkit.cli.kinds import do

    return do(ctx, source, **given)


def uff(output: Output, file: File, *, strict: bool, shapes: Shapes) -> int:
    from ufkit.uff.check import check
    from ufkit.uff.io import open as open_uff

    with open_uff(file.source) as meta:
        return report(output, file.source.name, check(meta, shapes), strict=strict)


def report(output: Output, name: str, found: Iterable[Diagnostic], *, strict: bool) -> int:
    """Print the findings in a file and the verdict; gives the exit code."""
    findings = list(found)
    counts = Counter(finding.severity for finding in findings)
    bad = counts[Severity.ERROR] + (counts[Severity.WARNING] if strict else 0)
    data = {
        "file": name,
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "notes": counts[Severity.NOTE],
        "strict": strict,
    }
    output.answer(data, findings, ok=not bad)
    output.print(_shown(output, findings, strict))
    output.print(_mendable(findings, name), confirms=True)
    verdict = output.paint(_verdict(counts), "red" if bad else "green")
    output.print(f"{render.visible(name)}: {verdict}", confirms=not bad)
    return 1 if bad else 0


def _shown(output: Output, findings: list[Diagnostic], strict: bool) -> str:
    """The findings; when quiet, those that fail the check."""

    if output.quiet:
        fatal = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
        findings = [finding for finding in findings if finding.severity in fatal]
    return output.findings(findings, why=True)


def _mendable(findings: list[Diagnostic], name: str) -> str:
    """Where to go from here, if any of the findings can be mended without asking."""
    from ufkit.uff.edit.fixes import FIXES

    rules = [rule for rule, _ in FIXES]
    count = sum(finding.rule in rules for finding in findings)
    if not count:
        return ""
    of_these = "the one finding" if count == len(findings) == 1 else f"{count:,} of these"
    return f"may mend {of_these}: ufkit edit {render.visible(name)} TARGET --fix"


def _verdict(counts: Counter[Severity]) -> str:
    if not counts:
        return "nothing found"
    errors, *others = ((counts[severity], str(severity)) for severity in Severity)
    parts = [render.plural(*errors) if errors[0] else "no errors"]
    parts += [render.plural(*other) for other in others if other[0]]
    return ", ".join(parts)
