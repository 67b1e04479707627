"""A comparison as text: one line that says it all, then what differs, in groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from math import inf, isinf
from typing import TypeVar

from ufkit.cli.output import Output
from ufkit.core.comparison import (
    ABSENT,
    Change,
    Comparison,
    NodeChange,
    NodeRef,
    Renamed,
    WeightsChange,
)
from ufkit.core.render import columns, plural, short, visible

_MOST = 20  # entries of a group that are shown


T = TypeVar("T")


def text(result: Comparison, output: Output) -> str:
    """All of it; long groups are cut, and say by how much."""

    def group(title: str, entries: Sequence[T], shown: Callable[[Sequence[T]], str]) -> str:
        if not entries:
            return ""
        cut = len(entries) - _MOST
        more = f"\n  ... and {cut:,} more (all with --json)" if cut > 0 else ""
        return f"\n\n{output.paint(visible(title), 'bold')}\n{shown(entries[:_MOST])}{more}"

    unmatched = result.unmatched if output.verbose else []
    return "".join(
        (
            _summary(result, output),
            group("file", result.changes, _changes),
            group(f"only in {result.a}", result.removed, _lone),
            group(f"only in {result.b}", result.added, _lone),
            group("renamed", result.renamed, _renamed),
            group("changed", result.changed, _changed),
            group("weights, the farthest apart first", _farthest(result.weights), _weights),
            group("of no name that the other has", unmatched, _lone),
        )
    )


# -- the line that says it all ---------------------------------------------------------------


def _summary(result: Comparison, output: Output) -> str:
    if result.same:
        weights = plural(result.compared, "weight")
        left_out = f", {len(result.left_out):,} not compared" if result.left_out else ""
        verdict = output.paint("same", "green")
        return f"{verdict}: {plural(result.nodes, 'node')}, {weights} compared{left_out}"
    parts = [_names(result.changes), _nodes(result), _weights_summary(result)]
    return f"{output.paint('different', 'red')}: {'; '.join(part for part in parts if part)}"


def _names(changes: Sequence[Change]) -> str:
    names = [visible(change.name) for change in islice(changes, 3)]
    more = f" and {len(changes) - 3:,} more" if len(changes) > 3 else ""
    return ", ".join(names) + more


def _nodes(result: Comparison) -> str:
    counts = [
        (len(result.changed), "changed"),
        (len(result.renamed), "renamed"),
        (len(result.added), "added"),
        (len(result.removed), "removed"),
    ]
    found = [(count, what) for count, what in counts if count]
    parts = [f"{plural(count, 'node')} {what}" for count, what in found[:1]]
    return ", ".join(parts + [f"{count:,} {what}" for count, what in found[1:]])


def _weights_summary(result: Comparison) -> str:
    if not result.weights:
        return ""
    distances = [item.distance for item in result.weights if item.distance]
    differ = "differs" if len(result.weights) == 1 else "differ"
    parts = [f"{len(result.weights):,} of {plural(result.compared, 'weight')} {differ}"]
    if unlike := len(result.weights) - len(distances):
        parts.append(f"{unlike:,} in shape or type")
    if distances:
        largest = _number(max(distance.max_abs for distance in distances))
        relative = _number(max(distance.relative for distance in distances))
        parts.append(f"largest difference {largest} (relative {relative})")
    return ", ".join(parts)


# -- the groups ------------------------------------------------------------------------------


def _changes(changes: Sequence[Change], indent: int = 2) -> str:
    rows = [(visible(change.name), _values(change)) for change in changes]
    return columns(rows, indent=indent)


def _lone(nodes: Sequence[NodeRef]) -> str:
    rows = []
    for node in nodes:
        inputs = short(f"from {', '.join(node.inputs)}") if node.inputs else ""
        rows.append((visible(node.id), visible(node.operation), inputs))
    return columns(rows)


def _renamed(nodes: Sequence[Renamed]) -> str:
    return columns([(visible(n.a), "->", visible(n.b), visible(n.operation)) for n in nodes])


def _changed(nodes: Sequence[NodeChange]) -> str:
    lines = []
    for node in nodes:
        lines.append(f"  {visible(node.id)}  {visible(node.operation)}")
        lines.append(_changes(node.changes, indent=6))
    return "\n".join(lines)


def _farthest(weights: Sequence[WeightsChange]) -> list[WeightsChange]:
    return sorted(weights, key=lambda item: -(item.distance.relative if item.distance else inf))


def _weights(weights: Sequence[WeightsChange]) -> str:
    rows: list[tuple[str, ...]] = [("", "", "differ", "largest", "relative")]
    for item in weights:
        kind = item.a if item.a == item.b else f"{item.a} -> {item.b}"
        numbers: tuple[str, ...] = ()
        if item.distance:
            count = f"{item.distance.different:,} of {item.distance.elements:,}"
            numbers = count, _number(item.distance.max_abs), _number(item.distance.relative)
        rows.append((visible(item.id), visible(kind), *numbers))
    return columns(rows, right=(2, 3, 4))


def _values(change: Change) -> str:
    if change.a is ABSENT:
        return f"added: {short(change.b)}"
    if change.b is ABSENT:
        return f"removed: {short(change.a)}"
    a, b = short(change.a), short(change.b)
    if a == b and isinstance(change.a, (list, str)):  # cut before they differ
        pairs = enumerate(zip(change.a, change.b, strict=False))
        at = next((at for at, (x, y) in pairs if x != y), min(len(change.a), len(change.b)))
        a, b = (f"[{at}:] {short(side[at:])}" for side in (change.a, change.b))
    return f"{a} -> {b}"


def _number(value: float) -> str:
    return "not finite" if isinf(value) else f"{value:.2g}"
