"""Graphs under construction: one method an operation, as NVIDIA's had them.

Inputs are ids or nodes. Names that are taken, or not given, get a number. A field whose value is
None is left out. `fields` are further fields, or others in place of those that a method sets;
`extra_fields` what readers do not look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from uff.model.values import dtype_of, message_of
from ufkit.core.dtypes import DType
from ufkit.uff.build import Builder
from ufkit.uff.model import Graph as Model
from ufkit.uff.model import Node as NodeModel

if TYPE_CHECKING:
    from uff.model.meta_graph import MetaGraph

Fields = Mapping[str, Any] | None


class Node:
    """A node of a graph: its `name`, `op` and `inputs`. `model` is ufkit's."""

    def __init__(self, graph: Graph, model: NodeModel) -> None:
        self.graph = graph
        self.model = model

    @property
    def name(self) -> str:
        return self.model.id

    @property
    def op(self) -> str:
        return self.model.operation

    @property
    def inputs(self) -> list[str]:
        return list(self.model.inputs)

    def __repr__(self) -> str:
        return f"Node({self.op} {self.name!r})"


class Graph:
    """A graph of a `MetaGraph`, whose `add_graph` makes it. `model` is ufkit's."""

    def __init__(self, meta_graph: MetaGraph, model: Model) -> None:
        self.meta_graph = meta_graph
        self.model = model
        self.nodes: dict[str, Node] = {}

    @property
    def name(self) -> str:
        return self.model.id

    def _add(
        self,
        op: str,
        name: str | None,
        inputs: Iterable[Any],
        fields: Mapping[str, Any],
        more: Fields,
        extra: Fields,
        orders: Sequence[str] = (),
    ) -> Node:
        """Append a node."""
        values = dict(fields)
        if orders:
            values["inputs_orders"] = self.meta_graph.create_orders_ref(orders)
        values.update(more or {})
        given = {key: message_of(value) for key, value in values.items() if value is not None}
        ids = [item if isinstance(item, str) else item.name for item in inputs]
        return self._keep(self.model.add(self._free(op, name), op, ids, **given), extra)

    def _keep(self, model: NodeModel, extra: Fields) -> Node:
        for key, value in (extra or {}).items():
            model.extra_fields[key] = message_of(value)
        node = self.nodes[model.id] = Node(self, model)
        return node

    def _free(self, op: str, name: str | None) -> str:
        if name is not None and name not in self.model:
            return name
        number = 0
        while (found := f"{name or op}_{number}") in self.model:
            number += 1
        return found

    # -- inputs, constants, outputs ----------------------------------------------------------

    def input(self, shape: Sequence[int], dtype: Any = np.float32, name: str | None = None,
              fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        """An Input; -1 is an open size."""
        own = {"shape": list(shape), "dtype": dtype_of(dtype)}
        return self._add("Input", name, (), own, fields, extra_fields)

    def const(self, arr: ArrayLike, name: str | None = None,
              fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        """A constant. Raises RequestError (UFF208) for elements that UFF has no type for."""
        array = np.asarray(arr)
        dtype: DType = dtype_of(array.dtype)
        id_ = self._free("Const", name)
        values = np.ascontiguousarray(array, dtype.numpy)
        Builder(graph=self.model).tensor(id_, array.shape, dtype, values)
        model = self.model[id_]
        for key, value in (fields or {}).items():
            model.fields[key] = message_of(value)
        return self._keep(model, extra_fields)

    def mark_output(self, output: Any, name: str | None = None,
                    fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        """Mark a result."""
        return self._add("MarkOutput", name, [output], {}, fields, extra_fields)

    def custom_node(self, op: str, inputs: Sequence[Any], name: str | None = None,
                    fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        """An operation of another's, written as `_<op>`: a plugin, or one of TensorFlow's."""
        self.meta_graph.enable_custom_descriptor()
        return self._add(f"_{op}", name, inputs, {}, fields, extra_fields)

    def identity(self, prev_node: Any, name: str | None = None,
                 fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("Identity", name, [prev_node], {}, fields, extra_fields)

    # -- maps and vectors --------------------------------------------------------------------

    def conv(self, left_node: Any, right_node: Any, strides: Sequence[int],
             padding: Sequence[int] | None = None, dilation: Sequence[int] | None = None,
             number_groups: int | None = None, left_format: str = "NC+", right_format: str = "KC+",
             name: str | None = None, fields: Fields = None, extra_fields: Fields = None
             ) -> Node:  # fmt: skip
        """A convolution; the formats are the axis orders of map and kernel."""
        own = {"padding": padding, "strides": strides, "dilation": dilation,
               "number_groups": number_groups}  # fmt: skip
        orders = [left_format, right_format]
        return self._add("Conv", name, [left_node, right_node], own, fields, extra_fields, orders)

    def conv_transpose(self, input_node: Any, weights_node: Any, shape_node: Any,
                       strides: Sequence[int], padding: Sequence[int] | None = None,
                       dilation: Sequence[int] | None = None, number_groups: int | None = None,
                       left_format: str = "NC+", right_format: str = "KC+",
                       name: str | None = None, fields: Fields = None, extra_fields: Fields = None
                       ) -> Node:  # fmt: skip
        """A transposed convolution; `shape_node` is the shape of the result."""
        own = {"padding": padding, "strides": strides, "dilation": dilation,
               "number_groups": number_groups}  # fmt: skip
        inputs = [input_node, weights_node, shape_node]
        orders = [left_format, right_format]
        return self._add("ConvTranspose", name, inputs, own, fields, extra_fields, orders)

    def pool(self, prev_node: Any, func: str, kernel: Sequence[int], strides: Sequence[int],
             padding: Sequence[int] | None = None, data_format: str = "NC+",
             name: str | None = None, fields: Fields = None, extra_fields: Fields = None
             ) -> Node:  # fmt: skip
        """A pooling, `func` max or avg."""
        own = {"func": func.lower(), "kernel": kernel, "padding": padding, "strides": strides}
        return self._add("Pool", name, [prev_node], own, fields, extra_fields, [data_format])

    def fully_connected(self, left_node: Any, right_node: Any, left_format: str = "NC",
                        right_format: str = "KC", name: str | None = None, fields: Fields = None,
                        extra_fields: Fields = None) -> Node:  # fmt: skip
        inputs, orders = [left_node, right_node], [left_format, right_format]
        return self._add("FullyConnected", name, inputs, {}, fields, extra_fields, orders)

    def lrn(self, prev_node: Any, window_size: int, alpha: float, beta: float, k: float,
            data_format: str = "NC+", name: str | None = None, fields: Fields = None,
            extra_fields: Fields = None) -> Node:  # fmt: skip
        own = {"window_size": window_size, "alpha": alpha, "beta": beta, "k": k}
        return self._add("LRN", name, [prev_node], own, fields, extra_fields, [data_format])

    def batchnorm(self, prev_node: Any, gamma: Any, beta: Any, moving_mean: Any,
                  moving_variance: Any, epsilon: float, data_format: str = "NC+",
                  name: str | None = None, fields: Fields = None, extra_fields: Fields = None
                  ) -> Node:  # fmt: skip
        inputs = [prev_node, gamma, beta, moving_mean, moving_variance]
        own = {"epsilon": epsilon}
        return self._add("BatchNorm", name, inputs, own, fields, extra_fields, [data_format])

    def softmax(self, prev_node: Any, axis: int, data_format: str, name: str | None = None,
                fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        own = {"axis": axis}
        return self._add("Softmax", name, [prev_node], own, fields, extra_fields, [data_format])

    # -- element by element ------------------------------------------------------------------

    def binary(self, left_node: Any, right_node: Any, func: str, name: str | None = None,
               fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        inputs = [left_node, right_node]
        return self._add("Binary", name, inputs, {"func": func}, fields, extra_fields)

    def unary(self, prev_node: Any, func: str, name: str | None = None,
              fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("Unary", name, [prev_node], {"func": func}, fields, extra_fields)

    def activation(self, prev_node: Any, func: str, name: str | None = None,
                   fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("Activation", name, [prev_node], {"func": func}, fields, extra_fields)

    def leaky_relu(self, prev_node: Any, alpha: float, name: str | None = None,
                   fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("LeakyRelu", name, [prev_node], {"alpha": alpha}, fields, extra_fields)

    # -- shapes ------------------------------------------------------------------------------

    def reshape(self, prev_node: Any, shape: Any, name: str | None = None,
                fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        """A reshape; `shape` is a node."""
        return self._add("Reshape", name, [prev_node, shape], {}, fields, extra_fields)

    def flatten(self, prev_node: Any, name: str | None = None, axis: int | None = None,
                fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        """All axes but the first as one; `axis` says nothing more, as in NVIDIA's."""
        return self._add("Flatten", name, [prev_node], {}, fields, extra_fields)

    def transpose(self, prev_node: Any, permutation: Sequence[int], name: str | None = None,
                  fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        own = {"permutation": list(permutation)}
        return self._add("Transpose", name, [prev_node], own, fields, extra_fields)

    def squeeze(self, prev_node: Any, name: str | None = None, axis: Sequence[int] | None = None,
                fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("Squeeze", name, [prev_node], {"axes": axis}, fields, extra_fields)

    def expand_dims(self, prev_node: Any, axis: int, name: str | None = None,
                    fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("ExpandDims", name, [prev_node], {"axis": axis}, fields, extra_fields)

    def concat(self, inputs: Sequence[Any], axis: int, name: str | None = None,
               fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("Concat", name, inputs, {"axis": axis}, fields, extra_fields)

    def stack(self, inputs: Sequence[Any], axis: int, name: str | None = None,
              fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("Stack", name, inputs, {"axis": axis}, fields, extra_fields)

    def shape(self, input_node: Any, name: str | None = None,
              fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("Shape", name, [input_node], {}, fields, extra_fields)

    def strided_slice(self, input_node: Any, begin_node: Any, end_node: Any, strides_node: Any,
                      begin_mask: int = 0, end_mask: int = 0, shrink_axis_mask: int = 0,
                      name: str | None = None, fields: Fields = None, extra_fields: Fields = None
                      ) -> Node:  # fmt: skip
        inputs = [input_node, begin_node, end_node, strides_node]
        own = {"begin_mask": begin_mask, "end_mask": end_mask,
               "shrink_axis_mask": shrink_axis_mask}  # fmt: skip
        return self._add("StridedSlice", name, inputs, own, fields, extra_fields)

    def pad(self, prev_node: Any, pad: Any, name: str | None = None,
            fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        """Zeros around; `pad` is a node, of two integers an axis."""
        return self._add("Pad", name, [prev_node, pad], {}, fields, extra_fields)

    # -- choice ------------------------------------------------------------------------------

    def reduce(self, prev_node: Any, func: str, axes: int | Sequence[int], keepdims: bool,
               name: str | None = None, fields: Fields = None, extra_fields: Fields = None
               ) -> Node:  # fmt: skip
        many = [axes] if isinstance(axes, int) else list(axes)
        own = {"func": func, "axes": many, "keepdims": bool(keepdims)}
        return self._add("Reduce", name, [prev_node], own, fields, extra_fields)

    def argmax(self, prev_node: Any, axis: int, name: str | None = None,
               fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("ArgMax", name, [prev_node], {"axis": axis}, fields, extra_fields)

    def argmin(self, prev_node: Any, axis: int, name: str | None = None,
               fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        return self._add("ArgMin", name, [prev_node], {"axis": axis}, fields, extra_fields)

    def gather(self, inputs: Sequence[Any], name: str | None = None, indices_dtype: Any = None,
               params_dtype: Any = None, validate_indices: bool | None = None,
               fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        own = {"indices_dtype": _type(indices_dtype), "params_dtype": _type(params_dtype),
               "validate_indices": validate_indices}  # fmt: skip
        return self._add("Gather", name, inputs, own, fields, extra_fields)

    def gather_v2(self, inputs: Sequence[Any], name: str | None = None, axis: int = 0,
                  indices_dtype: Any = None, params_dtype: Any = None,
                  fields: Fields = None, extra_fields: Fields = None) -> Node:  # fmt: skip
        own = {"axis": axis, "indices_dtype": _type(indices_dtype),
               "params_dtype": _type(params_dtype)}  # fmt: skip
        return self._add("GatherV2", name, inputs, own, fields, extra_fields)


def _type(value: Any) -> DType | None:
    return None if value is None else dtype_of(value)
