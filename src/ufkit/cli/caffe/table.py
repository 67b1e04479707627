"""Calibration tables (.prototxt): the thresholds and shifts of a net's layers."""

from __future__ import annotations

from typing import Any

from ufkit.cli.caffe.prototxt import check, dump
from ufkit.cli.caffe.tables import heading
from ufkit.cli.kinds import File
from ufkit.cli.output import Output
from ufkit.core import render
from ufkit.core.render import visible
from ufkit.ufw.io import open_prototxt
from ufkit.wire.tree import Tree

__all__ = ["check", "dump", "info"]


def info(output: Output, file: File) -> int:
    text = open_prototxt(file.source)
    layers = [{"name": layer.name, **_values(layer.tree)} for layer in text.layers]
    name, nbytes = file.source.name, file.source.size
    data = {"form": file.kind.name, "file": name, "bytes": nbytes, "net": text.name}
    output.answer({**data, "layers": layers})
    parts = [f"calibration table of {visible(text.name)}", render.plural(len(layers), "layer")]
    output.print(heading(output, name, parts, nbytes))
    columns = list(dict.fromkeys(key for layer in layers for key in layer))
    rows = [[_shown(layer.get(key)) for key in columns] for layer in layers]
    output.print("\n" + render.columns([columns, *rows], indent=0))
    return 0


def _values(tree: Tree) -> dict[str, Any]:
    """The plain fields of a layer: thresholds, shifts, signs."""
    found: dict[str, list[Any]] = {}
    for entry in tree:
        if not isinstance(entry.value, Tree) and entry.name != "name":
            found.setdefault(entry.name, []).append(entry.plain())
    return found


def _shown(values: Any) -> str:
    if values is None:
        return ""
    return (
        visible(values) if isinstance(values, str) else ", ".join(visible(str(v)) for v in values)
    )
