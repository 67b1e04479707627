"""What lowerings write with: ONNX nodes, constants, and the axis order each value is held in.

A UFF value may be at hand in several orders: as the graph has it (NHWC, say) and as an ONNX
convolution made it (NCHW). Orders travel along; a Transpose appears only when a node asks for
an order in which the value is not at hand, once per value and order.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NoReturn

import numpy as np
import onnx
from numpy.typing import NDArray

from ufkit.conversion import custom, plugins
from ufkit.conversion.onnx_model import INLINE, Constant, Weights
from ufkit.core.dtypes import DType, from_name
from ufkit.core.tensor import Tensor
from ufkit.uff.dims import Dim, Shape, static
from ufkit.uff.model import Node
from ufkit.uff.ops.spec import Facts
from ufkit.uff.orders import Order, compose, identity, inverse

_AXES_AS_INPUT = 18  # the opset since which reductions take their axes so; ReduceSum since 13


class Refusal(Exception):
    """A node that has no equivalent in ONNX."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass(slots=True)
class Value:
    """A UFF value: its facts and where it is at hand.

    forms      ONNX name by order: the ONNX tensor is the value's `transpose(order)`
    constant   the elements, when they are known at export
    """

    facts: Facts
    forms: dict[Order, str] = field(default_factory=dict)
    constant: Constant | None = None


@dataclass(slots=True)
class OnnxNode:
    """A node to be, under the names that values have until the end; see `Writer.final`."""

    name: str
    op_type: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    domain: str = ""


