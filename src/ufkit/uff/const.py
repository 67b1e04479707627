"""Constants: the tensor of a Const node, and weights that a text twin left out."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from ufkit.core.diag import FormatError, Rule, Where
from ufkit.core.dtypes import FLOAT32, DType, from_uff
from ufkit.core.files import Span
from ufkit.core.tensor import Tensor
from ufkit.uff.data import kind_of, value_of
from ufkit.uff.dims import impossible
from ufkit.uff.model import MetaGraph, Node
from ufkit.uff.rules import BAD_VALUES_SIZE, FIELD_KIND, MISSING_FIELD, SKIPPED_VALUES

_WIDEST = 64  # bytes of an element of a type that is not known
SKIP_LIMIT = 32  # the twin keeps blobs up to this many bytes
_SKIPPED = re.compile(rb"\(\.\.\.(\d+) bytes skipped\.\.\.\)")


def skipped_marker(nbytes: int) -> bytes:
    """What NVIDIA's text twin holds in place of a blob."""
    return b"(...%d bytes skipped...)" % nbytes


def skipped_bytes(blob: Span) -> int | None:
    """How many bytes a text twin left out here; None when the blob is a real one."""
    if not 20 <= blob.nbytes <= 48:
        return None
    match = _SKIPPED.fullmatch(blob.peek())
    return int(match[1]) if match else None


def skipped_weights(meta: MetaGraph) -> list[str]:
    """Names of the blobs that a text twin left out; empty for a file that holds its weights."""
    missing = []
    for name in meta.referenced_data:
        data = meta.referenced_data.data(name)
        if data.which("type") == "blob" and skipped_bytes(data.get("blob")) is not None:
            missing.append(name)
    return missing


def constant(node: Node) -> Tensor:
    """The tensor of a Const node; nothing is read, a problem with its data is kept in it.

    Raises FormatError when `shape`, `dtype` or `values` is missing or of another kind, and for a
    shape that nothing can have.
    """
    shape = tuple(field(node, "shape", "i_list"))
    if reason := impossible(shape):
        message = f"a constant cannot have this shape: {reason}"
        raise FormatError(BAD_VALUES_SIZE.at(node.fields.where("shape"), message))
    values: Span = field(node, "values", "blob")
    type_: DType = field(node, "dtype", "dtype") if "dtype" in node.fields else FLOAT32
    count = prod(shape)
    place = node.where("values")
    if values.source is node.graph.meta.source:  # not of a text, or of something newly set
        place = Where(place.file, place.node, place.field, values.start, values.stop)
    absent = skipped_bytes(values)
    size = values.nbytes if absent is None else absent
    if count and size % count == 0 and 0 < size // count <= _WIDEST:
        type_ = from_uff(type_.uff, size // count)
    return Tensor(
        shape, type_, values, where=place, problem=_problem(shape, type_, count, size, absent)
    )


def _problem(
    shape: tuple[int, ...], type_: DType, count: int, size: int, absent: int | None
) -> tuple[Rule, str] | None:
    if size != count * type_.itemsize:
        needed = count * type_.itemsize
        return BAD_VALUES_SIZE, f"values holds {size} bytes; {type_}{list(shape)} needs {needed}"
    if absent is not None:
        return SKIPPED_VALUES, f"{absent} bytes of {type_}{list(shape)} were left out of this text"
    return None


def field(node: Node, name: str, kind: str) -> Any:
    """A field that must be there and of that kind. Raises FormatError (UFF205, UFF207)."""
    fields = node.fields
    if name not in fields:
        message = f"{node.operation} has no field {name!r}"
        raise FormatError(MISSING_FIELD.at(node.where(name), message))
    data = fields.resolved(name)
    if (found := kind_of(data)) != kind:
        message = f"{name} is of kind {found}, it must be {kind}"
        raise FormatError(FIELD_KIND.at(fields.where(name), message))
    return value_of(data, kind)
