"""Nodes that only have another id: found by what they do and what they take."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from ufkit.core.diag import FormatError
from ufkit.core.files import Span
from ufkit.uff.data import plain
from ufkit.uff.model import Graph, Node

_BLOCK = 1 << 16


def renames(a: Graph, removed: Sequence[Node], added: Sequence[Node]) -> dict[str, str]:
    """For ids of removed nodes, those of added ones with equal operation, fields and inputs.

    Inputs are equal when they are renamed alike, so that a whole scope may have another name.
    Alike nodes go together in the order of the files. Raises FormatError (UFF202).
    """
    kinds = {_rough(node) for node in removed} & {_rough(node) for node in added}
    targets: dict[Any, list[str]] = {}
    for node in reversed(added):
        if _rough(node) in kinds:
            targets.setdefault((_exact(node), node.inputs), []).append(node.id)
    found: dict[str, str] = {}
    if targets:
        alike = {node.id for node in removed if _rough(node) in kinds}
        for node in _inputs_first(a, alike):
            inputs = tuple(found.get(id_, id_) for id_ in node.inputs)
            if ids := targets.get((_exact(node), inputs)):
                found[node.id] = ids.pop()  # the first of the file
    return found


def _inputs_first(graph: Graph, ids: set[str]) -> Iterable[Node]:
    try:
        nodes = graph.topological()
    except FormatError:
        nodes = graph.nodes  # without an order chains are not followed
    return (node for node in nodes if node.id in ids and graph[node.id] is node)


def _rough(node: Node) -> tuple[Any, ...]:
    """What must be equal and costs no reading of weights."""
    return node.operation, len(node.inputs), frozenset(node.fields)


def _exact(node: Node) -> tuple[Any, ...]:
    fields = node.fields
    return node.operation, tuple(sorted((name, _hashable(fields[name])) for name in fields))


def _hashable(value: Any) -> str:
    if isinstance(value, Span):
        digest = hashlib.blake2b(digest_size=16)
        for block in value.chunks(_BLOCK):
            digest.update(block)
        return digest.hexdigest()
    return repr(plain(value))
