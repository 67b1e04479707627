"""Graphs of TensorFlow that tests build, message by message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ufkit.conversion.tf_files import open_tensorflow
from ufkit.conversion.tf_graph import SCHEMA, TfGraph
from ufkit.conversion.tf_tensor import TYPES, TfType
from ufkit.core.files import Source
from ufkit.wire.message import Message, to_bytes

BY_NAME = {row.name: row for row in TYPES}


def tensor(type_: str, shape: tuple[int, ...], **values: Any) -> Message:
    """A TensorProto."""
    return Message.new(
        SCHEMA["TensorProto"], dtype=BY_NAME[type_].number, tensor_shape=sizes(shape), **values
    )


def sizes(shape: tuple[int, ...]) -> Message:
    """A TensorShapeProto."""
    dims = [Message.new(SCHEMA["TensorShapeProto.Dim"], size=size) for size in shape]
    return Message.new(SCHEMA["TensorShapeProto"], dim=dims)


def of_array(array: Any) -> Message:
    """A TensorProto with the elements as they lie in memory."""
    array = np.asarray(array)
    return tensor(array.dtype.name, array.shape, tensor_content=array.tobytes())


def attr(value: Any) -> Message:
    """An AttrValue, of the kind that the value is of."""
    if isinstance(value, Message):
        kind = "shape" if value.type is SCHEMA["TensorShapeProto"] else "tensor"
        kind = "func" if value.type is SCHEMA["NameAttrList"] else kind
        return Message.new(SCHEMA["AttrValue"], **{kind: value})
    if isinstance(value, TfType):
        return Message.new(SCHEMA["AttrValue"], type=value.number)
    if isinstance(value, list):
        kinds = {int: "i", float: "f", bytes: "s", TfType: "type"}
        items = [item.number if isinstance(item, TfType) else item for item in value]
        names = {kinds[type(item)]: items for item in value[:1]}
        return Message.new(
            SCHEMA["AttrValue"], list=Message.new(SCHEMA["AttrValue.ListValue"], **names)
        )
    kind = {bool: "b", int: "i", float: "f", bytes: "s"}[type(value)]
    return Message.new(SCHEMA["AttrValue"], **{kind: value})


def node(name: str, op: str, *inputs: str, **attrs: Any) -> Message:
    """A NodeDef."""
    entry = SCHEMA["NodeDef.AttrEntry"]
    entries = [Message.new(entry, key=key, value=attr(value)) for key, value in attrs.items()]
    return Message.new(SCHEMA["NodeDef"], name=name, op=op, input=inputs, attr=entries)


def const(name: str, array: Any) -> Message:
    """A Const."""
    array = np.asarray(array)
    return node(name, "Const", dtype=BY_NAME[array.dtype.name], value=of_array(array))


def placeholder(name: str, *shape: int, dtype: str = "float32") -> Message:
    """A Placeholder."""
    return node(name, "Placeholder", dtype=BY_NAME[dtype], shape=sizes(shape))


def graph_def(*nodes: Message, **more: Any) -> Message:
    """A GraphDef."""
    return Message.new(SCHEMA["GraphDef"], node=nodes, **more)


def opened(*nodes: Message, **more: Any) -> TfGraph:
    """The graph, as it is read from a file."""
    return open_tensorflow(Source(to_bytes(graph_def(*nodes, **more)), "graph.pb"))


def saved(path: Path, *nodes: Message) -> Path:
    """A file of the graph."""
    path.write_bytes(to_bytes(graph_def(*nodes)))
    return path
