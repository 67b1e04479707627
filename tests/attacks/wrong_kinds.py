"""Every field of every operation with every kind of value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attacks.forge import (
    FLOAT32,
    INC,
    Raw,
    blob,
    const,
    dtype,
    given,
    net,
    node,
    numbers,
    orders,
    put,
    ref,
)
from ufkit.uff.ops import OPS
from ufkit.uff.ops.tf_math import TYPE

KINDS: Sequence[object] = (
    "text",
    1.5,
    True,
    -1,
    1 << 62,
    (),
    (0, -1, 1 << 62),
    blob(b"1234"),
    dtype(FLOAT32),
    ref("weights"),
    ref("itself"),
    orders((0, 2, INC, 1), (2, INC, 1, 0)),
    Raw(put(103, b"")),
    Raw(put(2, put(1, "a"))),
    Raw(put(4, put(1, b"\0" * 8))),
    Raw(put(6, put(1, b"\1"))),
    Raw(put(8, b"\x08\x01\x0a\x02\x01\x02")),
    Raw(put(200, "unknown")),
)


def cases() -> Iterator[bytes]:
    for spec in OPS.values():
        name = spec.name
        inputs = [f"x{i}" for i in range(len(spec.inputs))]
        sources = [given(id_, 2, 4, 4, 2) for id_ in inputs]
        usable = {"func": "max", "kernel": (2, 2), "axis": 1, "permutation": (0, 1, 2, 3)}
        if name == "Const":
            usable = {"shape": (1,), "values": blob(bytes(4))}
        if name in ("Activation", "Unary"):
            usable["func"] = "relu" if name == "Activation" else "neg"
        if name in ("Conv", "ConvTranspose"):
            usable["inputs_orders"] = orders((0, 2, INC, 1), (2, INC, 1, 0))
        if len(inputs) > 1 and name not in ("Binary", "FullyConnected", "BatchNorm"):
            sources[1] = const(inputs[1], [1, 1, 2, 2], bytes(16))
        for id_ in inputs[2:] if name in ("StridedSlice", "ConvTranspose") else ():
            sources[inputs.index(id_)] = numbers(id_, 1, 1, 1, 1)
        if name in ("Reshape", "StridedSlice", "Gather", "GatherV2"):
            sources[1] = numbers(inputs[1], 1)
        fields = {key: value for key, value in usable.items() if key in spec.fields}
        for key, field in spec.fields.items():
            if field is TYPE and name != "_Relu":
                continue  # the same in all of them, and read in none
            for value in KINDS:
                odd = {**fields, key: value}
                yield net(
                    *sources,
                    node("y", name, inputs, **odd),
                    weights=blob(bytes(4)),
                    itself=ref("itself"),
                )
