"""Each input of each operation replaced: by nothing, by too much, by what is not known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphs import single
from ufkit.uff.build import Builder
from ufkit.uff.ops import OPS
from ufkit.uff.ops.spec import Example, OpSpec
from ufkit.wire.message import to_bytes

CONSTANTS = (
    np.zeros(0, np.int32),
    np.array([1, 2, 3], np.int32),
    np.array(1 << 40, np.int64),
    np.array([1 << 20, 1 << 20], np.int64),
)


def with_operand(spec: OpSpec, example: Example, at: int, kind: int) -> bytes:
    """The example's graph with another value at one input of its operation."""
    b: Builder = single(spec, example)
    match kind:
        case -1:
            b.input("open", [-1, 2])
            b.op("odd", "Shape", ["open"])
        case _:
            b.const("odd", CONSTANTS[kind])
    node = b.graph["y"]
    node.inputs = (*node.inputs[:at], "odd", *node.inputs[at + 1 :])
    return to_bytes(b.meta.message)


def cases() -> Iterator[bytes]:
    for spec in OPS.values():
        for example in spec.examples[:1]:
            for at in range(len(example.inputs)):
                for kind in range(-1, len(CONSTANTS)):
                    yield with_operand(spec, example, at, kind)
