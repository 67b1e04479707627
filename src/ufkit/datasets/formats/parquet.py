"""Parquet, by Arrow. Columns: see `schema`."""

from __future__ import annotations

import bisect
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import need
from ufkit.datasets.formats.annotated import box_of
from ufkit.datasets.formats.format import Format, FormatOptions
from ufkit.datasets.report import Report
from ufkit.datasets.rules import BAD_ANNOTATION, NOT_DATASET
from ufkit.datasets.sample import Lazy, Listing, Sample
from ufkit.ufw.prototxt import Label

_LABELS = b"ufkit.labels"  # of the schema's metadata: [[label, name, display name], ...]
_GROUP = 32 << 20  # bytes of images in a row group, which is read as a whole
_MOST = 1000  # rows of one


def schema() -> Any:
    """The columns.

    key     string
    image   binary: the image file (JPEG, PNG, ...) as it is
    width   int32, and
    height  int32: of the image
    label   int32, or null
    values  list of double: several labels, or labels with fractions
    boxes   list of structs, or null: label int32; xmin, ymin, xmax, ymax double, in fractions of
            width and height; difficult bool; score float or null
    """
    pa = need("pyarrow", extra="datasets")
    corners = [(name, pa.float64()) for name in ("xmin", "ymin", "xmax", "ymax")]
    box = pa.struct(
        [("label", pa.int32()), *corners, ("difficult", pa.bool_()), ("score", pa.float32())]
    )
    return pa.schema(
        [
            pa.field("key", pa.string(), nullable=False),
            pa.field("image", pa.binary(), nullable=False),
            ("width", pa.int32()),
            ("height", pa.int32()),
            ("label", pa.int32()),
            ("values", pa.list_(pa.float64())),
            ("boxes", pa.list_(box)),
        ]
    )


def _sniff(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


class _Rows:
    """Rows by index; of the row groups, the last one used is held."""

    def __init__(self, file: Any, columns: list[str]) -> None:
        self._file = file
        self._columns = columns
        groups = range(file.num_row_groups)
        counts = (file.metadata.row_group(at).num_rows for at in groups)
        self._starts = list(itertools.accumulate(counts, initial=0))
        self._held: tuple[int, Any] = (-1, None)

    def __getitem__(self, at: int) -> dict[str, Any]:
        group = bisect.bisect_right(self._starts, at) - 1
        if self._held[0] != group:
            self._held = group, self._file.read_row_group(group, columns=self._columns)
        row: dict[str, Any] = self._held[1].slice(at - self._starts[group], 1).to_pylist()[0]
        return row


def _read(path: Path, options: FormatOptions) -> Listing:
    where = Where(os.fspath(path))
    parquet = need("pyarrow.parquet", extra="datasets")
    pa = need("pyarrow", extra="datasets")
    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(NOT_DATASET.at(where, f"this Parquet is damaged: {error}")) from error
    known = set(file.schema_arrow.names)
    if "image" not in known:
        message = f"there is no column `image` among {', '.join(sorted(known))}"
        raise FormatError(NOT_DATASET.at(where, message))
    rows = _Rows(file, [name for name in schema().names if name in known])
    labels = options.labels or _labels(file.schema_arrow.metadata or {})

    def load(at: int) -> Sample:
        try:
            return _sample(rows[at], f"{path.stem}_{at:08}")
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            message = f"row {at} cannot be read: {error}"
            raise FormatError(BAD_ANNOTATION.at(where, message)) from error

    samples = Lazy(range(file.metadata.num_rows), load)
    return Listing(samples, labels, boxes="boxes" in known and not _all_null(file, "boxes"))


def _all_null(file: Any, name: str) -> bool:
    """Whether a column has no value, told by statistics or its first group."""
    if file.num_row_groups == 0:
        return True
    column = file.read_row_group(0, columns=[name]).column(0)
    return bool(column.null_count == len(column))


def _sample(row: dict[str, Any], key: str) -> Sample:
    image = row["image"]
    if isinstance(image, dict):  # as Hugging Face's datasets have it
        image = image["bytes"]
    if not isinstance(image, bytes):
        raise TypeError("the image is no bytes")
    boxes = row.get("boxes")
    return Sample(
        key=str(row.get("key") or key),
        image=image,
        label=None if row.get("label") is None else int(row["label"]),
        values=tuple(row.get("values") or ()),
        boxes=None if boxes is None else tuple(map(box_of, boxes)),
        width=row.get("width") or 0,
        height=row.get("height") or 0,
    )


def _labels(metadata: dict[bytes, bytes]) -> tuple[Label, ...]:
    if _LABELS not in metadata:
        return ()
    try:
        rows = json.loads(metadata[_LABELS])
        return tuple(Label(int(row[0]), str(row[1]), str(row[2])) for row in rows)
    except (ValueError, TypeError, LookupError):
        return ()  # of another program


def _write(
    path: Path, listing: Listing, samples: Iterator[Sample], options: FormatOptions, report: Report
) -> None:
    pa = need("pyarrow", extra="datasets")
    parquet = need("pyarrow.parquet", extra="datasets")
    rows = [[item.label, item.name, item.display_name] for item in listing.labels]
    columns = schema().with_metadata({_LABELS: json.dumps(rows)})
    group: list[dict[str, Any]] = []
    nbytes = 0

    with parquet.ParquetWriter(path, columns, compression={"image": "none"}) as out:
        for sample in samples:
            with report.one():
                group.append(_row(sample))
                nbytes += len(group[-1]["image"])
            if nbytes >= _GROUP or len(group) >= _MOST:
                out.write_table(pa.Table.from_pylist(group, columns))
                group, nbytes = [], 0
        out.write_table(pa.Table.from_pylist(group, columns))


def _row(sample: Sample) -> dict[str, Any]:
    boxes = sample.boxes
    names = ("label", "xmin", "ymin", "xmax", "ymax", "difficult", "score")
    return {
        "key": sample.key,
        "image": sample.image,
        "width": sample.width,
        "height": sample.height,
        "label": sample.label,
        "values": list(sample.values),
        "boxes": None if boxes is None else [{n: getattr(box, n) for n in names} for box in boxes],
    }


FORMAT = Format(
    name="parquet",
    doc="Parquet: a row for each sample, the image file in it as bytes",
    sniff=_sniff,
    read=_read,
    write=_write,
    suffixes=(".parquet",),
    boxes=True,
    label=True,
    reads=("labels",),
)
