"""How far the elements of two tensors are apart, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import inf, prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufkit.core.tensor import Tensor

Block = memoryview | bytes
Blocks = Callable[[], Iterator[tuple[Block, Block]]]

_STEP = 1 << 14  # elements a block: it stays in the processor's cache, and little in memory
_NUMBERS = "biuf"


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two tensors of the same shape are apart; zeros of either sign are equal, as are NaNs.

    elements   how many each has
    different  how many are not equal
    max_abs    largest |a - b|; infinite where a number meets NaN or infinity, and where the
               elements are of a type nobody can read
    relative   that, against the largest |b|
    """

    elements: int
    different: int = 0
    max_abs: float = 0.0
    relative: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def tensor_distance(a: Tensor, b: Tensor) -> Distance:
    """The distance of two tensors of one shape, read from where they lie with little memory.

    Their element types may differ. Raises FormatError where the data of one is absent or of the
    wrong size.
    """
    for tensor in (a, b):
        if tensor.problem:
            tensor.numpy()  # raises what is wrong with it
    sizes = [tensor.type.itemsize * _STEP for tensor in (a, b)]

    def blocks() -> Iterator[tuple[Block, Block]]:
        return zip(a.span.chunks(sizes[0]), b.span.chunks(sizes[1]), strict=True)

    return distance(blocks, a.dtype, b.dtype, prod(a.shape))


def distance(blocks: Blocks, a: np.dtype[Any], b: np.dtype[Any], elements: int) -> Distance:
    """The distance of two sequences of elements of types `a` and `b`.

    `blocks` gives their bytes, as many elements on either side of a pair; it is called again for
    the largest |b|, once a difference is found.
    """
    different, max_abs = 0, 0.0
    for left, right in blocks():
        # bytes compare at the speed of memory, views of them do not
        if a != b or bytes(left) != bytes(right):
            count, largest = _apart(left, right, a, b)
            different += count
            max_abs = max(max_abs, largest)
    relative = max_abs / scale if max_abs and (scale := _scale(blocks, b)) else max_abs and inf
    return Distance(elements, different, max_abs, relative)


def _apart(left: Block, right: Block, a: np.dtype[Any], b: np.dtype[Any]) -> tuple[int, float]:
    """How many elements differ, and by how much at most."""
    import numpy as np

    if a.kind not in _NUMBERS or b.kind not in _NUMBERS:
        if a.itemsize != b.itemsize:
            return len(left) // a.itemsize, inf
        x, y = (np.frombuffer(part, np.uint8).reshape(-1, a.itemsize) for part in (left, right))
        count = int((x != y).any(axis=1).sum())
        return count, inf if count else 0.0
    x, y = np.frombuffer(left, a), np.frombuffer(right, b)
    unequal = x != y
    if a.kind == b.kind == "f":
        unequal &= ~(np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore"):
        gaps = np.abs(x[unequal].astype(np.float64) - y[unequal].astype(np.float64))
    gaps[np.isnan(gaps)] = inf
    return gaps.size, float(gaps.max(initial=0.0))


def _scale(blocks: Blocks, dtype: np.dtype[Any]) -> float:
    """The largest finite |b|; 0 when there is none."""
    import numpy as np

    if dtype.kind not in _NUMBERS:
        return 0.0
    found = 0.0
    for _, right in blocks():
        values: NDArray[Any] = np.abs(np.frombuffer(right, dtype).astype(np.float64))
        found = max(found, float(values[np.isfinite(values)].max(initial=0.0)))
    return found
