"""Arrays of any type and number of axes as something to look at."""

from __future__ import annotations

import numpy as np

from ufkit.core.diag import NotSupportedError, Where
from ufkit.datasets.rules import NO_PICTURE
from ufkit.datasets.sample import Array


def planes(array: Array) -> Array:
    """The array as channels x rows x columns: its last two axes are rows and columns, all before
    them are counted as channels. Of one axis or none it is one row. Not copied where it can be."""
    if array.ndim < 2:
        return array.reshape(1, 1, -1)
    count = int(np.prod(array.shape[:-2], dtype=np.int64))
    return array.reshape(count, *array.shape[-2:])


def viewable(stack: Array, where: Where, channel: int | None = None) -> Array:
    """Pixels of 8 bits for planes: H x W of one channel, or H x W x 3 in their order where there
    are three and none is chosen; else the first one's.

    Numbers that are no bytes are stretched, the least to 0 and the greatest to 255; what is not
    finite counts as 0. Raises NotSupportedError (DAT103) where there are no numbers.
    """
    if stack.dtype.kind not in "biuf" or not stack.size:
        message = f"the array is {stack.dtype}{list(stack.shape)}"
        raise NotSupportedError(NO_PICTURE.at(where, message, hint=""))
    chosen = stack if channel is None and len(stack) == 3 else stack[channel or 0][None]
    if chosen.dtype != np.uint8:
        with np.errstate(over="ignore"):  # of longer floats
            halves = np.nan_to_num(chosen.astype(np.float64), posinf=0, neginf=0) / 2
        above = halves - halves.min()  # of halves: the whole might be more than a float holds
        chosen = (above / (above.max() or 1) * 255).astype(np.uint8)
    return np.ascontiguousarray(chosen.transpose(1, 2, 0)) if len(chosen) == 3 else chosen[0]
