"""Opening and saving nets, their texts, and blobs; what a file is, is told by its content."""

from __future__ import annotations

from collections.abc import Iterable

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import PathLike, Source, replacing
from ufkit.ufw.blob import Blob
from ufkit.ufw.net import Net
from ufkit.ufw.prototxt import Prototxt
from ufkit.ufw.rules import NOT_NET
from ufkit.ufw.schema import BLOB, NET
from ufkit.wire.message import Message, Piece, write
from ufkit.wire.sniff import CAFFE_BLOB, CAFFE_NET, CAFFE_TEXT, Kind, identify
from ufkit.wire.tree import parse_tree


def open_net(path: PathLike | Source, *, mmap: bool = True) -> Net:
    """A net with its weights: .caffemodel, .fp32umodel, .int8umodel.

    No more of it is read than tells what it is; damage shows when the part that has it is asked
    for. Close the result, or use it in a `with` block, to let go of the file.
    Raises FileError when it cannot be read; FormatError (UFW001) that says what else the file is.
    """
    return Net(Message.read(NET, _source(path, "net with weights", CAFFE_NET, mmap=mmap)))


def open_prototxt(path: PathLike | Source) -> Prototxt:
    """The text of a net (.prototxt). Raises as `open_net`, and FormatError with the line."""
    return Prototxt(parse_tree(_source(path, "text of a net", CAFFE_TEXT)))


def open_blob(path: PathLike | Source) -> Blob:
    """The array of a file that is one blob (.binaryproto, a mean image). Raises as `open_net`."""
    return Blob(Message.read(BLOB, _source(path, "file of one blob", CAFFE_BLOB)))


def _source(path: PathLike | Source, wanted: str, kind: Kind, *, mmap: bool = True) -> Source:
    source = path if isinstance(path, Source) else Source.open(path, mmap=mmap)
    found = identify(source)
    if found is not kind:
        message = f"this is no {wanted}: it is {found.description}"
        raise FormatError(NOT_NET.at(Where(source.name), message, hint=found.hint))
    return source


def save_net(net: Net, path: PathLike) -> None:
    """Write a net; what was not edited is copied byte for byte.

    Written beside and renamed, so saving over the file that is open works. Raises FileError.
    """
    _save(net.message.pieces(), path)


def save_prototxt(text: Prototxt, path: PathLike) -> None:
    """Write the text of a net; as `save_net`, spaces and comments included."""
    _save(text.tree.pieces(), path)


def save_blob(blob: Blob, path: PathLike) -> None:
    """Write a blob as a file of its own; as `save_net`."""
    _save(blob.message.pieces(), path)


def _save(pieces: Iterable[Piece], path: PathLike) -> None:
    with replacing(path) as out:
        write(pieces, out)
