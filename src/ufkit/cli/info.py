"""`ufkit info`: what a file is and what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.command import Opt, Verb, codes, common
from ufkit.cli.output import Output
from ufkit.cli.shapes import Shapes, shape_option
from ufkit.core import render
from ufkit.core.render import short, visible

if TYPE_CHECKING:
    from ufkit.cli.kinds import File
    from ufkit.core.diag import Diagnostic
    from ufkit.uff.infer import Inference
    from ufkit.uff.model import Graph, Node
    from ufkit.uff.summary import GraphSummary, Summary, ValueSummary

_FORMS = {"uff": "UFF, binary", "uff-text": "UFF, text", "uff-json": "UFF, JSON"}


@click.command(
    "info",
    cls=Verb,
    help="""Say what a file is: its form and size, inputs and outputs with shapes and types,
    operations, parameters, weights.

    The kind is told from the content, whatever the suffix. Weights are not read, so a file of
    gigabytes takes no longer than a small one. Caffe and UFW nets (.caffemodel, umodels, .prototxt)
    are shown with every layer, label maps with every class, mean images with their means, datasets
    (LMDB folders) with shapes and labels. What is none of these is named for what it is. SOURCE
    may be - for stdin.""",
    examples=(
        ("ufkit info net.uff", "what is this?"),
        ("ufkit info net.uff --nodes", "every node with its inputs, shape and fields"),
        ("ufkit info net.uff --shape input_1=N,28,28,1",
         "shapes that follow from one the file does not record"),
        ("ufkit info deploy.prototxt --weights net.int8umodel", "a net of two files"),
        ("ufkit info train_lmdb", "a dataset: records, shapes, labels, range of values"),
        ("ufkit info net.uff --json | jq '.data.graphs[0].inputs'", "for scripts"),
    ),
    codes=codes(0, _0="it is of a kind that is read here",
                _3="it is not, or it cannot be read or is damaged"),
)  # fmt: skip
@click.argument("source", type=click.Path(allow_dash=True))
@click.option("--nodes", is_flag=True, cls=Opt, help="List every node.")
@click.option(
    "--weights",
    type=click.Path(),
    metavar="FILE",
    cls=Opt,
    help="The weights of a Caffe prototxt, shown with its layers.",
)
@shape_option
@common
@click.pass_context
def command(ctx: click.Context, /, source: str, **given: Any) -> int:
    from ufkit.cli.kinds import do

    return do(ctx, source, **given)


def uff(output: Output, file: File, *, nodes: bool, shapes: Shapes) -> int:
    from ufkit.uff.io import open as open_uff
    from ufkit.uff.summary import summarize

    form, nbytes = file.kind.name, file.source.size
    with open_uff(file.source) as meta:
        summary = summarize(meta, shapes)
        summary.bytes = nbytes
        data = {"form": form, **summary.as_dict()}
        lists = []
        wanting: list[Diagnostic] = []
        for graph, facts in zip(meta.graphs, summary.graphs, strict=True):
            if not nodes and all(value.shape is not None for value in facts.inputs):
                continue
            inference = _infer(graph, shapes)
            wanting += inference.open_inputs
            if nodes:
                lists.append([_node(node, inference) for node in graph])
        if nodes:
            for entry, rows in zip(data["graphs"], lists, strict=True):
                entry["node_list"] = rows
    output.answer(data, wanting)
    output.print(_text(summary, form, output))
    for rows in lists:
        output.print("\n" + _listing(rows))
    if wanting:
        output.print("\n" + output.findings(wanting), confirms=True)
    return 0


def _infer(graph: Graph, shapes: Shapes) -> Inference:
    """What can be said of a graph; nothing where it has no order."""
    from ufkit.core.diag import FormatError
    from ufkit.uff.infer import Inference, infer

    try:
        return infer(graph, {id_: shape for id_, shape in shapes.items() if id_ in graph})
    except FormatError:
        return Inference(graph)


# -- the summary -----------------------------------------------------------------------------


def _text(summary: Summary, form: str, output: Output) -> str:
    versions = f"version {summary.version}"
    if summary.descriptor_core_version != summary.version:
        versions += f" (core {summary.descriptor_core_version})"
    extensions = ", ".join(map(visible, summary.descriptors))
    head = output.paint(visible(summary.file), "bold")
    size = render.size(summary.bytes)
    exact = "" if size.endswith(" B") else f" ({summary.bytes:,} bytes)"
    parts = [f"{head}: {_FORMS.get(form, form)}, {size}{exact}, {versions}"]
    if extensions:
        parts.append(f"extensions: {extensions}")
    if not summary.graphs:
        parts.append("no graph in it")
    parts += ["\n" + _graph(graph, output) for graph in summary.graphs]
    return "\n".join(parts)


def _graph(graph: GraphSummary, output: Output) -> str:
    name = output.paint(visible(graph.id), "bold")
    rows = [
        (kind, visible(value.id), _type(value), visible(_maker(value.operation)))
        for kind, values in (("input", graph.inputs), ("output", graph.outputs))
        for value in values
    ]
    lines = [f"graph {name}: {render.plural(graph.nodes, 'node')}"]
    if rows:
        lines.append(render.columns(rows))
    missing = [kind for kind, found in (("input", graph.inputs), ("output", graph.outputs))
               if not found]  # fmt: skip
    lines += [f"  no {kind}" for kind in missing]
    counts = (_count(name, count, graph, output) for name, count in graph.operations.items())
    lines.append(render.wrapped(counts, first="  operations  ", width=output.width))
    lines.append(f"  parameters  {_parameters(graph)}")
    if graph.weights_left_out:
        constants = render.plural(graph.weights_left_out, "constant")
        lines.append(f"  left out    the weights of {constants}: this text does not hold them")
    return "\n".join(lines)


def _type(value: ValueSummary) -> str:
    return "?" if value.shape is None and value.dtype == "unknown" else visible(str(value))


def _maker(operation: str) -> str:
    return "" if operation == "Input" else f"from {operation}"


def _count(name: str, count: int, graph: GraphSummary, output: Output) -> str:
    text = f"{count} {visible(name)}"
    if name in graph.custom_operations:
        kind = "custom" if name.startswith("_") else "unknown"
        text += output.paint(f" ({kind})", "yellow")
    return text


def _parameters(graph: GraphSummary) -> str:
    if not graph.parameters:
        return "none"
    kinds = sorted(graph.dtypes.items(), key=lambda item: -item[1])
    share = ", ".join(f"{count:,} {dtype}" for dtype, count in kinds)
    total = f"{graph.parameters:,} ({share})" if len(kinds) > 1 else share
    return f"{total}, {render.size(graph.weight_bytes)}"


# -- the nodes -------------------------------------------------------------------------------


def _node(node: Node, inference: Inference) -> dict[str, Any]:
    fact = inference.facts.get(node.id)
    shape = fact.shape if fact else None
    known = fact is not None and shape is not None
    return {
        "id": node.id,
        "operation": node.operation,
        "inputs": list(node.inputs),
        "shape": None if shape is None else [s if isinstance(s, int) else str(s) for s in shape],
        "dtype": str(fact.dtype) if fact and known else None,
        "fields": dict(_fields(node)),
    }


def _fields(node: Node) -> Iterator[tuple[str, Any]]:
    """The fields as plain values; blobs as their size, orders as names spell them."""
    from ufkit.core.diag import FormatError
    from ufkit.uff.data import plain

    for name in node.fields:
        try:
            yield name, plain(node.fields[name])
        except FormatError as error:
            yield name, f"({error.diagnostic.message})"


def _listing(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        known = row["shape"] is not None
        sizes = f"{row['dtype']}[{', '.join(map(str, row['shape']))}]" if known else "?"
        value = "" if row["operation"] == "MarkOutput" else f"  {sizes}"
        lines.append(f"{visible(row['id'])}  {visible(row['operation'])}{value}")
        if row["inputs"]:
            lines.append(f"    from {', '.join(map(visible, row['inputs']))}")
        fields = [f"{visible(name)}={short(value)}" for name, value in row["fields"].items()]
        if fields:
            lines.append(f"    {' '.join(fields)}")
    return "\n".join(lines)
