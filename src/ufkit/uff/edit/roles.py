"""What a constant is for, told by who takes it: a kernel, a scale, an offset, something positive.

A value computed of constants alone passes on what is wanted of it, so that the decomposed
BatchNorm `beta - mean * gamma * rsqrt(variance + epsilon)` is understood as the fused one is.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from ufkit.core.diag import FormatError
from ufkit.uff.dims import Dim, static
from ufkit.uff.infer import Inference
from ufkit.uff.model import Node
from ufkit.uff.ops import OPS
from ufkit.uff.ops.spec import Call, Facts, UnknownShape


class Role(enum.IntEnum):
    """What a value is for; of several, the greatest counts."""

    OFFSET = 1  # added: a bias, a mean, beta
    SCALE = 2  # multiplied with: gamma
    TABLE = 3  # rows that are looked up
    KERNEL = 4  # summed over: of a convolution or a matrix product
    POSITIVE = 5  # divided by, or under a root: a variance


@dataclass(frozen=True, slots=True, order=True)
class Wanted:
    """A role; of a kernel also what keeps the size of the values that go through it.

    variance   1 over the products that each element of the result sums, twice that before an
               activation, which takes half away (He et al., 2015)
    """

    role: Role
    variance: float = 0.0


_BATCH_NORM = (None, Role.SCALE, Role.OFFSET, Role.OFFSET, Role.POSITIVE)
# Of two operands one of which is data: what is wanted of the left and of the right one.
_WITH_DATA: Mapping[str, tuple[Role, Role]] = {
    "add": (Role.OFFSET, Role.OFFSET),
    "sub": (Role.OFFSET, Role.OFFSET),
    "min": (Role.OFFSET, Role.OFFSET),
    "max": (Role.OFFSET, Role.OFFSET),
    "mul": (Role.SCALE, Role.SCALE),
    "div": (Role.SCALE, Role.POSITIVE),
    "pow": (Role.POSITIVE, Role.SCALE),
}
_ROOTS = ("sqrt", "rsqrt", "log")
_CONVOLUTIONS = ("Conv", "ConvTranspose")
_PRODUCTS = {  # and the fields that say which operand is transposed
    "_MatMul": ("transpose_a", "transpose_b"),
    "_BatchMatMul": ("adj_x", "adj_y"),
    "_BatchMatMulV2": ("adj_x", "adj_y"),
}
_ACTIVATIONS = ("Activation", "LeakyRelu")
_PASSED = ("BatchNorm", "Binary", "Identity")  # on the way from a kernel to an activation


def wanted(inference: Inference) -> dict[str, Wanted]:
    """By id, what is wanted of each value that is computed of constants alone.

    Found backwards, from those that take data too; one that nobody asks for is left out.
    """
    return _Search(inference).found


class _Search:
    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.graph = inference.graph
        self.constants = {node.id for node in self.graph if node.operation == "Const"}
        for node in self.graph.needed():
            if node.inputs and self.constants.issuperset(node.inputs):
                self.constants.add(node.id)
        self.activated = self.before_activations()
        self.found: dict[str, Wanted] = {}
        queue = list(self.graph)
        for node in queue:  # grows meanwhile: what is wanted of a value rises a few times at most
            for slot, id_ in enumerate(node.inputs):
                asked = self.asked(node, slot) if id_ in self.constants else None
                if asked and (id_ not in self.found or self.found[id_] < asked):
                    self.found[id_] = asked
                    queue.append(self.graph[id_])

    def before_activations(self) -> set[str]:
        """Ids of the values that reach an activation, with constants at most on the way."""
        takers = (node for node in self.graph if _core(node) in _ACTIVATIONS)
        queue = [node.inputs[0] for node in takers if node.inputs]
        found = set(queue)
        for id_ in queue:
            if id_ in self.graph and _core(node := self.graph[id_]) in _PASSED:
                data = [i for i in node.inputs if i not in self.constants and i not in found]
                if len(data) == 1:
                    found.update(data)
                    queue += data
        return found

    def asked(self, node: Node, slot: int) -> Wanted | None:
        """What a node wants of one input, which is computed of constants.

        Of a node that is constant too only a root and a divisor say it by themselves.
        """
        name, is_constant = _core(node), node.id in self.constants
        otherwise = self.found.get(node.id) if is_constant else self.guess(node, slot)
        if node.operation not in OPS:
            return otherwise
        facts = [self.inference.facts.get(id_, Facts(None)) for id_ in node.inputs]
        call = Call(node, OPS[node.operation], facts)
        try:
            if name == "BatchNorm":
                role = _BATCH_NORM[slot] if slot < len(_BATCH_NORM) else None
                return Wanted(role) if role else None
            if name == "Unary" and call["func"] in _ROOTS:
                return Wanted(Role.POSITIVE)
            if name == "Binary" and slot < 2:
                role = _WITH_DATA[call["func"]][slot]
                own = not is_constant or role is Role.POSITIVE
                return Wanted(role) if own else otherwise
            if slot == 1 and (name in _CONVOLUTIONS or name == "FullyConnected"):
                return self.kernel(node, _fan_in(call, name))
            if name in _PRODUCTS and slot < 2:
                at = -1 if (slot == 0) != bool(call[_PRODUCTS[name][slot]]) else -2
                return self.kernel(node, _known(call.shape(slot)[at:][:1]))
        except (FormatError, UnknownShape):
            pass  # the check of that node says what is wrong with it
        if name.startswith("Gather") and slot == 0:
            return Wanted(Role.TABLE)
        return otherwise

    def kernel(self, node: Node, fan_in: int) -> Wanted:
        return Wanted(Role.KERNEL, (2 if node.id in self.activated else 1) / fan_in)

    def guess(self, node: Node, slot: int) -> Wanted:
        """For who is not known: what has rows and columns is a kernel, its filters last."""
        facts = self.inference.facts.get(node.inputs[slot])
        sizes = static(facts.shape) if facts and facts.shape else None
        if sizes is None or len(sizes) < 2:
            return Wanted(Role.OFFSET)
        return self.kernel(node, max(1, prod(sizes[:-1])))


def _core(node: Node) -> str:
    """The operation, or the core one that a custom operation stands for."""
    spec = OPS.get(node.operation)
    return spec.core.operation.name if spec and spec.core else node.operation


def _fan_in(call: Call, name: str) -> int:
    """Products per element of the result, by the order the kernel is stored in."""
    if name == "FullyConnected":
        return _known(call.canonical(1)[1:])
    _, channels, *sizes = call.canonical(1)
    taps = _known(tuple(sizes))
    if name == "ConvTranspose":  # its inputs are spread out: an element meets every stride-th tap
        return max(1, taps * _known((channels,)) // prod(call.spatial("strides")))
    if call["number_groups"] > 1 and channels == call["number_groups"]:
        return taps  # depthwise: one channel each
    return taps * _known((channels,))


def _known(sizes: tuple[int | Dim, ...]) -> int:
    numbers = static(sizes)
    if numbers is None:
        raise UnknownShape
    return max(1, prod(numbers))
