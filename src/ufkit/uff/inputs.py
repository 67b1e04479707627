"""How each Input is fed: its shape as recorded or given, and how the graph sees it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeGuard

from ufkit.core.diag import Diagnostic, FormatError, RequestError
from ufkit.core.dtypes import DType
from ufkit.uff.data import Orders
from ufkit.uff.dims import MAX_RANK, Dim, Shape, impossible, show
from ufkit.uff.model import Graph, Node
from ufkit.uff.ops import OPS
from ufkit.uff.ops.fields import resolve_field
from ufkit.uff.ops.maps import TRANSPARENT
from ufkit.uff.ops.spec import Call, Facts
from ufkit.uff.orders import Order, expand, identity
from ufkit.uff.rules import BAD_INPUT, FIELD_VALUE, INPUT_NCHW, NO_BATCH, NO_SHAPE
from ufkit.wire.schema import did_you_mean

GivenShapes = Mapping[str, Sequence[int | str]]
BATCH = "N"


@dataclass(frozen=True, slots=True)
class InputSpec:
    """An Input as it is fed.

    shape    of the array to feed; open sizes are Dims
    turn     the graph's value is the array's `transpose(turn)`
    order    the canonical axis of each axis of the graph's value, as the nearest convolution
             has it; identity where none is reached
    """

    id: str
    shape: Shape
    dtype: DType
    turn: Order
    order: Order

    @property
    def inner_shape(self) -> Shape:
        """Shape of the value the graph sees."""
        return tuple(self.shape[axis] for axis in self.turn)

    def __str__(self) -> str:
        return f"{self.id} {self.dtype}{show(self.shape)}"


@dataclass(slots=True)
class InputSpecs:
    """All Inputs: those understood, those that need a shape, and how ambiguities were read."""

    found: dict[str, InputSpec] = field(default_factory=dict)
    open_inputs: list[tuple[str, Diagnostic]] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)


_NONE = Orders(())


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the nearest node that knows wants of an Input.

    rank       axes; None when all but the batch were flattened before
    channels   length of the channel axis or, flattened, of all but the batch
    """

    node: Node
    rank: int | None
    channels: int | Dim
    order: Orders = _NONE


def input_specs(graph: Graph, facts: Mapping[str, Facts], given: GivenShapes) -> InputSpecs:
    """The specs of all Input nodes; `facts` are those of what depends on constants only.

    Raises RequestError when `given` names what is no Input.
    """
    known = {node.id for node in graph.inputs}
    for name in given:
        if name not in known:
            message = f"{name!r} is no Input of graph {graph.id!r}; it has {sorted(known)}"
            hint = did_you_mean(name, known)
            raise RequestError(BAD_INPUT.at(graph.where(), message, hint=hint))
    result = InputSpecs()
    wishes = _wishes(graph, facts)
    for node in graph.inputs:
        wanted = wishes.get((node.id, False))
        try:
            spec = _spec(node, wanted, given.get(node.id), result)
        except FormatError as error:
            result.notes += error.diagnostics
        else:
            if spec:
                result.found[node.id] = spec
    return result


def _spec(
    node: Node, wanted: _Wanted | None, given: Sequence[int | str] | None, result: InputSpecs
) -> InputSpec | None:
    fields = OPS["Input"].fields
    sizes = list(resolve_field(node.fields, "shape", fields["shape"]) if given is None else given)
    dtype = resolve_field(node.fields, "dtype", fields["dtype"])
    if given is None and not sizes:
        result.open_inputs.append((node.id, _open(node, wanted)))
        return None
    reason = impossible([size for size in sizes if isinstance(size, int) and size != -1])
    if reason or len(sizes) > MAX_RANK:
        message = f"an Input cannot have this shape: {reason or f'{len(sizes)} axes'}"
        raise FormatError(FIELD_VALUE.at(node.where("shape"), message))
    if wanted and _lacks_batch(sizes, wanted):
        sizes = [-1, *sizes]
        message = f"shape {sizes[1:]} is taken as {[BATCH, *sizes[1:]]}"
        result.notes.append(NO_BATCH.at(node.where("shape"), message))
    shape = tuple(_size(node, size, at) for at, size in enumerate(sizes))
    turn = _turn(shape, wanted)
    if wanted and turn != identity(len(shape)):
        inner = tuple(shape[axis] for axis in turn)
        message = (
            f"{show(shape)} is fed as it is and seen as {show(inner)}: "
            f"{wanted.node.id!r} takes {wanted.channels} channels from its last axis"
        )
        result.notes.append(INPUT_NCHW.at(node.where("shape"), message))
    return InputSpec(node.id, shape, dtype, turn, _order(shape, wanted))


