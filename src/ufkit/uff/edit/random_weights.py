"""Random weights for a text twin, which names its weights but does not hold them."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError
from ufkit.core.dtypes import FLOAT16, FLOAT32
from ufkit.core.render import plural, size
from ufkit.core.tensor import Tensor
from ufkit.uff.const import constant, skipped_weights
from ufkit.uff.edit.roles import Role, Wanted, wanted
from ufkit.uff.infer import infer
from ufkit.uff.model import MetaGraph, Node
from ufkit.uff.ops.spec import Array
from ufkit.uff.rules import SKIPPED_VALUES, TOO_LARGE

MAX_BYTES = (2 << 30) - 1  # Protocol Buffers reads no message that is larger


_NAMES = {
    Role.OFFSET: "offset",
    Role.SCALE: "scale",
    Role.TABLE: "table",
    Role.KERNEL: "kernel",
    Role.POSITIVE: "positive",
}


@dataclass(slots=True)
class RandomWeights:
    """What was filled in: how many constants of each role, how many bytes; and what was not."""

    roles: Counter[Role] = field(default_factory=Counter)
    nbytes: int = 0
    kept: list[Diagnostic] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.roles:
            return "no weights made up: none that could be were left out"
        parts = [plural(count, _NAMES[role]) for role, count in sorted(self.roles.items())]
        total = plural(self.roles.total(), "constant")
        return f"{total} of {size(self.nbytes)} made up: {', '.join(parts[::-1])}"


def random_weights(meta: MetaGraph, seed: int) -> RandomWeights:
    """Give every constant whose values were left out random ones of its type and shape.

    The values keep a deep net finite and its results apart: kernels are drawn for the number of
    products they sum, what is a divisor or under a root lies about 1, so do scales, offsets are
    small. Each constant is drawn for `seed` and its own id, whatever the order of the nodes.
    Constants of integers say sizes and places, for which nothing random will do: they are left as
    they are and listed in `kept`.
    Raises FormatError where a graph has no order of computation, or for more than 2 GiB (UFF402).
    """
    report = RandomWeights()
    skipped: dict[str, tuple[Node, Tensor, Wanted]] = {}
    for graph in meta.graphs:
        roles: dict[str, Wanted] | None = None
        for node in graph:
            tensor = _skipped(node)
            if tensor is None:
                continue
            if tensor.type not in (FLOAT16, FLOAT32):
                report.kept.append(_kept(node, tensor))
                continue
            if roles is None:
                roles = wanted(infer(graph))
            mine = node, tensor, roles.get(node.id, Wanted(Role.OFFSET))
            name = _blob_of(node) or f"{graph.id}/{node.id}"
            skipped[name] = max(skipped.get(name, mine), mine, key=_precedence)
    report.nbytes = sum(tensor.nbytes for _, tensor, _ in skipped.values())
    if report.nbytes > MAX_BYTES:
        message = f"{report.nbytes} bytes were left out; {MAX_BYTES} are the most a file can hold"
        raise FormatError(TOO_LARGE.at(meta.where(), message))
    for node, tensor, want in skipped.values():
        _fill(node, _drawn(node.id, tensor, want, seed))
        report.roles[want.role] += 1
    named = {_blob_of(node) for graph in meta.graphs for node in graph if _skipped(node)}
    for name in skipped_weights(meta):
        if name not in named:
            place = meta.referenced_data.where(name)
            message = "it stays left out: no constant of that size and of floats refers to it"
            report.kept.append(SKIPPED_VALUES.at(place, message))
    return report


def _skipped(node: Node) -> Tensor | None:
    """The tensor of a constant whose values were left out, None of any other node."""
    if node.operation != "Const":
        return None
    try:
        tensor = constant(node)
    except FormatError:
        return None  # `check` says what is wrong with it
    return tensor if tensor.problem and tensor.problem[0] is SKIPPED_VALUES else None


def _kept(node: Node, tensor: Tensor) -> Diagnostic:
    message = (
        f"{tensor.nbytes} bytes of {tensor.type}{list(tensor.shape)} stay left out: they say "
        "sizes or places, not weights"
    )
    return SKIPPED_VALUES.at(node.where("values"), message)


def _blob_of(node: Node) -> str:
    """The name of the data that holds a constant's values, "" where they lie in the node."""
    return node.graph.meta.resolve(node.fields.data("values"), node.where())[1]


def _precedence(item: tuple[Node, Tensor, Wanted]) -> tuple[Wanted, str]:
    """Of constants that share their data: the one it is drawn for."""
    node, _, want = item
    return want, node.id


def _fill(node: Node, values: Array) -> None:
    if name := _blob_of(node):
        node.graph.meta.referenced_data[name] = values
    else:
        node.fields["values"] = values


def _drawn(id_: str, tensor: Tensor, want: Wanted, seed: int) -> Array:
    """The values of one constant."""
    digest = hashlib.blake2b(id_.encode("utf-8", "surrogateescape"), digest_size=16).digest()
    random = np.random.default_rng([seed, int.from_bytes(digest, "little")])
    about_one = want.role in (Role.SCALE, Role.POSITIVE) or (
        want.role is Role.KERNEL and len(tensor.shape) < 2  # what a kernel is multiplied with
    )
    if about_one:
        values = random.random(tensor.shape, np.float32)
        values *= 0.5
        values += 0.75
    else:
        spread = {Role.OFFSET: 0.1, Role.TABLE: 1.0}.get(want.role) or want.variance**0.5
        values = random.standard_normal(tensor.shape, np.float32)
        values *= spread
    return values.astype(tensor.dtype, copy=False)
