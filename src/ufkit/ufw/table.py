"""Calibration tables: the threshold of each blob of a net, by name.

Two forms are read and written, told apart by content and by suffix:

- Bitmain's text for the BM1880 (`NetCalibrationParameter`), whose layers also have the shifts that
  its nets are computed with. Fields that are not used here stay as they are.
- JSON of names and numbers, `{"data": 0.99, "conv1": 1.39}`. `.json`.

What the text's fields mean is known from ONNC (common_calibration.proto, calibration tool) and from
the table of the vendor's LeNet; see `ufkit.ufw.quant`. Confidence: high.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import PathLike, Source, replacing
from ufkit.ufw.quant import MAX_SHIFT, is_threshold
from ufkit.ufw.rules import BAD_TABLE, BAD_THRESHOLD, CANNOT_SHIFT, SEVERAL_THRESHOLDS
from ufkit.wire.pieces import Piece, write
from ufkit.wire.sniff import CAFFE_TABLE, CAFFE_TEXT, JSON, UFF_JSON, identify
from ufkit.wire.tree import Entry, Tree, parse_tree

_JSON_SUFFIX = ".json"
_LAYER, _BLOB, _THRESHOLD = "layer", "blob_param", "threshold_y"
_SHIFT, _MULTIPLIER = "right_shift_width", "threshold_x_quantized"


class Shifted(NamedTuple):
    """How a layer's sums are brought back: by a shift, and of a pooling layer a multiplier."""

    shift: int
    multiplier: int | None = None


@dataclass
class Table:
    """Thresholds by the names of blobs, and of Bitmain's text the shifts by names of layers.

    `name` is what diagnostics call it.
    """

    thresholds: dict[str, float] = field(default_factory=dict)
    shifts: dict[str, Shifted] = field(default_factory=dict)
    name: str = ""
    tree: Tree | None = None  # of Bitmain's text


def open_table(path: PathLike | Source) -> Table:
    """A table of either form, told by its content.

    A layer of Bitmain's text that names no blob gives its threshold to the blob of its own name.
    Raises FileError; FormatError where it is no table (UFW203), has a threshold that is no positive
    number (UFW201) or two different ones for one blob (UFW204), or a shift that is none (UFW205),
    or cannot be parsed.
    """
    source = path if isinstance(path, Source) else Source.open(path)
    kind = identify(source)
    if kind in (JSON, UFF_JSON):  # a blob may have the name of one of UFF's fields
        return _from_json(source)
    if kind in (CAFFE_TABLE, CAFFE_TEXT):
        return _from_text(source)
    message = f"this is no table of thresholds: it is {kind.description}"
    raise FormatError(BAD_TABLE.at(Where(source.name), message))


def save_table(table: Table, path: PathLike) -> None:
    """Write a table: JSON where the suffix is .json, else Bitmain's text with the shifts.

    A table that was read from such a text keeps all else in it. Raises FileError.
    """
    as_json = os.path.splitext(os.fspath(path))[1].lower() == _JSON_SUFFIX
    with replacing(path) as out:
        if as_json:
            out.write((json.dumps(table.thresholds, indent=2) + "\n").encode())
        else:
            write(_text(table), out)


# -- JSON ------------------------------------------------------------------------------------


def _from_json(source: Source) -> Table:
    try:
        text = bytes(source.view(0, source.size))
        found = json.loads(text, object_pairs_hook=tuple, parse_int=float)
    except (ValueError, RecursionError) as error:
        message = f"this is no JSON: {getattr(error, 'msg', error)}"
        where = Where(source.name, line=getattr(error, "lineno", None))
        raise FormatError(BAD_TABLE.at(where, message)) from error
    if not isinstance(found, tuple) or not found:
        message = f"a table is an object of names and numbers; here is {source.size} bytes of other"
        raise FormatError(BAD_TABLE.at(Where(source.name), message))
    table = Table(name=source.name)
    for name, value in found:
        where = Where(source.name, name)
        if not isinstance(value, float):
            message = f"the threshold of {name!r} is {type(value).__name__}, no number"
            raise FormatError(BAD_TABLE.at(where, message))
        _add(table, name, value, where)
    return table


