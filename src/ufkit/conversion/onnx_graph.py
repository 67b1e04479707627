"""ONNX models as they are converted: nodes with their attributes, inputs, initializers, functions.

Weights stay in the file; `onnx` is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ufkit.conversion.onnx_schema import SCHEMA
from ufkit.conversion.onnx_tensor import External, OnnxTensor, OnnxType, tensor_of, type_of
from ufkit.conversion.rules import BAD_ONNX_GRAPH
from ufkit.core.diag import FormatError, Where
from ufkit.core.files import Source, Span
from ufkit.wire.message import Message

FunctionKey = tuple[str, str, str]  # domain, name, overload
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class OnnxPort:
    """An input of a graph. Sizes that are open are their name, or "" where they have none.

    shape   None where not even the rank is known
    """

    name: str
    type: OnnxType
    shape: tuple[int | str, ...] | None


@dataclass(frozen=True, slots=True)
class OnnxCall:
    """A node of a graph: an operation on values, which have names.

    opset    version of ONNX's operators by which it is meant
    inputs   names of values; "" for one that is left out
    """

    name: str
    op: str
    domain: str
    overload: str
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Message]
    external: External

    @property
    def title(self) -> str:
        """What the node is called, or where it has no name its first output."""
        return self.name or next(filter(None, self.outputs), self.op)

    def where(self) -> Where:
        return Where(self.external.file, self.title)

    def whole(self, name: str, default: int = 0) -> int:
        """An integer attribute."""
        return int(self._value(name, "i", default))

    def real(self, name: str, default: float = 0.0) -> float:
        """A float attribute."""
        return float(self._value(name, "f", default))

    def text(self, name: str, default: str = "") -> str:
        """A string attribute."""
        found = self._value(name, "s", default)
        return text_of(found) if isinstance(found, Span) else found

    def wholes(self, name: str) -> list[int] | None:
        """A list of integers; None where there is none."""
        return self.attributes[name].all("ints") if name in self.attributes else None

    def reals(self, name: str) -> list[float] | None:
        """A list of floats; None where there is none."""
        return self.attributes[name].all("floats") if name in self.attributes else None

    def tensor(self, name: str) -> OnnxTensor | None:
        """A tensor; None where there is none. Raises FormatError (CNV202)."""
        found = self._value(name, "t", None)
        return None if found is None else tensor_of(found, self.external)

    def graph(self, name: str) -> Message | None:
        """A graph; None where there is none."""
        found: Message | None = self._value(name, "g", None)
        return found

    def _value(self, name: str, member: str, default: Any) -> Any:
        return self.attributes[name].get(member) if name in self.attributes else default


@dataclass(slots=True)
class OnnxGraph:
    """A graph of a model.

    inputs      those to be fed, without initializers that old models list as inputs
    outputs     names of values, in order
    tensors     initializers by name
    unreadable  names of initializers that are sparse
    size        bytes of the file
    """

    file: str
    inputs: list[OnnxPort]
    outputs: list[str]
    nodes: list[OnnxCall]
    tensors: dict[str, Message]
    functions: dict[FunctionKey, Message]
    opsets: dict[str, int]
    external: External
    unreadable: set[str] = field(default_factory=set)
    size: int = 0

    @property
    def opset(self) -> int:
        """Version of ONNX's own operators; 0 where the model does not say."""
        return opset_of(self.opsets)

    def where(self) -> Where:
        return Where(self.file)

    def needed(self) -> list[OnnxCall]:
        """The nodes that the outputs need, each behind those whose values it takes.

        Raises FormatError (CNV502): a value that nothing gives, one that two give, a cycle.
        """
        makers: dict[str, OnnxCall] = {}
        known = {port.name for port in self.inputs} | self.tensors.keys() | self.unreadable
        for node in self.nodes:
            for name in filter(None, node.outputs):
                if name in makers or name in known:
                    raise bad_graph(node.where(), f"value {name!r} is given twice")
                makers[name] = node
        order: list[OnnxCall] = []
        state: dict[int, bool] = {}  # by the node's identity; False while inputs are placed
        for output in self.outputs:
            if output in known:
                continue
            if output not in makers:
                raise bad_graph(self.where(), f"nothing gives the output {output!r}")
            self._place(makers[output], makers, known, state, order)
        return order

    def _place(
        self,
        target: OnnxCall,
        makers: Mapping[str, OnnxCall],
        known: set[str],
        state: dict[int, bool],
        order: list[OnnxCall],
    ) -> None:
        if id(target) in state:
            return
        stack = [(target, iter(target.inputs))]
        state[id(target)] = False
        while stack:
            node, waiting = stack[-1]
            name = next(waiting, None)
            if name is None:
                state[id(node)] = True
                order.append(node)
                stack.pop()
            elif name and name not in known:
                maker = makers.get(name)
                if maker is None:
                    raise bad_graph(node.where(), f"nothing gives its input {name!r}")
                if id(maker) not in state:
                    state[id(maker)] = False
                    stack.append((maker, iter(maker.inputs)))
                elif not state[id(maker)]:
                    raise bad_graph(node.where(), f"{node.op} waits for its own result, {name!r}")


