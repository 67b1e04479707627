"""The side panel: all there is to say of one item."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ufkit.core.render import size
from ufkit.viewer.content import Item, Weights
from ufkit.viewer.encoding import findings
from ufkit.viewer.subject import Subject

_MOST_TAKERS = 500


def panel(subject: Subject, picture: int, item: int) -> dict[str, Any]:
    """Fields with defaults and meaning, inputs, takers, arrays, place in the file, findings.

    Those about a constant are told of the item that it is drawn in, too.
    """
    model = subject.model
    assert model is not None
    shown = model.pictures[picture]
    chosen = shown.items[item]
    details = model.details(picture, item)
    takers = subject.takers(picture)[item]
    places = model.places()
    mine = [
        finding
        for finding in subject.findings()
        if (at := places.get(finding.where.node))
        and at[0] == picture
        and item in (at[1], subject.owner(*at))
    ]
    return {
        "item": item,
        "key": chosen.key,
        "operation": chosen.operation,
        "title": chosen.title,
        "category": chosen.category,
        "doc": details.doc,
        "value": chosen.value,
        "macs": chosen.macs,
        "place": _place(details.where.start, details.where.stop, details.where.line),
        "facts": details.facts,
        "fields": [
            {
                **{name: value for name, value in asdict(row).items() if name != "where"},
                "place": _place(row.where.start, row.where.stop, row.where.line),
            }
            for row in details.fields
        ],
        "inputs": [
            {**asdict(link), **named(shown.items[link.source], link.source)}
            for link in chosen.takes
        ],
        "takers": [named(shown.items[at], at) for at in takers[:_MOST_TAKERS]],
        "more": max(0, len(takers) - _MOST_TAKERS),
        "arrays": [weights_row(weights) for weights in chosen.weights],
        "findings": findings(mine),
    }


def named(item: Item, at: int) -> dict[str, Any]:
    """An item as pages refer to it."""
    return {"item": at, "key": item.key, "title": item.title}


def weights_row(weights: Weights) -> dict[str, Any]:
    """An array, told without reading it."""
    return {
        "name": weights.name,
        "role": weights.role,
        "dtype": weights.dtype,
        "shape": weights.shape,
        "axes": weights.axes,
        "channel": weights.channel,
        "bytes": size(weights.nbytes),
        "note": weights.note,
        "place": _place(weights.where.start, weights.where.stop, weights.where.line),
    }


def _place(start: int | None, stop: int | None, line: int | None) -> str:
    """Where in the file something is, for people."""
    if line is not None:
        return f"line {line:,}"
    if start is None:
        return ""
    return f"byte {start:,}" if stop is None else f"bytes {start:,} to {stop:,}"
