"""Values of fields, as scripts give them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ufkit.core.diag import RequestError, Where
from ufkit.core.dtypes import DType, from_name
from ufkit.uff.data import KINDS, data_of
from ufkit.uff.rules import FIELD_VALUE
from ufkit.wire.message import Message
from ufkit_compat.dtypes import DType as TfDType
from ufkit_compat.proto import Proto, class_of


class FieldType:
    """Names of the kinds of a value."""

    s, s_list, d, d_list, b, b_list, i, i_list = KINDS[:8]
    blob, ref, dtype, dtype_list, dim_orders, dim_orders_list = KINDS[8:]


@dataclass(frozen=True, slots=True)
class List:
    """A list whose elements are of a kind, one of s d b i dtype, even where there are none."""

    kind: str
    values: Iterable[Any]


def message_of(value: Any, kind: str | None = None) -> Message:
    """The Data of a value; a type of NumPy's or TensorFlow's stands for UFF's.

    Raises RequestError (UFF207, UFF208).
    """
    if isinstance(value, Proto):
        return value.message
    if isinstance(value, List):
        return data_of([_plain(item) for item in value.values], f"{value.kind}_list")
    return data_of(_plain(value), kind)


def create_data(value: Any, field_type: str | None = None) -> Any:
    """A `uff_pb2.Data` of a value; raises as `message_of`."""
    message = message_of(value, field_type)
    return class_of(message.type).over(message)


def dtype_of(value: Any) -> DType:
    """UFF's element type for one of NumPy's or TensorFlow's. Raises RequestError (UFF208)."""
    given = value.as_numpy_dtype if isinstance(value, TfDType) else value
    name = np.dtype(given).name
    try:
        return from_name(name)
    except KeyError:
        message = f"{name} is no element type of UFF"
        raise RequestError(FIELD_VALUE.at(Where(), message)) from None


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, TfDType | np.dtype) or (
        isinstance(value, type) and issubclass(value, np.generic)
    ):
        return dtype_of(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
