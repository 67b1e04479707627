"""A UFF graph and an ONNX model that some other program made of it, held together by names.

Converters keep the names of TensorFlow, with something put behind: `:0`, `__12`, an order of
axes. What an operation became cannot be told from its name; values of weights can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from itertools import permutations
from math import prod

from ufkit.conversion.compare_onnx import Pair, agree, ports, ref, weights_distance
from ufkit.conversion.engines import Port
from ufkit.conversion.fit_axes import fitting_order
from ufkit.conversion.onnx_model import Weights
from ufkit.conversion.onnx_view import OnnxView, named
from ufkit.conversion.rules import BY_NAME
from ufkit.core.comparison import Comparison, NodeRef
from ufkit.core.diag import Where
from ufkit.core.render import plural
from ufkit.core.tensor import Tensor
from ufkit.uff.compare import left_out_note
from ufkit.uff.const import constant
from ufkit.uff.dims import Shape
from ufkit.uff.infer import Inference, infer
from ufkit.uff.model import INPUT_OPERATION, OUTPUT_OPERATION, Graph
from ufkit.uff.orders import identity
from ufkit.uff.rules import SKIPPED_VALUES

Progress = Callable[[int, int], None]

# What is taken from the end of a name until it is an id.
_TAILS = re.compile(r"(:[^:/]*|__\d+|/(read|[A-Z][A-Za-z0-9]*(_\d+)?))$")
_NO_NODE = frozenset({INPUT_OPERATION, OUTPUT_OPERATION, "Const"})
_MOST_AXES = 5


def owner(name: str, ids: Container[str]) -> str | None:
    """The id that a name in ONNX was made of; None when there is none."""
    while name not in ids:
        name, cut = _TAILS.subn("", name)
        if not cut:
            return None
    return name


class NameComparer:
    """Adds to `result` what differs between a graph and a model; `swapped` when a is the model.

    Raises FormatError where the graph has no order of computation, or a constant is damaged.
    """

    def __init__(self, graph: Graph, view: OnnxView, result: Comparison, *, swapped: bool) -> None:
        inference = infer(graph)
        needed = inference.graph.needed()
        self.view = view
        self.result = result
        self.swapped = swapped
        self.inference = inference
        self.operations = {node.id: node for node in needed if node.operation not in _NO_NODE}
        self.constants = {node.id: node for node in needed if node.operation == "Const"}
        self.absent: list[Tensor] = []

    def compare(self, *, weights: bool, progress: Progress) -> None:
        """Compare inputs, outputs and weights, and note what has no counterpart."""
        for kind, uff, onnx in (
            ("input", _inputs(self.inference), self.view.inputs),
            ("output", _outputs(self.inference), self.view.outputs),
        ):
            self.ports(kind, uff, onnx)
        nodes, constants = self.match_nodes(), self.match_weights(weights, progress)
        if not nodes and not constants:
            theirs = f"{len(self.view.nodes)} nodes, none of a name that is there"
            sides = (f"{len(self.operations)} operations", theirs)
            self.result.hold("names", *(sides[::-1] if self.swapped else sides))
        message = (
            f"ONNX nodes have the names of {nodes} of {plural(len(self.operations), 'operation')}, "
            f"initializers those of {constants} of {plural(len(self.constants), 'constant')}"
        )
        self.result.diagnostics.append(BY_NAME.at(Where(self.view.file), message))
        self.result.diagnostics += left_out_note(self.absent)

    def ports(self, kind: str, uff: Mapping[str, Port], onnx: Mapping[str, Port]) -> None:
        theirs = {owner(name, uff) or name: port for name, port in onnx.items()}
        fitting = {id_ for id_ in uff if id_ in theirs and _agree_turned(uff[id_], theirs[id_])}
        sides = [
            {id_: port for id_, port in side.items() if id_ not in fitting}
            for side in (uff, theirs)
        ]
        if self.swapped:
            sides.reverse()
        ports(sides[0], sides[1], kind, self.result)

    def match_nodes(self) -> int:
        """How many operations have nodes of their name; what has none is listed."""
        found: set[str] = set()
        for name, node in named(self.view.nodes):
            owners = {owner(label, self.operations) for label in (name, *node.outputs)}
            mine = {id_ for id_ in owners if id_ is not None}
            found |= mine
            if not mine:
                self.result.unmatched.append(ref(name, node))
        self.result.unmatched += [
            NodeRef(node.id, node.operation, node.inputs)
            for node in self.operations.values()
            if node.id not in found
        ]
        self.result.nodes = len(found)
        return len(found)

    def match_weights(self, read: bool, progress: Progress) -> int:
        """How many constants have initializers of their name, all of which are compared."""
        pairs = [
            (id_, constant(self.constants[id_]), name)
            for name in self.view.weights
            if (id_ := owner(name, self.constants)) is not None
        ]
        total, done = sum(tensor.nbytes for _, tensor, _ in pairs), 0
        for id_, tensor, name in pairs:
            self.weigh(id_, tensor, name, read)
            done += tensor.nbytes
            progress(done, total)
        found = {id_ for id_, _, _ in pairs}
        self.result.unmatched += [
            NodeRef(id_, "Const") for id_ in self.constants if id_ not in found
        ]
        return len(found)

    def weigh(self, id_: str, tensor: Tensor, name: str, read: bool) -> None:
        theirs = self.view.weights[name]
        mine = f"{tensor.type}{list(tensor.shape)}"
        if prod(tensor.shape) != prod(theirs.dims):
            labels = (mine, f"{theirs.dtype.name}{list(theirs.dims)}")
            self.result.weigh(id_, *(labels[::-1] if self.swapped else labels), None)
        elif tensor.problem and tensor.problem[0] is SKIPPED_VALUES:
            self.result.left_out.append(id_)
            self.absent.append(tensor)
        elif read:
            order = fitting_order(tensor.numpy(), theirs.array())
            ours = Weights(tensor, tensor.shape, order)
            theirs = Weights(theirs.array(), ours.dims, identity(len(ours.dims)))
            sides = [(mine, ours), (f"{theirs.dtype.name}{list(tensor.shape)}", theirs)]
            if self.swapped:
                sides.reverse()
            (left, a), (right, b) = sides
            pair = Pair(id_, a, b, tensor.span, self.view.spans.get(name))
            pair.release()  # what finding the order took
            self.result.weigh(id_, left, right, weights_distance(pair))
            pair.release()


def _inputs(inference: Inference) -> dict[str, Port]:
    """The Inputs that the outputs need, as they are fed."""
    ports = {}
    for node in inference.graph.needed():
        if node.operation == INPUT_OPERATION:
            spec = inference.inputs.get(node.id)
            ports[node.id] = Port(
                node.id, str(spec.dtype) if spec else "", _sizes(spec.shape if spec else None)
            )
    return ports


def _outputs(inference: Inference) -> dict[str, Port]:
    ports = {}
    for id_ in inference.graph.outputs:
        facts = inference.facts[id_]
        dtype = "" if facts.shape is None else str(facts.dtype)
        ports[id_] = Port(id_, dtype, _sizes(facts.shape))
    return ports


def _sizes(shape: Shape | None) -> tuple[int | str, ...] | None:
    if shape is None:
        return None
    return tuple(size if isinstance(size, int) else str(size) for size in shape)


def _agree_turned(a: Port, b: Port) -> bool:
    """Whether ports agree with the axes of one in some order, the batch being first in both."""
    if agree(a, b) or a.shape is None or not 2 < len(a.shape) <= _MOST_AXES:
        return agree(a, b)
    orders = permutations(a.shape[1:])
    return any(agree(Port(a.name, a.dtype, (a.shape[0], *rest)), b) for rest in orders)
