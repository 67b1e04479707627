"""The walk over a graph of ONNX, whose nodes become values of a UFF draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from ufkit.conversion.onnx_functions import Kind, body, function_of
from ufkit.conversion.onnx_graph import OnnxCall, OnnxGraph, bad_graph
from ufkit.conversion.onnx_tensor import TYPES, OnnxTensor, tensor_of
from ufkit.conversion.rules import CANNOT_CONVERT
from ufkit.core.diag import Diagnostic, FormatError
from ufkit.core.dtypes import DTYPES, DType
from ufkit.core.tensor import Tensor
from ufkit.uff.dims import Dim, Shape, exact_quotient, product, show, static, whole
from ufkit.uff.draft import Draft, Value
from ufkit.uff.ops import OPS
from ufkit.uff.ops.spec import Array, Facts, UnknownShape
from ufkit.wire.message import Message
from ufkit.wire.schema import did_you_mean

_DOMAINS = ("", "ai.onnx")
_DEEPEST = 64  # functions within functions
_LARGEST = 1 << 22  # elements of a constant that stands for what UFF cannot say
_MOST = 1 << 14  # nodes that functions may become


class Refused(Exception):
    """Why a node cannot be said in UFF, and what can be done."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


Entry = Callable[["Walk", OnnxCall], Value | Sequence[Value | None]]


