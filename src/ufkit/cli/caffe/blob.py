"""Files of one blob (.binaryproto), which are mean images."""

from __future__ import annotations

from dataclasses import asdict

from ufkit.cli.caffe.tables import heading
from ufkit.cli.check import report
from ufkit.cli.dump import dumping
from ufkit.cli.kinds import File
from ufkit.cli.output import Output
from ufkit.core import render
from ufkit.ufw.io import open_blob


def info(output: Output, file: File) -> int:
    from ufkit.ufw.mean import channel_means
    from ufkit.ufw.summary import summarize_blob

    blob = open_blob(file.source)
    summary = summarize_blob(blob)
    means = channel_means(blob)
    data = {"form": file.kind.name, "file": file.source.name, **asdict(summary)}
    output.answer({**data, "legacy": blob.legacy, "channel_means": means})
    output.print(heading(output, file.source.name, ["Caffe blob, binary"], file.source.size))
    rows = [("array", str(summary)), ("storages", ", ".join(summary.storages) or "none")]
    if blob.legacy:
        rows.append(("shape", "in num, channels, height, width: the older style"))
    if means:
        numbers = ", ".join(f"{mean:.6g}" for mean in means)
        order = " (B, G, R as Caffe stores them)" if len(means) == 3 else ""
        rows.append(("means", f"{numbers} by channel{order}"))
    output.print(render.columns(rows))
    return 0


def check(output: Output, file: File, *, strict: bool) -> int:
    from ufkit.ufw.check import check_blob

    return report(output, file.source.name, check_blob(open_blob(file.source)), strict=strict)


def dump(output: Output, file: File, *, form: str, full: bool, target: str | None) -> int:
    from ufkit.ufw.io import write_blob

    with dumping(output, target) as out:
        write_blob(open_blob(file.source), out, form=form, full=full)
    return 0
