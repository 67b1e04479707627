"""The weights of a net as arrays by name, out of it and back into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError, RequestError, Rule, Where
from ufkit.core.dtypes import FLOAT32
from ufkit.core.files import Span
from ufkit.core.tensor import Tensor
from ufkit.ufw.blob import Array, Blob
from ufkit.ufw.net import Net
from ufkit.ufw.rules import DOES_NOT_FIT, WRONG_WEIGHTS
from ufkit.wire.numbers import Numbers
from ufkit.wire.reader import LEN
from ufkit.wire.schema import did_you_mean

Problem = tuple[Rule, str] | None


class StoredArray:
    """What the storage of a blob holds; decoded anew each time it is read, and not kept.

    It has the members of a Tensor, which stands for floats that lie in one piece.
    """

    def __init__(self, blob: Blob, shape: tuple[int, ...], problem: Problem) -> None:
        self.blob = blob
        self.shape = shape
        self.problem = problem
        self.where = blob.where
        self.dtype = blob.stored_dtype
        self.type = self.dtype.name
        self.nbytes: int = prod(shape) * self.dtype.itemsize

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        stored = self.blob.stored(self.blob.storage)
        return np.asarray(stored).astype(dtype or self.dtype, copy=bool(copy))


def net_weights(net: Net) -> dict[str, Tensor | StoredArray]:
    """The weights by `layer/0`, `layer/1`, as they are stored: INT8 coefficients as integers.

    Nothing is read. Blobs without numbers are left out; `problem` is what reading one raises.
    """
    return {name: _stored(blob) for name, blob in net.blobs() if blob.storage}


def _stored(blob: Blob) -> Tensor | StoredArray:
    problem: Problem = None
    shape: tuple[int, ...] = ()
    try:
        problem, shape = blob.problem(), blob.shape
    except FormatError as error:
        problem = error.diagnostic.rule, error.diagnostic.message
    records = blob.message.records("data")
    if blob.storage == "data" and blob.message.held("data") is None and len(records) == 1:
        _, wire, start, stop = records[0]
        if wire == LEN:
            span = Span(blob.message.span.source, start, stop)
            return Tensor(shape, FLOAT32, span, where=blob.where, problem=problem)
    return StoredArray(blob, shape, problem)


def put_weights(net: Net, arrays: Mapping[str, Any]) -> int:
    """Put arrays in the place of the weights of those names; gives how many were changed.

    Each goes into the storage the blob has; shapes stay. What is equal is not touched, so that
    a net whose weights come back as they went out is saved byte for byte.
    Raises RequestError with every array that has no place (UFW403) or does not fit (UFW107).
    """
    blobs = dict(net.blobs())
    wrong = [finding for name, array in arrays.items() for finding in _wrong(name, array, blobs)]
    if wrong:
        raise RequestError(*wrong)
    changed = 0
    for name, array in arrays.items():
        blob = blobs[name]
        old = np.asarray(blob.stored(blob.storage))
        new = np.asarray(array).astype(old.dtype, copy=False)
        if old.tobytes() != new.tobytes():
            _put(blob, new)
            changed += 1
    return changed


def _wrong(name: str, array: Any, blobs: Mapping[str, Blob]) -> Iterator[Diagnostic]:
    if name not in blobs:
        hint = did_you_mean(name, blobs) or ""
        yield WRONG_WEIGHTS.at(Where(node=name), f"the net has no weights {name!r}", hint=hint)
        return
    blob = blobs[name]
    found = np.asarray(array)
    if found.shape != blob.shape:
        message = f"the array is {list(found.shape)}; the blob is {list(blob.shape)}"
        yield WRONG_WEIGHTS.at(blob.where, message, hint="")
        return
    kinds = "iu" if blob.storage in ("int8_data", "int32_data") else "f"
    if not blob.storage or found.dtype.kind not in kinds:
        message = f"the array is of {found.dtype}; the blob has {blob.storage or 'no numbers'}"
        yield DOES_NOT_FIT.at(blob.where, message)
        return
    dtype = _dtype(blob)
    with np.errstate(over="ignore"):
        exact = np.array_equal(found.astype(dtype), found, equal_nan=kinds == "f")
    if not exact:
        message = f"{found.dtype} values cannot all be held as {dtype}"
        yield DOES_NOT_FIT.at(blob.where, message)


def _dtype(blob: Blob) -> np.dtype[Any]:
    return np.dtype(np.int32) if blob.storage == "int32_data" else blob.stored_dtype


def _put(blob: Blob, array: Array) -> None:
    """Replace the numbers of the storage that counts; other storages, which say the old ones
    again, are emptied."""
    message, name = blob.message, blob.storage
    for other in blob.storages[1:]:
        message.clear(other)
    field = message.type.fields[name]
    message.set(name, array.tobytes() if field.kind == "bytes" else Numbers(field, array))
