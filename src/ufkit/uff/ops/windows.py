"""Windows that slide over the spatial axes: the arithmetic convolutions and pools share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ufkit.uff.dims import Dim, impossible, static
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.fields import Field
from ufkit.uff.ops.spec import Array, Call
from ufkit.uff.orders import inverse
from ufkit.uff.rules import FIELD_VALUE, PADDING_TWICE, TOO_LARGE

_MAX_PLACES = 1 << 18  # in a window; each is a round of Python
_PATIENCE = 128  # elements that NumPy may walk for each byte that it may fill

SAME = Field(
    "s",
    "'same' makes the output ceil(size / stride) long, the odd element of padding behind",
    None,
    ("same", "SAME", "valid", "VALID"),
)


def is_same(call: Call) -> bool:
    """Whether the node asks for TensorFlow's SAME padding."""
    return (call["implicit_padding"] or "").lower() == "same"


def extent(
    size: int | Dim, kernel: int, stride: int, dilation: int, padding: int, same: bool
) -> int | Dim:
    """How long an axis comes out. Zero or less means the window does not fit.

    same: ceil(size / stride); else (size + padding - dilation (kernel - 1) - 1) // stride + 1
    """
    lost = 0 if same else dilation * (kernel - 1) - padding
    if isinstance(size, Dim):
        return size if stride == 1 and lost == 0 else Dim.unknown()
    return -(-size // stride) if same else (size - lost - 1) // stride + 1


def ends(call: Call) -> list[tuple[int, int]]:
    """Elements before and behind each spatial axis, where the node says how many."""
    given = call["explicit_padding"] if call.has_field("explicit_padding") else []
    if not given:
        return [(n, n) for n in call.spatial("padding")]
    if len(given) != 2 * (call.rank(0) - 2) or min(given) < 0:
        message = f"two numbers, not below 0, are needed per spatial axis, not {given}"
        call.fail(FIELD_VALUE, message, "explicit_paddings")
    return list(zip(given[::2], given[1::2], strict=True))


def extents(call: Call, kernel: Sequence[int], dilation: Sequence[int]) -> list[int | Dim]:
    """The output's spatial sizes. Fails (UFF302) where a window is larger than the map."""
    strides, same = call.spatial("strides"), is_same(call)
    if same and any(call["padding"]):
        call.note(PADDING_TWICE, f"'same' is taken, padding {call['padding']} is not used")
    padding = [0] * len(kernel) if same else [before + behind for before, behind in ends(call)]
    sizes = call.canonical(0)[2:]
    out = [
        extent(*axis, same) for axis in zip(sizes, kernel, strides, dilation, padding, strict=True)
    ]
    if any(isinstance(size, int) and size <= 0 for size in out):
        call.conflict(f"a window of {list(kernel)} is larger than the map of {list(sizes)}")
    reach = [step * (size - 1) for size, step in zip(kernel, dilation, strict=True)]
    if reason := impossible([n + 1 for n in padding]) or impossible([n + 1 for n in reach]):
        call.conflict(f"the window or its padding cannot exist: {reason}")
    return out


def padding_of(
    call: Call, kernel: Sequence[int], dilation: Sequence[int], sizes: Sequence[int]
) -> list[tuple[int, int]]:
    """Elements added before and behind each spatial axis of a map of `sizes`.

    TensorFlow's SAME splits max((out - 1) stride + dilation (kernel - 1) + 1 - size, 0) with the
    odd one behind: https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2
    """
    if not is_same(call):
        return ends(call)
    pads = []
    for size, k, stride, step in zip(sizes, kernel, call.spatial("strides"), dilation, strict=True):
        total = max((-(-size // stride) - 1) * stride + step * (k - 1) + 1 - size, 0)
        pads.append((total // 2, total - total // 2))
    return pads


def pad(call: Call, array: Array, pads: Sequence[tuple[int, int]], value: float = 0) -> Array:
    """A canonical array with its spatial axes padded. Fails (UFF402) before it gets too large."""
    ends = [(0, 0), (0, 0), *pads]
    call.bound([size + sum(end) for size, end in zip(array.shape, ends, strict=True)])
    return np.pad(array, ends, constant_values=value)


def taps(
    call: Call,
    array: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    out: Sequence[int],
) -> Iterator[tuple[Any, Array]]:
    """For each place in the window: the index that takes it from a kernel's last axes, and the
    elements all windows see there.

    Fails (UFF402) for a window of more places than anyone waits for.
    """
    steps = prod(kernel) * prod(array.shape[:2]) * prod(out)
    if prod(kernel) > _MAX_PLACES or steps > _PATIENCE * call.limit:
        message = f"a window of {list(kernel)} at {list(out)} places takes {steps} steps"
        call.fail(TOO_LARGE, message)
    for place in itertools.product(*map(range, kernel)):
        cut = [slice(None), slice(None)]
        for at, stride, step, count in zip(place, strides, dilation, out, strict=True):
            cut.append(slice(at * step, at * step + stride * (count - 1) + 1, stride))
        yield (..., *place), array[tuple(cut)]


def onnx_padding(call: Call, kernel: Sequence[int], dilation: Sequence[int]) -> dict[str, Any]:
    """ONNX's attributes for the padding; `auto_pad` only where sizes are known at run time."""
    sizes = static(call.canonical(0)[2:])
    if sizes is None and is_same(call):
        return {"auto_pad": "SAME_UPPER"}
    pads = padding_of(call, kernel, dilation, sizes or ())
    return {"pads": [before for before, _ in pads] + [behind for _, behind in pads]}


def canonical_value(call: Call, emit: Emitter) -> str:
    """Input 0 as ONNX has maps: (N, C, spatial...)."""
    return emit.value(0, inverse(call.order(0)))


def canonical_result(call: Call, emit: Emitter, name: str) -> None:
    """Declare a value in canonical order as the result."""
    emit.result(name, inverse(call.output_order(call.rank(0))))
