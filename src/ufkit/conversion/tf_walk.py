"""The walk of NVIDIA's converter over a graph of TensorFlow, from its outputs backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from numpy.typing import NDArray

from ufkit.conversion.rules import BAD_TF, LOST_CONSTANT, STAYS_TF, TYPE_CHANGED
from ufkit.conversion.tf_graph import TfGraph, TfNode, name_of, text_of
from ufkit.conversion.tf_tensor import TfTensor, TfType, type_of
from ufkit.core.diag import Diagnostic, FormatError
from ufkit.core.dtypes import FLOAT32, DType
from ufkit.core.render import plural
from ufkit.uff.build import Builder
from ufkit.wire.message import Message

Constant = tuple[Sequence[int], DType, Any]  # shape, type, elements
_SHOWN = 8  # nodes named in one finding
_INTEGERS = ("int32", "int64")
_MOST = 64  # integers in an input that becomes a field: as many as a tensor has axes, and more


class Refused(Exception):
    """Why a node cannot be said in UFF: it stays TensorFlow's."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What one converter does otherwise than another.

    constant   how a constant is written
    type_      how an element type is written
    spell      how an input is written
    """

    constant: Callable[[TfTensor], Constant]
    type_: Callable[[TfType], DType]
    spell: Callable[[str], str]


class Walk:
    """Writes the nodes that outputs need into a UFF graph.

    A stack begins with the outputs; the last of it is written, and its inputs put on it in turn.
    An input that is an Identity is replaced by what that takes. So did NVIDIA's converter; the
    order of the nodes is its own.
    """

    def __init__(self, graph: TfGraph, entries: Mapping[str, Entry], manner: Manner) -> None:
        self.graph = graph
        self.builder = Builder()
        self.spell = manner.spell
        self._entries = entries
        self._manner = manner
        self._stack: list[str] = []
        self._written: set[str] = set()
        self._staying: dict[str, _Staying] = {}
        self._notes: list[Diagnostic] = []

    def run(self, outputs: Sequence[str]) -> list[Diagnostic]:
        """Write everything, and give what there is to say. Raises FormatError (CNV401)."""
        self._stack += outputs
        while self._stack:
            name = name_of(self._stack.pop())
            if name in self._written:
                continue
            self._written.add(name)
            node = self.graph.nodes[name]
            try:
                self._entries.get(node.op, Walk.custom)(self, node)
            except Refused as reason:
                self.custom(node, str(reason))
        self.builder.output(*map(self.spell, outputs))
        return [*self._notes, *(staying.finding() for staying in self._staying.values())]

    # -- what entries read -------------------------------------------------------------------

    def sources(self, node: TfNode, least: int = 0) -> list[str]:
        """The inputs as TensorFlow spells them, those that are an Identity replaced.

        Raises FormatError (CNV401) for one that is not there, and for fewer than `least`.
        """
        if len(node.inputs) < least:
            reason = f"{node.op} has {plural(len(node.inputs), 'input')}; it takes {least}"
            raise FormatError(BAD_TF.at(node.where(), reason))
        return [self._behind(ref, node) for ref in node.inputs]

    def inputs(self, node: TfNode, least: int = 0) -> list[str]:
        """The inputs as they are written; raises as `sources`."""
        return [self.spell(ref) for ref in self.sources(node, least)]

    def _behind(self, ref: str, taker: TfNode) -> str:
        node = self.graph.node(ref, taker)
        if node.op != "Identity" or not node.inputs:
            return ref
        self.graph.node(node.inputs[0], node)
        return node.inputs[0]

    def known(self, node: TfNode, place: int) -> TfTensor | None:
        """An input's value where that is a constant."""
        if not 0 <= place < len(node.inputs):
            return None
        source = self.graph.node(self._behind(node.inputs[place], node), node)
        return source.tensor if source.op == "Const" else None

    def wholes(self, node: TfNode, place: int, what: str) -> list[int]:
        """An input that must be a constant of integers."""
        tensor = self.known(node, place)
        if tensor is None or tensor.type.name not in _INTEGERS or prod(tensor.shape) > _MOST:
            raise Refused(f"its {what} must be a constant, of integers")
        return [int(value) for value in tensor.numpy().ravel()]

    def pairs(self, node: TfNode, place: int) -> list[tuple[int, int]]:
        """An input that may be a constant of two integers an axis; empty where it is not."""
        tensor = self.known(node, place)
        if tensor is None or tensor.type.name not in _INTEGERS or tensor.shape[1:] != (2,):
            return []
        return [(int(first), int(last)) for first, last in tensor.numpy()[:_MOST]]

    def whole(self, node: TfNode, place: int, what: str) -> int:
        """An input that must be a constant, one integer."""
        values = self.wholes(node, place, what)
        if len(values) != 1:
            raise Refused(f"its {what} must be one integer, not {len(values)}")
        return values[0]

    def type_field(self, node: TfNode, name: str) -> DType:
        """An attribute that is an element type, as it is written; float32 where it is absent."""
        found = node.type(name)
        return FLOAT32 if found is None else self._manner.type_(found)

    # -- what entries write ------------------------------------------------------------------

    def op(
        self, node: TfNode, operation: str, inputs: Sequence[str], orders: str = "", **fields: Any
    ) -> None:
        """An operation under the node's name; its inputs are to be written after it."""
        self.builder.op(node.name, operation, inputs, orders, **fields)
        self._stack += inputs

    def aside(self, name: str, operation: str, inputs: Sequence[str], **fields: Any) -> str:
        """A further operation that a node takes, under a name like that; gives its id."""
        id_ = self.free(name)
        self.builder.op(id_, operation, inputs, **fields)
        self._written.add(id_)
        self._stack += inputs
        return id_

    def array(self, name: str, values: NDArray[Any]) -> str:
        """A further constant that a node takes, under a name like that; gives its id."""
        id_ = self.free(name)
        self._written.add(id_)
        return self.builder.const(id_, values)

    def const(self, node: TfNode) -> str:
        """A constant, unless it is there already with the same shape; gives its id."""
        tensor = node.tensor
        shape, dtype, values = self._manner.constant(tensor)
        id_ = node.name
        graph = self.builder.graph
        if id_ in graph:
            if graph[id_].fields["shape"] == list(shape):
                return id_
            id_ = self.free(id_)
        self._written.add(id_)
        self.builder.tensor(id_, shape, dtype, values)
        if tuple(shape) != tensor.shape:
            message = f"it was {tensor.type}{list(tensor.shape)}, it is written as {list(shape)}"
            self._notes.append(LOST_CONSTANT.at(node.where(), message))
        elif dtype is tensor.type.stead:
            message = f"{tensor.type}{list(tensor.shape)} is written as {dtype}"
            self._notes.append(TYPE_CHANGED.at(node.where(), message))
        return id_

    def free(self, wanted: str) -> str:
        """A name like that which no node has."""
        name, number = wanted, 0
        while name in self.graph.nodes or name in self.builder.graph:
            number += 1
            name = f"{wanted}_{number}"
        return name

    def custom(self, node: TfNode, reason: str = "") -> None:
        """A node that UFF has no operation for, with TensorFlow's attributes."""
        inputs = self.inputs(node)
        attrs = {name: field_of(value) for name, value in node.attrs.items()}
        self.builder.graph.add(node.name, f"_{node.op}", inputs, **attrs)
        self.builder.meta.declare_custom()
        self._staying.setdefault(node.op, _Staying(node, reason)).names.append(node.name)
        self._stack += inputs


