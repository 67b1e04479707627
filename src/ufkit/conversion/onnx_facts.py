"""What `onnx` knows beyond what a file says: shapes that follow, what operators are."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ufkit.core.files import Source

if TYPE_CHECKING:
    from ufkit.uff.inputs import GivenShapes

_LARGEST = 256 << 20  # bytes of a model that is copied to be looked at
_NAMES = {"FLOAT": "float32", "DOUBLE": "float64"}
_SMALL = 4096  # bytes of an initializer that shapes may depend on

Shape = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """Type of a value (`float32`), and its shape: open sizes by name, "?" without one."""

    dtype: str
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an operator: what it is for, and its default as text, "" for none."""

    kind: str
    doc: str
    default: str


@dataclass(frozen=True, slots=True)
class Operator:
    """What the ONNX standard says of an operator."""

    doc: str
    inputs: tuple[str, ...]
    attributes: dict[str, Attribute] = field(default_factory=dict)


def value_facts(source: Source, given: GivenShapes | None = None) -> dict[str, ValueFacts]:
    """What can be inferred of the values of a model, by name; of a very large one, nothing.

    `given` has shapes for inputs, in place of those that the file states.
    """
    import onnx
    from google.protobuf.message import DecodeError

    if source.size > _LARGEST:
        return {}
    try:
        model = onnx.ModelProto.FromString(bytes(source.view(0, source.size)))
    except DecodeError:
        return {}  # a damaged model is shown without shapes
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) > _SMALL:
            tensor.ClearField("raw_data")
    for info in model.graph.input:
        if given and info.name in given:
            _give(info, given[info.name])
    with contextlib.suppress(ValueError, RuntimeError, onnx.shape_inference.InferenceError):
        model = onnx.shape_inference.infer_shapes(model)  # else with those that it states
    graph = model.graph
    return {
        info.name: ValueFacts(_type(info), _shape(info))
        for info in (*graph.output, *graph.value_info, *graph.input)
        if info.type.HasField("tensor_type")
    }


def _give(info: Any, shape: Sequence[int | str]) -> None:
    """Set the shape of an input; a name or a negative number leaves a size open."""
    dims = info.type.tensor_type.shape
    dims.Clear()
    for size in shape:
        dim = dims.dim.add()
        if isinstance(size, str):
            dim.dim_param = size
        elif size >= 0:
            dim.dim_value = size


def _type(info: Any) -> str:
    import onnx

    number = info.type.tensor_type.elem_type
    try:
        name = onnx.TensorProto.DataType.Name(number)
    except ValueError:
        return f"type {number}"
    return _NAMES.get(name, str(name).lower())


def _shape(info: Any) -> Shape | None:
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?"
        for dim in tensor.shape.dim
    )


def operator(op: str, domain: str, opset: int) -> Operator | None:
    """What is known of an operator of that version; None where it is none of the standard's."""
    import onnx

    try:
        schema = onnx.defs.get_schema(op, opset, domain)
    except onnx.defs.SchemaError:
        return None
    attributes = {
        name: Attribute(
            str(attribute.type).rpartition(".")[2].lower(),
            _first(attribute.description),
            _default(attribute),
        )
        for name, attribute in schema.attributes.items()
    }
    return Operator(_first(schema.doc or ""), tuple(i.name for i in schema.inputs), attributes)


def _first(text: str) -> str:
    """The first paragraph of a description, in one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


def _default(attribute: Any) -> str:
    import onnx

    if not attribute.default_value.type:
        return ""
    value = onnx.helper.get_attribute_value(attribute.default_value)
    return value.decode() if isinstance(value, bytes) else str(value)
