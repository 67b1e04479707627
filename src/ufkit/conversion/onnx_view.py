"""An ONNX model as comparing sees it: nodes, ports, and weights that are still in the file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from ufkit.conversion.emitter import OnnxNode
from ufkit.conversion.engines import Port
from ufkit.conversion.onnx_model import Weights
from ufkit.conversion.onnx_schema import SCHEMA
from ufkit.conversion.onnx_tensor import External, span_of
from ufkit.core.files import Source, Span
from ufkit.uff.dims import MAX_RANK
from ufkit.uff.orders import identity
from ufkit.wire.message import Message, to_bytes


@dataclass(slots=True)
class OnnxView:
    """What an ONNX model says of itself.

    opsets           version by domain; the domain of ONNX itself is ""
    inputs, outputs  by name, without initializers that old models list as inputs
    weights          the initializers by name, left where they are
    spans            where they are, of those that lie in a file
    """

    file: str
    producer: str
    graph: str
    opsets: dict[str, int]
    nodes: list[OnnxNode]
    inputs: dict[str, Port]
    outputs: dict[str, Port]
    weights: dict[str, Weights] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)

    @property
    def opset(self) -> int:
        """Version of ONNX's own operators."""
        return self.opsets.get("", self.opsets.get("ai.onnx", 0))


def view_of(source: Source, made: Mapping[str, Weights] | None = None) -> OnnxView:
    """The view of an ONNX file, or of a model that lacks the weights `made`.

    The source must stay open. Raises FormatError (CNV202) where the model is damaged.
    """
    message = Message.read(SCHEMA["ModelProto"], source)
    graph = message.get("graph") or Message.new(SCHEMA["GraphProto"])
    view = OnnxView(
        source.name,
        message.get("producer_name"),
        graph.get("name"),
        {item.get("domain"): item.get("version") for item in message.all("opset_import")},
        [_node(node) for node in graph.all("node")],
        {info.get("name"): _port(info) for info in graph.all("input")},
        {info.get("name"): _port(info) for info in graph.all("output")},
    )
    external = External(source.name)
    for tensor in graph.all("initializer"):
        name = tensor.get("name")
        view.inputs.pop(name, None)
        if made and name in made:
            view.weights[name] = made[name]
            span = made[name].span
        else:
            view.weights[name], span = _weights(tensor, external)
        if span:
            view.spans[name] = span
    return view


def _node(node: Message) -> OnnxNode:
    return OnnxNode(
        node.get("name"),
        node.get("op_type"),
        node.all("input"),
        node.all("output"),
        dict(map(_attribute, node.all("attribute"))),
        node.get("domain"),
    )


def _attribute(attribute: Message) -> tuple[str, Any]:
    name, kind = attribute.get("name"), attribute.get("type")
    if (member := _PLAIN.get(kind)) is not None:
        is_list = attribute.type.fields[member].repeated
        items = attribute.all(member) if is_list else [attribute.get(member)]
        plain = [_text(item) if isinstance(item, Span) else item for item in items]
        return name, plain if is_list else plain[0]
    content = to_bytes(attribute)  # a tensor or a graph: told from another by its bytes
    digest = hashlib.blake2b(content, digest_size=8).hexdigest()
    return name, f"({len(content)} bytes, {digest})"


_PLAIN = {1: "f", 2: "i", 3: "s", 6: "floats", 7: "ints", 8: "strings"}


def _text(span: Span) -> str:
    return bytes(span.view()).decode("utf-8", "backslashreplace")


def _port(info: Message) -> Port:
    name, type_ = info.get("name"), info.get("type")
    tensor = type_.get("tensor_type") if type_ else None
    if tensor is None:
        return Port(name, "", None)
    dtype, shape = _dtype(tensor.get("elem_type")), tensor.get("shape")
    if shape is None:
        return Port(name, dtype.name, None)
    return Port(name, dtype.name, tuple(_size(dim) for dim in shape.all("dim")))


def _size(dim: Message) -> int | str:
    if dim.which("value") == "dim_value":
        return int(dim.get("dim_value"))
    return str(dim.get("dim_param") or "?")


def _dtype(number: int) -> np.dtype[Any]:
    """The NumPy type of an element type; raw bytes where there is none."""
    try:
        return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, TypeError, ValueError):
        return np.dtype("V1")


# -- weights ---------------------------------------------------------------------------------


def _weights(tensor: Message, external: External) -> tuple[Weights, Span | None]:
    shape = tuple(tensor.all("dims"))
    dtype = _dtype(tensor.get("data_type"))
    span = span_of(tensor, external)
    possible = len(shape) <= MAX_RANK and min(shape, default=0) >= 0
    if span and possible and span.nbytes == prod(shape) * dtype.itemsize:
        array = np.frombuffer(span.view(), dtype.newbyteorder("<")).reshape(shape)
    else:
        array, span = _decoded(tensor, external), None
    return Weights(array, array.shape, identity(array.ndim)), span


def _decoded(tensor: Message, external: External) -> NDArray[Any]:
    """Elements that are encoded one by one, as only small constants are; texts as digests."""
    try:
        proto = onnx.load_tensor_from_string(to_bytes(tensor))
        array = np.asarray(onnx.numpy_helper.to_array(proto))
        return _digests(array) if array.dtype == object else array
    except Exception as error:  # classes of onnx, protobuf and NumPy, which share no base
        raise external.bad(tensor, f"its elements cannot be read: {error}") from error


def _digests(array: NDArray[Any]) -> NDArray[Any]:
    digests = [hashlib.blake2b(repr(item).encode(), digest_size=16).digest() for item in array.flat]
    return np.array(digests, "V16").reshape(array.shape)


def named(nodes: list[OnnxNode]) -> Iterator[tuple[str, OnnxNode]]:
    """Nodes by name; one that has none, or another's, by its first output."""
    taken: set[str] = set()
    for node in nodes:
        names = [node.name, *node.outputs]
        name = next((n for n in names if n and n not in taken), f"{node.op_type} {len(taken)}")
        taken.add(name)
        yield name, node
