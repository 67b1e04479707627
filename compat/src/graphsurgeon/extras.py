"""Edits that a converter needs of any graph: several nodes that stand for one operation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from graphsurgeon.dynamic_graph import DynamicGraph
from graphsurgeon.node_manipulation import extract_numpy_array
from ufkit.conversion.tf_graph import name_of

_DILATED = ("SpaceToBatchND", "Conv2D", "BatchToSpaceND")
_SOFTMAX = ("Sub", "Pack", "Slice", "ConcatV2", "Reshape", "Softmax", "Reshape")


def process_dilated_conv(dynamic_graph: DynamicGraph, keep: Collection[str] = ()) -> None:
    """Let one Conv2D with dilations stand for SpaceToBatchND, Conv2D and BatchToSpaceND.

    What is put around the map and not cut off again becomes the padding of the convolution. Rows
    that no convolution can stand for, with amounts that are computed or strides, stay; so do those
    whose end no node takes, which may be an output of that name, or is in `keep`.
    """
    takers = dynamic_graph.node_outputs
    nodes = dynamic_graph.node_map
    places: dict[str, str] = {}
    for cut, conv, join in dynamic_graph.find_node_chains_by_op(_DILATED):
        numbers = [_constant(nodes, node, at) for node in (cut, join) for at in (1, 2)]
        wanted = not takers[join.name] or join.name in keep
        if wanted or any(array is None for array in numbers):
            continue
        block, added, other_block, taken = numbers
        zeros = added - taken if added.shape == taken.shape == (2, 2) else np.full(1, -1)
        plain = _text(conv, "padding") == "VALID" and _text(conv, "data_format") in ("", "NHWC")
        ones = {*_numbers(conv, "strides"), *_numbers(conv, "dilations")} <= {1}
        if not (plain and ones) or not np.array_equal(block, other_block) or zeros.min() < 0:
            continue
        if block.shape != (2,) or len(takers[conv.name]) > 1:
            continue
        conv.input[0] = cut.input[0]
        conv.attr["dilations"].list.i[:] = [1, *map(int, block), 1]
        if zeros.any():
            conv.attr["padding"].s = b"EXPLICIT"
            around = [0, 0, *map(int, zeros.ravel()), 0, 0]
            conv.attr["explicit_paddings"].list.i[:] = around
        places[join.name] = conv.name
        if len(takers[cut.name]) == 1:
            places[cut.name] = conv.name
    _replace(dynamic_graph, places)


def process_softmax(dynamic_graph: DynamicGraph, keep: Collection[str] = ()) -> None:
    """Let one Softmax stand for the Reshapes to two axes and back around it.

    TensorFlow 1 wrote tf.nn.softmax so: what computes the shapes goes too. A row whose end no node
    takes, or is in `keep`, stays.
    """
    takers = dynamic_graph.node_outputs
    places: dict[str, str] = {}
    for chain in dynamic_graph.find_node_chains_by_op(_SOFTMAX):
        flat, softmax, back = chain[4:]
        wanted = not takers[back.name] or back.name in keep
        if len(takers[softmax.name]) == 1 and not wanted:
            softmax.input[:] = [flat.input[0]]
            places[back.name] = softmax.name
            if len(takers[flat.name]) == 1:
                places[flat.name] = softmax.name
    _replace(dynamic_graph, places)


def _replace(graph: DynamicGraph, places: Mapping[str, str]) -> None:
    """Let the nodes that take some take others, and take those out with what only they needed."""
    if not places:
        return
    for node in graph:
        if any(name_of(ref) in places for ref in node.input):
            node.input[:] = [places.get(name_of(ref), ref) for ref in node.input]
    graph.remove(places, remove_exclusive_dependencies=True)


def _constant(nodes: Mapping[str, Any], node: Any, place: int) -> Any:
    """An input's elements where that is a constant."""
    found = nodes.get(name_of(node.input[place])) if place < len(node.input) else None
    return extract_numpy_array(found) if found is not None and found.op == "Const" else None


def _numbers(node: Any, attribute: str) -> list[int]:
    value = node.attr.get(attribute)
    return [] if value is None else list(value.list.i)


def _text(node: Any, attribute: str) -> str:
    value = node.attr.get(attribute)
    return "" if value is None else value.s.decode("utf-8", "replace")
