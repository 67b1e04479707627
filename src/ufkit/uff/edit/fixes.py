"""Faults that can be mended without asking: a table from rule to remedy.

To add one write a function that mends a file, or `_each` of its graphs, and yields what it did;
name it in `FIXES` under the rule that `check` reports. Only what has one right answer belongs here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ufkit.core.diag import FormatError, Rule
from ufkit.core.render import plural
from ufkit.uff.build import Builder
from ufkit.uff.edit.change import Change
from ufkit.uff.edit.sweep import sweep_data, sweep_nodes
from ufkit.uff.infer import Inference, infer
from ufkit.uff.model import INPUT_OPERATION, OUTPUT_OPERATION, Graph, MetaGraph
from ufkit.uff.rules import (
    ANCHORS_WITHOUT_INPUT,
    CONCAT_AXIS,
    DANGLING,
    DUPLICATE_KEY,
    INPUT_COUNT,
    MISSING_DESCRIPTOR,
    NO_BATCH,
    STRAY_INPUT,
    UNREACHABLE,
    UNUSED_DATA,
)

Fix = Callable[[MetaGraph], Iterator[str]]

_PLUGIN = "_TRT"  # how names of TensorRT's plugins end
_NMS, _NMS_INPUTS = "_NMS_TRT", 3  # boxes, anchors and scores, in the order of `inputOrder`
_ANCHORS = ("_GridAnchor_TRT", "_GridAnchorRect_TRT")


def fix(meta: MetaGraph) -> list[Change]:
    """Mend what can be mended in a file; what was done, in the order of `FIXES`."""
    return [Change("fix", message, rule) for rule, mend in FIXES for message in mend(meta)]


def _each(mend: Callable[[Graph], Iterator[str]]) -> Fix:
    return lambda meta: (message for graph in meta.graphs for message in mend(graph))


def _repeated_keys(meta: MetaGraph) -> Iterator[str]:
    """The last entry of a key counts, so the others go."""
    maps = [(meta.referenced_data, "the referenced data")]
    maps += [(node.fields, repr(node.id)) for graph in meta.graphs for node in graph]
    for entries, owner in maps:
        for key in entries.drop_repeated():
            yield f"{owner}: an entry {key!r} that a later one replaces was dropped"


def _descriptor(meta: MetaGraph) -> Iterator[str]:
    operations = (node.operation for graph in meta.graphs for node in graph)
    custom = next((name for name in operations if name.startswith("_")), "")
    if custom and meta.declare_custom():
        yield f"the descriptor 'custom' was declared: {custom} is one of its operations"


def _stray_inputs(graph: Graph) -> Iterator[str]:
    """What graphsurgeon's `collapse_namespaces` leaves behind."""
    for node in graph:
        if node.operation in (INPUT_OPERATION, "Const") and node.inputs:
            yield f"{node.id!r}: {_named(node.inputs)} was dropped, {node.operation} takes none"
            node.inputs = ()


def _image_of_nms(graph: Graph) -> Iterator[str]:
    for node in graph:
        image = [
            id_
            for id_ in node.inputs
            if id_ not in graph or graph[id_].operation == INPUT_OPERATION
        ]
        if node.operation == _NMS and image and len(node.inputs) - len(image) == _NMS_INPUTS:
            node.inputs = [id_ for id_ in node.inputs if id_ not in image]
            yield f"{node.id!r}: {_named(image)} was dropped, {_NMS} takes {_NMS_INPUTS} values"


def _input_of_anchors(graph: Graph) -> Iterator[str]:
    for node in list(graph):
        if node.operation in _ANCHORS and not node.inputs:
            id_ = graph.free_id(f"{node.id}/input")
            Builder(graph=graph).const(id_, np.ones(2, np.float32))
            node.inputs = (id_,)
            yield f"{node.id!r}: it had no input; a Const {id_!r} of [1, 1] was added"


def _dangling(graph: Graph) -> Iterator[str]:
    """Of a plugin or a MarkOutput, which count on no place; any other would mean something else."""
    for node in graph:
        if node.operation == OUTPUT_OPERATION or node.operation.endswith(_PLUGIN):
            lost = [id_ for id_ in node.inputs if id_ not in graph]
            if lost and len(lost) < len(node.inputs):
                node.inputs = [id_ for id_ in node.inputs if id_ in graph]
                yield f"{node.id!r}: {_named(lost)} was dropped, which no node makes"


def _batches(graph: Graph) -> Iterator[str]:
    inference = _inferred(graph)
    if inference is None:
        return
    for node in graph.inputs:
        spec, sizes = inference.inputs.get(node.id), node.fields.get("shape")
        if spec and isinstance(sizes, list) and len(spec.shape) == len(sizes) + 1 > 1:
            node.fields["shape"] = [-1, *sizes]
            yield f"{node.id!r}: the shape {sizes} became {[-1, *sizes]}"


def _concat_axes(graph: Graph) -> Iterator[str]:
    inference = _inferred(graph)
    if inference is None:
        return
    for id_, call in inference.calls.items():
        shape = inference.facts[id_].shape
        if call.spec.name == "Concat" and shape and call["axis"] >= len(shape):
            yield f"{id_!r}: axis {call['axis']} of rank {len(shape)} became {len(shape) - 1}"
            graph[id_].fields["axis"] = len(shape) - 1


def _inferred(graph: Graph) -> Inference | None:
    try:
        return infer(graph)
    except FormatError:
        return None  # there is no order of computation; that is not for us to mend


def _unreachable(graph: Graph) -> Iterator[str]:
    try:
        ids = sweep_nodes(graph)
    except FormatError:
        return
    if ids:
        yield f"{plural(len(ids), 'node')} that no output needs taken out: {_named(ids)}"


def _unused(meta: MetaGraph) -> Iterator[str]:
    if names := sweep_data(meta):
        count = plural(len(names), "data item")
        yield f"{count} that nothing refers to taken out: {_named(names)}"


def _named(names: Sequence[str]) -> str:
    shown = [*map(repr, names[:3])]
    return ", ".join([*shown, f"and {len(names) - 3:,} more"] if len(names) > 3 else shown)


# In the order in which they are applied: what is mended first may show the next.
FIXES: tuple[tuple[Rule, Fix], ...] = (
    (DUPLICATE_KEY, _repeated_keys),
    (INPUT_COUNT, _each(_stray_inputs)),
    (STRAY_INPUT, _each(_image_of_nms)),
    (ANCHORS_WITHOUT_INPUT, _each(_input_of_anchors)),
    (DANGLING, _each(_dangling)),
    (MISSING_DESCRIPTOR, _descriptor),
    (UNREACHABLE, _each(_unreachable)),
    (UNUSED_DATA, _unused),
    (NO_BATCH, _each(_batches)),
    (CONCAT_AXIS, _each(_concat_axes)),
)
