"""Winograd's form of 3x3 kernels, F(2x2, 3x3): what `winograd_data_fixpoint` is expected to hold.

A kernel g becomes the 4x4 numbers U = G g G^T; two by two outputs then take 16 products, not 36.

That the field holds 16 integers for each pair of output and input channel follows from tpu-mlir's
convolution for the BM1684 (medium). How they lie is known of no public file. Ours is a choice:
[out, in, 4, 4], the last axis fastest; kind, shift and rounding as of ordinary weights, the shift
in `winograd_right_shift_num`.

Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ufkit.core.diag import FormatError
from ufkit.ufw.blob import Blob
from ufkit.ufw.quant import Array
from ufkit.ufw.rules import BLOB_SIZE
from ufkit.wire.numbers import Numbers, numbers

TILE = 4  # rows and columns of a transformed kernel, and of the input it meets
_DATA, _SHIFT = "winograd_data_fixpoint", "winograd_right_shift_num"

_G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
_G_BACK = np.array([[1, 0, 0, 0], [0, 1, -1, 0], [0, 0, 0, 1]])  # times _G, the identity
_B = np.array([[1, 0, 0, 0], [0, 1, -1, 1], [-1, 1, 1, 0], [0, 0, 0, -1]])
_A = np.array([[1, 0], [1, 1], [1, -1], [0, -1]])


def transformed(kernels: Any) -> Array:
    """U of kernels [..., 3, 3], as doubles [..., 4, 4]; exact for float32 kernels of like size.

    Quantise them as weights: `quantize_weights(transformed(w), ratio, shift)`, with the shift that
    is right for their own largest, up to 2.25 times that of the kernels.
    """
    return np.asarray(_G @ np.asarray(kernels, np.float64) @ _G.T)


def kernels(u: Any) -> Array:
    """The kernels [..., 3, 3] that U [..., 4, 4] comes from; of integers, integers.

    Where U was rounded it comes from none exactly; these are within 2 of its units.
    """
    return np.asarray(_G_BACK @ np.asarray(u) @ _G_BACK.T)


def put_winograd(blob: Blob, u: Array, shift: int) -> None:
    """Keep quantised U [out, in, 4, 4] in a blob, beside its ordinary weights."""
    message = blob.message
    message.set(_DATA, Numbers(message.type.fields[_DATA], u))
    message.set(_SHIFT, shift)


def winograd_of(blob: Blob) -> tuple[Array, int] | None:
    """U [out, in, 4, 4] and its shift, as `put_winograd` keeps them; None without them.

    Raises FormatError (UFW101) where the integers are not 16 for each of the blob's kernels.
    """
    flat = numbers(blob.message, _DATA)
    if not flat.size:
        return None
    shape = (*blob.shape[:-2], TILE, TILE)
    if flat.size != prod(shape):
        message = (
            f"{_DATA} holds {flat.size} integers; kernels {list(blob.shape)} take {prod(shape)}"
        )
        raise FormatError(BLOB_SIZE.at(blob.where, message))
    return flat.reshape(shape), blob.message.get(_SHIFT)


def convolved(x: Array, u: Array) -> Array:
    """Sums of a 3x3 convolution with stride 1 and no padding, from integers U; int64.

    x  [n, in, h, w] with h and w even, 4 at least
    u  [out, in, 4, 4]
    Returns [n, out, h - 2, w - 2], in the units of U.
    """
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64), (TILE, TILE), (2, 3))
    tiles = _B.T @ windows[:, :, ::2, ::2] @ _B
    products = np.einsum("nchwij,ocij->nohwij", tiles, u.astype(np.int64), optimize=True)
    pairs = _A.T @ products @ _A  # two by two outputs of each tile
    n, out, rows, columns = pairs.shape[:4]
    return np.asarray(pairs.transpose(0, 1, 2, 4, 3, 5).reshape(n, out, 2 * rows, 2 * columns))
