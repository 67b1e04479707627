"""Arrays as TensorFlow's tensors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.tf_tensor import tensor_of
from ufkit.core.diag import Where
from ufkit_compat.dtypes import as_dtype
from ufkit_compat.graph_def import TensorProto, TensorShapeProto
from ufkit_compat.proto import Proto


def shape_proto(shape: Any) -> Proto:
    """A TensorShapeProto of sizes; None and -1 are open, and so is a shape that is None."""
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    found = TensorShapeProto()
    for size in [shape] if isinstance(shape, int) else shape:
        found.dim.add().size = -1 if size is None else size  # 0 is a size too
    return found


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None) -> Proto:
    """A TensorProto of an array, with its elements as they lie in memory.

    Numbers of Python become float32 and int32, as in TensorFlow. Raises TypeError for elements
    that are no numbers.
    """
    array = np.asarray(values)
    if dtype is not None:
        array = array.astype(as_dtype(dtype).as_numpy_dtype)
    elif not isinstance(values, np.ndarray | np.generic):
        small = {"float64": np.float32, "int64": np.int32}.get(array.dtype.name)
        array = array if small is None else array.astype(small)
    if shape is not None:
        array = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
    if array.dtype.kind not in "fiubc":
        raise TypeError(f"elements of type {array.dtype} are no numbers")
    content = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    type_ = as_dtype(array.dtype).as_datatype_enum
    return TensorProto(dtype=type_, tensor_shape=shape_proto(array.shape), tensor_content=content)


def make_ndarray(tensor: Proto) -> NDArray[Any]:
    """The elements of a TensorProto, read-only. Raises FormatError (CNV401), TypeError."""
    return tensor_of(tensor.message, Where()).numpy()
