"""Constants into .npz and .safetensors, block by block: memory stays small whatever their size.

The layouts: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html in a ZIP file,
and https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.rules import CANNOT_CONVERT, WRONG_PAIR
from ufkit.core.diag import Diagnostic, FormatError, NotSupportedError, RequestError, Where
from ufkit.core.dtypes import BOOL, FLOAT16, FLOAT32, INT8, INT16, INT32, INT64
from ufkit.core.files import PathLike, replacing
from ufkit.core.tensor import Tensor
from ufkit.uff.const import constant
from ufkit.uff.model import Graph
from ufkit.ufw.weights import StoredArray

Progress = Callable[[int, int], None]
Left = Tensor | StoredArray  # left in its file until it is written
Values = Left | NDArray[Any]

_BLOCK = 16 << 20
_LONGEST_NAME = 65_535 - len(".npy")  # bytes; ZIP counts them in 16 bits
_EPOCH = (1980, 1, 1, 0, 0, 0)  # ZIP's; the same constants give the same file
SAFETENSORS = {
    **{
        dtype.name: name
        for dtype, name in (
            (INT8, "I8"),
            (INT16, "I16"),
            (INT32, "I32"),
            (INT64, "I64"),
            (FLOAT16, "F16"),
            (FLOAT32, "F32"),
            (BOOL, "BOOL"),
        )
    },
    "float64": "F64",  # from here on, of UFW alone
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
}
_METADATA = "__metadata__"  # the one name that a safetensors header keeps for itself


def constants(graph: Graph) -> dict[str, Tensor]:
    """The constants of a graph by node id, in file order; nothing is read.

    Raises FormatError with every Const that is malformed.
    """
    found: dict[str, Tensor] = {}
    wrong: list[Diagnostic] = []
    for node in graph:
        if node.operation == "Const" and graph[node.id] is node:
            try:
                found[node.id] = constant(node)
            except FormatError as error:
                wrong += error.diagnostics
    if wrong:
        raise FormatError(*wrong)
    return found


def save_weights(
    tensors: Mapping[str, Left],
    path: PathLike,
    *,
    progress: Progress = lambda done, total: None,
) -> None:
    """Write constants, or weights of a net, to `path`, as its suffix says: .npz or .safetensors.

    `progress` is told bytes. Written beside and renamed.
    Raises FileError; FormatError with every constant whose data is absent or of the wrong size;
    NotSupportedError with everything the format cannot hold; RequestError for another suffix.
    """
    write = writer_for(path)
    wrong = [
        rule.at(tensor.where, message)
        for tensor in tensors.values()
        if tensor.problem
        for rule, message in [tensor.problem]
    ]
    if wrong:
        raise FormatError(*wrong)
    with replacing(path) as out:
        write(tensors, out, progress)


Writer = Callable[[Mapping[str, Left], IO[bytes], Progress], None]


def writer_for(path: PathLike) -> Writer:
    """What writes a file of that name. Raises RequestError (CNV002)."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix == ".npz":
        return write_npz
    if suffix == ".safetensors":
        return write_safetensors
    message = f"{os.fspath(path)!r} names no kind of file that weights are written to"
    hint = "end the name in .npz or .safetensors"
    raise RequestError(WRONG_PAIR.at(Where(os.fspath(path)), message, hint=hint))


def write_npz(
    tensors: Mapping[str, Values],
    out: IO[bytes],
    progress: Progress = lambda done, total: None,
) -> None:
    """Append arrays as `numpy.load` reads them: a ZIP file of .npy members, not compressed.

    `out` must be seekable. Raises NotSupportedError for names that ZIP cannot hold.
    """
    _refuse(
        _obstacle(name, values, "ZIP holds no name with a NUL, nor one above 65,531 bytes")
        for name, values in tensors.items()
        if "\0" in name or len(name.encode()) > _LONGEST_NAME
    )
    count = _counter(tensors, progress)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, values in tensors.items():
            member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(member, "w", force_zip64=True) as file:
                header = {
                    "descr": np.lib.format.dtype_to_descr(values.dtype),
                    "fortran_order": False,
                    "shape": tuple(values.shape),
                }
                np.lib.format.write_array_header_1_0(file, header)
                for block in blocks(values):
                    file.write(block)
                    count(len(block))