def _lacks_batch(sizes: Sequence[int | str], wanted: _Wanted) -> bool:
    if wanted.rank is not None:
        return len(sizes) == wanted.rank - 1
    elements = [prod(part) if _whole(part) else None for part in (sizes, sizes[1:])]
    return elements[0] == wanted.channels != elements[1]


def _whole(sizes: Sequence[int | str]) -> TypeGuard[Sequence[int]]:
    return all(isinstance(size, int) and size >= 0 for size in sizes)


def _size(node: Node, size: int | str, at: int) -> int | Dim:
    if isinstance(size, str):
        return Dim((size,))
    if size == -1:
        return Dim((BATCH if at == 0 else f"{node.id}_{at}",))
    return size


def _open(node: Node, wanted: _Wanted | None) -> Diagnostic:
    sizes = f"{BATCH},..."
    if wanted and wanted.rank:
        channels = "C" if isinstance(wanted.channels, Dim) else str(wanted.channels)
        letters = {0: BATCH, 1: channels, 2: "H" if wanted.rank > 3 else "W", 3: "W"}
        order = _order((0,) * wanted.rank, wanted)
        sizes = ",".join(letters.get(axis, "D") for axis in order)
    hint = f"give it: --shape {node.id}={sizes} (a letter leaves a size open)"
    return NO_SHAPE.at(
        node.where("shape"), f"Input {node.id!r} has no shape in the file", hint=hint
    )


def _wishes(graph: Graph, facts: Mapping[str, Facts]) -> dict[tuple[str, bool], _Wanted]:
    """By id, and whether it was flattened on the way: what the nearest node wants that the axes
    of the value reach unchanged.

    Found backwards and at once for all: from those who want to those who pass their wish on.
    """
    found: dict[tuple[str, bool], _Wanted] = {}
    for taker in graph:
        for flat in (False, True):
            if taker.inputs and (wanted := _wanted_by(taker, flat, facts)):
                found.setdefault((taker.inputs[0], flat), wanted)
    queue = list(found)
    for id_, flat in queue:
        if id_ not in graph:
            continue
        maker, states = graph[id_], {flat}
        if maker.operation == "Flatten":
            states = {False, True} if flat else set()
        elif maker.operation not in TRANSPARENT:
            continue
        for state in itertools.product(maker.inputs, states):
            if state not in found:
                found[state] = found[id_, flat]
                queue.append(state)
    return found


def _wanted_by(taker: Node, flat: bool, facts: Mapping[str, Facts]) -> _Wanted | None:
    """What one node wants of its first input; None when it takes anything, or cannot be read."""
    kernel = facts.get(taker.inputs[1]) if len(taker.inputs) > 1 else None
    shape = kernel.shape if kernel else None
    try:
        if taker.operation == "FullyConnected" and kernel and shape and len(shape) == 2:
            call = Call(taker, OPS["FullyConnected"], [Facts((0, 0)), kernel])
            return _Wanted(taker, None if flat else 2, call.canonical(1)[1])
        if taker.operation == "Conv" and kernel and shape and len(shape) > 1 and not flat:
            call = Call(taker, OPS["Conv"], [Facts((Dim.unknown(),) * len(shape)), kernel])
            channels, groups = call.canonical(1)[1], call["number_groups"]
            channels = channels if channels == groups else channels * groups
            return _Wanted(taker, len(shape), channels, _first(call["inputs_orders"]))
        if taker.operation == "Pool" and not flat:
            call = Call(taker, OPS["Pool"], [])
            rank = len(call["kernel"]) + 2
            return _Wanted(taker, rank, Dim.unknown(), _first(call["inputs_orders"]))
    except FormatError:
        pass  # the check of that node says what is wrong with it
    return None


def _first(orders: list[Orders] | None) -> Orders:
    return orders[0] if orders else _NONE


def _order(shape: Shape, wanted: _Wanted | None) -> Order:
    if wanted and wanted.order.axes and len(shape) == wanted.rank:
        with contextlib.suppress(ValueError):
            return expand(wanted.order.axes, len(shape))
    return identity(len(shape))


def _turn(shape: Shape, wanted: _Wanted | None) -> Order:
    """Identity, or the order that turns an NCHW array into what the convolution wants."""
    order = _order(shape, wanted)
    if wanted is None or order == identity(len(shape)):
        return identity(len(shape))
    channel = shape[order.index(1)]
    first_fits = shape[1] == wanted.channels and channel != wanted.channels
    return order if first_fits and not isinstance(channel, Dim) else identity(len(shape))
