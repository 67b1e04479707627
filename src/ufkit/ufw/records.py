"""Which kind of record some bytes are: a database does not say."""

from __future__ import annotations

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import Source
from ufkit.ufw.annotations import AnnotatedDatum, Record
from ufkit.ufw.datum import Datum
from ufkit.ufw.rules import FOREIGN_RECORD
from ufkit.ufw.schema import ANNOTATED_DATUM, DATUM
from ufkit.wire.message import Message
from ufkit.wire.schema import MessageType
from ufkit.wire.values import fits

_FIRST_TAGS: dict[int, type[Record]] = {
    0x08: Datum,
    0x0A: AnnotatedDatum,
}  # field 1: a number, or a message


def read_record(data: bytes | memoryview, name: str = "") -> Record:
    """The record that these bytes are, of either kind; see `Datum.read`.

    Raises FormatError (UFW306) for what is neither.
    """
    kind = (_FIRST_TAGS.get(data[0]) if len(data) else None) or kind_of(data)
    if kind is None:
        raise FormatError(FOREIGN_RECORD.at(Where(name), foreign(data)))
    return kind.read(data, name)


def kind_of(data: bytes | memoryview) -> type[Record] | None:
    """Which kind of record the bytes are, by the wire types of all fields; None for neither."""
    try:
        wires = Message.read(DATUM, Source(data)).wire_types()
    except FormatError:
        return None
    if _all_fit(wires, DATUM) and wires.keys() & {4, 5, 6, 8}:
        return Datum
    if _all_fit(wires, ANNOTATED_DATUM) and wires.keys() & {1, 3}:
        return AnnotatedDatum
    return None


def _all_fit(wires: dict[int, int], type_: MessageType) -> bool:
    """Whether the fields that the type knows are of its kinds, and are most of what is there."""
    known = [number for number in wires if number in type_.numbers]
    return 2 * len(known) >= len(wires) and all(
        fits(type_.numbers[number], wires[number]) for number in known
    )


def foreign(data: bytes | memoryview) -> str:
    """What bytes that are no record look like."""
    head = bytes(data[:16])
    for magic, name in _FOREIGN.items():
        if head.startswith(magic):
            return f"it is {name}, not a record of Caffe or UFW"
    if head and all(32 <= byte < 127 or byte in b"\r\n\t" for byte in head):
        return f"it is a text that begins with {head.decode()!r}, not a record of Caffe or UFW"
    shown = head.hex(" ") or "nothing"
    return f"its {len(data)} bytes, {shown} first, are neither a Datum nor an AnnotatedDatum"


_FOREIGN = {
    b"\xff\xd8\xff": "a JPEG file as it is",
    b"\x89PNG": "a PNG file as it is",
    b"BM": "a BMP file as it is",
    b"\x93NUMPY": "a NumPy array",
    b"\x80\x02": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
}
