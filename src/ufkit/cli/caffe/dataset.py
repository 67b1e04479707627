"""Datasets: LMDBs of Datum and AnnotatedDatum records."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from ufkit.cli.caffe.tables import heading
from ufkit.cli.check import report
from ufkit.cli.dump import dumping
from ufkit.cli.kinds import File
from ufkit.cli.output import Output
from ufkit.cli.progress import showing
from ufkit.cli.source import STDIN, bad_request
from ufkit.core import render
from ufkit.core.render import visible
from ufkit.ufw.dataset import Dataset, open_dataset

if TYPE_CHECKING:
    from ufkit.core.files import Source
    from ufkit.ufw.annotations import Record
    from ufkit.ufw.dataset_summary import DatasetSummary

_ROWS = 10  # shapes that are listed


def info(output: Output, file: File) -> int:
    from ufkit.ufw.dataset_summary import summarize_dataset

    with open_dataset(_path(file.source)) as dataset:
        summary = summarize_dataset(dataset)
    output.answer({"form": file.kind.name, **summary.as_dict()})
    parts = [f"LMDB of {render.plural(summary.records, 'record')}"]
    output.print(heading(output, summary.file, parts, summary.bytes))
    output.print(_text(summary, output))
    return 0


def check(output: Output, file: File, *, strict: bool, labels: str | None) -> int:
    from ufkit.ufw.dataset_check import check_dataset
    from ufkit.ufw.io import open_labels

    known = None if labels is None else open_labels(labels)
    name = _path(file.source)
    with showing(output) as progress:
        findings = list(check_dataset(name, known, progress))
    return report(output, name, findings, strict=strict)


def dump(
    output: Output,
    file: File,
    *,
    nodes: tuple[str, ...],
    form: str,
    full: bool,
    target: str | None,
) -> int:
    from ufkit.ufw.io import JSON

    with open_dataset(_path(file.source)) as dataset:
        records = _chosen(dataset, nodes)
        with dumping(output, target) as out:
            if form == JSON:
                _write_json(records, out)
            else:
                _write_text(records, out, full)
    return 0


def _path(source: Source) -> str:
    if source.name == STDIN:
        raise bad_request("a database cannot be read from stdin; name its file or folder")
    return source.name


# -- the summary -----------------------------------------------------------------------------


def _text(summary: DatasetSummary, output: Output) -> str:
    if not summary.records:
        return "no record in it"
    rows = [
        ("records", f"{summary.kind}, {_share(summary)}"),
        ("keys", f"{visible(summary.first_key)} ... {visible(summary.last_key)}"),
        ("types", _counted(summary.dtypes)),
        ("kept in", _counted(summary.storages)),
    ]
    if summary.record_bytes is not None:
        low, mean, high = summary.record_bytes
        rows.append(("size", f"{low:,} to {high:,} bytes a record, {mean:,.0f} in the mean"))
    if summary.values is not None:
        least, greatest = summary.values
        sampled = render.plural(summary.sampled, "record")
        rows.append(("values", f"from {least:g} to {greatest:g}, in {sampled}"))
    if summary.damaged:
        rows.append(("damaged", f"{summary.damaged:,}: ufkit check says more"))
    parts = [render.columns(rows), "\n" + _shapes(summary)]
    for title, counts in (("label", summary.labels), ("class", summary.boxes)):
        if counts:
            parts.append("\n" + _histogram(title, counts, output))
    return "\n".join(parts)


def _share(summary: DatasetSummary) -> str:
    if summary.looked_at == summary.records:
        return "all looked at"
    return f"{summary.looked_at:,} of them looked at"


def _counted(counts: Counter[str]) -> str:
    if len(counts) == 1:
        return "".join(counts)
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def _shapes(summary: DatasetSummary) -> str:
    rows = [
        (f"[{', '.join(map(str, shape))}]", f"{count:,}")
        for shape, count in summary.shapes.most_common(_ROWS)
    ]
    if (more := len(summary.shapes) - len(rows)) > 0:
        rows.append((f"{more:,} more", ""))
    return render.columns([("shape", "records"), *rows], indent=0, right=(1,))


def _histogram(title: str, counts: Counter[int | None], output: Output) -> str:
    from ufkit.ufw.dataset_summary import in_order

    parts = (
        f"{'none' if label is None else label}: {count:,}" for label, count in in_order(counts)
    )
    noun = "boxes" if title == "class" else "records"
    return render.wrapped(parts, first=f"{noun} by {title}  ", width=output.width)


# -- records ---------------------------------------------------------------------------------


def _chosen(dataset: Dataset, keys: tuple[str, ...]) -> Iterator[tuple[str, Record]]:
    """All records, or those with some keys. Raises RequestError (CLI001)."""
    from ufkit.ufw.keys import shown_key

    for key in keys:
        if key not in dataset:
            raise bad_request(f"there is no record {key!r}", "keys are what `ufkit info` shows")
    if keys:
        return ((key, dataset[key]) for key in keys)
    return ((shown_key(key), record) for key, record in dataset.items())


def _write_text(records: Iterator[tuple[str, Record]], out: IO[bytes], full: bool) -> None:
    from ufkit.ufw.io import TEXT, write_record

    for key, record in records:
        head = f"# {visible(key)}: {type(record).__name__}\n"
        out.write(head.encode())
        write_record(record, out, form=TEXT, full=full)


def _write_json(records: Iterator[tuple[str, Record]], out: IO[bytes]) -> None:
    from ufkit.ufw.io import JSON, write_record

    between = '{"records": ['
    for key, record in records:
        kind = type(record).__name__
        head = f'{between}\n{{"key": {json.dumps(key)}, "kind": "{kind}", "record": '
        out.write(head.encode())
        body = io.BytesIO()
        write_record(record, body, form=JSON)
        out.write(body.getvalue().rstrip() + b"}")
        between = ","
    out.write(b"]}\n" if between == "," else b'{"records": []}\n')
