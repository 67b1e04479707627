"""Layers that bring arrays into a net.

Sizes as far as settings tell them (data_layer.cpp, image_data_layer.cpp, memory_data_layer.cpp,
dummy_data_layer.cpp, input_layer.cpp): those of records are in the dataset.
"""

from __future__ import annotations

from collections.abc import Iterable

from ufkit.ufw.layers.spec import LayerType, Shape, Shapes, Size, Use
from ufkit.ufw.net import shaped

_TRANSFORM = "transform_param"


def _shapes(use: Use) -> Shapes:
    """Those that are given, one for each array or one for all; sizes below 1 are open."""
    given = [tuple(part.wholes("dim")) for part in use.param.parts("shape")]
    tops = use.told.all("top")
    return [opened(shape) for _, shape in shaped(tops, given)]


def opened(shape: Iterable[Size | str] | None) -> Shape | None:
    """A shape as it is declared: a name, or what is below 1, is known only when the net runs."""
    if shape is None:
        return None
    return tuple(size if isinstance(size, int) and size > 0 else None for size in shape)


def _given(value: int | None) -> Size:
    return value or None


def _side(use: Use) -> tuple[Size, Size]:
    """Rows and columns of images, where they are cut or resized to known ones."""
    transform = use.told.part(_TRANSFORM)
    crop = _given(transform.whole("crop_size")) or _given(use.param.whole("crop_size"))
    if crop:
        return crop, crop
    resize = transform.part("resize_param")
    return _given(resize.whole("height")), _given(resize.whole("width"))


def _channels(use: Use, otherwise: Size) -> Size:
    transform = use.told.part(_TRANSFORM)
    if transform.flag("force_gray"):
        return 1
    return 3 if transform.flag("force_color") else otherwise


def _records(use: Use) -> Shapes:
    batch = _given(use.told.part("data_param").whole("batch_size"))
    image = (batch, _channels(use, None), *_side(use))
    return [image, (batch,) if use.layer.type == "Data" else None]


def _images(use: Use) -> Shapes:
    batch = _given(use.param.whole("batch_size"))
    height, width = _side(use)
    height = height or _given(use.param.whole("new_height"))
    width = width or _given(use.param.whole("new_width"))
    colours = 3 if use.param.flag("is_color", True) else 1
    return [(batch, _channels(use, colours), height, width), (batch,)]


def _memory(use: Use) -> Shapes:
    names = ("batch_size", "channels", "height", "width")
    batch, *rest = (_given(use.param.whole(name)) for name in names)
    return [(batch, *rest), (batch,)]


def _dummy(use: Use) -> Shapes:
    if use.param.has("shape"):
        return _shapes(use)
    names = ("num", "channels", "height", "width")
    columns = [use.param.wholes(name) for name in names]
    if not all(columns):
        return [None] * len(use.told.all("top"))
    given = [*zip(*columns, strict=False)]
    return [opened(shape) for _, shape in shaped(use.told.all("top"), given)]


LAYERS = (
    LayerType("Input", "What the net is given.", _shapes, "input_param", takes=0),
    LayerType("Parameter", "Weights as an array.", lambda use: [opened(use.blob(0))],
              "parameter_param", takes=0),
    LayerType("Data", "Records of a database.", _records, "data_param", takes=0),
    LayerType("AnnotatedData", "Records of a database, with boxes.", _records,
              "annotated_data_param", takes=0),
    LayerType("ImageData", "Images named in a list.", _images, "image_data_param", takes=0),
    LayerType("MemoryData", "What a program puts in.", _memory, "memory_data_param", takes=0),
    LayerType("DummyData", "Made-up numbers.", _dummy, "dummy_data_param", takes=0),
    LayerType("HDF5Data", "Arrays of HDF5 files.", lambda use: [], "hdf5_data_param", takes=0),
)  # fmt: skip