class Writer:
    """The ONNX graph under construction: nodes, constants, names."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[OnnxNode] = []
        self.initializers: dict[str, NDArray[Any] | Weights] = {}
        self.made: set[str] = set()  # what nodes give
        self._taken: dict[str, int] = {}  # name: the last number put behind it
        self._numbers: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._finals: dict[str, str] = {}
        self._holders: dict[str, str] = {}  # final name: the name it had
        self._same: dict[tuple[Any, ...], OnnxNode] = {}  # by all that makes two nodes equal

    def name(self, wanted: str) -> str:
        """`wanted`, or with a number behind when it is taken."""
        name = wanted
        while name in self._taken:
            self._taken[wanted] += 1
            name = f"{wanted}:{self._taken[wanted]}"
        self._taken[name] = 1
        return name

    def claim(self, name: str, wanted: str) -> None:
        """Call a value `wanted` in the end; whoever is called that by then gets another name."""
        holder = self._holders.get(wanted, wanted)
        if holder in self._taken and self.final(holder) == wanted and holder != name:
            self._finals[holder] = self.name(f"{wanted}:inner")
        self._finals[name] = wanted
        self._holders[wanted] = name

    def final(self, name: str) -> str:
        """What a value is called in the end."""
        return self._finals.get(name, name)

    def node(self, name: str, op_type: str, inputs: Sequence[str], **attributes: Any) -> str:
        """A node with one output, called `name` or nearly so."""
        return self.add(OnnxNode(name, op_type, list(inputs), [], attributes))[0]

    def add(self, node: OnnxNode, outputs: int = 1) -> list[str]:
        """The outputs of a node, called by its name or nearly so; of an equal one if there is."""
        fields = repr(sorted(node.attributes.items()))
        key = (node.domain, node.op_type, *node.inputs, fields, outputs)
        if key in self._same:
            return self._same[key].outputs
        self._same[key] = node
        node.name = self.name(node.name)
        further = [self.name(f"{node.name}:{number}") for number in range(1, outputs)]
        node.outputs = [node.name, *further]
        self.made.update(node.outputs)
        self.nodes.append(node)
        return node.outputs

    def rename_last(self, wanted: str) -> str:
        """Call what the last node gives `wanted`, or nearly so."""
        node, name = self.nodes[-1], self.name(wanted)
        self.made.difference_update(node.outputs)
        self.made.add(name)
        node.name, node.outputs = name, [name]
        return name

    def numbers(self, array: NDArray[Any]) -> str:
        """A small constant; equal ones are shared."""
        key = (array.dtype.name, array.shape, array.tobytes())
        if key not in self._numbers:
            self._numbers[key] = self.name(f"const_{array.dtype.name}_{len(self._numbers)}")
            self.initializers[self._numbers[key]] = array
        return self._numbers[key]

    def weights(self, name: str, weights: Weights) -> str:
        """A constant of the file; small ones are read, large ones stay where they are."""
        name = self.name(name)
        small = weights.nbytes <= INLINE
        self.initializers[name] = np.asarray(weights.array(), order="C") if small else weights
        return name


class NodeEmitter:
    """The Emitter of one node; see `ufkit.uff.ops.spec.Emitter` for what each method promises."""

    def __init__(
        self, writer: Writer, node: Node, inputs: Sequence[tuple[str, Value]], facts: Facts
    ) -> None:
        self.opset = writer.opset
        self.made = Value(facts)
        self._writer = writer
        self._node = node
        self._id = node.id
        self._ids = [name for name, _ in inputs]
        self._inputs = [value for _, value in inputs]
        self._first = len(writer.nodes)

    # -- inputs ------------------------------------------------------------------------------

    def held(self, i: int) -> Order:
        value = self._inputs[i]
        plain = identity(len(_shape(value)))
        return plain if value.constant is not None else next(iter(value.forms), plain)

    def common(self) -> Order:
        shapes = [_shape(value) for value in self._inputs]
        rank = max(map(len, shapes))
        plain = identity(rank)
        computed = [
            (value, prod(size for size in shape if isinstance(size, int)))
            for value, shape in zip(self._inputs, shapes, strict=True)
            if value.constant is None and len(shape) == rank
        ]
        orders = dict.fromkeys(order for value, _ in computed for order in value.forms)

        def turned(order: Order) -> int:
            """Elements that would have to be transposed."""
            return sum(size for value, size in computed if order not in value.forms)

        return min(orders, key=lambda order: (turned(order), order == plain), default=plain)

    def value(self, i: int, order: Order | None = None) -> str:
        value = self._inputs[i]
        if order is None and value.facts.shape is None and value.forms:
            return next(iter(value.forms.values()))  # of a custom operation: there is but one form
        shape = _shape(value)
        order = identity(len(shape)) if order is None else order
        lacking = len(order) - len(shape)
        if lacking and (not shape or order == identity(len(order))):
            lacking, order = 0, identity(len(shape))  # broadcasting adds the axes by itself
        if value.constant is not None:
            return self._constant_form(value, self._ids[i], lacking, order)
        if lacking:
            return self._expanded(i, lacking, order)
        if order not in value.forms:
            held, name = next(iter(value.forms.items()))
            value.forms[order] = self._turned(name, self._ids[i], shape, held, order)
        return value.forms[order]

    def unordered(self, i: int) -> str:
        value = self._inputs[i]
        shape = _shape(value)
        for order, name in value.forms.items():
            if _same_memory(shape, order, identity(len(shape))):
                return name
        return self.value(i)

    def _constant_form(self, value: Value, id_: str, lacking: int, order: Order) -> str:
        key = (-lacking, *order) if lacking else order
        if key not in value.forms:
            shape = static((1,) * lacking + _shape(value)) or ()
            suffix = "" if order == identity(len(order)) else f":{_digits(order)}"
            assert value.constant is not None
            weights = Weights(value.constant, shape, order)
            value.forms[key] = self._writer.weights(id_ + suffix, weights)
        return value.forms[key]

    def _expanded(self, i: int, lacking: int, order: Order) -> str:
        """A value of lower rank with axes put in front, in an order of the higher rank."""
        axes = self.constant(list(range(lacking)))
        name = self._writer.node(f"{self._ids[i]}:expanded", "Unsqueeze", [self.value(i), axes])
        shape = (1,) * lacking + _shape(self._inputs[i])
        return self._turned(name, self._ids[i], shape, identity(len(shape)), order)

    def _turned(self, name: str, id_: str, shape: Shape, held: Order, order: Order) -> str:
        if order == held:
            return name
        wanted = id_ if order == identity(len(order)) else f"{id_}:{_digits(order)}"
        sizes = [shape[axis] for axis in order]
        numbers = 0 not in sizes and sum(isinstance(size, Dim) for size in sizes) <= 1
        if numbers and _same_memory(shape, held, order):
            target = self.constant([-1 if isinstance(size, Dim) else size for size in sizes])
            return self._writer.node(wanted, "Reshape", [name, target])
        perm = [held.index(axis) for axis in order]
        return self._writer.node(wanted, "Transpose", [name], perm=perm)

    def known(self, i: int) -> NDArray[Any] | None:
        constant = self._inputs[i].constant
        return constant.numpy() if isinstance(constant, Tensor) else constant

    def taking(self, inputs: Sequence[int]) -> NodeEmitter:
        view = copy.copy(self)
        view._ids = [self._ids[i] for i in inputs]
        view._inputs = [self._inputs[i] for i in inputs]
        return view

    # -- new values --------------------------------------------------------------------------

    def constant(self, array: Any, dtype: str = "int64") -> str:
        return self._writer.numbers(np.asarray(array, dtype))

    def node(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        return self._writer.node(f"{self._id}/{op_type}", op_type, inputs, **attributes)

    def nodes(self, op_type: str, *inputs: str, outputs: int, **attributes: Any) -> tuple[str, ...]:
        made = OnnxNode(f"{self._id}/{op_type}", op_type, list(inputs), [], attributes)
        return tuple(self._writer.add(made, outputs))

    def plugin(
        self, *inputs: str, outputs: int = 1, name: str = "", **fields: Any
    ) -> tuple[str, ...]:
        fields = plugins.attributes(self._node) | fields
        op_type = name or custom.op_type(self._node)
        made = OnnxNode(self._id, op_type, [*inputs], [], fields, plugins.DOMAIN)
        return tuple(self._writer.add(made, outputs))

    def carried(self, domain: str) -> str:
        """A node of another domain with the operation's own name, inputs and fields."""
        of_plugin = domain == plugins.DOMAIN
        fields = (plugins if of_plugin else custom).attributes(self._node)
        inputs = [self.value(i) for i in range(len(self._inputs))]
        made = OnnxNode(self._id, custom.op_type(self._node), inputs, [], fields, domain)
        return self._writer.add(made)[0]

    def reduce(self, op_type: str, name: str, axes: list[int], keep: bool) -> str:
        if self.opset >= _AXES_AS_INPUT or op_type == "ReduceSum":
            return self.node(op_type, name, self.constant(axes), keepdims=int(keep))
        return self.node(op_type, name, axes=axes, keepdims=int(keep))

    def cast(self, name: str, dtype: DType | str) -> str:
        row = from_name(dtype) if isinstance(dtype, str) else dtype
        return self.node("Cast", name, to=onnx.helper.np_dtype_to_tensor_dtype(row.numpy))

    # -- the result --------------------------------------------------------------------------

    def result(self, name: str, order: Order | None = None) -> None:
        plain = identity(len(self.made.facts.shape or ()))
        order = plain if order is None else order
        wanted = self._id if order == plain else f"{self._id}:{_digits(order)}"
        node = self._writer.nodes[-1]
        if node.outputs == [name] != [wanted] and len(self._writer.nodes) > self._first:
            name = self._writer.rename_last(wanted)
        self.made.forms[order] = name

    def alias(self, i: int, order: Order | None = None) -> None:
        value = self._inputs[i]
        if order is None:
            self.made.forms = value.forms  # one value under two ids: what one gains both have
            return
        back = inverse(order)
        self.made.forms = {compose(back, held): name for held, name in value.forms.items()}

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        raise Refusal(reason, hint)


def _shape(value: Value) -> Shape:
    if value.facts.shape is None:
        raise Refusal("the rank of its input is not known")
    return value.facts.shape


def _digits(order: Order) -> str:
    return "".join(map(str, order)) if len(order) < 10 else "_".join(map(str, order))


def _same_memory(shape: Shape, first: Order, second: Order) -> bool:
    """Whether two orders of a tensor have their elements in one sequence: only 1s move."""
    return [a for a in first if shape[a] != 1] == [a for a in second if shape[a] != 1]
