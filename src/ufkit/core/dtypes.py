"""Element types: one row each, with everything that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class DType:
    """An element type, little-endian.

    name      NumPy's name; `raw<n>` for a type nobody can name, n being its number in the file
    itemsize  bytes per element
    uff       its number in UFF files
    """

    name: str
    itemsize: int
    uff: int

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type; raw bytes for an unknown one."""
        import numpy as np

        known = self in DTYPES
        return np.dtype(self.name if known else f"V{self.itemsize}").newbyteorder("<")

    def __str__(self) -> str:
        return self.name


INT8 = DType("int8", 1, 0x10008)
INT16 = DType("int16", 2, 0x10010)
INT32 = DType("int32", 4, 0x10020)
INT64 = DType("int64", 8, 0x10040)
FLOAT16 = DType("float16", 2, 0x20010)
FLOAT32 = DType("float32", 4, 0x20020)
# Converters write 7 for a type that UFF has no number for. In practice that is TensorFlow's bool.
BOOL = DType("bool", 1, 7)

DTYPES = (INT8, INT16, INT32, INT64, FLOAT16, FLOAT32, BOOL)

_BY_UFF = {row.uff: row for row in DTYPES}
_BY_NAME = {row.name: row for row in DTYPES}


def from_uff(number: int, itemsize: int = 1) -> DType:
    """The type with that number in a UFF file; an unknown one becomes raw bytes.

    `itemsize` is what the size of the data says; 7 is bool only when that is one byte.
    """
    row = _BY_UFF.get(number)
    if row is None or (row is BOOL and itemsize != 1):
        return DType(f"raw{number}", itemsize, number)
    return row


def of_numpy(dtype: np.dtype[Any]) -> DType:
    """The type of an array's elements; of raw bytes, one without a number."""
    return _BY_NAME.get(dtype.name) or DType(f"raw{dtype.itemsize}", dtype.itemsize, 0)


def from_name(name: str) -> DType:
    """The type NumPy calls `name`. Raises KeyError for one that UFF cannot hold."""
    return _BY_NAME[name]