Entry = Callable[[Walk, TfNode], None]


@dataclass(slots=True)
class _Staying:
    """Nodes of an operation that stays TensorFlow's: the first, why that one, and all names."""

    first: TfNode
    reason: str
    names: list[str] = field(default_factory=list)

    def finding(self) -> Diagnostic:
        """What is said of them."""
        from ufkit.uff.ops import OPS  # all of them; most graphs have no use for it

        names = self.names if len(self.names) <= _SHOWN else [*self.names[: _SHOWN - 1], "..."]
        message = f"{self.first.op} is written as _{self.first.op}"
        message += f": {self.reason}" if self.reason else ""
        message += f" ({len(self.names)}: {', '.join(names)})" if len(self.names) > 1 else ""
        runs = f"_{self.first.op}" in OPS
        message += "; ufkit runs it and converts it to ONNX" if runs else ""
        return STAYS_TF.at(self.first.where(), message)


def as_converter(tensor: TfTensor) -> Constant:
    """A constant as NVIDIA's converter wrote it: it read no strings, and no integers of 64 bits
    that lie in the field of their type."""
    lost = tensor.span is None or (tensor.type.name == "int64" and tensor.one_by_one)
    if lost:
        return [0], tensor.type.written, b""
    return tensor.shape, tensor.type.written, tensor.span


def field_of(value: Message) -> Any:
    """An attribute as the field of a UFF node: None, no value, for what UFF cannot hold."""
    kind = value.which("value")
    found = value.get(kind or "s")
    if kind == "s":
        return repr(bytes(found.peek()))
    if kind == "type":
        return _dtype(found)
    if kind == "shape":
        return [dim.get("size") for dim in found.all("dim")]
    if kind == "list":
        return _list_field(found)
    return found if kind in ("i", "f", "b") else None


def _list_field(value: Message) -> Any:
    for kind in ("i", "f", "b"):
        if values := value.all(kind):
            return values
    if texts := value.all("s"):
        return [text_of(text) for text in texts]
    types: Iterable[DType | None] = [_dtype(number) for number in value.all("type")]
    return list(types) if types and None not in types else None


def _dtype(number: int) -> DType | None:
    found = type_of(number)
    return found.uff if found and found.name != "bool" else None
