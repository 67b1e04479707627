"""The summary page: parameters, bytes and work by operation and by scope, the largest arrays."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import prod
from typing import Any

from ufkit.viewer.content import Item, Picture, Weights
from ufkit.viewer.graph.groups import SEPARATOR

_LARGEST = 50
_MOST_SCOPES = 200


@dataclass(slots=True)
class Total:
    """Sums over items; an array that several take counts once, for the first."""

    items: int = 0
    parameters: int = 0
    bytes: int = 0
    macs: int = 0

    def add(self, item: Item, fresh: list[Weights]) -> None:
        """Count an item and those of its arrays that were not counted before."""
        self.items += 1
        self.parameters += sum(prod(w.shape) for w in fresh if w.shape is not None)
        self.bytes += sum(weights.nbytes for weights in fresh)
        self.macs += item.macs or 0

    def row(self, name: str) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": name,
            "items": self.items,
            "parameters": self.parameters,
            "bytes": self.bytes,
            "macs": self.macs,
        }


def totals(picture: Picture) -> dict[str, Any]:
    """All sums of a picture; work is that of one sample where the batch is open."""
    whole = Total()
    operations: dict[str, Total] = defaultdict(Total)
    scopes: dict[str, Total] = defaultdict(Total)
    types: dict[str, Total] = defaultdict(Total)
    arrays: list[tuple[int, int, int]] = []
    seen: set[str] = set()
    for index, item in enumerate(picture.items):
        if item.folded:
            continue
        fresh = []
        for number, weights in enumerate(item.weights):
            if weights.name not in seen:
                seen.add(weights.name)
                fresh.append(weights)
                arrays.append((weights.nbytes, index, number))
                types[weights.dtype].add(item, [weights])
        for total in (whole, operations[item.operation], scopes[_scope(item.key)]):
            total.add(item, fresh)
    arrays.sort(key=lambda row: (-row[0], row[1:]))
    rows = sorted(scopes.items(), key=lambda row: (-row[1].bytes, -row[1].items, row[0]))
    return {
        "facts": picture.facts,
        "ends": [
            {"item": index, "kind": item.category, "key": _name(item), "value": _value(item)}
            for index, item in enumerate(picture.items)
            if item.category in ("input", "output")
        ],
        "whole": whole.row(picture.name),
        "unknown": sum(1 for item in picture.items if _heavy(item) and item.macs is None),
        "operations": [
            total.row(name)
            for name, total in sorted(operations.items(), key=lambda row: -row[1].items)
        ],
        "scopes": [total.row(name) for name, total in rows[:_MOST_SCOPES]],
        "types": [total.row(name) for name, total in types.items()],
        "largest": [
            {
                "item": index,
                "array": number,
                "name": picture.items[index].weights[number].name,
                "role": picture.items[index].weights[number].role,
                "dtype": picture.items[index].weights[number].dtype,
                "shape": picture.items[index].weights[number].shape,
                "bytes": nbytes,
            }
            for nbytes, index, number in arrays[:_LARGEST]
        ],
    }


def _value(item: Item) -> str:
    """What goes in or comes out: an output has the value of what it takes."""
    return item.value or next((link.label for link in item.takes if link.label), "")


def _name(item: Item) -> str:
    """What the file calls it; the title of what is drawn under its name, without a mark of ours."""
    return item.key if item.title == item.operation else item.title


def _heavy(item: Item) -> bool:
    return item.category == "layer"


def _scope(key: str) -> str:
    """The outermost scope of a name; "" where it has none."""
    first, separator, _ = key.partition(SEPARATOR)
    return first if separator else ""
