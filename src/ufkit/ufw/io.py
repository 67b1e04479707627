"""Opening and saving nets, their texts, and blobs; what a file is, is told by its content."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from typing import IO

from ufkit.core.diag import Diagnostic, FormatError, NotSupportedError, Where
from ufkit.core.files import PathLike, Source, replacing
from ufkit.ufw.annotations import Record
from ufkit.ufw.blob import DIFFS, STORAGES, Blob
from ufkit.ufw.net import Net
from ufkit.ufw.prototxt import Label, LabelMap, Prototxt
from ufkit.ufw.rules import NOT_NET, UNKNOWN_FIELDS
from ufkit.ufw.schema import BLOB, DATUM, NET
from ufkit.wire.json import json_chunks, parse_json
from ufkit.wire.message import Message
from ufkit.wire.pieces import write
from ufkit.wire.reader import varint
from ufkit.wire.schema import FieldType
from ufkit.wire.sniff import (
    CAFFE_BLOB,
    CAFFE_JSON,
    CAFFE_LABELS,
    CAFFE_NET,
    CAFFE_TABLE,
    CAFFE_TEXT,
    Kind,
    identify,
)
from ufkit.wire.text import parse_text, text_lines
from ufkit.wire.tree import in_quotes, parse_tree

BINARY, TEXT, JSON = "binary", "text", "json"
SUFFIXES = {".prototxt": TEXT, ".pbtxt": TEXT, ".txt": TEXT, ".json": JSON}

BACKGROUND = 0  # the label of what is no object
_FEW = 8  # numbers of a storage that the short text prints
_NUMBERS = frozenset((*STORAGES, *DIFFS, "winograd_data_fixpoint", "float_data"))


def open_net(path: PathLike | Source, *, mmap: bool = True) -> Net:
    """A net with its weights: .caffemodel, .fp32umodel, .int8umodel, or its text or JSON form.

    A binary file stays where it is: no more of it is read than tells what it is, and damage
    shows when the part that has it is asked for. Close the result, or use it in a `with` block,
    to let go of the file. A text must have no fields but Caffe's; see `open_prototxt` for others.
    Raises FileError when it cannot be read; FormatError (UFW001) that says what else the file is.
    """
    kinds = CAFFE_NET, CAFFE_JSON, CAFFE_TEXT
    source, kind = _opened(path, "net with weights", *kinds, mmap=mmap)
    if kind is CAFFE_NET:
        return Net(Message.read(NET, source))
    return Net((parse_json if kind is CAFFE_JSON else parse_text)(source, NET), source)


def open_prototxt(path: PathLike | Source) -> Prototxt:
    """The text of a net, or a table of its thresholds (.prototxt), with whatever fields it has.

    Raises as `open_net`, and FormatError with the line (UFK110).
    """
    return Prototxt(parse_tree(_opened(path, "text of a net", CAFFE_TEXT, CAFFE_TABLE)[0]))


def open_labels(path: PathLike | Source) -> LabelMap:
    """A label map (.prototxt). Raises as `open_prototxt`."""
    return LabelMap(parse_tree(_opened(path, "label map", CAFFE_LABELS)[0]))


def open_blob(path: PathLike | Source) -> Blob:
    """The array of a file that is one blob (.binaryproto, a mean image). Raises as `open_net`."""
    return Blob(Message.read(BLOB, _opened(path, "file of one blob", CAFFE_BLOB)[0]))


def _opened(
    path: PathLike | Source, wanted: str, *kinds: Kind, mmap: bool = True
) -> tuple[Source, Kind]:
    """A file, and which of the kinds it is. Raises FormatError (UFW001) where it is none."""
    source = path if isinstance(path, Source) else Source.open(path, mmap=mmap)
    found = identify(source)
    if found not in kinds:
        message = f"this is no {wanted}: it is {found.description}"
        raise FormatError(NOT_NET.at(Where(source.name), message, hint=found.hint))
    return source, found


def form_of(path: PathLike) -> str:
    """The form a net of that name is written in: binary unless the suffix says otherwise."""
    return SUFFIXES.get(os.path.splitext(os.fspath(path))[1].lower(), BINARY)


def save_net(net: Net, path: PathLike, *, form: str | None = None, full: bool = True) -> None:
    """Write a net; the suffix tells the form unless `form` does.

    Binary: what was not edited is copied byte for byte. Text and JSON: everything, or, of text
    without `full`, no long rows of numbers. Written beside and renamed, so saving over the file
    that is open works.
    Raises FileError; NotSupportedError (UFW007) with every field that only binary can hold.
    """
    form = form or form_of(path)
    if form != BINARY and (lost := unknown_fields(net)):
        raise NotSupportedError(*lost)
    with replacing(path) as out:
        write_net(net, out, form=form, full=full)


def write_net(net: Net, out: IO[bytes], *, form: str = BINARY, full: bool = True) -> None:
    """Append a net to `out`, in text with a comment for what is left out; see `save_net`."""
    _write(net.message, out, form, full)


def write_blob(blob: Blob, out: IO[bytes], *, form: str = BINARY, full: bool = True) -> None:
    """Append a blob to `out`; see `write_net`."""
    _write(blob.message, out, form, full)


def write_record(record: Record, out: IO[bytes], *, form: str = BINARY, full: bool = True) -> None:
    """Append a record of a dataset to `out`; see `write_net`."""
    _write(record.message, out, form, full)


def _write(message: Message, out: IO[bytes], form: str, full: bool) -> None:
    if form == BINARY:
        write(message.pieces(), out)
        return
    text = io.TextIOWrapper(out, encoding="utf-8", newline="\n", write_through=True)
    lines = text_lines(message, remark=_complete if full else _shortened)
    for piece in json_chunks(message) if form == JSON else lines:
        text.write(piece)
    text.detach()


def save_prototxt(text: Prototxt, path: PathLike) -> None:
    """Write the text of a net; what was not edited comes as it was, spaces and comments too."""
    with replacing(path) as out:
        write(text.tree.pieces(), out)


def save_labels(labels: Iterable[Label], path: PathLike) -> None:
    """Write a label map as SSD's tools have it: the background is label 0."""
    rows = list(labels)
    if all(item.label != BACKGROUND for item in rows):
        rows.insert(0, Label(BACKGROUND, "none_of_the_above", "background"))
    with replacing(path) as out:
        for item in rows:
            name, shown = in_quotes(item.name), in_quotes(item.display_name)
            text = f"item {{\n  name: {name}\n  label: {item.label}\n  display_name: {shown}\n}}\n"
            out.write(text.encode("utf-8", "surrogateescape"))