def bad_graph(where: Where, message: str) -> FormatError:
    """An error (CNV502) at a place."""
    return FormatError(BAD_ONNX_GRAPH.at(where, message))


def opset_of(opsets: Mapping[str, int]) -> int:
    """The version of ONNX's own operators, whose domain has two spellings."""
    return opsets.get("", opsets.get("ai.onnx", 0))


def opsets_of(message: Message) -> dict[str, int]:
    """Versions by domain that a model or function imports."""
    return {item.get("domain"): item.get("version") for item in message.all("opset_import")}


def open_graph(source: Source) -> OnnxGraph:
    """The graph of an ONNX model. Raises FormatError (CNV502) where it is not sound."""
    model = Message.read(SCHEMA["ModelProto"], source)
    graph = model.get("graph")
    if graph is None:
        raise bad_graph(Where(source.name), "the model has no graph")
    opsets, external = opsets_of(model), External(source.name)
    tensors = {tensor.get("name"): tensor for tensor in graph.all("initializer")}
    sparse = [tensor.get("values") for tensor in graph.all("sparse_initializer")]
    outputs = [info.get("name") for info in graph.all("output")]
    if not outputs:
        raise bad_graph(Where(source.name), "the graph has no output")
    if len(set(outputs)) < len(outputs):
        twice = next(name for name in outputs if outputs.count(name) > 1)
        raise bad_graph(Where(source.name), f"the graph has two outputs {twice!r}")
    listed = [port_of(info) for info in graph.all("input")]
    return OnnxGraph(
        source.name,
        [port for port in listed if port.name not in tensors],
        outputs,
        list(calls_of(graph.all("node"), opset_of(opsets), external)),
        tensors,
        {
            (item.get("domain"), item.get("name"), item.get("overload")): item
            for item in model.all("functions")
        },
        opsets,
        external,
        {values.get("name") for values in sparse if values is not None},
        source.size,
    )


def captured(call: OnnxCall) -> list[str]:
    """The values of the graph around it that the graphs of a node take: branches, bodies of loops.

    Within a model no two values have one name, so what any of the graphs gives is its own.
    """
    waiting = [*_graphs(call.attributes.values())]
    taken: dict[str, None] = {}
    own: set[str] = set()
    while waiting:
        graph = waiting.pop()
        for kind in ("input", "initializer"):
            own.update(item.get("name") for item in graph.all(kind))
        for node in graph.all("node"):
            taken.update(dict.fromkeys(filter(None, node.all("input"))))
            own.update(node.all("output"))
            waiting += _graphs(node.all("attribute"))
        taken.update(dict.fromkeys(info.get("name") for info in graph.all("output")))
    return [name for name in taken if name not in own]


def _graphs(attributes: Iterable[Message]) -> Iterator[Message]:
    return (graph for item in attributes if (graph := item.get("g")) is not None)


def calls_of(nodes: Iterable[Message], opset: int, external: External) -> Iterator[OnnxCall]:
    """Nodes of a graph or function as they are read here."""
    for node in nodes:
        yield OnnxCall(
            node.get("name"),
            node.get("op_type"),
            node.get("domain"),
            node.get("overload"),
            opset,
            tuple(node.all("input")),
            tuple(node.all("output")),
            {attribute.get("name"): attribute for attribute in node.all("attribute")},
            external,
        )


def port_of(info: Message) -> OnnxPort:
    """An input as a ValueInfoProto tells it; of what is no tensor, one of no known type."""
    name, type_ = info.get("name"), info.get("type")
    tensor = type_.get("tensor_type") if type_ else None
    if tensor is None:
        return OnnxPort(name, OnnxType("no tensor", 0), None)
    shape = tensor.get("shape")
    sizes = None if shape is None else tuple(map(size_of, shape.all("dim")))
    return OnnxPort(name, type_of(tensor.get("elem_type")), sizes)


def size_of(dim: Message) -> int | str:
    """A size, or its name; -1 and 0, which some exporters write for an open one, have none."""
    if dim.which("value") == "dim_value":
        size = int(dim.get("dim_value"))
        return size if size > 0 else ""
    return str(dim.get("dim_param"))


def text_of(span: Span) -> str:
    """A string attribute, whatever its bytes are."""
    return bytes(span.peek()).decode("utf-8", "backslashreplace")
