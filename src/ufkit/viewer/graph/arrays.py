"""What arrays have to say in a panel: statistics, histograms, ranges by channel, slices."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.viewer.asking import bad

Array = NDArray[Any]

BINS = 64
_CHUNK = 4 << 20  # elements looked at at a time: what is mapped is let go of behind
_MOST_CHANNELS = 4096
_LARGE = 1e100  # doubles whose squares may be beyond what doubles hold
_WIDEST_SLICE = 64  # rows and columns of one answer


@dataclass(slots=True)
class Statistics:
    """Numbers about the finite elements of an array.

    least, greatest, mean, deviation   of the finite ones; None without any
    edges, counts    histogram: counts[k] elements lie from edges[k] to edges[k + 1]
    lows, highs      by output channel, where the array has such an axis; empty otherwise.
                     None for a channel without a finite element
    """

    elements: int
    zeros: int = 0
    not_finite: int = 0
    least: float | None = None
    greatest: float | None = None
    mean: float | None = None
    deviation: float | None = None
    edges: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    lows: list[float | None] = field(default_factory=list)
    highs: list[float | None] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def statistics(array: Array, channel: int | None = None) -> Statistics:
    """Statistics of an array; `channel` is the axis that ranges are told for.

    Sums are of double precision. Bytes of memory beyond the array do not grow with it.
    """
    result = Statistics(array.size)
    if array.size == 0 or array.dtype.kind not in "biuf":
        return result
    chunks = [*_chunks(array.reshape(-1))]
    unit = _unit(chunks)
    total = squares = 0.0
    finite = 0
    least, greatest = np.inf, -np.inf
    for chunk in chunks:
        wide = _finite(chunk)
        result.zeros += int(chunk.size - np.count_nonzero(chunk))
        result.not_finite += chunk.size - wide.size
        if wide.size:
            finite += wide.size
            total += float(_in_units(wide, unit).sum(dtype=np.float64))
            least, greatest = min(least, float(wide.min())), max(greatest, float(wide.max()))
    if not finite:
        return result
    mean = total / finite
    result.least, result.greatest, result.mean = least, greatest, mean * unit
    bounds = spread(least / unit, greatest / unit)
    counts = np.zeros(BINS, np.int64)
    for chunk in chunks:
        wide = _in_units(_finite(chunk), unit).astype(np.float64)
        squares += float(np.square(wide - mean).sum())
        counts += np.histogram(wide, BINS, bounds)[0]
    result.deviation = float(np.sqrt(squares / finite)) * unit
    limit = np.finfo(np.float64).max / unit
    result.edges = (np.clip(np.linspace(*bounds, BINS + 1), -limit, limit) * unit).tolist()
    result.counts = counts.tolist()
    if channel is not None and array.ndim > 1 and 1 < array.shape[channel] <= _MOST_CHANNELS:
        result.lows, result.highs = _by_channel(array, channel, whole=not result.not_finite)
    return result


def spread(low: float, high: float) -> tuple[float, float]:
    """Bounds that have room for the bins of a histogram between them, of equal numbers too."""
    room = max(abs(low), abs(high)) * 2.0**-40
    if high - low > room:
        return low, high
    return low - max(0.5, room), high + max(0.5, room)


def _unit(chunks: Sequence[Array]) -> float:
    """What to divide by for squares and sums to be numbers: 1 but for the largest doubles."""
    if chunks[0].dtype != np.float64:
        return 1.0
    largest = max(float(np.abs(_finite(chunk)).max(initial=0)) for chunk in chunks)
    return 1.0 if largest < _LARGE else 2.0 ** np.floor(np.log2(largest))


def _in_units(wide: Array, unit: float) -> Array:
    return wide if unit == 1 else wide / unit


def _by_channel(
    array: Array, channel: int, *, whole: bool
) -> tuple[list[float | None], list[float | None]]:
    """Least and greatest finite element of each channel; None where it has none."""
    others = tuple(axis for axis in range(array.ndim) if axis != channel)
    if whole:
        lows, highs = np.min(array, axis=others), np.max(array, axis=others)
    else:
        keep = np.isfinite(array)
        lows = np.min(array, axis=others, where=keep, initial=np.inf)
        highs = np.max(array, axis=others, where=keep, initial=-np.inf)
    return numbers(lows), numbers(highs)


def _chunks(array: Array) -> list[Array]:
    return [array[at : at + _CHUNK] for at in range(0, array.size, _CHUNK)]


def _finite(chunk: Array) -> Array:
    if chunk.dtype.kind != "f":
        return chunk.astype(np.int64) if chunk.dtype.kind == "b" else chunk
    keep = np.isfinite(chunk)
    return chunk if keep.all() else chunk[keep]


def numbers(array: Array) -> list[float | None]:
    """Numbers that JSON can hold; None for what is none."""
    return [value if np.isfinite(value) else None for value in array.astype(np.float64).tolist()]


def window(array: Array, index: Sequence[int], row: int, column: int) -> dict[str, Any]:
    """A piece of a matrix of the array: at most 64 x 64 elements, as text, with their range.

    `index` chooses along the axes before the last two; `row` and `column` are where it begins.
    Raises RequestError (VWR002) for what is not in the array.
    """
    matrix = array.reshape(1, -1) if array.ndim < 2 else array
    if len(index) != matrix.ndim - 2 or any(
        not 0 <= at < size for at, size in zip(index, matrix.shape, strict=False)
    ):
        message = f"there is no slice {list(index)} of an array {list(array.shape)}"
        raise bad(message)
    matrix = matrix[tuple(index)]
    rows, columns = matrix.shape
    if not (0 <= row <= rows and 0 <= column <= columns):
        message = f"element {row}, {column} is not in a matrix of {rows} x {columns}"
        raise bad(message)
    piece = matrix[row : row + _WIDEST_SLICE, column : column + _WIDEST_SLICE]
    return {
        "rows": rows,
        "columns": columns,
        "row": row,
        "column": column,
        "values": [[_text(value) for value in line] for line in piece.tolist()],
        "shades": _shades(piece),
    }


def _text(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _shades(piece: Array) -> list[list[int]]:
    """Where each element lies between the least and the greatest shown, -100 to 100 about zero."""
    if piece.dtype.kind == "c":
        piece = np.abs(piece)
    with np.errstate(invalid="ignore"):  # NaNs that signal
        wide = piece.astype(np.float64)
    largest = float(np.abs(wide).max(initial=0, where=np.isfinite(wide)))
    shares = np.clip(wide / (largest or 1.0), -1, 1)
    return np.rint(np.nan_to_num(shares) * 100).astype(int).tolist()  # type: ignore[no-any-return]


def npy(array: Array) -> bytes:
    """The array as a .npy file, in the stored axis order."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()
