"""Edits that a converter needs of any graph: several nodes that stand for one operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphsurgeon.dynamic_graph import DynamicGraph
from graphsurgeon.node_manipulation import extract_numpy_array
from ufkit.conversion.tf_graph import name_of

_DILATED = ("SpaceToBatchND", "Conv2D", "BatchToSpaceND")
_SOFTMAX = ("Sub", "Pack", "Slice", "ConcatV2", "Reshape", "Softmax", "Reshape")


def process_dilated_conv(dynamic_graph: DynamicGraph) -> None:
    """Let one Conv2D with dilations stand for SpaceToBatchND, Conv2D and BatchToSpaceND.

    What is put around the map and not cut off again becomes the padding of the convolution. Rows
    that no convolution can stand for, with amounts that are computed or strides, stay.
    """
    for cut, conv, join in dynamic_graph.find_node_chains_by_op(_DILATED):
        numbers = [_constant(dynamic_graph, node, at) for node in (cut, join) for at in (1, 2)]
        if any(array is None for array in numbers):
            continue
        block, added, other_block, taken = numbers
        zeros = added - taken
        plain = _text(conv, "padding") == "VALID" and _text(conv, "data_format") in ("", "NHWC")
        ones = {*_numbers(conv, "strides"), *_numbers(conv, "dilations")} <= {1}
        if not (plain and ones) or not np.array_equal(block, other_block) or zeros.min() < 0:
            continue
        if block.shape != (2,) or len(dynamic_graph.node_outputs[conv.name]) > 1:
            continue
        conv.input[0] = cut.input[0]
        conv.attr["dilations"].list.i[:] = [1, *map(int, block), 1]
        if zeros.any():
            conv.attr["padding"].s = b"EXPLICIT"
            around = [0, 0, *map(int, zeros.ravel()), 0, 0]
            conv.attr["explicit_paddings"].list.i[:] = around
        _replace(dynamic_graph, join, conv)
        _remove_unused(dynamic_graph, cut)


def process_softmax(dynamic_graph: DynamicGraph) -> None:
    """Let one Softmax stand for the Reshapes to two axes and back around it.

    TensorFlow 1 wrote tf.nn.softmax so: what computes the shapes goes too.
    """
    for chain in dynamic_graph.find_node_chains_by_op(_SOFTMAX):
        flat, softmax, back = chain[4:]
        if len(dynamic_graph.node_outputs[softmax.name]) == 1:
            softmax.input[:] = [flat.input[0]]
            _replace(dynamic_graph, back, softmax)
            _remove_unused(dynamic_graph, flat)


def _replace(graph: DynamicGraph, node: Any, other: Any) -> None:
    """Let those that take a node take another, and take it out with what only it needed."""
    for taker in graph.node_outputs[node.name]:
        taker.input[:] = [other.name if name_of(ref) == node.name else ref for ref in taker.input]
    node.input[:] = [ref for ref in node.input if name_of(ref) != other.name]
    graph.remove(node, remove_exclusive_dependencies=True)


def _remove_unused(graph: DynamicGraph, node: Any) -> None:
    """Take a node that no other takes out, with what only it needed."""
    if not graph.node_outputs[node.name]:
        graph.remove(node, remove_exclusive_dependencies=True)


def _constant(graph: DynamicGraph, node: Any, place: int) -> Any:
    """An input's elements where that is a constant."""
    found = graph.node_map.get(name_of(node.input[place])) if place < len(node.input) else None
    return extract_numpy_array(found) if found is not None and found.op == "Const" else None


def _numbers(node: Any, attribute: str) -> list[int]:
    value = node.attr.get(attribute)
    return [] if value is None else list(value.list.i)


def _text(node: Any, attribute: str) -> str:
    value = node.attr.get(attribute)
    return "" if value is None else value.s.decode("utf-8", "replace")
