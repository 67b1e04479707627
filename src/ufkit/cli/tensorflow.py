"""TensorFlow graphs on the command line: their nodes, and inputs in the place of some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ufkit.cli.output import Output
from ufkit.core import render

if TYPE_CHECKING:
    from ufkit.core.files import Source

_FORM = "such as -I image,input,float32,-1,28,28,1"


def parse_inputs(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> list[Any]:
    """Callback of an option that takes NODE,NAME,TYPE,SIZES. Raises BadParameter."""
    return [_parsed(text) for text in texts]


def _parsed(text: str) -> Any:
    from ufkit.conversion.tf_uff import GivenInput

    node, *rest = text.split(",")
    if len(rest) < 2 or not all((node, *rest)):
        raise click.BadParameter(f"{text!r} is no NODE,NAME,TYPE,SIZES, {_FORM}")
    name, dtype, *sizes = rest
    try:
        shape = tuple(map(int, sizes))
    except ValueError:
        raise click.BadParameter(f"the sizes in {text!r} must be numbers, {_FORM}") from None
    if min(shape, default=0) < -1:
        raise click.BadParameter(f"{min(shape)} in {text!r} is no size, {_FORM}")
    return GivenInput(node, name, dtype, shape)


def list_nodes(output: Output, source: Source) -> int:
    """Print name, operation and inputs of each node of a graph, in the order of the file."""
    from ufkit.conversion.tf_files import open_tensorflow

    nodes = open_tensorflow(source).nodes.values()
    rows = [{"name": node.name, "op": node.op, "inputs": node.inputs} for node in nodes]
    output.answer({"source": source.name, "nodes": rows}, [], ok=True)
    shown = [(n.name, n.op, ", ".join(n.inputs)) for n in nodes]
    output.print(render.columns([tuple(map(render.visible, row)) for row in shown]))
    return 0
