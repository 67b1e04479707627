"""UFF files, in any of their forms, as models to look at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError
from ufkit.core.render import short
from ufkit.core.tensor import Tensor
from ufkit.uff.check import check
from ufkit.uff.const import constant
from ufkit.uff.controls import data_inputs
from ufkit.uff.data import Orders, plain
from ufkit.uff.dims import Dim
from ufkit.uff.infer import Inference, infer
from ufkit.uff.inputs import GivenShapes, input_specs
from ufkit.uff.model import INPUT_OPERATION, OUTPUT_OPERATION, Graph, MetaGraph, Node
from ufkit.uff.ops import entry_of
from ufkit.uff.ops.fields import REQUIRED
from ufkit.uff.ops.spec import Call, Facts, OpSpec
from ufkit.uff.orders import expand, spell
from ufkit.viewer.categories import category
from ufkit.viewer.content import Array, Details, FieldRow, Item, Link, Picture, Weights
from ufkit.viewer.models.given import of_these
from ufkit.viewer.words import clipped, sizes_text

_FORMS = {
    "uff": "UFF, binary",
    "uff-text": "UFF, text",
    "uff-json": "UFF, JSON",
    "tf-graph": "a TensorFlow graph, as the UFF it becomes",
}
_ENDS = 5  # names that the box of an output says
_FEW = 8
# Fields that say what a box is about, in this sequence; the others are in the panel.
_TELLING = {
    name: rank
    for rank, name in enumerate(
        (
            "shape",
            "strides",
            "padding",
            "implicit_padding",
            "dilation",
            "kernel",
            "number_groups",
            "axis",
            "axes",
            "permutation",
            "alpha",
            "window_size",
            "epsilon",
            "transpose_a",
            "transpose_b",
            "adj_x",
            "adj_y",
            "block_size",
            "size",
            "ksize",
        )
    )
}


class UffModel:
    """The graphs of a MetaGraph. Shapes are inferred, weights stay in the file."""

    extent = ""

    def __init__(self, meta: MetaGraph, form: str, shapes: GivenShapes | None = None) -> None:
        self._meta = meta
        self._form = form
        self.inputs = {node.id for graph in meta.graphs for node in graph.inputs}
        self._shapes = of_these(shapes, self.inputs)
        self.pictures = [_Drawn(graph, self._inferred(graph)).picture for graph in meta.graphs]
        for picture in self.pictures:
            picture.facts += self._versions()

    @property
    def description(self) -> str:
        return _FORMS.get(self._form, "UFF")

    def _versions(self) -> list[tuple[str, str]]:
        """What the file says of itself."""
        sets = ", ".join(f"{found.id} {found.version}" for found in self._meta.descriptors)
        core = str(self._meta.descriptor_core_version)
        facts = [("version", str(self._meta.version)), ("core operations", core)]
        return [*facts, ("further operations", sets)] if sets else facts

    @property
    def opened(self) -> MetaGraph:
        return self._meta

    @cached_property
    def findings(self) -> list[Diagnostic]:
        return [*check(self._meta, self._shapes)]

    def details(self, picture: int, item: int) -> Details:
        node = self._meta.graphs[picture].nodes[item]
        spec = entry_of(node)
        facts = [("descriptor", "custom" if node.operation.startswith("_") else "core")]
        return Details(spec.doc if spec else "", [*_rows(node, spec)], node.where(), facts)

    def places(self) -> Mapping[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for number, graph in enumerate(self._meta.graphs):
            for index, node in enumerate(graph):
                found.setdefault(node.where().node, (number, index))
        return found

    def close(self) -> None:
        self._meta.close()

    def _inferred(self, graph: Graph) -> Inference:
        """What can be said of a graph; of one that has no order, what its Inputs state."""
        own = of_these(self._shapes, {node.id for node in graph.inputs})
        try:
            return infer(graph, own)
        except FormatError:
            found = input_specs(graph, {}, own).found
            facts = {id_: Facts(spec.inner_shape, spec.dtype) for id_, spec in found.items()}
            return Inference(graph, facts, inputs=found)


def _rows(node: Node, spec: OpSpec | None) -> Iterator[FieldRow]:
    """The fields a node has, and those of its operation that it leaves to their defaults."""
    known = spec.fields if spec else {}
    for name in [*known, *(name for name in node.fields if name not in known)]:
        entry = known.get(name)
        default = "" if entry is None or entry.default is REQUIRED else _shown(entry.default)
        doc = entry.doc if entry else ""
        if name not in node.fields:
            kind = entry.kind if entry else ""
            yield FieldRow(name, kind, _shown(entry and entry.default), False, default, doc)
            continue
        try:
            kind, value = node.fields.kind(name), _shown(node.fields[name])
        except FormatError as error:
            kind, value = "damaged", error.diagnostic.message
        yield FieldRow(name, kind, value, True, default, doc, node.fields.where(name))


def _shown(value: Any) -> Any:
    if value is REQUIRED:
        return "(missing)"
    value = plain(value)
    return value if isinstance(value, (str, int, float, bool)) else _in_words(value)


def _in_words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return f"[{', '.join(map(_in_words, value))}]"
    return str(value)


class _Drawn:
    """Makes the picture of one graph."""

    def __init__(self, graph: Graph, inference: Inference) -> None:
        self._graph = graph
        self._facts = inference.facts
        self._calls = inference.calls
        self._texts: dict[str, str] = {}
        self._index = {node.id: at for at, node in reversed([*enumerate(graph.nodes)])}
        takers = graph.consumers()
        self._folded = {
            node.id
            for node in graph
            if node.operation == "Const"
            and takers.get(node.id)
            and all(taker.operation != OUTPUT_OPERATION for taker in takers[node.id])
        }
        items = [self._item(node) for node in graph]
        self.picture = Picture(graph.id, items, [("nodes, with constants", f"{len(graph):,}")])

    def _item(self, node: Node) -> Item:
        spec = entry_of(node)
        item = Item(
            node.id,
            node.operation,
            category(node.operation, plugin=bool(spec and spec.plugin)),
            title=_title(node, self._calls.get(node.id)),
            value=self._typed(node.id),
            folded=node.id in self._folded,
            macs=self._macs(node),
        )
        if node.operation == "Const":
            item.weights = [*self._weights(node, "values", None, 0)]
        for slot, id_ in enumerate(data_inputs(node)):
            self._take(item, node, spec, slot, id_)
        if node.operation == INPUT_OPERATION:  # people look for its name
            item.title, item.lines = node.id, [item.value or "shape not known"]
        elif node.operation == OUTPUT_OPERATION:
            item.title, item.lines = node.id, [*node.inputs][:_ENDS]
        else:
            item.field_lines, item.weight_lines = [*_telling(node, spec)], [*_weight_lines(item)]
        return item

    def _take(self, item: Item, node: Node, spec: OpSpec | None, slot: int, id_: str) -> None:
        at = self._index.get(id_, self._index.get(id_.rpartition(":")[0]))
        if at is None:
            return  # a finding of `check` says that nothing has this name
        call = self._calls.get(node.id)
        role = _role(call, spec, slot)
        if id_ in self._folded:
            item.weights += self._weights(self._graph.nodes[at], role, call, slot)
        else:
            item.takes.append(Link(at, slot, role, self._typed(id_), id_))

    def _typed(self, id_: str) -> str:
        """Shape and type of a value, "" where they are not known; the same text at each link."""
        if id_ not in self._texts:
            fact = self._facts.get(id_, Facts(None))
            shown = sizes_text(fact.shape)
            plain_type = not shown or fact.dtype.name == "float32"
            self._texts[id_] = shown if plain_type else f"{fact.dtype} {shown}"
        return self._texts[id_]

    def _macs(self, node: Node) -> int | None:
        """For one sample where the batch is open; None where sizes are not known."""
        call, fact = self._calls.get(node.id), self._facts.get(node.id)
        if call is None or fact is None or fact.shape is None or call.spec.macs is None:
            return None
        count = call.spec.macs(call, fact)
        if isinstance(count, Dim):
            return count.factor if count.known else None
        return count

    def _weights(self, node: Node, role: str, call: Call | None, slot: int) -> Iterator[Weights]:
        try:
            tensor = constant(node)
        except FormatError as error:
            note = error.diagnostic.message
            read = partial(_elements, node)
            yield Weights(node.id, role, "?", None, 0, node.where(), read, note=note)
            return
        axes, channel = _axes(call, slot, tensor)
        yield Weights(
            node.id,
            role,
            str(tensor.type),
            tensor.shape,
            tensor.nbytes,
            tensor.where,
            tensor.numpy,
            axes,
            channel,
            tensor.problem[1] if tensor.problem else "",
        )


def _elements(node: Node) -> Array:
    """The elements of a constant. Raises FormatError for one that cannot have any."""
    return constant(node).numpy()


def _role(call: Call | None, spec: OpSpec | None, slot: int) -> str:
    if call is not None and slot < len(call.inputs):
        return call.input_name(slot)
    return spec.inputs[slot] if spec and slot < len(spec.inputs) else ""


def _axes(call: Call | None, slot: int, tensor: Tensor) -> tuple[str, int | None]:
    """Letters of the axes of a kernel, and which of them is that of the output channels."""
    if call is None or "inputs_orders" not in call.spec.fields:
        return "", _last(tensor) if len(tensor.shape) == 1 else None
    try:
        given = call["inputs_orders"]
    except FormatError:
        return "", None
    if not isinstance(given, list) or slot >= len(given) or not isinstance(given[slot], Orders):
        return "", None
    try:
        order = expand(given[slot].axes, len(tensor.shape))
    except ValueError:
        return "", None
    return spell(given[slot].axes, "K"), order.index(0) if 0 in order else None


def _last(tensor: Tensor) -> int | None:
    return len(tensor.shape) - 1 if tensor.shape else None


def _title(node: Node, call: Call | None) -> str:
    """The operation and, of those that are many in one, which: `Binary add`."""
    if not node.operation.startswith("_"):
        known = call is not None and "func" in call.spec.fields
        with contextlib.suppress(FormatError):
            func = call["func"] if call is not None and known else node.fields.get("func")
            return f"{node.operation} {func}" if isinstance(func, str) else node.operation
    return node.operation


def _telling(node: Node, spec: OpSpec | None) -> Iterator[str]:
    if node.operation == "Const":
        return
    for name in sorted(filter(_TELLING.__contains__, node.fields), key=_TELLING.__getitem__):
        try:
            value = node.fields[name]
        except FormatError:
            continue
        if spec is None or name not in spec.fields or value != spec.fields[name].default:
            yield f"{name} {_brief(value)}"


def _brief(value: Any) -> str:
    """A value in the room that a box has."""
    text = f"{value:.6g}" if isinstance(value, float) else _in_words(plain(value))
    return clipped(text)


def _weight_lines(item: Item) -> Iterator[str]:
    for weights in item.weights:
        few = weights.shape is not None and prod(weights.shape) <= _FEW and not weights.note
        sizes = f"⟨{sizes_text(weights.shape) or '?'}⟩"
        yield f"{weights.role} {_few(weights) if few else sizes}"


def _few(weights: Weights) -> str:
    """The elements of a scalar, or of the axes, sizes and paddings that come as constants."""
    values = weights.read()
    if values.dtype.kind == "f" and values.shape:
        return f"⟨{sizes_text(weights.shape)}⟩"
    return short(np.vectorize("{:.6g}".format, otypes=[str])(values).tolist())
