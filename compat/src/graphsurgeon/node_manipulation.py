"""Nodes that are made or changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.tf_graph import TfNode
from ufkit.core.diag import RequestError, Where
from ufkit_compat.dtypes import as_dtype
from ufkit_compat.graph_def import NodeDef
from ufkit_compat.proto import Proto
from ufkit_compat.rules import BAD_ATTRIBUTE
from ufkit_compat.tensors import make_tensor_proto, shape_proto


def create_node(name: str, op: str | None = None, trt_plugin: bool = False, **kwargs: Any) -> Any:
    """A NodeDef that is in no graph; its operation is called as the node unless `op` says.

    dtype, shape   attributes of these names; None or -1 is an open size
    inputs         names or nodes
    others         attributes: int, float, bool, str, lists of int or of float, element types,
                   arrays. Of a plugin, names get the suffixes that TensorRT tells types by.
    Raises RequestError (CMP003) for anything else.
    """
    return update_node(NodeDef(), name, op, trt_plugin, **kwargs)


def create_plugin_node(name: str, op: str | None = None, **kwargs: Any) -> Any:
    """As `create_node`, for TensorRT's plugins: `numClasses=91` becomes `numClasses_u_int`."""
    return create_node(name, op, trt_plugin=True, **kwargs)


def update_node(
    node: Any,
    name: str | None = None,
    op: str | None = None,
    trt_plugin: bool = False,
    **kwargs: Any,
) -> Any:
    """Change a node and give it back: its name and operation where given, and attributes.

    Inputs given are added to those it has; otherwise as `create_node`.
    """
    node.name = name or node.name
    node.op = op or node.op or node.name
    for key, value in kwargs.items():
        try:
            if key == "inputs":
                node.input.extend([ref if isinstance(ref, str) else ref.name for ref in value])
            elif key == "dtype":
                node.attr[key].type = as_dtype(value).as_datatype_enum
            elif key == "shape":
                node.attr[key].shape.CopyFrom(shape_proto(value))
            else:
                _set_attribute(node, key, value, trt_plugin)
        except (TypeError, AttributeError) as error:
            message = f"{key}={value!r} is no value of a node: {error}"
            raise RequestError(
                BAD_ATTRIBUTE.at(Where(node=node.name, field=key), message)
            ) from error
    return node


def extract_numpy_array(node: Any) -> NDArray[Any]:
    """The elements of a Const, read-only. Raises FormatError (CNV401), TypeError for texts."""
    return TfNode(node.message, "").tensor.numpy()


# What an attribute is of, its kind in AttrValue, and the suffix that a plugin's name gets. NVIDIA's
# has the first line too: of a plugin, True is the integer 1.
_KINDS: tuple[tuple[type, str, str], ...] = (
    (bool, "i", "_u_int"),
    (int, "i", "_u_int"),
    (float, "f", "_u_float"),
    (str, "s", "_u_str"),
    (bytes, "s", "_u_str"),
)


def _set_attribute(node: Any, key: str, value: Any, plugin: bool) -> None:
    if isinstance(value, np.ndarray):
        _set_array(node, key, value)
        return
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, list | tuple):
        real = any(isinstance(item, float | np.floating) for item in value)
        key += ("_u_flist" if real else "_u_ilist") if plugin else ""
        kept = node.attr[key].list
        _set_numbers(kept.f if real else kept.i, value)
        kept.SetInParent()
        return
    for type_, kind, suffix in _KINDS:
        if isinstance(value, type_):
            kind = "b" if type_ is bool and not plugin else kind
            text = value.encode() if isinstance(value, str) else value
            setattr(node.attr[key + suffix if plugin else key], kind, text)
            return
    node.attr[key].type = as_dtype(value).as_datatype_enum


def _set_numbers(target: Any, values: Iterable[Any]) -> None:
    target[:] = [float(v) if isinstance(v, np.floating) else v for v in values]


def _set_array(node: Any, key: str, value: NDArray[Any]) -> None:
    """An array as a tensor; that of a Const says its type as well."""
    tensor: Proto = make_tensor_proto(value)
    node.attr[key].tensor.CopyFrom(tensor)
    if node.op == "Const" and "dtype" not in node.attr:
        node.attr["dtype"].type = tensor.dtype
