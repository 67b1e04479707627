"""`ufkit run`: a model on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.cli.shapes import Shapes, shape_option
from ufkit.core import render
from ufkit.core.render import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ufkit.cli.progress import Progress
    from ufkit.core.files import Source

    Arrays = dict[str, NDArray[Any]]

REFERENCE, ONNXRUNTIME = "reference", "onnxruntime"
UFF_ONLY = "UFF models"


@click.command(
    "run",
    cls=Verb,
    help="""Run a model on arrays of yours. MODEL is a UFF file of any form or an ONNX file; it is
    told from the content.

    A UFF file is run by ufkit's reference evaluator (NumPy, slow, exact), or with --engine
    onnxruntime from its ONNX form. An ONNX file is run by ONNX Runtime, or with --engine
    reference by the evaluator of the onnx package. Arrays are in the layout of the file; outputs
    come under their ids. Without -o each output is summed up in a line.""",
    examples=(
        ("ufkit run net.uff -i input_1=image.npy", "shape, type, range of each output"),
        ("ufkit run net.uff -i inputs.npz -o outputs.npz",
         "all inputs from one .npz, under Input ids or in:<id>"),
        ("ufkit run net.onnx -i image.npy -o outputs.npz", "the only input needs no name"),
    ),
    codes=codes(0, 2, 3, 4, 5, 70, 130,
                _2="names, shapes or types do not fit the model; both are shown",
                _4="an operation cannot be run: all of them are listed"),
)  # fmt: skip
@click.argument("model", type=click.Path(allow_dash=True))
@click.option(
    "-i",
    "--input",
    "inputs",
    multiple=True,
    metavar="[NAME=]FILE",
    cls=Opt,
    help="NAME=x.npy; x.npy for the only input; x.npz for all of them. Repeatable.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(),
    metavar="OUT.npz",
    cls=Opt,
    help="Write the outputs to this file.",
)
@click.option("--force", is_flag=True, cls=Opt, help="Replace OUT.npz if it exists.")
@click.option(
    "--engine",
    type=click.Choice([REFERENCE, ONNXRUNTIME]),
    cls=Opt,
    help="What computes: reference for UFF, onnxruntime for ONNX unless given.",
)
@shape_option
@click.option(
    "--graph",
    metavar="ID",
    cls=Opt,
    group=UFF_ONLY,
    help="The graph to run, where a file holds several.",
)
@common
@click.pass_context
def command(
    ctx: click.Context,
    /,
    model: str,
    inputs: tuple[str, ...],
    target: str | None,
    force: bool,
    engine: str | None,
    shapes: Shapes,
    graph: str | None,
) -> int:
    from ufkit.cli.progress import showing
    from ufkit.cli.source import path_of, refuse_existing
    from ufkit.core.files import Source
    from ufkit.wire.sniff import ONNX, identify

    output: Output = ctx.obj
    if target is not None:
        if not target.lower().endswith(".npz"):
            ctx.fail(f"outputs are written to .npz, not to {target}.")
        refuse_existing(target, force=force)
    source = Source.open(path_of(model))
    is_onnx = identify(source) is ONNX
    if is_onnx and (shapes or graph):
        ctx.fail("--shape and --graph concern UFF models; this is ONNX.")
    engine = engine or (ONNXRUNTIME if is_onnx else REFERENCE)
    with showing(output) as progress:
        if is_onnx:
            source.close()
            results = _run_onnx(path_of(model), inputs, engine)
        else:
            results = _run_uff(source, inputs, engine, shapes, graph, progress)
    if target is not None:
        _write(results, target)
    rows = [_row(name, array) for name, array in results.items()]
    output.answer({"engine": engine, "file": target, "outputs": rows})
    if target is not None:
        count = render.plural(len(results), "output")
        name = output.paint(visible(target), "bold")
        output.print(f"wrote {name}: {count}, computed by {engine}", confirms=True)
    output.print(_table(rows), confirms=target is not None)
    return 0


def _run_uff(
    source: Source,
    inputs: tuple[str, ...],
    engine: str,
    shapes: Shapes,
    graph_id: str | None,
    progress: Progress,
) -> Arrays:
    from ufkit.cli.arrays import feeds_of
    from ufkit.uff.io import open as open_uff
    from ufkit.uff.runner import run

    with open_uff(source) as meta:
        graph = meta.select(graph_id)
        feeds = feeds_of(inputs, [node.id for node in graph.inputs])
        if engine == REFERENCE:
            return run(graph, feeds, shapes=shapes, progress=_named(progress, "running"))
        from ufkit.conversion.run_lowered import run_lowered

        return run_lowered(
            graph, feeds, shapes=shapes, engine=engine, progress=_named(progress, "converting")
        )


def _named(progress: Progress, what: str) -> Any:
    return lambda done, total: progress(what, done, total)


def _run_onnx(path: str, inputs: tuple[str, ...], engine: str) -> Arrays:
    from ufkit.cli.arrays import feeds_of
    from ufkit.conversion.engines import open_onnx

    session = open_onnx(path, engine=engine)
    return session.run(feeds_of(inputs, [port.name for port in session.inputs]))


def _write(results: Arrays, target: str) -> None:
    from ufkit.conversion.weights import write_npz
    from ufkit.core.files import replacing

    with replacing(target) as out:
        write_npz(results, out)


def _row(name: str, array: NDArray[Any]) -> dict[str, Any]:
    from ufkit.conversion.weights import statistics

    stats = statistics(array)
    return {
        "id": name,
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "min": stats.min,
        "max": stats.max,
        "mean": stats.mean,
        "not_finite": stats.other,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    cells: list[tuple[str, ...]] = [("output", "", "min", "max", "mean", "")]
    for row in rows:
        numbers = ["-" if row[n] is None else f"{row[n]:.6g}" for n in ("min", "max", "mean")]
        shape = f"{row['dtype']}[{', '.join(map(str, row['shape']))}]"
        other = f"{row['not_finite']:,} not finite" if row["not_finite"] else ""
        cells.append((visible(row["id"]), shape, *numbers, other))
    return render.columns(cells, right=(2, 3, 4))
