"""Records with boxes, and which kind of record some bytes are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ufkit.core.diag import FormatError, Where
from ufkit.core.files import Source
from ufkit.ufw.datum import Array, Datum
from ufkit.ufw.rules import FOREIGN_RECORD
from ufkit.ufw.schema import ANNOTATED_DATUM, ANNOTATION, ANNOTATION_GROUP, BOX, DATUM
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.schema import EnumType, MessageType
from ufkit.wire.values import fits

_TYPES: EnumType = ANNOTATED_DATUM.fields["type"].type


@dataclass(frozen=True, slots=True)
class Box:
    """An object in fractions of the image's width and height; None for what is not told.

    label       its class: `group_label` of the group it is in, as SSD reads it
    instance    counts within its class from 0
    difficult   left out when detectors are scored
    score, size of a detection
    own_label   the box's own field `label`, which SSD's tools leave empty
    """

    xmin: float
    ymin: float
    xmax: float
    ymax: float
    label: int | None = None
    instance: int | None = None
    difficult: bool | None = None
    score: float | None = None
    size: float | None = None
    own_label: int | None = None


# Fields of NormalizedBBox by those of a Box.
_OPTIONAL = {"difficult": "difficult", "score": "score", "size": "size", "own_label": "label"}
_CORNERS = ("xmin", "ymin", "xmax", "ymax")


class AnnotatedDatum:
    """One record of a detector's dataset: a Datum and the objects in it.

    Nothing is decoded before it is asked for; a record that was not edited is written as it came.
    """

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message

    @classmethod
    def read(cls, data: bytes | memoryview, name: str = "") -> AnnotatedDatum:
        """The record that these bytes are; see `Datum.read`."""
        return cls(Message.read(ANNOTATED_DATUM, Source(data, name)))

    @classmethod
    def of(cls, datum: Datum, boxes: Iterable[Box] | None) -> AnnotatedDatum:
        """A record of a Datum, which it takes over, and boxes: a group for each class in order of
        first appearance, instances counted where a box has no number.

        None for boxes: the label of the Datum is all there is, as in sets for classifiers. SSD's
        tools give the Datum the label -1 where there are boxes.
        Raises RequestError (UFK112) for numbers that do not fit.
        """
        record = Message.new(ANNOTATED_DATUM, datum=datum.message)
        if boxes is not None:
            record.set("type", _TYPES.numbers["BBOX"])
            record.set("annotation_group", _groups(boxes))
        return cls(record)

    @property
    def where(self) -> Where:
        """Its place, for diagnostics."""
        return Where(self.message.span.source.name)

    @property
    def datum(self) -> Datum:
        """Image and label; of no fields at all where the record has none."""
        found = self.message.get("datum")
        return Datum(Message.new(DATUM) if found is None else found)

    @property
    def type(self) -> str:
        """`BBOX`, or "" where the label of the Datum is all."""
        if not self.message.has("type"):
            return ""
        number = self.message.get("type")
        return _TYPES.name_of(number) or str(number)

    @property
    def label(self) -> int | None:
        """The label of the Datum; that of a box is its class."""
        return self.datum.label

    @property
    def groups(self) -> list[tuple[int | None, list[Box]]]:
        """Objects by class, in the order of the record; a class may come twice, or be empty."""
        found = []
        for group in self.message.all("annotation_group"):
            label = group.get("group_label") if group.has("group_label") else None
            found.append((label, [_box(each, label) for each in group.all("annotation")]))
        return found

    @property
    def boxes(self) -> list[Box]:
        """All objects, in the order of the record."""
        return [box for _, boxes in self.groups for box in boxes]

    def set_boxes(self, boxes: Iterable[Box]) -> None:
        """Replace all objects, as `of` does."""
        self.message.set("type", _TYPES.numbers["BBOX"])
        self.message.set("annotation_group", _groups(boxes))

    def array(self) -> Array:
        """The array of the Datum."""
        return self.datum.array()

    def to_bytes(self) -> bytes:
        """The record as it goes into a database."""
        return to_bytes(self.message)

    def __repr__(self) -> str:
        return f"AnnotatedDatum({self.datum!r}, {len(self.boxes)} boxes)"


Record = Datum | AnnotatedDatum


def _box(annotation: Message, label: int | None) -> Box:
    bbox = annotation.get("bbox") or Message.new(BOX)
    told: dict[str, Any] = {
        name: bbox.get(field) for name, field in _OPTIONAL.items() if bbox.has(field)
    }
    if annotation.has("instance_id"):
        told["instance"] = annotation.get("instance_id")
    xmin, ymin, xmax, ymax = map(bbox.get, _CORNERS)
    return Box(xmin, ymin, xmax, ymax, label, **told)


def _groups(boxes: Iterable[Box]) -> list[Message]:
    by_class: dict[int | None, list[Box]] = {}
    for box in boxes:
        by_class.setdefault(box.label, []).append(box)
    groups = []
    for label, members in by_class.items():
        group = Message.new(ANNOTATION_GROUP, annotation=list(_annotations(members)))
        if label is not None:
            group.set("group_label", label)
        groups.append(group)
    return groups


def _annotations(boxes: list[Box]) -> Iterator[Message]:
    for count, box in enumerate(boxes):
        bbox = Message.new(BOX, **{name: getattr(box, name) for name in _CORNERS})
        for name, field in _OPTIONAL.items():
            if (value := getattr(box, name)) is not None:
                bbox.set(field, value)
        instance = count if box.instance is None else box.instance
        yield Message.new(ANNOTATION, instance_id=instance, bbox=bbox)


# -- which kind ------------------------------------------------------------------------------

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
