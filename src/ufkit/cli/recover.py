"""`ufkit recover`: what is intact of a damaged file, as a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.uff.recover import Recovered


@click.command(
    "recover",
    cls=Verb,
    help="""Save what is intact of a binary UFF file that was cut short or damaged: whole nodes
    and whole entries of its data, found again behind the damage. Nothing is made up: what is
    missing is listed, with the bytes that were lost and who names what is not there.

    A constant that the file ends in is filled up with zeros when at least half of it is there,
    and said to be. A text form (.pbtxt) is kept up to where it is wrong; a JSON form must be
    whole. Values changed in place, with every length intact, look like any others: compare with
    what you know. TARGET's suffix tells its form, binary unless it is .pbtxt, .txt or .json.
    SOURCE may be - for stdin.""",
    examples=(
        ("ufkit recover broken.uff rest.uff", "what is left?"),
        ("ufkit check rest.uff", "next: what is the rest good for?"),
        ("ufkit recover broken.uff rest.uff --json | jq '.data.lost'", "for scripts"),
    ),
    codes=codes(0, _0="nothing was lost", _1="something was: TARGET holds the rest, the report "
                "lists it", _3="it cannot be read, or nothing in it is UFF"),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path())
@click.option("--force", is_flag=True, cls=Opt, help="Replace TARGET if it exists.")
@common
@click.pass_obj
def command(output: Output, source: str, target: str, force: bool) -> int:
    import os

    from ufkit.cli.source import path_of, refuse_existing
    from ufkit.uff.io import save
    from ufkit.uff.recover import recover

    refuse_existing(target, force=force)
    found = recover(path_of(source))
    data = _as_dict(found, target)
    with found.meta as meta:
        save(meta, target, full=True)
    data["bytes"] = os.stat(target).st_size
    output.answer(data, found.diagnostics, ok=found.ok)
    output.print(_text(data, found, output), confirms=found.ok)
    return 0 if found.ok else 1


def _as_dict(found: Recovered, target: str) -> dict[str, Any]:
    return {
        "file": found.meta.source.name,
        "target": target,
        "bytes": 0,
        "nodes": sum(map(len, found.meta.graphs)),
        "referenced_data": len(found.meta.referenced_data),
        "lost": [{"start": start, "stop": stop} for start, stop in found.lost],
    }


def _text(data: dict[str, Any], found: Recovered, output: Output) -> str:
    name = output.paint(render.visible(data["target"]), "bold")
    facts = [
        render.plural(data["nodes"], "node"),
        f"{data['referenced_data']:,} of referenced data",
        render.size(data["bytes"]),
    ]
    lines = [output.findings(found.diagnostics)] if found.diagnostics else []
    lines.append(f"wrote {name}: {', '.join(facts)}")
    if found.ok:
        lines.append(output.paint("nothing was lost", "green"))
    else:
        verdict = output.paint("not all of it could be recovered", "red")
        lines.append(f"{verdict}; next: ufkit check {render.visible(data['target'])}")
    return "\n".join(lines)
