"""A graph under construction of which everything is known as it grows.

Each value has its shape and type as soon as it is there, and its elements where they follow from
constants. What is never needed is never written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ufkit.core.diag import FormatError, Where
from ufkit.core.dtypes import DTYPES, DType
from ufkit.core.tensor import Tensor
from ufkit.uff.build import Builder
from ufkit.uff.data import Orders
from ufkit.uff.dims import Dim, Shape
from ufkit.uff.fold import Folding
from ufkit.uff.infer import facts_of, possible, tensor_facts, with_value
from ufkit.uff.model import INPUT_OPERATION, MetaGraph, Node
from ufkit.uff.ops import call_of
from ufkit.uff.ops.spec import Array, Facts, UnknownShape
from ufkit.uff.orders import parse
from ufkit.uff.rules import SHAPE_CONFLICT
from ufkit.uff.schema import NODE
from ufkit.wire.message import Message


class Value:
    """A value of the graph to be.

    facts      what is known of it
    constant   its elements, where they are known: a Tensor in a file, or an array
    name       what its node is to be called, or nearly so
    operation  what computes it from `inputs`; "" for a constant
    first      of a further value of an operation that has several: the first; `number` counts
    results    how many values the operation has
    """

    __slots__ = (
        "constant",
        "facts",
        "fields",
        "first",
        "inputs",
        "name",
        "number",
        "operation",
        "orders",
        "origin",
        "results",
    )

    def __init__(
        self,
        facts: Facts,
        operation: str = "",
        inputs: Sequence[Value] = (),
        *,
        constant: Tensor | Array | None = None,
        name: str = "",
        orders: str = "",
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        self.facts = facts
        self.operation = operation
        self.inputs = tuple(inputs)
        self.constant = constant
        self.name = name
        self.orders = orders
        self.fields = dict(fields or {})
        self.first: Value | None = None
        self.number = 0
        self.results = 1
        self.origin = Where()

    @property
    def shape(self) -> Shape:
        """Its sizes, open ones as Dims. Raises UnknownShape."""
        if self.facts.shape is None:
            raise UnknownShape
        return self.facts.shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        return self.facts.dtype

    def array(self) -> Array | None:
        """Its elements, where they are known."""
        return self.constant.numpy() if isinstance(self.constant, Tensor) else self.constant

    def __repr__(self) -> str:
        return f"Value({self.operation or 'Const'} {self.name!r} {self.facts})"


class Draft:
    """Makes values, and computes those that follow from constants; see `FairCopy`.

    `made` are the values computed by operations since it was last emptied.
    """

    def __init__(self) -> None:
        self._builder = Builder()
        self._folding = Folding(self._builder.meta)
        self.made: list[Value] = []

    def widen(self, nbytes: int) -> None:
        """Let computed constants take so many more bytes."""
        self._folding.room += nbytes

    def input(self, name: str, shape: Shape, dtype: DType) -> Value:
        """An Input; a Dim is an open size."""
        return Value(Facts(shape, dtype), INPUT_OPERATION, name=name)

    def const(self, values: Any, name: str = "") -> Value:
        """A constant of computed elements."""
        array = np.asarray(values)
        return Value(facts_of(array), constant=array, name=name)

    def tensor(self, tensor: Tensor, name: str = "") -> Value:
        """A constant whose elements stay where they are."""
        return Value(tensor_facts(tensor), constant=tensor, name=name)

    def op(self, operation: str, *inputs: Value, orders: str = "", **fields: Any) -> Value:
        """The value of an operation, the first where it has several; see `_made`."""
        return self._made(operation, inputs, orders, fields)

    def further(self, first: Value, number: int) -> Value:
        """Another value of the operation that has given one; raises as `op`."""
        value = self._made(first.operation, first.inputs, first.orders, first.fields, number)
        value.first, value.number = first, number
        return value

    def _made(
        self,
        operation: str,
        inputs: Sequence[Value],
        orders: str,
        fields: Mapping[str, Any],
        number: int = 0,
    ) -> Value:
        """The value of an operation; a constant where all its inputs are.

        Raises FormatError where the inputs do not fit (UFF302 and more), UnknownShape where a shape
        is not known that has to be.
        """
        places = map(str, range(len(inputs)))
        message = Message.new(NODE, id=operation, operation=operation, inputs=places)
        node = Node(self._builder.graph, message)
        node.output = number
        node.fields.update(fields)
        if orders:
            axes = [Orders(tuple(parse(order))) for order in orders.split("_")]
            node.fields["inputs_orders"] = axes
        call = call_of(node, [value.facts for value in inputs])
        for i, value in enumerate(inputs):
            if value.dtype not in DTYPES:
                reason = f"{call.input_name(i)} is {value.dtype}, a type that UFF does not have"
                raise FormatError(SHAPE_CONFLICT.at(node.where(), reason))
        facts = with_value(call, possible(call))
        if facts.value is not None and facts.value.dtype != object:
            return self.const(facts.value)
        if (known := self._computed(node, facts, inputs)) is not None:
            return self.const(known, next((value.name for value in inputs if value.name), ""))
        value = Value(facts, operation, inputs, orders=orders, fields=fields)
        value.results = call.spec.outputs(call) if call.spec.outputs else 1
        self.made.append(value)
        return value

    def _computed(self, node: Node, facts: Facts, inputs: Sequence[Value]) -> Array | None:
        if not inputs or any(value.constant is None for value in inputs):
            return None
        arrays = [array for value in inputs if (array := value.array()) is not None]
        with np.errstate(all="ignore"):
            return self._folding.value(node, facts, arrays)


class FairCopy:
    """Values written into a file of their own, `meta`: the inputs, and what the outputs need.

    inputs    all Inputs there are, written first
    outputs   by name; each node is called so, and they are marked in this order
    ids       of the nodes, by value, in the order of computation; `id:0` and so on are the values
              of a node that has several

    Other nodes are called as their values are named, or nearly so.
    """

    def __init__(self, inputs: Iterable[Value], outputs: Mapping[str, Value]) -> None:
        self.ids: dict[Value, str] = {}
        self._builder = Builder()
        self._owned = {value: value.name for value in inputs}
        self._taken = dict.fromkeys([*self._owned.values(), *outputs], 1)
        for value in list(self._owned):
            self._add(value)
        for last in [self._output(*item) for item in outputs.items()]:
            for value in _behind(last, self.ids):
                self._add(value)
        self._builder.output(*outputs)
        if any(value.operation.startswith("_") for value in self.ids):
            self.meta.declare_custom()

    @property
    def meta(self) -> MetaGraph:
        return self._builder.meta

    def _output(self, name: str, value: Value) -> Value:
        """The value that has that name; one that has another already is passed on."""
        if value.results > 1 or value.first or self._owned.setdefault(value, name) != name:
            value = Value(value.facts, "Identity", [value])
            self._owned[value] = name
        return value

    def _add(self, value: Value) -> None:
        if value.first:
            self.ids[value] = f"{self.ids[value.first].removesuffix(':0')}:{value.number}"
            return
        id_ = self._owned.get(value) or self._free(value)
        self.ids[value] = f"{id_}:0" if value.results > 1 else id_
        if value.operation == INPUT_OPERATION:
            sizes = [-1 if isinstance(size, Dim) else size for size in value.shape]
            self._builder.input(id_, sizes, value.dtype)
        elif value.operation:
            inputs = [self.ids[each] for each in value.inputs]
            self._builder.op(id_, value.operation, inputs, value.orders, **value.fields)
        elif isinstance(value.constant, Tensor):
            tensor = value.constant
            self._builder.tensor(id_, tensor.shape, tensor.type, tensor.span)
        else:
            self._builder.const(id_, value.constant)

    def _free(self, value: Value) -> str:
        """What the value is named, or with a number behind where that is taken."""
        wanted = name = value.name or value.operation or "Const"
        while not self._taken.keys().isdisjoint(names := _spellings(name, value.results)):
            number = self._taken.setdefault(wanted, 1)
            self._taken[wanted] = number + 1
            name = f"{wanted}_{number}"
        self._taken.update(dict.fromkeys(names, 1))
        return name


def _spellings(name: str, results: int) -> list[str]:
    """How all values of a node are spelt."""
    return [name, *(f"{name}:{number}" for number in range(results) if results > 1)]


def _behind(last: Value, done: Mapping[Value, str]) -> Iterator[Value]:
    """What has to be written for a value, itself last, each behind what it takes."""
    if last in done:
        return
    placed = {last}
    stack = [(last, iter(_taken(last)))]
    while stack:
        value, waiting = stack[-1]
        following = next((v for v in waiting if v not in done and v not in placed), None)
        if following is None:
            stack.pop()
            yield value
        else:
            placed.add(following)
            stack.append((following, iter(_taken(following))))


def _taken(value: Value) -> Sequence[Value]:
    return [value.first] if value.first else value.inputs
