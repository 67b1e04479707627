"""Checks of nets and blobs: everything that can be said of a file without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from ufkit.core.diag import Diagnostic, FormatError, Where
from ufkit.ufw.blob import STORAGES, Blob
from ufkit.ufw.connections import AnyNet, findings
from ufkit.ufw.net import OLD, Layer, Net
from ufkit.ufw.prototxt import LabelMap, Prototxt
from ufkit.ufw.rules import (
    BLOB_SIZE,
    DUPLICATE_LABEL,
    FOREIGN_BLOB,
    LEGACY_SHAPE,
    NO_DATA,
    NOT_FINITE,
    OLD_STYLE,
    SEVERAL_STORAGES,
    WHOLE_NUMBERS,
)
from ufkit.ufw.shapes import GivenShapes, infer_net
from ufkit.wire.message import Message

_CHUNK = 4 << 20  # elements looked at at a time
_ENOUGH = 16  # of fewer elements, all may be whole numbers by chance
_INT8 = 128


def check_net(net: Net, shapes: GivenShapes | None = None) -> Iterator[Diagnostic]:
    """All findings in a net and its weights, which are read for it.

    `shapes` has shapes of inputs by name; RequestError (UFW009) for a name that is none is the only
    thing that is raised.
    """
    seen: set[tuple[str, Where, str]] = set()
    for part in (findings, lambda net: _shapes(net, shapes), _style, _values, _weights):
        for finding in _caught(lambda part=part: part(net)):  # type: ignore[misc]
            key = (finding.code, finding.where, finding.message)
            if key not in seen:  # damage is met by every part that comes to it
                seen.add(key)
                yield finding


def _style(net: Net) -> Iterator[Diagnostic]:
    if net.style == OLD:
        yield OLD_STYLE.at(net.where(), f"{len(net.layers)} layers are in the field {OLD!r}")


def _values(net: Net) -> Iterator[Diagnostic]:
    """What cannot be read of texts and single numbers, wherever it is."""
    queue = [net.message]
    for message in queue:
        yield from _caught(lambda message=message: _read(message, queue))  # type: ignore[misc]


def _read(message: Message, queue: list[Message]) -> Iterator[Diagnostic]:
    for field in message.known():
        if field.kind == "message":
            queue += message.all(field.name) if field.repeated else [message.get(field.name)]
        elif not field.repeated:
            message.get(field.name)
        elif field.kind == "string":
            message.all(field.name)
    yield from ()


def _weights(net: Net) -> Iterator[Diagnostic]:
    for layer in net.layers:
        yield from _caught(lambda layer=layer: _layer(layer))  # type: ignore[misc]


def _layer(layer: Layer) -> Iterator[Diagnostic]:
    for blob in layer.blobs:
        yield from check_blob(blob)
        blob.message.span.release()


def check_prototxt(text: Prototxt, shapes: GivenShapes | None = None) -> Iterator[Diagnostic]:
    """All findings in the text of a net; `shapes` as in `check_net`."""
    yield from _caught(lambda: findings(text))
    yield from _caught(lambda: _shapes(text, shapes))


def _shapes(net: AnyNet, given: GivenShapes | None) -> Iterator[Diagnostic]:
    """What the sizes of arrays say."""
    yield from infer_net(net, given=given).findings


def check_labels(map_: LabelMap) -> Iterator[Diagnostic]:
    """All findings in a label map. Nothing is raised."""
    yield from _caught(lambda: _labels(map_))


def _labels(map_: LabelMap) -> Iterator[Diagnostic]:
    numbers: set[int] = set()
    names: set[str] = set()
    for label in map_.labels:
        if label.label in numbers:
            yield DUPLICATE_LABEL.at(label.where, f"the number {label.label} was used before")
        if label.name in names:
            yield DUPLICATE_LABEL.at(label.where, f"the name {label.name!r} was used before")
        numbers.add(label.label)
        names.add(label.name)


def check_blob(blob: Blob) -> Iterator[Diagnostic]:
    """All findings in a blob. Nothing is raised."""
    yield from _caught(lambda: _blob(blob))


def _blob(blob: Blob) -> Iterator[Diagnostic]:
    if blob.dialect:
        yield FOREIGN_BLOB.at(blob.where, f"it was written by {blob.dialect}")
    if blob.legacy:
        yield LEGACY_SHAPE.at(blob.where, "its shape is told by num, channels, height, width")
    storages, shape = blob.storages, blob.shape
    size: int = prod(shape)
    if len(storages) > 1:
        yield SEVERAL_STORAGES.at(blob.where, f"it has {' and '.join(storages)}")
    if not storages and size:
        yield NO_DATA.at(blob.where, f"the shape {list(shape)} has no numbers")
    for name in storages:
        count = blob.count(name)
        if count != size:
            message = f"{name} holds {count} elements; the shape {list(shape)} has {size}"
            yield BLOB_SIZE.at(blob.where, message)
        elif name in STORAGES[:2]:
            yield from _floats(blob, name)


def _floats(blob: Blob, name: str) -> Iterator[Diagnostic]:
    """What can be said of floats; they are read in parts."""
    flat = blob.stored(name).reshape(-1)
    odd, whole = 0, flat.size >= _ENOUGH
    for at in range(0, flat.size, _CHUNK):
        part = flat[at : at + _CHUNK]
        odd += part.size - int(np.count_nonzero(np.isfinite(part)))
        whole = whole and not odd and bool(np.all(part == np.rint(part)))
    if odd:
        yield NOT_FINITE.at(blob.where, f"{odd} of {flat.size} elements of {name} are not finite")
    elif whole and 1 < float(np.abs(flat).max()) <= _INT8:
        low, high = float(flat.min()), float(flat.max())
        message = f"all {flat.size} elements are whole numbers, from {low:g} to {high:g}"
        yield WHOLE_NUMBERS.at(blob.where, message)


def _caught(found: Callable[[], Iterator[Diagnostic]]) -> Iterator[Diagnostic]:
    """Findings, and in their midst the error that ends them, if one does."""
    try:
        yield from found()
    except FormatError as error:
        yield from error.diagnostics
