"""Layers on integers: the sums a chip forms, exactly, before it shifts them back.

    y = requantized(convolved(x, weights, bias, stride=(2, 2)), shift)

Sums are formed by floating-point products in double precision, which is exact below 2^53: with
weights and values of 8 bits, for any layer there is.
"""

from __future__ import annotations

import numpy as np

from ufkit.ufw.quant import Array

Pair = tuple[int, int]


def convolved(
    x: Array,
    weights: Array,
    bias: Array | int = 0,
    *,
    stride: Pair = (1, 1),
    pad: Pair = (0, 0),
    dilation: Pair = (1, 1),
    groups: int = 1,
) -> Array:
    """Sums of a convolution, int64 [n, out, h, w].

    x        [n, in, h, w]
    weights  [out, in / groups, kh, kw]; `groups` of a depthwise convolution is `in`
    bias     one for each output channel
    """
    n = len(x)
    out, _, *kernel = weights.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[0]), (pad[1], pad[1])))
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, dilation, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=(2, 3))
    windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    height, width = windows.shape[2:4]
    columns = windows.transpose(1, 4, 5, 0, 2, 3).reshape(groups, -1, n * height * width)
    rows = weights.reshape(groups, out // groups, -1)
    sums = np.matmul(rows.astype(np.float64), columns.astype(np.float64)).astype(np.int64)
    shaped = sums.reshape(out, n, height, width).swapaxes(0, 1)
    return np.asarray(shaped + np.reshape(bias, (-1, 1, 1)))


def inner_product(x: Array, weights: Array, bias: Array | int = 0) -> Array:
    """Sums of an InnerProduct, int64 [n, out]: each row of x, flattened, with each of weights."""
    flat = x.reshape(len(x), -1).astype(np.float64)
    return np.asarray((flat @ weights.T.astype(np.float64)).astype(np.int64) + bias)