class Walk:
    """Takes nodes one by one; `values` are those of ONNX by name, None where there is none.

    What stands in the way is collected, each with its node, and the walk goes on.
    """

    def __init__(self, graph: OnnxGraph, entries: Mapping[str, Entry]) -> None:
        self.graph = graph
        self.draft = Draft()
        self.obstacles: list[Diagnostic] = []
        self.values: dict[str, Value | None] = {}
        self._entries = entries
        self._wanted: set[str] = set(graph.outputs)
        self._expanded = 0

    def run(self, nodes: Sequence[OnnxCall], depth: int = 0) -> None:
        """Take nodes, each behind those whose values it takes. Raises FormatError (CNV502)."""
        for node in nodes:
            self._wanted.update(node.inputs)
        for node in nodes:
            try:
                self._take(node, depth)
            except Refused as refusal:
                self.refuse(node, str(refusal), refusal.hint)
            except UnknownShape:
                self.refuse(node, "the shape of its input is not known")
            except FormatError as error:
                if error.diagnostic.code.startswith("CNV"):
                    raise
                self.refuse(node, error.diagnostic.message, error.diagnostic.hint)
            for name in node.outputs:
                self.values.setdefault(name, None)

    def refuse(self, node: OnnxCall, reason: str, hint: str = "") -> None:
        """Note an obstacle."""
        message = f"{node.op}: {reason}"
        self.obstacles.append(CANNOT_CONVERT.at(node.where(), message, hint=hint))

    def _take(self, node: OnnxCall, depth: int) -> None:
        taken = [self.value(name) for name in node.inputs if name]
        self.draft.made.clear()
        function = self.graph.functions.get((node.domain, node.op, node.overload))
        entry = self._entries.get(node.op) if node.domain in _DOMAINS else None
        if function is None and entry is None:
            function = self._function(node, taken)
        if any(value is None for value in taken):
            return  # the reason is known
        if function is not None:
            self._expand(node, function, depth)
            return
        assert entry is not None
        made = entry(self, node)
        results = [made] if isinstance(made, Value) else list(made)[: len(node.outputs)]
        self._name(node, results)
        for number, (name, value) in enumerate(zip_longest(node.outputs, results)):
            if name and value is None and name in self._wanted:
                self.refuse(node, f"there is nothing in UFF for its result {number}, {name!r}")
            elif name:
                self.values[name] = value

    def _name(self, node: OnnxCall, results: Sequence[Value | None]) -> None:
        """Call results as the node, or where it has several as these; others behind it."""
        for value in self.draft.made:
            value.origin = node.where()
            value.name = value.name or f"{node.title}/{value.operation.lstrip('_')}"
            if value in results:
                value.name = node.outputs[results.index(value)] if results[1:] else node.title
            for word, taken in zip_longest(OPS[value.operation].inputs, value.inputs):
                if taken is not None and not taken.operation:
                    taken.name = taken.name or f"{value.name}/{(word or 'input').strip('.*')}"

    def _function(self, node: OnnxCall, taken: Sequence[Value | None]) -> Message | None:
        """What a node stands for that is in no table. Raises Refused where that is nothing."""
        if node.domain in _DOMAINS:
            kinds = [_kind(value) for value in self.all(node)]
            if not any(value is None for value in taken) and (found := function_of(node, kinds)):
                return found
            hint = did_you_mean(node.op, self._entries)
            raise Refused(_REASONS.get(node.op, "UFF has no such operation"), hint or "")
        raise Refused(
            f"it is of the domain {node.domain!r}, which only its own run time knows",
            "export the model without operators of that domain",
        )

    def _expand(self, node: OnnxCall, function: Message, depth: int) -> None:
        nodes, results = body(node, function)
        self._expanded += len(nodes)
        if depth >= _DEEPEST or self._expanded > _MOST:
            raise bad_graph(node.where(), f"functions are {depth} deep, of {self._expanded} nodes")
        self._wanted.update(results.values())
        self.run(nodes, depth + 1)
        for name, inner in results.items():
            self.values[name] = value = self.value(inner)
            if value is not None and value.name.startswith(f"{node.title}/"):
                value.name = node.title if len(results) == 1 else name

    # -- what entries read -------------------------------------------------------------------

    def value(self, name: str) -> Value | None:
        """A value by name; initializers are read when they are first asked for."""
        if name not in self.values:
            if name not in self.graph.tensors:
                raise bad_graph(self.graph.where(), f"nothing gives the value {name!r}")
            self.values[name] = self.held(
                tensor_of(self.graph.tensors[name], self.graph.external), name
            )
        return self.values[name]

    def held(self, tensor: OnnxTensor, name: str = "") -> Value:
        """A constant of the model."""
        if isinstance(tensor.held, Tensor):
            return self.draft.tensor(tensor.held, name)
        return Value(Facts(tensor.shape, tensor.dtype), constant=tensor.held, name=name)

    def all(self, node: OnnxCall) -> list[Value | None]:
        """The inputs of a node, None for those left out."""
        return [self.value(name) if name else None for name in node.inputs]

    def maybe(self, node: OnnxCall, i: int) -> Value | None:
        """An input that may be left out."""
        return self.value(node.inputs[i]) if node.inputs[i : i + 1] not in ((), ("",)) else None

    def input(self, node: OnnxCall, i: int = 0) -> Value:
        """An input. Raises FormatError (CNV502) where it is left out."""
        value = self.maybe(node, i)
        if value is None:
            raise bad_graph(node.where(), f"{node.op} lacks input {i}")
        return value

    def inputs(self, node: OnnxCall) -> list[Value]:
        """All inputs, none of them left out, at least one."""
        return [self.input(node, i) for i in range(max(len(node.inputs), 1))]

    def numbers(self, value: Value, what: str) -> list[Any]:
        """The elements of a small integer array; open sizes are Dims. Raises Refused."""
        if value.facts.value is None:
            raise Refused(_COMPUTED.format(what))
        return whole(value.facts.value)

    def wholes(self, value: Value, what: str) -> list[int]:
        """As `numbers`, but for open sizes, which are refused."""
        numbers = self.numbers(value, what)
        if any(isinstance(number, Dim) for number in numbers):
            raise Refused(f"its {what} {numbers} depends on a size that is not known")
        return numbers

    def elements(self, value: Value, what: str) -> Array:
        """The elements of a constant. Raises Refused."""
        array = value.array()
        if array is None:
            raise Refused(_COMPUTED.format(what))
        return array

    def number(self, value: Value, what: str) -> Any:
        """The one number of a constant. Raises Refused."""
        array = self.elements(value, what)
        if array.size != 1:
            raise Refused(f"its {what} has {array.size} numbers, and should have one")
        return array.item()

    def listed(self, node: OnnxCall, name: str, i: int) -> list[int] | None:
        """Integers that older versions have as an attribute, newer ones as an input."""
        value = self.maybe(node, i)
        return node.wholes(name) if value is None else self.wholes(value, name)

    def sizes(self, value: Value, axes: Iterable[int]) -> tuple[int, ...]:
        """Sizes that have to be known. Raises Refused."""
        sizes = static(tuple(value.shape[axis] for axis in axes))
        if sizes is None:
            raise Refused(f"the sizes of {show(value.shape)} have to be known", NAMED_SHAPES)
        return sizes

    # -- what entries write ------------------------------------------------------------------

    def op(self, operation: str, *inputs: Value, orders: str = "", **fields: Any) -> Value:
        """The value of a UFF operation; see `Draft.op`."""
        return self.draft.op(operation, *inputs, orders=orders, **fields)

    def const(self, values: Any) -> Value:
        return self.draft.const(values)

    def i32(self, numbers: Any) -> Value:
        """Whole numbers as UFF's files have them. Raises Refused beyond 32 bits."""
        array = np.asarray(numbers, object)
        if any(not -(1 << 31) <= number < 1 << 31 for number in array.flat):
            raise Refused(f"{array.tolist()} does not fit into 32 bits")
        return self.draft.const(array.astype(np.int32))

    def like(self, number: float, value: Value) -> Value:
        """A scalar of the type of a value."""
        with np.errstate(all="ignore"):
            return self.draft.const(np.asarray(number).astype(value.dtype.numpy))

    def unary(self, func: str, x: Value) -> Value:
        return self.op("Unary", x, func=func)

    def activation(self, func: str, x: Value) -> Value:
        return self.op("Activation", x, func=func)

    def binary(self, func: str, x: Value, y: Value | float) -> Value:
        """Two values element by element; a number is taken in the type of the value."""
        return self.op("Binary", x, y if isinstance(y, Value) else self.like(y, x), func=func)

    def cast(self, x: Value, dtype: DType) -> Value:
        """The value in another type; of a constant in any type. Raises Refused."""
        if x.dtype == dtype:
            return x
        if dtype not in DTYPES and x.constant is None:
            raise Refused(f"it casts to {dtype}, a type that UFF does not have")
        back = x.operation == "_Cast" and x.inputs[0].dtype == dtype
        if back and np.can_cast(dtype.numpy, x.dtype.numpy):
            return x.inputs[0]  # there and back: nothing was lost
        if x.dtype in DTYPES and dtype in DTYPES:
            return self.op("_Cast", x, SrcT=x.dtype, DstT=dtype)
        array = self.elements(x, f"input of type {x.dtype}")
        if dtype in DTYPES:
            with np.errstate(all="ignore"):
                return self.const(array.astype(dtype.numpy))
        storage = next((row.storage for row in TYPES if row.name == dtype.name), "")
        if not storage or dtype.name == "bfloat16":
            raise Refused(f"it casts to {dtype}, a type that UFF does not have")
        with np.errstate(all="ignore"):
            return Value(Facts(x.shape, dtype), constant=array.astype(storage))

    def transpose(self, x: Value, order: Sequence[int]) -> Value:
        if [*order] == [*range(x.rank)]:
            return x
        return self.op("Transpose", x, permutation=[*order])

    def reshape(self, x: Value, target: Sequence[int | Dim], given: Value | None = None) -> Value:
        """The same elements under another shape; -1 once stands for what is left.

        `given` holds the shape where it is a value. Raises Refused for one that UFF cannot say.
        """
        shape = completed(x.shape, target)
        if shape == x.shape:
            return x
        sizes = [-1 if isinstance(size, Dim) else size for size in shape]
        batch_first = sizes.count(-1) == 2 and sizes[0] == -1 and shape[:1] == x.shape[:1]
        if sizes.count(-1) < 2 or batch_first:
            if len(shape) == 2 < x.rank and shape[0] == x.shape[0] and 0 not in x.shape:
                return self.op("Flatten", x)
            return self.op("Reshape", x, self.i32(sizes))
        if given is None or given.operation == "":
            raise Refused(f"the shape {show(shape)} has several open sizes", NAMED_SHAPES)
        return self.op("Reshape", x, given)


