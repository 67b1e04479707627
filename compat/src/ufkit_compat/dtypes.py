"""Element types with the names that TensorFlow gives them and their properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ufkit.conversion.tf_tensor import TYPES, type_of

_PYTHON = {float: "float32", int: "int32", bool: "bool", str: "string", bytes: "string"}
_OTHER_NAMES = {"float": "float32", "double": "float64", "half": "float16"}
_BY_NAME = {row.name: row for row in TYPES}


@dataclass(frozen=True, slots=True)
class DType:
    """An element type: `name`, and its number in graphs."""

    name: str
    as_datatype_enum: int

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's type of its elements. Raises TypeError for one that NumPy has not."""
        if self.name == "string":
            return np.object_
        if not _BY_NAME[self.name].storage or self.name == "bfloat16":
            raise TypeError(f"NumPy has no type for {self}")
        return np.dtype(_BY_NAME[self.name].storage).type

    @property
    def size(self) -> int:
        """Bytes of an element; 1 for those that lie elsewhere, as TensorFlow has it."""
        storage = _BY_NAME[self.name].storage
        return np.dtype(storage).itemsize if storage else 1

    @property
    def base_dtype(self) -> DType:
        """The type itself: it is none of a variable."""
        return self

    def __index__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"


BY_NAME = {row.name: DType(row.name, row.number) for row in TYPES}


def as_dtype(value: Any) -> DType:
    """The type that something names: a type of TensorFlow's or NumPy's, a number, a Python class.

    Raises TypeError for what names none.
    """
    if isinstance(value, DType):
        return value
    name = ""
    number = getattr(value, "as_datatype_enum", value)  # TensorFlow's own
    if isinstance(number, int) and (row := type_of(number)):
        name = row.name
    elif isinstance(value, str):
        name = _OTHER_NAMES.get(value, value)
    elif isinstance(value, type) and value in _PYTHON:
        name = _PYTHON[value]
    elif isinstance(value, type | np.dtype):
        name = np.dtype(value).name
    if name in BY_NAME:
        return BY_NAME[name]
    raise TypeError(f"{value!r} is no element type")
