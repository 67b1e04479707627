"""Layers that move a window over the axes behind the channels.

Sizes as Caffe computes them: base_conv_layer.cpp, conv_layer.cpp, deconv_layer.cpp,
pooling_layer.cpp, im2col_layer.cpp; interp_layer.cpp of DeepLab; SegNet's upsample_layer.cpp;
reorg_layer.cpp of the forks that run YOLO v2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ufkit.ufw.layers.spec import (
    LayerType,
    Shape,
    Shapes,
    Size,
    Use,
    product,
    work,
    written,
)
from ufkit.ufw.rules import WRONG_WEIGHTS

_IMAGES = 4  # axes of what convolutions take, where nothing else is known
_CONVOLUTION = "convolution_param"
_DEPTHWISE = ("ConvolutionDepthwise", "DepthwiseConvolution")
_FORWARD = (("kernel", "KCHW"), ("bias", "K"))
_BACKWARD = (("kernel", "CKHW"), ("bias", "K"))


def _several(use: Use, name: str, rank: int, default: int | None) -> list[Size]:
    """A setting for each of `rank` axes: given once, once for each, or as _h and _w."""
    stem = name.removesuffix("_size")
    pair = [f"{stem}_h", f"{stem}_w"]
    if rank == len(pair) and any(map(use.param.has, pair)):
        return [use.param.whole(one) or 0 for one in pair]
    given = use.param.wholes(name)
    if not given:
        return [default] * rank
    if len(given) not in (1, rank):
        use.conflict(f"{name} has {len(given)} values; there are {rank} axes behind the channels")
    return [*given] * rank if len(given) == 1 else [*given]


def _kernel(use: Use, rank: int) -> list[Size]:
    """The sizes of the window: as they are given or, without, those of the weights."""
    blob = use.blob(0)
    found = _several(use, "kernel_size", rank, None)
    if None in found and blob is not None and len(blob) == rank + 2:
        found = [*blob[2:]]
    for size in found:
        if size is not None:
            use.positive(size, "kernel_size")
    return found


def _strides(use: Use, rank: int) -> list[int]:
    return [use.positive(size or 0, "stride") for size in _several(use, "stride", rank, 1)]


def _pads(use: Use, rank: int) -> list[int]:
    return [size or 0 for size in _several(use, "pad", rank, 0)]


def _dilated(use: Use, kernel: Sequence[Size]) -> list[Size]:
    """How many elements a window spans."""
    steps = _several(use, "dilation", len(kernel), 1)
    return [
        None if k is None else use.positive(d or 0, "dilation") * (k - 1) + 1
        for k, d in zip(kernel, steps, strict=True)
    ]


def _apart(use: Use) -> tuple[Shape, Size, Shape]:
    """What it takes: the axes before the channels, how many channels, the axes behind."""
    blob = use.blob(0)
    shape = use.inputs[0] or (None,) * (len(blob) if blob else _IMAGES)
    axis = use.axis(shape, use.param.whole("axis") or 0) if use.param.field("axis") else 1
    use.axis(shape, axis)
    return shape[:axis], shape[axis], shape[axis + 1 :]


def _groups(use: Use, channels: Size) -> Size:
    if use.layer.type in _DEPTHWISE and not use.param.has("group"):
        return channels
    return use.positive(use.param.whole("group") or 0, "group")


def _outputs(use: Use, of_blob: Size, channels: Size, groups: Size) -> Size:
    """num_output, which the groups have to divide as they do the channels."""
    found = use.param.whole("num_output") if use.param.has("num_output") else of_blob
    for size, what in ((channels, "what it takes"), (found, "num_output")):
        if size is not None and groups and size % groups:
            use.conflict(f"the {groups} groups do not divide {what}: {size} channels")
    return found


def _convolution(use: Use) -> Shapes:
    """floor((in + 2 pad - dilated kernel) / stride) + 1."""
    before, channels, space = _apart(use)
    groups, blob, rank = _groups(use, channels), use.blob(0), len(space)
    count = _outputs(use, blob[0] if blob else None, channels, groups)
    spans = _dilated(use, _kernel(use, rank))
    if blob and len(blob) > 1 and channels is not None and groups:
        _meet(use, channels, blob[1] * groups, blob)
    sizes = [
        _slid(use, size, 2 * pad, span, stride)
        for size, pad, span, stride in zip(
            space, _pads(use, rank), spans, _strides(use, rank), strict=True
        )
    ]
    return [(*before, count, *sizes)]


def _meet(use: Use, channels: int, wanted: int, blob: Sequence[int]) -> None:
    if channels != wanted:
        message = f"it takes {channels} channels; its weights {written(blob)} are for {wanted}"
        use.report(WRONG_WEIGHTS, message)


def _slid(use: Use, size: Size, padding: int, span: Size, stride: int) -> Size:
    if size is None or span is None:
        return None
    if size + padding < span:
        use.conflict(f"a window of {span} is larger than {size} and a padding of {padding}")
    return (size + padding - span) // stride + 1


def _convolution_macs(use: Use, out: Shape) -> Size:
    _, channels, space = _apart(use)
    blob = use.blob(0)
    if blob:
        return work(out, prod(blob[1:]))
    groups = _groups(use, channels)
    inner = None if channels is None or not groups else channels // groups
    return work(out, product((inner, *_kernel(use, len(space)))))


def _deconvolution(use: Use) -> Shapes:
    """stride (in - 1) + dilated kernel - 2 pad."""
    before, channels, space = _apart(use)
    groups, blob, rank = _groups(use, channels), use.blob(0), len(space)
    of_blob = blob[1] * groups if blob and len(blob) > 1 and groups else None
    count = _outputs(use, of_blob, channels, groups)
    if blob and channels is not None:
        _meet(use, channels, blob[0], blob)
    spans = _dilated(use, _kernel(use, rank))
    sizes = [
        None
        if size is None or span is None
        else use.positive(stride * (size - 1) + span - 2 * pad, "the size of what it makes")
        for size, pad, span, stride in zip(
            space, _pads(use, rank), spans, _strides(use, rank), strict=True
        )
    ]
    return [(*before, count, *sizes)]


def _deconvolution_macs(use: Use, out: Shape) -> Size:
    before, channels, space = _apart(use)
    blob = use.blob(0)
    if blob:
        return work((*before, channels, *space), prod(blob[1:]))
    groups = _groups(use, channels)
    count = out[len(before)]
    each = None if count is None or not groups else count // groups
    return work((*before, channels, *space), product((each, *_kernel(use, len(space)))))


def _pooling(use: Use) -> Shapes:
    """ceil((in + 2 pad - kernel) / stride) + 1, one less where the last window is all padding.

    Forks round down where `ceil_mode` is false or `round_mode` FLOOR; in binary files they number
    that field alike and mean opposite things by it, so there the sizes are not known.
    """
    before, channels, space = _apart(use)
    rank = len(space)
    if use.param.flag("global_pooling"):
        return [(*before, channels, *[1] * rank)] * 2
    if use.param.foreign or not use.param.names:
        return [(*before, channels, *[None] * rank)] * 2
    down = not use.param.flag("ceil_mode", True) or use.param.get("round_mode") == "FLOOR"
    sizes: list[Size] = []
    windows = zip(space, _kernel(use, rank), _pads(use, rank), _strides(use, rank), strict=True)
    for size, kernel, pad, stride in windows:
        if kernel is None:
            use.conflict("it has neither kernel_size nor global_pooling")
        if pad >= kernel:
            use.conflict(f"pad is {pad}; it has to be less than the kernel, {kernel}")
        sizes.append(None if size is None else _pooled(use, size, (kernel, pad, stride), down))
    return [(*before, channels, *sizes)] * 2  # the second tells where each maximum was


def _pooled(use: Use, size: int, window: tuple[int, int, int], down: bool) -> int:
    kernel, pad, stride = window
    found = (size + 2 * pad - kernel + (0 if down else stride - 1)) // stride + 1
    if found < 1:
        use.conflict(f"a window of {kernel} is larger than {size} and a padding of {2 * pad}")
    return found - 1 if pad and (found - 1) * stride >= size + pad else found


def _im2col(use: Use) -> Shapes:
    (top,) = _convolution(use)
    before, channels, space = _apart(use)
    each = product((channels, *_kernel(use, len(space))))
    return [None if top is None else (*before, each, *top[len(before) + 1 :])]


def _roi_pooling(use: Use) -> Shapes:
    maps, regions = use.inputs[0], use.inputs[1]
    count = regions[0] if regions else None
    channels = maps[1] if maps and len(maps) > 1 else None
    return [(count, channels, use.param.whole("pooled_h"), use.param.whole("pooled_w"))]


def _ps_roi_pooling(use: Use) -> Shapes:
    regions, side = use.inputs[1], use.param.whole("group_size")
    return [(regions[0] if regions else None, use.param.whole("output_dim"), side, side)]


def _image(use: Use) -> tuple[Size, Size, Size, Size]:
    shape = use.inputs[0] or (None,) * _IMAGES
    if len(shape) != _IMAGES:
        use.conflict(f"it takes images of {_IMAGES} axes; {written(shape)} has {len(shape)}")
    n, c, h, w = shape
    return n, c, h, w


def _interp(use: Use) -> Shapes:
    n, c, *sizes = _image(use)
    if len(use.inputs) > 1 and (other := use.inputs[1]) and len(other) == _IMAGES:
        return [(n, c, *other[2:])]
    given = [use.param.whole("height"), use.param.whole("width")]
    if all(given):
        return [(n, c, *given)]
    pad = (use.param.whole("pad_beg") or 0) + (use.param.whole("pad_end") or 0)
    shrink, zoom = (use.param.whole(f"{name}_factor") for name in ("shrink", "zoom"))
    made: list[Size] = []
    for size in sizes:
        out = None if size is None else size + pad
        if out is not None and shrink:
            out = (out - 1) // use.positive(shrink, "shrink_factor") + 1
        if out is not None and zoom:
            out += (out - 1) * (use.positive(zoom, "zoom_factor") - 1)
        made.append(out)
    return [(n, c, *made)]


def _upsample(use: Use) -> Shapes:
    n, c, h, w = _image(use)
    made: list[Size] = []
    for size, axis in ((h, "h"), (w, "w")):
        given = use.param.whole(f"upsample_{axis}")
        names = (f"scale_{axis}", "scale", "stride")
        scale = next((use.param.whole(name) for name in names if use.param.has(name)), None)
        made.append(given or (None if size is None or scale is None else size * scale))
    return [(n, c, *made)]


def _reorg(use: Use) -> Shapes:
    n, c, h, w = _image(use)
    if use.param.foreign or not use.param.has("stride"):
        return [(n, None, None, None)]
    stride = use.positive(use.param.whole("stride") or 0, "stride")
    if use.param.flag("reverse"):
        return [(n, _part(use, c, stride**2), _times(h, stride), _times(w, stride))]
    return [(n, _times(c, stride**2), _part(use, h, stride), _part(use, w, stride))]


def _times(size: Size, factor: int) -> Size:
    return None if size is None else size * factor


def _part(use: Use, size: Size, factor: int) -> Size:
    if size is not None and size % factor:
        use.conflict(f"{size} cannot be divided by {factor}")
    return None if size is None else size // factor


def _spp(use: Use) -> Shapes:
    n, c, _, _ = _image(use)
    height = use.param.whole("pyramid_height")
    if height is None or not 0 < height < 16:  # 4^16 bins are no pyramid
        return [(n, None)]
    return [(n, _times(c, sum(4**level for level in range(height))))]


def _crop(use: Use) -> Shapes:
    shape, wanted = use.inputs[0], use.inputs[1]
    if shape is None or wanted is None:
        return [None]
    axis = use.axis(shape, use.param.whole("axis") or 0)
    if len(wanted) < len(shape):
        use.conflict(f"it cuts {written(shape)} to {written(wanted)}, which has fewer axes")
    wanted = wanted[: len(shape)]
    offsets = use.param.wholes("offset") or [0]
    rank = len(shape) - axis
    if len(offsets) not in (1, rank):
        use.conflict(f"offset has {len(offsets)} values; {rank} axes are cut")
    offsets = offsets * rank if len(offsets) == 1 else offsets
    ends = zip(shape[axis:], wanted[axis:], offsets, strict=True)
    for size, want, offset in ends:
        if size is not None and want is not None and size < want + offset:
            use.conflict(f"{want} from {offset} on do not fit into {size}")
    return [(*shape[:axis], *wanted[axis:])]


LAYERS = (
    LayerType("Convolution", "Slides kernels over the axes behind the channels and adds a bias.",
              _convolution, _CONVOLUTION, _FORWARD, _convolution_macs),
    LayerType("ConvolutionDepthwise", "A convolution of each channel by itself.",
              _convolution, _CONVOLUTION, _FORWARD, _convolution_macs),
    LayerType("DepthwiseConvolution", "A convolution of each channel by itself.",
              _convolution, _CONVOLUTION, _FORWARD, _convolution_macs),
    LayerType("Deconvolution", "The transpose of a convolution: spreads each element by a kernel.",
              _deconvolution, _CONVOLUTION, _BACKWARD, _deconvolution_macs),
    LayerType("Pooling", "The largest or the mean of each window; a last one may be cut off.",
              _pooling, "pooling_param"),
    LayerType("Im2col", "The windows of a convolution as channels.", _im2col, _CONVOLUTION),
    LayerType("ROIPooling", "The largest in each cell of a grid over each region.",
              _roi_pooling, "roi_pooling_param", takes=2),
    LayerType("PSROIPooling", "The mean of each cell of a region, from channels of its own.",
              _ps_roi_pooling, "psroi_pooling_param", takes=2),
    LayerType("Interp", "Resizes images, between pixels linearly, corners on corners.",
              _interp, "interp_param"),
    LayerType("Upsample", "Makes images larger by a whole factor.", _upsample, "upsample_param"),
    LayerType("Reorg", "Moves blocks of pixels into channels, or back.", _reorg, "reorg_param"),
    LayerType("SPP", "Pools over pyramids of grids; makes vectors of one length of any image.",
              _spp, "spp_param"),
    LayerType("Crop", "Cuts its first input to the sizes of the second.",
              _crop, "crop_param", takes=2),
)  # fmt: skip
