"""Label maps (.prototxt)."""

from __future__ import annotations

from ufkit.cli.caffe.prototxt import dump
from ufkit.cli.caffe.tables import heading
from ufkit.cli.check import report
from ufkit.cli.kinds import File
from ufkit.cli.output import Output
from ufkit.core import render
from ufkit.core.render import visible
from ufkit.ufw.io import open_labels

__all__ = ["check", "dump", "info"]


def info(output: Output, file: File) -> int:
    labels = open_labels(file.source).labels
    rows = [
        {"label": label.label, "name": label.name, "display_name": label.display_name}
        for label in labels
    ]
    output.answer(
        {
            "form": file.kind.name,
            "file": file.source.name,
            "bytes": file.source.size,
            "labels": rows,
        }
    )
    parts = [f"label map, {render.plural(len(labels), 'label')}"]
    output.print(heading(output, file.source.name, parts, file.source.size))
    cells = [
        (str(label.label), visible(label.name), visible(label.display_name)) for label in labels
    ]
    output.print("\n" + render.columns([("label", "name", "display name"), *cells], right=(0,)))
    return 0


def check(output: Output, file: File, *, strict: bool) -> int:
    from ufkit.ufw.check import check_labels

    return report(output, file.source.name, check_labels(open_labels(file.source)), strict=strict)
