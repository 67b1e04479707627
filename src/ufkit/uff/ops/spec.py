"""What one entry of the operator table says, and what its functions are given.

An entry holds everything known of an operation: its inputs and fields with documentation,
how shapes come out, how it is computed, how ONNX says it. Checks, documentation, evaluator and
converter read the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from math import prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ufkit.core.diag import Diagnostic, FormatError, Rule
from ufkit.core.dtypes import FLOAT32, DType
from ufkit.uff.dims import Dim, Shape, show
from ufkit.uff.model import Node
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import ONES, ZEROS, Field, resolve_field
from ufkit.uff.orders import Order, expand, identity, inverse
from ufkit.uff.rules import BAD_ORDERS, FIELD_VALUE, SHAPE_CONFLICT, TOO_LARGE

Array = NDArray[Any]
_MANY = ("...", "*")  # ends of the name of an input that stands for several
MAX_BYTES = 8 << 30  # of one value while a graph is computed


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a value before anything is computed.

    shape    sizes, numbers or symbolic Dims; None when not even the rank is known
    dtype    element type
    value    the elements themselves where they matter for shapes: a small integer array, of
             type object when some are symbolic
    open     axes whose size is not known before the model is fed, though it may be known now
    """

    shape: Shape | None
    dtype: DType = FLOAT32
    value: Array | None = None
    open: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return f"{self.dtype}{show(self.shape)}"


@dataclass(frozen=True, slots=True)
class Example:
    """A tiny use of an operation, for contract tests and documentation.

    inputs    shapes of random arrays, or arrays; those marked `const` become Const nodes
    output    the number of the value looked at, of an operation that has several
    """

    inputs: tuple[Any, ...]
    fields: Mapping[str, Any] = dataclass_field(default_factory=dict)
    orders: str = ""
    const: tuple[int, ...] = ()
    output: int = 0


