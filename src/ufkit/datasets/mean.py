"""The mean image of a dataset, and the mean and deviation of each channel (compute_image_mean)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ufkit.core.diag import FormatError
from ufkit.datasets.pictures import where
from ufkit.datasets.report import Report
from ufkit.datasets.rules import SIZES_DIFFER
from ufkit.datasets.sample import Array, Sample


@dataclass(frozen=True, slots=True)
class Means:
    """Of all samples; channels are in the order of the arrays, B G R unless turned.

    image      C x H x W, float32
    channels   the mean of each channel
    deviation  the standard deviation of each channel, over all pixels of all samples
    """

    image: Array
    channels: tuple[float, ...]
    deviation: tuple[float, ...]


def means(samples: Iterable[Sample], report: Report) -> Means | None:
    """The means of arrays (1 x) C x H x W; None where there is no sample.

    Sums are in double precision. A sample of another size than the first is bad (DAT104).
    """
    total: Array | None = None
    squares: Array = np.zeros(0)
    for sample in samples:
        assert sample.array is not None
        array = sample.array[0] if sample.array.ndim == 4 else sample.array
        if array.ndim != 3 or (total is not None and array.shape != total.shape):
            first = "" if total is None else f", the first {list(total.shape)}"
            message = f"it is {list(sample.array.shape)}{first}"
            report.bad(FormatError(SIZES_DIFFER.at(where(sample), message)))
            continue
        wide = array.astype(np.float64)
        if total is None:
            total, squares = np.zeros(array.shape), np.zeros(len(array))
        total += wide
        squares += np.einsum("chw,chw->c", wide, wide)
        report.written += 1
    if total is None:
        return None
    count = report.written * total[0].size
    channels = total.sum((1, 2)) / count
    deviation = np.sqrt(np.maximum(squares / count - channels**2, 0))
    return Means(
        (total / report.written).astype(np.float32),
        tuple(channels.tolist()),
        tuple(deviation.tolist()),
    )
