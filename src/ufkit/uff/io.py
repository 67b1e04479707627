"""Opening and saving UFF: binary, text, JSON."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import IO

from ufkit.core.diag import FileError, FormatError, Where
from ufkit.core.files import PathLike, Source, Span, replacing
from ufkit.core.rules import CANNOT_READ
from ufkit.uff.const import SKIP_LIMIT, skipped_marker, skipped_weights
from ufkit.uff.model import MetaGraph
from ufkit.uff.rules import EMPTY, NOT_UFF, SKIPPED_VALUES
from ufkit.uff.schema import METAGRAPH
from ufkit.wire.json import json_chunks, parse_json
from ufkit.wire.message import Message
from ufkit.wire.pieces import write
from ufkit.wire.sniff import EMPTY as EMPTY_FILE
from ufkit.wire.sniff import UFF, UFF_JSON, UFF_TEXT, Kind, identify, identify_folder
from ufkit.wire.text import parse_text, text_lines

BINARY, TEXT, JSON = "binary", "text", "json"
TEXT_ALIASES = {"l": "val"}  # early converters wrote the first
_SUFFIXES = {".pbtxt": TEXT, ".prototxt": TEXT, ".txt": TEXT, ".json": JSON}


def open(path: PathLike | Source, *, mmap: bool = True) -> MetaGraph:
    """A UFF file of any form, told by its content.

    A binary file stays where it is: no more of it is read than tells what it is, and damage
    shows when the part that has it is asked for. Close the result, or use it in a `with` block,
    to let go of the file.
    Raises FileError when it cannot be read; FormatError that says what the file is when it is no
    UFF (UFF001, UFF002), or where a text or JSON form is wrong.
    """
    source = source_of(path, mmap=mmap)
    kind = identify(source)
    if kind is UFF:
        return MetaGraph(Message.read(METAGRAPH, source))
    if kind is UFF_TEXT:
        return MetaGraph(parse_text(source, METAGRAPH, aliases=TEXT_ALIASES), source)
    if kind is UFF_JSON:
        return MetaGraph(parse_json(source, METAGRAPH), source)
    raise refusal(source, kind)


def refusal(source: Source, kind: Kind) -> FormatError:
    """The error that says what a file is which is no UFF."""
    rule = EMPTY if kind is EMPTY_FILE else NOT_UFF
    message = f"this is not a UFF file: it is {kind.description}"
    return FormatError(rule.at(Where(source.name), message, hint=kind.hint))


def source_of(path: PathLike | Source, *, mmap: bool = True) -> Source:
    """The bytes of a file. Raises FileError, which names a folder for what it is."""
    if isinstance(path, Source):
        return path
    try:
        return Source.open(path, mmap=mmap)
    except FileError as error:
        if (kind := identify_folder(path)) is None:
            raise
        message = f"this is not a file: it is {kind.description}"
        found = CANNOT_READ.at(Where(os.fspath(path)), message, hint=kind.hint)
        raise FileError(found) from error


def form_of(path: PathLike) -> str:
    """The form a file of that name is written in: binary unless the suffix says otherwise."""
    return _SUFFIXES.get(os.path.splitext(os.fspath(path))[1].lower(), BINARY)


def save(meta: MetaGraph, path: PathLike, *, form: str | None = None, full: bool = False) -> None:
    """Write a UFF file; the suffix tells the form unless `form` does.

    Binary: what was not edited is copied byte for byte. Text: as NVIDIA's debug twin, maps
    sorted and blobs over 32 bytes left out, or with `full` everything as it is. JSON: everything.
    Written beside and renamed, so saving over the file that is open works.
    Raises FileError, and FormatError (UFF204) where binary needs weights that a text left out.
    """
    with replacing(path) as out:
        write_to(meta, out, form=form or form_of(path), full=full)


def write_to(meta: MetaGraph, out: IO[bytes], *, form: str = BINARY, full: bool = False) -> None:
    """Append a UFF file to `out`; as `save` otherwise."""
    if form == BINARY:
        if missing := skipped_weights(meta):
            message = (
                f"the weights of {len(missing)} constants were left out of the text this was "
                f"read from, {missing[0]!r} among them; a binary UFF needs them"
            )
            raise FormatError(SKIPPED_VALUES.at(Where(meta.source.name), message))
        write(meta.message.pieces(), out)
        return
    text = io.TextIOWrapper(out, encoding="utf-8", newline="\n", write_through=True)
    chunks = json_chunks(meta.message) if form == JSON else _text(meta, full)
    for chunk in chunks:
        text.write(chunk)
    text.detach()


def _text(meta: MetaGraph, full: bool) -> Iterator[str]:
    if full:
        return text_lines(meta.message)
    return text_lines(meta.message, blob=_shortened, sort_entries=True)


def _shortened(blob: Span) -> bytes | None:
    return skipped_marker(blob.nbytes) if blob.nbytes > SKIP_LIMIT else None
