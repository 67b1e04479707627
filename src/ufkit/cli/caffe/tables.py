"""Summaries of nets as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ufkit.core import render
from ufkit.core.render import visible
from ufkit.ufw.layers import works

if TYPE_CHECKING:
    from ufkit.cli.output import Output
    from ufkit.ufw.summary import NetSummary

_FORMS = {
    "caffe-net": "Caffe net, binary",
    "caffe-json": "Caffe net, JSON",
    "caffe-text": "Caffe net, text",
}


def form_of(kind: str) -> str:
    """What a kind of file is called in a heading."""
    return _FORMS[kind]


def heading(output: Output, name: str, parts: Sequence[str], nbytes: int) -> str:
    """The first line: the file, what it is, how large."""
    size = render.size(nbytes)
    exact = "" if size.endswith(" B") else f" ({nbytes:,} bytes)"
    return f"{output.paint(visible(name), 'bold')}: {', '.join([*parts, size + exact])}"


def summary_text(summary: NetSummary, output: Output) -> str:
    """What a net takes, makes, is made of and weighs."""
    name = output.paint(visible(summary.name or "(without a name)"), "bold")
    style = f" in {summary.style!r}, the older style" if summary.style == "layers" else ""
    lines = [f"net {name}: {render.plural(summary.layers, 'layer')}{style}"]
    rows = [("input", visible(item["name"]), _shape(item["shape"])) for item in summary.inputs]
    rows += [("output", visible(id_), _output(summary.shapes.get(id_))) for id_ in summary.outputs]
    if rows:
        lines.append(render.columns(rows))
    counts = (f"{count} {visible(type_)}" for type_, count in summary.types.items())
    lines.append(render.wrapped(counts, first="  layers      ", width=output.width))
    if summary.storages:
        dtypes = ", ".join(f"{count:,} {dtype}" for dtype, count in summary.dtypes.items())
        total = f"{summary.parameters:,} ({dtypes})" if len(summary.dtypes) > 1 else dtypes
        lines.append(f"  parameters  {total}, {render.size(summary.weight_bytes)}")
        kept = ", ".join(f"{count} in {name}" for name, count in summary.storages.items())
        lines.append(f"  weights     {summary.arithmetic}: {kept}")
    else:
        lines.append("  parameters  none in this file")
    if summary.macs:
        lines.append(f"  work        {_work(summary)}")
    return "\n".join(lines)


def _work(summary: NetSummary) -> str:
    heavy = [layer for layer in summary.layer_list if works(layer.type)]
    unknown = sum(layer.macs is None for layer in heavy)
    missing = f", and what {render.plural(unknown, 'layer')} of no known size do" if unknown else ""
    return f"{summary.macs:,} multiply-accumulates{missing}"


def _output(shape: Sequence[int | None] | None) -> str:
    return "" if shape is None else _shape(shape)


def _shape(shape: Sequence[int | None] | None) -> str:
    if shape is None:
        return "?"
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def layer_table(summary: NetSummary) -> str:
    """A line for each layer: its name and type, what it takes and makes, shapes, weights."""
    rows = [
        (
            visible(layer.name),
            visible(layer.type),
            f"{_names(layer.bottoms)} -> {_names(layer.tops)}",
            " ".join(map(_shape, layer.shapes)) if any(layer.shapes) else "",
            f"{layer.parameters:,}" if layer.blobs else "",
            "  ".join(map(str, layer.blobs)),
        )
        for layer in summary.layer_list
    ]
    head = ("layer", "type", "takes -> makes", "shapes", "parameters", "weights")
    return render.columns([head, *rows], indent=0, right=(4,))


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(visible, names)) or "-"
