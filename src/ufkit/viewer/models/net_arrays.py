"""The arrays of a layer: what is meant, and of quantised ones what is stored for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from ufkit.core.diag import FormatError
from ufkit.ufw.blob import DIFFS, Array, Blob
from ufkit.ufw.layers import LAYERS
from ufkit.ufw.net import Layer
from ufkit.ufw.winograd import winograd_of
from ufkit.viewer.content import Weights

_INTEGERS = ("int8_data", "int32_data")
_WINOGRAD = "winograd_data_fixpoint"


def arrays(layer: Layer) -> Iterator[Weights]:
    """The blobs of a layer; nothing of them is read.

    All arrays of one blob have its name, `conv1/0`; the first is what is meant.
    """
    entry = LAYERS.get(layer.type)
    named = entry.blobs if entry else ()
    for number, blob in enumerate(layer.blobs):
        role, axes = named[number] if number < len(named) else (f"blob {number}", "")
        yield from _of_blob(blob, f"{layer.name}/{number}", role, axes)


def _of_blob(blob: Blob, name: str, role: str, axes: str) -> Iterator[Weights]:
    try:
        shape = blob.shape
        problem = blob.problem()
        storage = blob.storage
        scaled = storage == "int8_data" or (storage == "int32_data" and blob.scales is not None)
        stored, meant = str(blob.stored_dtype), str(blob.dtype)
    except FormatError as error:
        nbytes = blob.message.span.nbytes
        note = error.diagnostic.message
        yield Weights(name, role, "?", None, nbytes, blob.where, blob.array, note=note)
        return
    note = problem[1] if problem else ("" if storage or not prod(shape) else "there is no data")
    letters, channel = _axes(shape, axes)

    def made(
        of: str, dtype: str, read: Callable[[], Array], sizes: tuple[int, ...] = shape
    ) -> Weights:
        same = sizes == shape
        return Weights(
            name,
            of,
            dtype,
            sizes,
            blob.message.span.nbytes,
            blob.where,
            read,
            letters if same else "",
            channel if same else None,
            note,
        )

    yield made(role, f"{stored} × scale" if scaled else meant, blob.array)
    if scaled:
        yield made(f"{role}, stored integers", stored, lambda: integers(blob))
        if blob.message.get("per_channel_en"):
            count = len(blob.message.records("scaleToFloatPerChannel")) and len(_scales(blob))
            yield made(f"{role}, scales", "float32", lambda: _scales(blob), (count,))
    if blob.message.has(_WINOGRAD):
        sizes = (*shape[:-2], 4, 4)
        yield made(f"{role}, Winograd's form", "int32", lambda: _winograd(blob), sizes)
    if any(map(blob.holds, DIFFS)):
        yield made(f"{role}, gradient", meant, lambda: _gradient(blob))


def integers(blob: Blob) -> Array:
    """What a blob of integers stores, in the type that its `dtype` names."""
    return blob.stored(blob.storage).astype(blob.stored_dtype, copy=False)


def _scales(blob: Blob) -> Array:
    scales = blob.scales
    assert scales is not None  # it is asked for where there are some
    return scales


def _winograd(blob: Blob) -> Array:
    found = winograd_of(blob)
    assert found is not None
    return found[0]


def _gradient(blob: Blob) -> Array:
    found = blob.diff()
    assert found is not None
    return found


def _axes(shape: tuple[int, ...], axes: str) -> tuple[str, int | None]:
    """Letters of the axes, where there are as many, and the axis of the output channels.

    Older files pad matrices and vectors to four axes, in front.
    """
    if "K" not in axes or not shape:
        return "", None
    missing = len(shape) - len(axes)
    if "H" in axes:  # kernels of one or three axes begin alike
        channel = axes.index("K")
        return axes if missing == 0 else "", channel if channel < len(shape) else None
    if missing < 0 or any(size != 1 for size in shape[:missing]):
        return "", None
    return ("1" * missing) + axes if missing else axes, missing + axes.index("K")
