"""All that a UFF file says, to be compared with what another says."""

from __future__ import annotations

from typing import Any

from ufkit.core.files import Span
from ufkit.uff.data import DataMap, kind_of, value_of
from ufkit.uff.model import MetaGraph


def value(data: Any) -> tuple[str, Any]:
    """A value with its kind; references stay, blobs are their bytes."""
    found = value_of(data)
    return kind_of(data), bytes(found.view()) if isinstance(found, Span) else found


def entries(data: DataMap) -> dict[str, tuple[str, Any]]:
    assert len(data) == len(data.entries())  # no key twice
    return {key: value(data.data(key)) for key in data}


def everything(meta: MetaGraph, *, weights: bool = True) -> dict[str, Any]:
    """All that a file says, but for the order of the entries of its maps."""
    referenced = entries(meta.referenced_data)
    if not weights:
        referenced = {key: found[0] for key, found in referenced.items()}  # type: ignore[misc]
    return {
        "versions": (meta.version, meta.descriptor_core_version),
        "descriptors": [(d.id, d.version, d.optional) for d in meta.descriptors],
        "graphs": [
            (
                graph.id,
                entries(graph.extra_fields),
                [
                    (n.id, n.operation, n.inputs, entries(n.fields), entries(n.extra_fields))
                    for n in graph
                ],
            )
            for graph in meta.graphs
        ],
        "referenced": referenced,
        "extra": entries(meta.extra_fields),
    }
