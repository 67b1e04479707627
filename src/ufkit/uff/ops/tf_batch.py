"""TensorFlow's space to batch and back: how it writes a dilated convolution.

The map is cut into as many maps as a block has elements, all of them are convolved at once, and
the results are put together again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.uff.dims import Dim, exact_quotient, show
from ufkit.uff.ops.emitter import Emitter
from ufkit.uff.ops.select import known_numbers
from ufkit.uff.ops.spec import Array, Call, Example, Facts, OpSpec
from ufkit.uff.ops.tf_math import TYPE


def block_of(call: Call) -> list[int]:
    """Length of a block along each axis behind the batch that has one."""
    block = known_numbers(call, 1)
    sizes = [size for size in block if isinstance(size, int) and size > 0]
    if len(sizes) != len(block) or not 0 < len(block) < call.rank(0):
        call.conflict(f"blocks of {block} for {show(call.shape(0))}")
    return sizes


def ends_of(call: Call) -> list[tuple[int, int]]:
    """Elements added or taken before and behind each of those axes."""
    numbers, count = known_numbers(call, 2), len(block_of(call))
    if len(numbers) != 2 * count or any(isinstance(n, Dim) or n < 0 for n in numbers):
        call.conflict(f"{numbers} for {count} axes: two numbers each are needed")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _product(block: list[int]) -> int:
    return int(np.prod(block))


def _infer_to_batch(call: Call) -> Facts:
    block, shape = block_of(call), call.shape(0)
    sizes: list[Any] = []
    for size, (before, behind), by in zip(shape[1:], ends_of(call), block, strict=False):
        padded = size + (before + behind)
        if isinstance(padded, int) and padded % by:
            call.conflict(f"blocks of {by} do not divide an axis of {padded}")
        sizes.append(padded // by)
    kept = shape[1 + len(block) :]
    return Facts((shape[0] * _product(block), *sizes, *kept), call.inputs[0].dtype)


def _infer_to_space(call: Call) -> Facts:
    block, shape = block_of(call), call.shape(0)
    batch = exact_quotient(shape[0], _product(block))
    if batch is None and isinstance(shape[0], int):
        call.conflict(f"a batch of {shape[0]} holds no blocks of {block}")
    sizes: list[Any] = []
    for size, (before, behind), by in zip(shape[1:], ends_of(call), block, strict=False):
        sizes.append(size * by - (before + behind))
        if isinstance(sizes[-1], int) and sizes[-1] < 0:
            call.conflict(f"{before} and {behind} elements are cut off {size * by}")
    kept = shape[1 + len(block) :]
    return Facts((Dim.unknown() if batch is None else batch, *sizes, *kept), call.inputs[0].dtype)


def _split_axes(rank: int, count: int) -> list[int]:
    """Order of the axes that brings those of the block in front; it reads [N, H, h, W, w, C]."""
    inner = [2 + 2 * at for at in range(count)]
    outer = [1 + 2 * at for at in range(count)]
    return [*inner, 0, *outer, *range(1 + 2 * count, rank + count)]


def _evaluate_to_batch(call: Call, x: Array, *_: Array) -> Array:
    block, ends = block_of(call), ends_of(call)
    kept = x.shape[1 + len(block) :]
    padded = np.pad(x, [(0, 0), *ends, *[(0, 0)] * len(kept)])
    sizes = [n for size, by in zip(padded.shape[1:], block, strict=False) for n in (size // by, by)]
    parts = padded.reshape(x.shape[0], *sizes, *kept).transpose(_split_axes(x.ndim, len(block)))
    outer = [size // by for size, by in zip(padded.shape[1:], block, strict=False)]
    return parts.reshape(x.shape[0] * _product(block), *outer, *kept)


def _evaluate_to_space(call: Call, x: Array, *_: Array) -> Array:
    block, ends = block_of(call), ends_of(call)
    count, batch = len(block), x.shape[0] // _product(block)
    sizes, kept = x.shape[1 : 1 + count], x.shape[1 + count :]
    order = np.argsort(_split_axes(x.ndim, count))
    parts = x.reshape(*block, batch, *sizes, *kept).transpose(order)
    whole = parts.reshape(batch, *(n * by for n, by in zip(sizes, block, strict=True)), *kept)
    cuts = tuple(slice(a, size - b) for (a, b), size in zip(ends, whole.shape[1:], strict=False))
    return whole[(slice(None), *cuts)]


def _static_sizes(call: Call, emit: Emitter) -> list[int]:
    """Sizes behind the batch, which must be numbers."""
    sizes = [size for size in call.shape(0)[1:] if isinstance(size, int)]
    if len(sizes) < call.rank(0) - 1:
        emit.refuse(f"the sizes of the map {show(call.shape(0))} are not known")
    return sizes


def _to_batch_to_onnx(call: Call, emit: Emitter) -> None:
    block, ends = block_of(call), ends_of(call)
    sizes, rest = _static_sizes(call, emit), call.rank(0) - 1 - len(block)
    pads = [0, *(a for a, _ in ends), *[0] * rest, 0, *(b for _, b in ends), *[0] * rest]
    name = emit.node("Pad", emit.value(0), emit.constant(pads)) if any(pads) else emit.value(0)
    outer = [(n + a + b) // by for n, (a, b), by in zip(sizes, ends, block, strict=False)]
    kept = sizes[len(block) :]
    apart = [-1, *(n for pair in zip(outer, block, strict=True) for n in pair), *kept]
    name = emit.node("Reshape", name, emit.constant(apart))
    name = emit.node("Transpose", name, perm=_split_axes(call.rank(0), len(block)))
    emit.result(emit.node("Reshape", name, emit.constant([-1, *outer, *kept])))


def _to_space_to_onnx(call: Call, emit: Emitter) -> None:
    block, ends = block_of(call), ends_of(call)
    sizes, count = _static_sizes(call, emit), len(block)
    kept = sizes[count:]
    name = emit.node("Reshape", emit.value(0), emit.constant([*block, -1, *sizes]))
    order = np.argsort(_split_axes(call.rank(0), count)).tolist()
    name = emit.node("Transpose", name, perm=order)
    whole = [n * by for n, by in zip(sizes, block, strict=False)]
    name = emit.node("Reshape", name, emit.constant([-1, *whole, *kept]))
    if any(a or b for a, b in ends):
        starts = emit.constant([a for a, _ in ends])
        stops = emit.constant([n - b for (_, b), n in zip(ends, whole, strict=True)])
        name = emit.node("Slice", name, starts, stops, emit.constant(list(range(1, count + 1))))
    emit.result(name)


_FIELDS = {"T": TYPE, "Tblock_shape": TYPE, "Tpaddings": TYPE, "Tcrops": TYPE}
_PAIR = np.array([2, 3], np.int32)

TF_BATCH = (
    OpSpec(
        "_SpaceToBatchND",
        "The map padded, cut into blocks, and each place of a block made a map of its own in the "
        "batch.",
        ("x", "block_shape", "paddings"),
        _FIELDS,
        _infer_to_batch,
        _evaluate_to_batch,
        _to_batch_to_onnx,
        (
            Example(
                ((2, 3, 4, 2), _PAIR, np.array([[1, 0], [0, 2]], np.int32)),
                const=(1, 2),
            ),
        ),
    ),
    OpSpec(
        "_BatchToSpaceND",
        "Maps of the batch put together as the places of blocks, and the edges cut off.",
        ("x", "block_shape", "crops"),
        _FIELDS,
        _infer_to_space,
        _evaluate_to_space,
        _to_space_to_onnx,
        (
            Example(
                ((12, 2, 2, 3), _PAIR, np.array([[1, 0], [0, 2]], np.int32)),
                const=(1, 2),
            ),
        ),
    ),
)