_COMPUTED = "its {} must be constant in UFF, and is computed while the model runs"
NAMED_SHAPES = "give the shapes of inputs: --shape NAME=N,3,224,224"
_QUANTISED = "UFF has no quantised operations"
_REASONS = {
    **dict.fromkeys(
        (
            "QuantizeLinear",
            "DequantizeLinear",
            "DynamicQuantizeLinear",
            "QLinearConv",
            "QLinearMatMul",
            "ConvInteger",
            "MatMulInteger",
        ),
        f"{_QUANTISED}; export the model before it was quantised",
    ),
    "If": "UFF has no branches",
    **dict.fromkeys(("Loop", "Scan", "SequenceMap"), "UFF has no loops"),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), "UFF has no recurrent layers"),
}


def _kind(value: Value | None) -> Kind | None:
    if value is None:
        return None
    type_ = next((row for row in TYPES if row.name == value.dtype.name), TYPES[0])
    return type_, [size if isinstance(size, int) else str(size) for size in value.shape]


def completed(shape: Shape, target: Sequence[int | Dim]) -> Shape:
    """A target shape with -1 replaced. Raises Refused where it does not fit."""
    sizes = list(target)
    gaps = [at for at, size in enumerate(sizes) if size == -1]
    if len(gaps) > 1 or any(isinstance(size, int) and size < -1 for size in sizes):
        raise Refused(f"a tensor cannot have the shape {sizes}")
    if gaps:
        rest = product(tuple(size for size in sizes if size != -1))
        missing = exact_quotient(product(shape), rest) if rest != 0 else 0
        sizes[gaps[0]] = Dim.unknown() if missing is None else missing
    return tuple(sizes)


def bounded(sizes: Iterable[int], what: str) -> None:
    """Raises Refused for a constant larger than any that is made here."""
    if (count := prod(max(size, 1) for size in sizes)) > _LARGEST:
        raise Refused(f"{what} would be {count} elements; {_LARGEST} are the most")


def axes_of(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front, in order. Raises Refused for one that is not there."""
    if wrong := [axis for axis in axes if not -rank <= axis < rank]:
        raise Refused(f"axis {wrong[0]} of a tensor of rank {rank}")
    found = sorted(axis % rank for axis in axes)
    if len(set(found)) < len(found):
        raise Refused(f"axes {list(axes)} name one twice")
    return found


def axis_of(axis: int, rank: int) -> int:
    """One axis, as `axes_of`."""
    return axes_of([axis], rank)[0]
