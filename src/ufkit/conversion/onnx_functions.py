"""Functions that nodes call, as the nodes they stand for.

A model may bring functions of its own; of ONNX's operators many are functions too, of which the
`onnx` package knows the bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ufkit.conversion.onnx_graph import OnnxCall, calls_of, opset_of, opsets_of
from ufkit.conversion.onnx_schema import SCHEMA
from ufkit.conversion.onnx_tensor import OnnxType
from ufkit.core.files import Source
from ufkit.wire.message import Message, to_bytes

Kind = tuple[OnnxType, Sequence[int | str]]  # of a value: element type and sizes


def body(call: OnnxCall, function: Message) -> tuple[list[OnnxCall], dict[str, str]]:
    """The nodes of a function for one that calls it, and what its outputs are called in them.

    Values in it are named behind the call; attributes are the call's, or have their default.
    """
    words = function.all("input")
    given = dict.fromkeys(words, "") | dict(zip(words, call.inputs, strict=False))
    defaults = {item.get("name"): item for item in function.all("attribute_proto")}
    attributes = {**defaults, **call.attributes}

    def named(name: str) -> str:
        return given.get(name, f"{call.title}/{name}" if name else "")

    opset = opset_of(opsets_of(function)) or call.opset
    nodes = []
    for node in calls_of(function.all("node"), opset, call.external):
        own = {}
        for name, attribute in node.attributes.items():
            wanted = attribute.get("ref_attr_name")
            if not wanted:
                own[name] = attribute
            elif wanted in attributes:
                own[name] = attributes[wanted]
        changed = replace(
            node,
            name=f"{call.title}/{node.name or node.op}",
            inputs=tuple(map(named, node.inputs)),
            outputs=tuple(named(name) for name in node.outputs),
            attributes=own,
        )
        nodes.append(changed)
    outputs = function.all("output")
    return nodes, {
        mine: named(inner) for mine, inner in zip(call.outputs, outputs, strict=False) if mine
    }


def function_of(call: OnnxCall, kinds: Sequence[Kind | None]) -> Message | None:
    """What one of ONNX's operators stands for; None where it stands for itself.

    kinds   of the inputs, None for one that is left out: some bodies depend on them
    """
    import onnx

    try:
        schema: Any = onnx.defs.get_schema(call.op, call.opset, "")
    except onnx.defs.SchemaError:
        return None
    found = b""
    if schema.has_function:
        found = schema.function_body.SerializeToString()
    elif schema.has_context_dependent_function:
        types = [_type_proto(kind) for kind in kinds]
        with suppress(Exception):  # classes of onnx and pybind11, which share no base
            found = schema.get_context_dependent_function(to_bytes(_message(call)), types)
    if not found:
        return None
    return Message.read(SCHEMA["FunctionProto"], Source(found, call.op))


def _type_proto(kind: Kind | None) -> bytes:
    import onnx

    made = onnx.TypeProto()
    if kind is not None:
        made = onnx.helper.make_tensor_type_proto(kind[0].number, kind[1])
    return bytes(made.SerializeToString())


def _message(call: OnnxCall) -> Message:
    return Message.new(
        SCHEMA["NodeProto"],
        name=call.name,
        op_type=call.op,
        input=call.inputs,
        output=call.outputs,
        attribute=list(call.attributes.values()),
    )
