"""Records with boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ufkit.core.diag import Where
from ufkit.core.files import Source
from ufkit.ufw.datum import Array, Datum
from ufkit.ufw.schema import ANNOTATED_DATUM, ANNOTATION, ANNOTATION_GROUP, BOX, DATUM
from ufkit.wire.message import Message, to_bytes
from ufkit.wire.schema import EnumType

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