def save_blob(blob: Blob, path: PathLike) -> None:
    """Write a blob as a file of its own; as `save_net`, in binary."""
    with replacing(path) as out:
        write(blob.message.pieces(), out)


def unknown_fields(net: Net) -> list[Diagnostic]:
    """What only the binary form can hold: fields that the schema here has no name for."""
    found = [(net.where(), _unknown(net.message))]
    for layer in net.layers:
        found += [(layer.where(), _unknown(message)) for message in _inside(layer.message)]
    return [UNKNOWN_FIELDS.at(where, text) for where, text in found if text]


def _inside(message: Message) -> Iterator[Message]:
    """A message and all in it."""
    yield message
    for field in message.known():
        if field.kind == "message":
            name = field.name
            for child in message.all(name) if field.repeated else [message.get(name)]:
                yield from _inside(child)


def _unknown(message: Message) -> str | None:
    """The comment on fields that are not known."""
    lost = message.unknown()
    if not lost:
        return None
    source = message.span.source
    numbers = {varint(source, start, stop)[0] >> 3 for start, _, _, stop in lost}
    named = ", ".join(map(str, sorted(numbers)))
    nbytes = sum(stop - start for start, _, _, stop in lost)
    return f"{message.type.name} has fields not known: {named} ({nbytes} bytes)"


def _complete(message: Message, field: FieldType | None) -> str | None:
    return _unknown(message) if field is None else None


def _shortened(message: Message, field: FieldType | None) -> str | None:
    """The comment on a storage with more than a few numbers."""
    if field is None:
        return _unknown(message)
    if message.type not in (BLOB, DATUM) or field.name not in _NUMBERS:
        return None
    records = message.records(field.name)
    nbytes = sum(stop - start for start, _, _, stop in records)
    if message.held(field.name) is None and nbytes <= 4 * _FEW:
        return None
    return f"{field.name}: {nbytes:,} bytes left out"
