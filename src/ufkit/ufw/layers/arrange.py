"""Layers that join, cut and lay out arrays anew, and leave their elements as they are.

Sizes as Caffe computes them: concat_layer.cpp, slice_layer.cpp, flatten_layer.cpp,
reshape_layer.cpp, tile_layer.cpp, split_layer.cpp; SSD's permute_layer.cpp.
"""

from __future__ import annotations

from itertools import pairwise

from ufkit.ufw.layers.spec import LayerType, Shape, Shapes, Size, Use, fits, product, same, written

_COPY, _INFER = 0, -1  # sizes of Reshape: as the input has it, and what is left


def _axis_of(use: Use, shape: Shape, old: str) -> int:
    """`axis`, or what it was called before."""
    name = old if use.param.has(old) else "axis"
    return use.axis(shape, use.param.whole(name) or 0)


def _concat(use: Use) -> Shapes:
    known = [shape for shape in use.inputs if shape is not None]
    if len(known) < len(use.inputs):
        return [None]
    first = known[0]
    axis = _axis_of(use, first, "concat_dim")
    joined: list[Size] = [*first]
    for other in known[1:]:
        alike = len(other) == len(first) and all(
            at == axis or fits(a, b) for at, (a, b) in enumerate(zip(first, other, strict=True))
        )
        if not alike:
            use.conflict(f"along axis {axis} {written(other)} cannot be joined to {written(first)}")
        for at, size in enumerate(other):
            have = joined[at]
            if at == axis:
                joined[at] = None if size is None or have is None else have + size
            elif have is None:
                joined[at] = size
    return [tuple(joined)]


def _slice(use: Use) -> Shapes:
    shape, tops = use.inputs[0], len(use.told.all("top"))
    if shape is None or not tops:
        return [None] * tops
    axis = _axis_of(use, shape, "slice_dim")
    size, points = shape[axis], use.param.wholes("slice_point")
    parts: list[Size]
    if points:
        if len(points) != tops - 1:
            use.conflict(f"it has {len(points)} slice points, and makes {tops} arrays")
        if points[0] < 1 or any(a >= b for a, b in pairwise(points)):
            use.conflict(f"slice points have to rise from 1; they are {points[:8]}")
        if size is not None and points[-1] >= size:
            use.conflict(f"slice point {points[-1]} is not within {size}")
        parts = [b - a for a, b in pairwise([0, *points])]
        parts.append(None if size is None else size - points[-1])
    else:
        if size is not None and size % tops:
            use.conflict(f"{size} cannot be cut into {tops} equal parts")
        parts = [None if size is None else size // tops] * tops
    return [(*shape[:axis], part, *shape[axis + 1 :]) for part in parts]


def _split(use: Use) -> Shapes:
    return [use.inputs[0]] * len(use.told.all("top"))


def _flatten(use: Use) -> Shapes:
    shape = use.inputs[0]
    if shape is None:
        return [None]
    start, end = (use.axis(shape, use.param.whole(n) or 0) for n in ("axis", "end_axis"))
    if end < start:
        use.conflict(f"end_axis {end} is before axis {start}")
    return [(*shape[:start], product(shape[start : end + 1]), *shape[end + 1 :])]


def _reshape(use: Use) -> Shapes:
    """`shape` in the place of num_axes axes from `axis` on; 0 copies a size, -1 is what is left."""
    dims = use.param.part("shape").wholes("dim")
    shape = use.inputs[0]
    if shape is None:
        whole = not use.param.has("axis") and not use.param.has("num_axes")
        return [tuple(dim if dim > 0 else None for dim in dims) if whole and dims else None]
    start = use.axis(shape, use.param.whole("axis") or 0, end=True)
    count = use.param.whole("num_axes")
    end = len(shape) if count is None or count == _INFER else start + count
    if not start <= end <= len(shape):
        use.conflict(f"num_axes {count} from axis {start} on is beyond {written(shape)}")
    made: list[Size] = []
    for at, dim in enumerate(dims):
        if dim == _COPY and start + at >= len(shape):
            use.conflict(f"size {at} is 0, and {written(shape)} has none there to copy")
        if dim < _INFER:
            use.conflict(f"size {at} is {dim}; 0 and -1 alone have a meaning")
        made.append(shape[start + at] if dim == _COPY else dim)
    if made.count(_INFER) > 1:
        use.conflict(f"{dims[:8]} leaves several sizes open")
    made = [*shape[:start], *made, *shape[end:]]
    if _INFER in made:
        at = made.index(_INFER)
        made[at] = _left(use, shape, (*made[:at], *made[at + 1 :]))
    elif not fits(product(shape), product(made)):
        use.conflict(f"{written(shape)} has not as many elements as {written(made)}")
    return [tuple(made)]


def _left(use: Use, shape: Shape, rest: Shape) -> Size:
    """The size that makes up for the others; sizes that are open in both may cancel out."""
    whole, others = [*shape], [*rest]
    for size in rest:
        if size is None and None in whole:
            whole.remove(None)
            others.remove(None)
    total, known = product(whole), product(others)
    if total is None or known is None:
        return None
    if known == 0 or total % known:
        use.conflict(f"{written(shape)} cannot be divided by {known}")
    return total // known


def _permute(use: Use) -> Shapes:
    shape, order = use.inputs[0], use.param.wholes("order")
    if shape is None:
        return [None]
    if len({*order}) < len(order) or any(not 0 <= axis < len(shape) for axis in order):
        use.conflict(f"{order[:8]} is no order of the axes of {written(shape)}")
    order += [axis for axis in range(len(shape)) if axis not in order]
    return [tuple(shape[axis] for axis in order)]


def _tile(use: Use) -> Shapes:
    shape = use.inputs[0]
    if shape is None:
        return [None]
    axis, tiles = use.axis(shape, use.param.whole("axis") or 0), use.param.whole("tiles")
    size = shape[axis]
    found = None if size is None or tiles is None else size * use.positive(tiles, "tiles")
    return [(*shape[:axis], found, *shape[axis + 1 :])]


LAYERS = (
    LayerType("Concat", "Joins its inputs along an axis.", _concat, "concat_param"),
    LayerType("Slice", "Cuts its input along an axis.", _slice, "slice_param"),
    LayerType("Split", "Its input under several names.", _split),
    LayerType("Flatten", "Makes one axis of several.", _flatten, "flatten_param"),
    LayerType("Reshape", "The same elements in another shape.", _reshape, "reshape_param"),
    LayerType("Permute", "Puts the axes in another order.", _permute, "permute_param"),
    LayerType("Transpose", "Puts the axes in another order.", _permute, "transpose_param"),
    LayerType("Tile", "Repeats its input along an axis.", _tile, "tile_param"),
    LayerType("ShuffleChannel", "Exchanges channels between groups.", same,
              "shuffle_channel_param"),
)  # fmt: skip