def _add(table: Table, name: str, threshold: float, where: Where) -> None:
    if not is_threshold(threshold):
        message = f"a threshold is a positive number that float32 holds, not {threshold!r}"
        raise FormatError(BAD_THRESHOLD.at(where, message))
    threshold = float(np.float32(threshold))
    earlier = table.thresholds.setdefault(name, threshold)
    if earlier != threshold:
        message = f"{name!r} has the threshold {earlier!r} and, further on, {threshold!r}"
        raise FormatError(SEVERAL_THRESHOLDS.at(where, message))


# -- Bitmain's text --------------------------------------------------------------------------


def _from_text(source: Source) -> Table:
    tree = parse_tree(source)
    table = Table(name=source.name, tree=tree)
    for layer in tree.trees(_LAYER):
        for name, entry in _named(layer):
            _add(table, name, entry.real(), entry.where())
        shift, multiplier = layer.get(_SHIFT), layer.get(_MULTIPLIER)
        if shift is not None:
            if not 0 <= shift.integer() <= MAX_SHIFT:
                message = f"{_SHIFT} is {shift.integer()}; a shift is 0 to {MAX_SHIFT} bits"
                raise FormatError(CANNOT_SHIFT.at(shift.where(), message))
            scaled = None if multiplier is None else multiplier.integer()
            table.shifts[layer.text("name")] = Shifted(shift.integer(), scaled)
    if not table.thresholds:
        message = f"none of its {len(tree.all(_LAYER))} layers has a {_THRESHOLD}"
        raise FormatError(BAD_TABLE.at(Where(source.name), message))
    return table


def _named(layer: Tree) -> Iterator[tuple[str, Entry]]:
    """Names of blobs and their thresholds, in one layer."""
    blobs = layer.trees(_BLOB)
    for blob in blobs:
        if (entry := blob.get(_THRESHOLD)) is None:
            raise blob.missing(_THRESHOLD)
        yield blob.text("name"), entry
    if not blobs and (own := layer.all(_THRESHOLD)):
        yield layer.text("name"), own[0]


def _text(table: Table) -> Iterator[Piece]:
    """The text with the table's shifts: as it was read, with what is new in its layers."""
    missing = dict(table.shifts)
    if table.tree is not None:
        for layer in table.tree.trees(_LAYER):
            if (shifted := missing.pop(layer.text("name"), None)) is not None:
                _note(layer, _SHIFT, shifted.shift)
                _note(layer, _MULTIPLIER, shifted.multiplier)
        yield from table.tree.pieces()
    else:
        for name, threshold in table.thresholds.items():
            yield from _layer(name, threshold, missing.pop(name, None))
    for name, shifted in missing.items():
        yield from _layer(name, None, shifted)


def _note(layer: Tree, name: str, value: int | None) -> None:
    """Set a number of a layer, unless it is there already."""
    entry = layer.get(name)
    if value is None or (entry is not None and entry.integer() == value):
        return
    if entry is None:
        layer.append(name, value)
    else:
        entry.set(value)


def _layer(name: str, threshold: float | None, shifted: Shifted | None) -> Iterator[bytes]:
    quoted = json.dumps(name, ensure_ascii=False)
    yield f"layer {{\n  name: {quoted}\n".encode()
    if threshold is not None:
        yield f"  {_THRESHOLD}: {threshold!r}\n".encode()
    if shifted is not None:
        yield f"  {_SHIFT}: {shifted.shift}\n".encode()
    if shifted is not None and shifted.multiplier is not None:
        yield f"  {_MULTIPLIER}: {shifted.multiplier}\n".encode()
    if threshold is not None:
        blob = f"{_BLOB} {{\n    name: {quoted}\n    {_THRESHOLD}: {threshold!r}\n  }}"
        yield f"  {blob}\n".encode()
    yield b"}\n"
