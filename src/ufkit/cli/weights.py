"""`ufkit weights`: the constants of a file, listed or written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.core import render
from ufkit.core.render import visible

if TYPE_CHECKING:
    from ufkit.cli.kinds import File
    from ufkit.conversion.weights import Left


@click.command(
    "weights",
    cls=Verb,
    help="""List the constants of a file with their types, shapes and sizes, or write them all to
    TARGET: .npz (for numpy.load) or .safetensors, each under the id of its node.

    Values, axis order and names are those of the UFF file. They are copied block by block:
    memory stays small however large the file. SOURCE may be - for stdin.""",
    examples=(
        ("ufkit weights net.uff", "what constants are there?"),
        ("ufkit weights net.uff --stats", "with smallest, largest and mean value"),
        ("ufkit weights net.uff net.npz", "numpy.load('net.npz')['dense/kernel']"),
        ("ufkit weights net.uff net.safetensors", "for PyTorch, JAX and others"),
    ),
    codes=codes(0, 2, 3, _4="TARGET cannot hold a type or a name"),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path(), required=False)
@click.option(
    "--stats",
    is_flag=True,
    cls=Opt,
    help="Add smallest, largest and mean value; reads all the weights.",
)
@click.option(
    "--graph", metavar="ID", cls=Opt, help="The graph to take, where a file holds several."
)
@click.option("--force", is_flag=True, cls=Opt, help="Replace TARGET if it exists.")
@click.option(
    "--from",
    "given",
    type=click.Path(),
    metavar="X.npz",
    cls=Opt,
    help="Put these arrays into a Caffe net, and write it to TARGET; .npz or .safetensors.",
)
@common
@click.pass_context
def command(
    ctx: click.Context, /, source: str, target: str | None, stats: bool, **given: Any
) -> int:
    from ufkit.cli.kinds import do

    if target is not None and stats:
        ctx.fail("--stats adds to the list; leave TARGET out.")
    return do(ctx, source, target=target, stats=stats, **given)


def uff(
    output: Output, file: File, *, target: str | None, stats: bool, graph: str | None, force: bool
) -> int:
    from ufkit.cli.source import refuse_existing
    from ufkit.conversion.weights import constants, writer_for
    from ufkit.uff.io import open as open_uff

    if target is not None:
        writer_for(target)
        refuse_existing(target, force=force)
    with open_uff(file.source) as meta:
        tensors = constants(meta.select(graph))
        if target is None:
            return show_arrays(output, meta.source.name, tensors, stats=stats)
        return write_arrays(output, tensors, target)


def show_arrays(
    output: Output, name: str, tensors: Mapping[str, Left], *, stats: bool, noun: str = "constant"
) -> int:
    """Print a table of the arrays in a file."""
    rows = [_row(id_, tensor, stats) for id_, tensor in tensors.items()]
    output.answer({"file": name, "tensors": rows})
    output.print(_table(rows, stats, noun))
    return 0


def write_arrays(
    output: Output, tensors: Mapping[str, Left], target: str, *, noun: str = "constant"
) -> int:
    """Write the arrays of a file, as the suffix of the target says."""
    from ufkit.cli.progress import showing
    from ufkit.conversion.weights import save_weights

    with showing(output) as progress:
        save_weights(tensors, target, progress=lambda done, total: progress("writing", done, total))
    nbytes = sum(tensor.nbytes for tensor in tensors.values())
    output.answer({"file": target, "tensors": len(tensors), "bytes": nbytes})
    count = render.plural(len(tensors), noun)
    name = output.paint(visible(target), "bold")
    output.print(f"wrote {name}: {count}, {render.size(nbytes)}", confirms=True)
    return 0


def _row(id_: str, tensor: Left, stats: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": id_,
        "dtype": str(tensor.type),
        "shape": list(tensor.shape),
        "bytes": tensor.nbytes,
        "problem": tensor.problem[1] if tensor.problem else None,
    }
    if stats:
        from ufkit.conversion.weights import Stats, statistics

        row |= asdict(Stats() if tensor.problem else statistics(tensor))
    return row


def _table(rows: list[dict[str, Any]], stats: bool, noun: str) -> str:
    head = ["id", "type", "shape", "bytes"]
    if stats:
        head += ["min", "max", "mean", ""]
    cells = [head]
    for row in rows:
        shape = f"[{', '.join(map(str, row['shape']))}]"
        line = [visible(row["id"]), row["dtype"], shape, f"{row['bytes']:,}"]
        if stats:
            line += [_number(row[name]) for name in ("min", "max", "mean")]
            line.append(f"{row['other']:,} not finite" if row["other"] else "")
        if row["problem"]:
            line.append(f"! {visible(row['problem'])}")
        cells.append(line)
    total = sum(row["bytes"] for row in rows)
    right = (3, 4, 5, 6) if stats else (3,)
    last = f"{render.plural(len(rows), noun)}, {render.size(total)}"
    return f"{render.columns(cells, indent=0, right=right)}\n{last}" if rows else last


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