class Call:
    """One node with its fields resolved and what is known of its inputs.

    before   what is known of all values before it, by id, where a whole graph is looked at: for
             saying where a fault comes from
    """

    def __init__(self, node: Node, spec: OpSpec, inputs: Sequence[Facts]) -> None:
        self.node = node
        self.spec = spec
        self.inputs = inputs
        self.before: Mapping[str, Facts] = {}
        self.notes: list[Diagnostic] = []
        self.limit = MAX_BYTES
        self._fields: dict[str, Any] = {}

    @property
    def output(self) -> int:
        """Number of the value that is wanted, of an operation that has several."""
        return self.node.output or 0

    def __getitem__(self, name: str) -> Any:
        """A field's value, or its default. Raises FormatError (UFF205, UFF207, UFF208).

        Of an operation that stands for a core one, the field is the core one's.
        """
        if name not in self._fields:
            self._fields[name] = self._resolved(name)
        value = self._fields[name]
        if value is ONES or value is ZEROS:
            return [int(value is ONES)] * (self.rank(0) - 2)
        return value

    def _resolved(self, name: str) -> Any:
        core = self.spec.core
        if core is None:
            return self.own(name)
        self._fields.update({key: field.default for key, field in core.operation.fields.items()})
        self._fields.update(core.fields(self))
        return self._fields[name]

    def own(self, name: str) -> Any:
        """A field of the node itself, for an operation that stands for a core one."""
        return resolve_field(self.node.fields, name, self.spec.fields[name])

    def has_field(self, name: str) -> bool:
        """Whether the operation has a field of that name at all."""
        operation = self.spec.core.operation if self.spec.core else self.spec
        return name in operation.fields

    def spatial(self, name: str) -> list[int]:
        """A field with one number per spatial axis. Raises FormatError (UFF208)."""
        values: list[int] = self[name]
        count = self.rank(0) - 2
        if len(values) != count:
            self.fail(
                FIELD_VALUE, f"{name} has {len(values)} numbers for {count} spatial axes", name
            )
        least = 0 if name == "padding" else 1
        if any(value < least for value in values):
            self.fail(FIELD_VALUE, f"{name} is {values}; {least} is the least possible", name)
        return values

    def shape(self, i: int) -> Shape:
        """Shape of input i, in UFF's order."""
        shape = self.inputs[i].shape
        if shape is None:
            raise UnknownShape
        return shape

    def rank(self, i: int) -> int:
        return len(self.shape(i))

    def order(self, i: int) -> Order:
        """The canonical axis of each axis of input i; as they come when no orders are given."""
        given = self["inputs_orders"]
        if given is None or i >= len(given) or not given[i].axes:
            return identity(self.rank(i))
        try:
            return expand(given[i].axes, self.rank(i))
        except ValueError as error:
            message = (
                f"the order of {self.input_name(i)} does not fit {show(self.shape(i))}: {error}"
            )
            self.fail(BAD_ORDERS, message, "inputs_orders")

    def canonical(self, i: int) -> Shape:
        """Shape of input i in canonical order: (N, C, spatial...) or (K, C, spatial...)."""
        shape = self.shape(i)
        return tuple(shape[axis] for axis in inverse(self.order(i)))

    def output_order(self, rank: int) -> Order:
        """The canonical axis of each axis of the output."""
        given = self["outputs_orders"] if self.has_field("outputs_orders") else None
        if given and given[0].axes:
            try:
                return expand(given[0].axes, rank)
            except ValueError as error:
                self.fail(BAD_ORDERS, f"the order of the output: {error}", "outputs_orders")
        return self.order(0)

    def from_canonical(self, shape: Sequence[int | Dim]) -> Shape:
        """The output's shape in UFF's order, from its canonical one."""
        return tuple(shape[axis] for axis in self.output_order(len(shape)))

    def input_name(self, i: int) -> str:
        """What the operation calls input i."""
        names = self.spec.inputs
        many = next((at for at, name in enumerate(names) if name.endswith(_MANY)), len(names))
        behind = len(self.inputs) - i
        if i < many:
            return names[i]
        return names[-behind] if behind < len(names) - many else names[many].rstrip(".*")

    def axis(self, value: int, rank: int | None = None, name: str = "axis") -> int:
        """An axis counted from the front. Raises FormatError (UFF208) beyond the rank."""
        rank = self.rank(0) if rank is None else rank
        if not -rank <= value < rank:
            self.fail(
                FIELD_VALUE, f"{name} {value} is not an axis of a tensor of rank {rank}", name
            )
        return value % rank

    def to_canonical(self, i: int, array: Array) -> Array:
        """Input i's array in canonical order; a view."""
        return array.transpose(inverse(self.order(i)))

    def back(self, array: Array) -> Array:
        """An array in canonical order brought into the output's; a view."""
        return array.transpose(self.output_order(array.ndim))

    def compute(self, facts: Facts, *arrays: Array) -> Array:
        """The value, of which `facts` are known. Raises FormatError (UFF302, UFF402)."""
        self.bound(facts.shape or (), facts.dtype.itemsize)
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self.spec.evaluate(self, *arrays))
        except MemoryError as error:
            self.fail(TOO_LARGE, f"there is not enough memory: {error}")
        except (ArithmeticError, IndexError, TypeError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            self.conflict(f"it cannot be computed: {error}")

    def bound(self, shape: Sequence[int | Dim], itemsize: int = 8) -> None:
        """Fail (UFF402) where an array is larger than any that is computed here."""
        needed = itemsize * prod(size for size in shape if isinstance(size, int))
        if needed > self.limit:
            message = f"{show(tuple(shape))} takes {needed} bytes; {self.limit} are the most"
            self.fail(TOO_LARGE, message)

    def note(self, rule: Rule, message: str) -> None:
        """Record how something ambiguous was read."""
        self.notes.append(rule.at(self.node.where(), message))

    def fail(self, rule: Rule, message: str, name: str = "") -> NoReturn:
        """Raise FormatError at this node."""
        raise FormatError(rule.at(self.node.where(name), message))

    def conflict(self, message: str) -> NoReturn:
        """Raise FormatError (UFF302): shapes do not fit."""
        self.fail(SHAPE_CONFLICT, message)


class UnknownShape(Exception):
    """A shape was asked for that is not known; inference goes on without this node."""


@dataclass(frozen=True, slots=True)
class Core:
    """The core operation that a custom one stands for, and its fields' values there."""

    operation: OpSpec
    fields: Callable[[Call], Mapping[str, Any]]


def as_it_is(call: Call, emit: Emitter) -> None:
    """A plugin node with the inputs and results that the operation has."""
    names = [emit.value(i) for i in range(len(call.inputs))]
    count = call.spec.outputs(call) if call.spec.outputs else 1
    emit.result(emit.plugin(*names, outputs=count)[call.output])


@dataclass(frozen=True, slots=True)
class OpSpec:
    """An operation.

    inputs     names of the inputs; one ending in "..." stands for one or more, a last one
               ending in "*" for any number
    infer      Call -> Facts of the value
    evaluate   Call, arrays -> the value, in UFF's axis order
    to_onnx    Call, Emitter -> nothing; ends with `emit.result` or `emit.alias`
    core       set where the three come from a core operation
    outputs    Call -> how many values there are, for an operation that has several; the functions
               above are about number `call.output`. It may ask for fields only
    plugin     of a TensorRT plugin: as `to_onnx`, but with the node that TensorRT takes for it
    mark       a field that tells it from another operation of the same name
    chooses    whether inputs that differ by rounding only may give results that are far apart
    macs       Call, Facts of the value -> multiply-accumulates of one run, for an operation that
               is made of them
    """

    name: str
    doc: str
    inputs: tuple[str, ...]
    fields: Mapping[str, Field]
    infer: Callable[[Call], Facts]
    evaluate: Callable[..., Array]
    to_onnx: Callable[[Call, Emitter], None]
    examples: tuple[Example, ...] = ()
    core: Core | None = None
    outputs: Callable[[Call], int] | None = None
    plugin: Callable[[Call, Emitter], None] | None = None
    mark: str = ""
    chooses: bool = False
    macs: Callable[[Call, Facts], int | Dim] | None = None

    @property
    def key(self) -> str:
        """What the table has it under."""
        return f"{self.name} with {self.mark}" if self.mark else self.name

    @property
    def custom(self) -> bool:
        """Whether it is none of the core descriptor: a TensorFlow operation, or a plugin."""
        return self.name.startswith("_")

    def accepts(self, count: int) -> bool:
        """Whether the operation takes that many inputs."""
        if any(name.endswith(_MANY) for name in self.inputs):
            return count >= len(self.inputs) - self.inputs[-1].endswith("*")
        return count == len(self.inputs)
