"""Operations whose inputs come otherwise than those of the operation they stand for.

TensorFlow gives an axis as an input where UFF has a field, or gives the same inputs in another
sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ufkit.uff.dims import Dim
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.spec import Array, Call, Core, Facts, OpSpec


def rearranged(
    stand_in: OpSpec, inputs: tuple[str, ...], takes: Callable[[int], Sequence[int]]
) -> OpSpec:
    """`stand_in` for nodes with `inputs`, of which the operation it stands for sees some.

    takes   which ones, in its own sequence, by how many the node has
    """
    core = stand_in.core
    assert core is not None, f"{stand_in.name} stands for nothing"

    def seen(call: Call) -> Call:
        spec = replace(stand_in, core=Core(core.operation, lambda _: core.fields(call)))
        inner = Call(call.node, spec, [call.inputs[i] for i in takes(len(call.inputs))])
        inner.notes, inner.limit = call.notes, call.limit
        return inner

    def infer(call: Call) -> Facts:
        return stand_in.infer(seen(call))

    def evaluate(call: Call, *arrays: Array) -> Array:
        return stand_in.evaluate(seen(call), *(arrays[i] for i in takes(len(arrays))))

    def to_onnx(call: Call, emit: Emitter) -> None:
        stand_in.to_onnx(seen(call), emit.taking(takes(len(call.inputs))))

    def macs(call: Call, facts: Facts) -> int | Dim:
        assert stand_in.macs is not None
        return stand_in.macs(seen(call), facts)

    return replace(
        stand_in,
        inputs=inputs,
        infer=infer,
        evaluate=evaluate,
        to_onnx=to_onnx,
        core=None,
        macs=macs if stand_in.macs else None,
    )