def write_safetensors(
    tensors: Mapping[str, Values],
    out: IO[bytes],
    progress: Progress = lambda done, total: None,
) -> None:
    """Append tensors as safetensors has them: header length, header, data without holes.

    Wider types come first, so that every tensor is aligned to its type; otherwise the order is
    kept. Raises NotSupportedError for types and names that the format cannot hold.
    """
    _refuse(_unfit(tensors))
    ordered = sorted(tensors.items(), key=lambda item: -item[1].dtype.itemsize)
    header: dict[str, dict[str, Any]] = {}
    at = 0
    for name, values in ordered:
        nbytes = prod(values.shape) * values.dtype.itemsize
        header[name] = {
            "dtype": SAFETENSORS[values.dtype.name],
            "shape": list(values.shape),
            "data_offsets": [at, at + nbytes],
        }
        at += nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    out.write(len(text).to_bytes(8, "little") + text)
    count = _counter(tensors, progress)
    for _, values in ordered:
        for block in blocks(values):
            out.write(block)
            count(len(block))


def _unfit(tensors: Mapping[str, Values]) -> Iterator[Diagnostic]:
    for name, values in tensors.items():
        if values.dtype.name not in SAFETENSORS:
            kind = values.type if isinstance(values, Tensor) else values.dtype
            yield _obstacle(name, values, f"safetensors has no type for {kind}")
        if name == _METADATA:
            yield _obstacle(name, values, f"safetensors keeps the name {name} for itself")


def _obstacle(name: str, values: Values, reason: str) -> Diagnostic:
    where = values.where if isinstance(values, Left) else Where(node=name)
    return CANNOT_CONVERT.at(where, reason)


def _refuse(obstacles: Iterator[Diagnostic]) -> None:
    if found := list(obstacles):
        raise NotSupportedError(*found)


def _counter(tensors: Mapping[str, Values], progress: Progress) -> Callable[[int], None]:
    total = sum(prod(values.shape) * values.dtype.itemsize for values in tensors.values())
    done = 0

    def count(nbytes: int) -> None:
        nonlocal done
        done += nbytes
        progress(done, total)

    return count


def blocks(values: Values) -> Iterator[memoryview]:
    """The elements in C order, as bytes; a block of a file leaves memory when the next comes.

    Raises FormatError where the data of a Tensor is absent or of the wrong size.
    """
    if not isinstance(values, Tensor):
        plain = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        yield from (plain[at : at + _BLOCK] for at in range(0, len(plain), _BLOCK))
        return
    if values.problem:
        values.numpy()  # raises what is wrong
    span = values.span
    for start in range(span.start, span.stop, _BLOCK):
        stop = min(start + _BLOCK, span.stop)
        yield span.source.view(start, stop)
        span.source.release(start, stop)


@dataclass(frozen=True, slots=True)
class Stats:
    """Of the finite elements; None where there is none. `other` counts the rest."""

    min: float | None = None
    max: float | None = None
    mean: float | None = None
    other: int = 0


def statistics(values: Values) -> Stats:
    """Smallest, largest and mean element, read block by block."""
    parts: list[tuple[float, float, float, int]] = []
    count = other = 0
    for block in blocks(values):
        array = np.frombuffer(block, values.dtype)
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        other += array.size - finite.size
        if finite.size and array.dtype.kind != "V":
            total = float(finite.sum(dtype=np.float64))
            parts.append((float(finite.min()), float(finite.max()), total, finite.size))
            count += finite.size
    if not count:
        return Stats(other=other)
    low, high, sums = (_column(parts, at) for at in range(3))
    return Stats(min(low), max(high), sum(sums) / count, other)


def _column(parts: Sequence[tuple[float, float, float, int]], at: int) -> list[float]:
    return [part[at] for part in parts]
