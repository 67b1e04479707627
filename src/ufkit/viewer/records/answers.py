"""What the pages of a dataset are told: rows of records, one in full, counts, findings."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.core.render import size, visible
from ufkit.ufw.annotations import Box
from ufkit.viewer.asking import bad
from ufkit.viewer.encoding import findings
from ufkit.viewer.records.collection import Entry
from ufkit.viewer.records.index import NO_LABEL, Wanted
from ufkit.viewer.records.subject import DatasetSubject

_FEW_BOXES = 200  # of a record among others
_MANY_BOXES = 5_000  # of a record alone
_MOST_VALUES = 1_000
_MOST_LABELS = 2_000  # rows of a table of counts
_MOST_SIZES = 100
_BINS = 48
_LONGEST = 300  # characters of a name of a class


def wanted(query: Mapping[str, str]) -> Wanted:
    """The filter that a request names. Raises RequestError (VWR002)."""
    label = query.get("label", "")
    return Wanted(
        label=NO_LABEL if label == "none" else _label(label) if label else None,
        key=query.get("key", ""),
        widths=_limits(query, "width"),
        heights=_limits(query, "height"),
        damaged="damaged" in query,
    )


def _label(text: str) -> int:
    digits = text.removeprefix("-")
    if not digits.isdecimal() or len(digits) > 18:
        raise bad(f"label is {text[:40]!r}; it must be a number or none")
    return int(text)


def _limits(query: Mapping[str, str], name: str) -> tuple[int, int] | None:
    """`10-200`, `10-` or `-200`; one number stands for itself."""
    text = query.get(name, "")
    if not text:
        return None
    low, separator, high = text.partition("-")
    if not all(part.isdecimal() and len(part) < 10 for part in (low, high) if part) or text == "-":
        raise bad(f"{name} is {text[:40]!r}; it must be like 10-200, 10-, -200 or 32")
    least = int(low or 0)
    return least, (int(high) if high else 1 << 31) if separator else least


def rows(dataset: DatasetSubject, filter_: Wanted, start: int, count: int) -> list[dict[str, Any]]:
    """Records of those that a filter let through, or of all, for the grid."""
    total = len(dataset.records)
    numbers = (
        dataset.index.matching(filter_)[start : start + count].tolist()
        if filter_
        else range(start, min(start + count, total))
    )
    return [_row(dataset, dataset.records.entry(at), _FEW_BOXES) for at in numbers]


def _row(dataset: DatasetSubject, entry: Entry, most: int) -> dict[str, Any]:
    boxes = entry.boxes or ()
    return {
        "number": entry.number,
        "key": entry.key,
        "size": entry.size,
        "shape": entry.shape,
        "dtype": entry.dtype,
        "kept": entry.kept,
        "label": entry.label,
        "name": None if entry.label is None else _name(dataset, entry.label),
        "boxes": [_box(dataset, box) for box in boxes[:most]],
        "boxed": None if entry.boxes is None else len(boxes),
        "problem": findings(entry.problem),
    }


def _name(dataset: DatasetSubject, label: int) -> str:
    """The name of a class; "" where it has only its number. It is drawn, too, where no markup
    can keep what turns the direction of writing to itself: such characters are spelt out."""
    name = dataset.classes.name(label)
    return "" if name == str(label) else visible(name[:_LONGEST])


def _box(dataset: DatasetSubject, box: Box) -> dict[str, Any]:
    """A box; `corners` is None where they are no numbers, `words` are what the record says."""
    corners = (box.xmin, box.ymin, box.xmax, box.ymax)
    label = box.label or 0
    return {
        "corners": corners if all(map(isfinite, corners)) else None,
        "words": [f"{corner:.5g}" for corner in corners],
        "label": label,
        "name": _name(dataset, label),
        "difficult": bool(box.difficult),
        "score": f"{box.score:.4g}" if box.score is not None else "",
        "instance": box.instance,
    }


def details(dataset: DatasetSubject, number: int, filter_: Wanted) -> dict[str, Any]:
    """A record in full, and its neighbours among those that a filter let through."""
    entry = dataset.records.entry(number)
    channels = int(np.prod(entry.shape[:-2], dtype=np.int64)) if len(entry.shape) > 2 else 1
    return {
        **_row(dataset, entry, _MANY_BOXES),
        "bytes": size(entry.nbytes),
        "values": [f"{value:.6g}" for value in entry.values[:_MOST_VALUES]],
        "channels": channels,
        "coloured": channels == 3,
        "facts": entry.facts,
        "file": entry.where.file,
        **_neighbours(dataset, number, filter_),
    }


def _neighbours(dataset: DatasetSubject, number: int, filter_: Wanted) -> dict[str, Any]:
    """Where a record is among the matches, and the numbers of the one before and behind it."""
    if not filter_:
        total = len(dataset.records)
        before = number - 1 if number else None
        return {
            "place": number,
            "total": total,
            "before": before,
            "behind": number + 1 if number + 1 < total else None,
        }
    matches: NDArray[np.int32] = dataset.index.matching(filter_)
    place = int(np.searchsorted(matches, number))
    here = place < len(matches) and matches[place] == number
    behind = place + 1 if here else place
    return {
        "place": place if here else None,
        "total": len(matches),
        "before": int(matches[place - 1]) if place else None,
        "behind": int(matches[behind]) if behind < len(matches) else None,
    }


def counts(dataset: DatasetSubject) -> dict[str, Any]:
    """How many records there are of each label and size, and boxes of each class."""
    sums = dataset.index.counts()
    pairs = np.array([*sums.sizes], np.int64).reshape(-1, 2)
    weights = np.array([*sums.sizes.values()], np.int64)
    return {
        "labels": _counted(dataset, sums.labels),
        "classes": _counted(dataset, sums.classes),
        "different": {
            "labels": len(sums.labels),
            "classes": len(sums.classes),
            "sizes": len(sums.sizes),
        },
        "sizes": [
            {"size": pair, "records": count} for pair, count in sums.sizes.most_common(_MOST_SIZES)
        ],
        "widths": _histogram(pairs[:, 0], weights),
        "heights": _histogram(pairs[:, 1], weights),
        "damaged": sums.damaged,
    }


def _counted(dataset: DatasetSubject, found: Any) -> list[dict[str, Any]]:
    return [
        {
            "label": None if label == NO_LABEL else label,
            "name": "" if label == NO_LABEL else _name(dataset, label),
            "records": count,
        }
        for label, count in found.most_common(_MOST_LABELS)
    ]


def _histogram(values: NDArray[np.int64], weights: NDArray[np.int64]) -> dict[str, Any]:
    """Bins of whole pixels; empty where there is one size or none."""
    if len(np.unique(values)) < 2:
        return {"edges": [], "counts": []}
    low, high = int(values.min()), int(values.max()) + 1
    step = -(-(high - low) // _BINS)
    edges = np.arange(low, high + step, step)
    counts = np.histogram(values, edges, weights=weights)[0]
    return {"edges": edges.tolist(), "counts": counts.astype(np.int64).tolist()}


def checks(dataset: DatasetSubject) -> dict[str, Any]:
    """What the check found so far, with the numbers of the records concerned."""
    checking = dataset.checking
    found = [*checking.findings]
    shown = findings(finding for _, finding in found)
    return {
        "state": checking.state,
        "done": checking.done,
        "of": checking.total or len(dataset.records),
        "found": checking.found,
        "rows": [{**row, "number": number} for row, (number, _) in zip(shown, found, strict=True)],
    }
