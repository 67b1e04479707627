"""ONNX models, what a conversion gives above all, as models to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod
from typing import Any

from ufkit.conversion.onnx_about import about
from ufkit.conversion.onnx_facts import Operator, ValueFacts, operator, value_facts
from ufkit.conversion.onnx_faults import faults
from ufkit.conversion.onnx_graph import OnnxCall, OnnxGraph, captured, open_graph
from ufkit.conversion.onnx_tensor import tensor_of, type_of
from ufkit.core.diag import Diagnostic, Where
from ufkit.core.files import Source
from ufkit.core.render import short
from ufkit.uff.dims import impossible
from ufkit.uff.inputs import GivenShapes
from ufkit.viewer.categories import category
from ufkit.viewer.content import Details, FieldRow, Item, Link, Picture, Weights
from ufkit.viewer.models.given import of_these
from ufkit.viewer.words import sizes_text
from ufkit.wire.message import Message

# Members of AttributeProto, by the number of its type.
_MEMBERS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings"}
_NAMES = {"f": "float", "i": "int", "s": "string"}
_TELLING = ("kernel_shape", "strides", "pads", "auto_pad", "dilations", "group", "axis", "axes",
            "perm", "alpha", "beta", "epsilon", "mode", "to", "keepdims")  # fmt: skip
_LEADING = ("Conv", "ConvTranspose", "BatchNormalization", "PRelu")  # channels come first
_SECOND = {  # products, and which input is the kernel or the second factor
    **dict.fromkeys(("Conv", "ConvTranspose", "ConvInteger", "Gemm", "MatMul", "MatMulInteger"), 1),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul"), 3),
}


class OnnxModel:
    """The main graph of a model; control flow within it is named, not drawn."""

    extent = (
        "Of an ONNX model it is looked at whether each value is given once and each initializer "
        "is whole; python3 -m onnx.checker looks at more."
    )

    def __init__(self, source: Source, shapes: GivenShapes | None = None) -> None:
        self._source = source
        self._graph = open_graph(source)
        self.inputs = {port.name for port in self._graph.inputs}
        self._facts = value_facts(source, of_these(shapes, self.inputs))
        self._operators: dict[tuple[str, str], Operator | None] = {}
        self._makers: dict[str, int] = {}
        self._calls: list[OnnxCall | None] = []
        self.pictures = [self._picture()]

    @property
    def description(self) -> str:
        return f"ONNX, opset {self._graph.opset}"

    @property
    def opened(self) -> str:
        return self._source.name

    @cached_property
    def findings(self) -> list[Diagnostic]:
        return faults(self._graph)

    def details(self, picture: int, item: int) -> Details:
        call = self._calls[item]
        if call is None:
            return Details("", [], Where(self._source.name))
        known = self._operator(call)
        facts = [("domain", call.domain or "ai.onnx"), ("gives", ", ".join(call.outputs))]
        return Details(known.doc if known else "", [*self._rows(call, known)], call.where(), facts)

    def places(self) -> Mapping[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for index, call in enumerate(self._calls):
            if call is not None:
                found.setdefault(call.title, (0, index))
        for index, item in enumerate(self.pictures[0].items):
            for weights in item.weights:
                found.setdefault(weights.name, (0, index))
        return found

    def close(self) -> None:
        self._source.close()

    # -- the picture -------------------------------------------------------------------------

    def _picture(self) -> Picture:
        graph = self._graph
        items = [self._input(port.name) for port in graph.inputs]
        for index, port in enumerate(graph.inputs):
            self._makers[port.name] = index
        first = len(items)
        for index, call in enumerate(graph.nodes):
            self._makers.update(dict.fromkeys(filter(None, call.outputs), first + index))
        items += [self._node(call) for call in graph.nodes]
        for name in graph.outputs:
            item = Item(name, "output", "output", title=name, lines=[self._value(name) or name])
            self._take(item, 0, "", name)
            items.append(item)
        self._calls = [*[None] * first, *graph.nodes, *[None] * len(graph.outputs)]
        facts = [("nodes, without inputs and outputs", f"{len(graph.nodes):,}")]
        facts += [(domain or "ai.onnx", str(number)) for domain, number in graph.opsets.items()]
        return Picture("", items, [*facts, *about(self._source)])

    def _input(self, name: str) -> Item:
        value = self._value(name)
        return Item(
            name, "input", "input", title=name, value=value, lines=[value or "shape not known"]
        )

    def _node(self, call: OnnxCall) -> Item:
        value = self._value(next(filter(None, call.outputs), ""))
        kind = category(call.op, plugin=call.domain not in ("", "ai.onnx", "ai.onnx.ml"))
        item = Item(call.title, call.op, kind, title=call.op, value=value, macs=self._macs(call))
        known = self._operator(call)
        roles = known.inputs if known else ()
        for slot, name in enumerate(call.inputs):
            role = roles[min(slot, len(roles) - 1)] if roles else ""
            if name in self._graph.tensors:
                item.weights += self._weights(call, slot, role, name)
            elif name:
                self._take(item, slot, role, name)
        for slot, name in enumerate(captured(call), len(call.inputs)):
            self._take(item, slot, "within its graphs", name)
        item.field_lines = [*_telling(call)]
        item.weight_lines = [*map(_weight_line, item.weights)]
        return item

    def _take(self, item: Item, slot: int, role: str, name: str) -> None:
        if name in self._makers:
            item.takes.append(Link(self._makers[name], slot, role, self._value(name), name))
        elif name in self._graph.tensors:  # taken by an output, or within a branch
            item.weights += self._weights(None, slot, role, name)

    def _value(self, name: str) -> str:
        facts = self._facts.get(name)
        if facts is None or facts.shape is None:
            return ""
        sizes = "×".join(map(str, facts.shape)) or "scalar"
        return sizes if facts.dtype == "float32" else f"{facts.dtype} {sizes}"

    def _weights(self, call: OnnxCall | None, slot: int, role: str, name: str) -> Iterator[Weights]:
        message = self._graph.tensors[name]
        shape = tuple(message.all("dims"))
        kind = type_of(message.get("data_type"))
        problem = impossible(shape)
        leads = call is not None and call.op in _LEADING and slot > 0
        axis = int(call.op == "ConvTranspose" and slot == 1) if call else 0
        yield Weights(
            name,
            role,
            kind.name,
            None if problem else shape,
            0 if problem else prod(shape) * kind.dtype.itemsize,
            _place(self._source.name, message),
            lambda: _elements(message, self._graph),
            channel=axis if leads and len(shape) > axis else None,
            note=f"no constant can have this shape: {problem}" if problem else "",
        )

    def _macs(self, call: OnnxCall) -> int | None:
        """Of convolutions and products: the elements given times what each sums over."""
        given = self._facts.get(call.outputs[0]) if call.outputs else None
        at = _SECOND.get(call.op)
        if at is None or len(call.inputs) <= at:
            return None
        if "Conv" in call.op:
            kernel = self._sizes(call.inputs[at])
            if kernel is None or len(kernel) < 3:
                return None
            over = self._facts.get(call.inputs[0]) if call.op == "ConvTranspose" else given
            return _product(over, prod(kernel[1:]))
        left = self._sizes(call.inputs[0])
        if not left:
            return None
        return _product(given, left[0] if call.op == "Gemm" and call.whole("transA") else left[-1])

    def _sizes(self, name: str) -> tuple[int, ...] | None:
        if name in self._graph.tensors:
            return tuple(self._graph.tensors[name].all("dims"))
        facts = self._facts.get(name)
        if facts is None or facts.shape is None:
            return None
        return tuple(size if isinstance(size, int) else 1 for size in facts.shape)

    # -- the panel ---------------------------------------------------------------------------

    def _operator(self, call: OnnxCall) -> Operator | None:
        key = call.domain, call.op
        if key not in self._operators:
            self._operators[key] = operator(call.op, call.domain, max(call.opset, 1))
        return self._operators[key]

    def _rows(self, call: OnnxCall, known: Operator | None) -> Iterator[FieldRow]:
        described = known.attributes if known else {}
        for name in [*described, *(name for name in call.attributes if name not in described)]:
            entry = described.get(name)
            doc, default = (entry.doc, entry.default) if entry else ("", "")
            if name in call.attributes:
                kind, value = _attribute(call.attributes[name])
                where = _place(self._source.name, call.attributes[name])
                yield FieldRow(name, kind, value, True, default, doc, where)
            elif entry:
                yield FieldRow(name, entry.kind, default, False, default, doc)


def _product(facts: ValueFacts | None, over: int) -> int | None:
    """For one sample where sizes are open."""
    if facts is None or facts.shape is None:
        return None
    return prod(size if isinstance(size, int) else 1 for size in facts.shape) * over


def _elements(message: Message, graph: OnnxGraph) -> Any:
    """The elements of an initializer. Raises FormatError where it has none that are numbers."""
    found = tensor_of(message, graph.external).held
    if found is None:
        raise graph.external.bad(message, "its elements are no numbers that can be shown")
    return found.numpy() if hasattr(found, "numpy") else found


def _place(file: str, message: Message) -> Where:
    span = message.span
    start, stop = (span.start, span.stop) if span.nbytes else (None, None)
    return Where(file, start=start, stop=stop)


def _attribute(message: Message) -> tuple[str, str]:
    """Kind and value of an attribute, for people."""
    number = message.get("type")
    member = _MEMBERS.get(number) or next(filter(message.has, _MEMBERS.values()), "")
    if member == "t":
        tensor = message.get("t")
        sizes = tensor.all("dims") if tensor else []
        return "tensor", f"({'×'.join(map(str, sizes)) or 'scalar'})"
    if member in ("", "g"):
        return ("graph", "(a graph of its own)") if member else ("", "")
    if member in ("floats", "ints", "strings"):
        return member, f"[{', '.join(map(_text, message.all(member)))}]"
    return _NAMES[member], _text(message.get(member))


def _text(value: Any) -> str:
    if hasattr(value, "peek"):
        return bytes(value.peek()).decode("utf-8", "backslashreplace")
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _telling(call: OnnxCall) -> Iterator[str]:
    for name in _TELLING:
        if name in call.attributes:
            yield f"{name} {short(_attribute(call.attributes[name])[1])}"


def _weight_line(weights: Weights) -> str:
    return f"{weights.role} ⟨{sizes_text(weights.shape) or '?'}⟩"
