"""Graphs of TensorFlow, read without it: nodes, their attributes, their constants."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from ufkit.conversion.rules import BAD_TF
from ufkit.conversion.tf_tensor import TfTensor, TfType, shape_of, tensor_of, type_of
from ufkit.core.diag import FormatError, Where
from ufkit.core.files import Span
from ufkit.wire.message import Message
from ufkit.wire.proto import parse_proto

SCHEMA = parse_proto(files(__package__).joinpath("tensorflow.proto").read_text("utf-8"))
_NODE = SCHEMA["NodeDef"]


class TfNode:
    """One operation. `inputs` as the file spells them: `node`, `node:1`, or `^node` for order.

    Attributes are read when asked for; those that are absent are empty, zero or false.
    """

    __slots__ = ("_attrs", "_tensor", "file", "inputs", "message", "name", "op")

    def __init__(self, message: Message, file: str) -> None:
        self.message = message
        self.file = file
        self.name: str = message.get("name")
        self.op: str = message.get("op")
        self.inputs: list[str] = message.all("input")
        self._attrs: dict[str, Message] | None = None
        self._tensor: TfTensor | None = None

    @classmethod
    def made(
        cls, name: str, op: str, inputs: Iterable[str] = (), file: str = "", **attrs: Message
    ) -> TfNode:
        """A node that no file has; attributes are AttrValues."""
        node = cls(Message.new(_NODE, name=name, op=op, input=inputs), file)
        node._attrs = attrs
        return node

    @classmethod
    def constant(cls, name: str, value: TfTensor, file: str = "") -> TfNode:
        """A Const that no file has."""
        node = cls.made(name, "Const", file=file)
        node._tensor = value
        return node

    def changed(
        self, *, name: str | None = None, op: str | None = None, inputs: Iterable[str] | None = None
    ) -> TfNode:
        """The node as another, with the same attributes."""
        node = copy.copy(self)
        node.name = self.name if name is None else name
        node.op = self.op if op is None else op
        node.inputs = self.inputs if inputs is None else list(inputs)
        return node

    def where(self, field: str = "") -> Where:
        """The node's place in the file."""
        span = self.message.span
        start, stop = (span.start, span.stop) if span.nbytes else (None, None)
        return Where(self.file, self.name, field, start, stop)

    @property
    def attrs(self) -> dict[str, Message]:
        """Attributes that have a value, by name."""
        if self._attrs is None:
            pairs = ((entry.get("key"), entry.get("value")) for entry in self.message.all("attr"))
            self._attrs = {key: value for key, value in pairs if value and value.which("value")}
        return self._attrs

    def attr(self, name: str, kind: str, default: Any = None) -> Any:
        """An attribute's value. Raises FormatError (CNV401) for one of another kind."""
        value = self.attrs.get(name)
        if value is None:
            return default
        if (found := value.which("value")) != kind:
            reason = f"attribute {name} is of kind {found}; {self.op} has it of kind {kind}"
            raise FormatError(BAD_TF.at(self.where(name), reason))
        return value.get(kind)

    def text(self, name: str, default: str = "") -> str:
        """A string attribute."""
        value: Span | None = self.attr(name, "s")
        return default if value is None else text_of(value)

    def flag(self, name: str) -> bool:
        """A bool attribute."""
        return bool(self.attr(name, "b", False))

    def whole(self, name: str) -> int:
        """An int attribute."""
        return int(self.attr(name, "i", 0))

    def real(self, name: str, default: float = 0.0) -> float:
        """A float attribute."""
        return float(self.attr(name, "f", default))

    def wholes(self, name: str) -> list[int]:
        """An attribute that is a list of ints."""
        value = self.attr(name, "list")
        return [] if value is None else list(value.all("i"))

    def type(self, name: str) -> TfType | None:
        """An attribute that is an element type; None where it is absent or unknown."""
        return type_of(self.attr(name, "type", 0))

    def shape(self, name: str) -> tuple[int, ...] | None:
        """An attribute that is a shape, -1 for open sizes; None where nothing is known."""
        value = self.attr(name, "shape")
        return None if value is None else shape_of(value)

    @property
    def tensor(self) -> TfTensor:
        """The value of a Const. Raises FormatError (CNV401)."""
        if self._tensor is None:
            value = self.attr("value", "tensor")
            if value is None:
                raise FormatError(BAD_TF.at(self.where("value"), "the constant has no value"))
            self._tensor = tensor_of(value, self.where("value"))
        return self._tensor

    def __repr__(self) -> str:
        return f"TfNode({self.op} {self.name!r} <- {', '.join(self.inputs)})"


class TfGraph:
    """The nodes of a graph by name, in the order of the file.

    `outputs` are those that a SavedModel's signature names, `functions` what nodes call by name;
    `size` is that of the file.
    Raises FormatError (CNV401) for a
    graph without nodes, or one that names two alike.
    """

    def __init__(self, message: Message, file: str, outputs: Sequence[str] = ()) -> None:
        self.file = file
        self.size = message.span.source.size
        self.outputs = list(outputs)
        library = message.get("library")
        found = library.all("function") if library else []
        self.functions = {item.get("signature").get("name"): item for item in found}
        self.nodes: dict[str, TfNode] = {}
        for item in message.all("node"):
            node = TfNode(item, file)
            if node.name in self.nodes:
                raise FormatError(BAD_TF.at(node.where(), f"two nodes are called {node.name!r}"))
            self.nodes[node.name] = node
        if not self.nodes:
            raise FormatError(BAD_TF.at(Where(file), "the graph has 0 nodes"))

    def node(self, ref: str, taker: TfNode) -> TfNode:
        """The node that an input names. Raises FormatError (CNV401)."""
        name = name_of(ref)
        if name not in self.nodes:
            raise FormatError(BAD_TF.at(taker.where(), f"input {name!r} is no node of the graph"))
        return self.nodes[name]

    def consumers(self) -> dict[str, list[TfNode]]:
        """For each node that is taken, those that take it, in file order."""
        found: dict[str, list[TfNode]] = {}
        for node in self.nodes.values():
            for name in dict.fromkeys(map(name_of, node.inputs)):
                found.setdefault(name, []).append(node)
        return found

    def with_nodes(self, nodes: Iterable[TfNode]) -> TfGraph:
        """The graph with some nodes replaced, and new ones behind."""
        other = copy.copy(self)
        other.nodes = self.nodes | {node.name: node for node in nodes}
        return other


def name_of(ref: str) -> str:
    """The node that an input is of: `split:1` and `^split` are of `split`."""
    name, colon, number = ref.removeprefix("^").rpartition(":")
    return name if colon and number.isdecimal() else ref.removeprefix("^")


def output_of(ref: str) -> int:
    """Which of its node's values an input is."""
    name, colon, number = ref.rpartition(":")
    return int(number[:9]) if name and colon and number.isdecimal() else 0


def text_of(value: Span) -> str:
    """Bytes as text; what is no UTF-8 stays visible."""
    return bytes(value.peek()).decode("utf-8", "backslashreplace")
