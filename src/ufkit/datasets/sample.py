"""What every format of datasets is read as and written from: samples, their boxes, the classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

from ufkit.core.diag import Diagnostic
from ufkit.ufw.annotations import Box
from ufkit.ufw.datum import Array
from ufkit.ufw.prototxt import Label

__all__ = ["Array", "Box", "Label", "Lazy", "Listing", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One image, or one array, with what is known of it.

    key     its name in the dataset, with `/` between folders
    image   pixels H x W (x 3, B G R), uint8; or the bytes of an image file; or the path of one,
            which is not read before it is wanted. None where there is an array
    array   numbers in the axis order of the record, of any type: what is no picture
    label   the class; None where nothing says one
    values  several labels, or labels with fractions
    boxes   objects, each with a label: 0 is the background's, so that the first class is 1;
            `difficult` is VOC's, and COCO's `iscrowd`. None where the dataset has no boxes, empty
            where there is nothing in the image
    width   of the image, in pixels; 0 where only the image tells
    """

    key: str
    image: Array | bytes | Path | None = None
    array: Array | None = None
    label: int | None = None
    values: tuple[float, ...] = ()
    boxes: tuple[Box, ...] | None = None
    width: int = 0
    height: int = 0


class Lazy(Sequence[Sample]):
    """Samples that are made from what was listed when they are asked for.

    `load` may raise UfkitError: that one sample is bad then, and the others are not.
    """

    def __init__(self, items: Sequence[Any], load: Callable[[Any], Sample]) -> None:
        self._items = items
        self._load = load

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Sample: ...

    @overload
    def __getitem__(self, at: slice) -> Lazy: ...

    def __getitem__(self, at: int | slice) -> Sample | Lazy:
        if isinstance(at, slice):
            return Lazy(self._items[at], self._load)
        return self._load(self._items[at])

    def __iter__(self) -> Iterator[Sample]:
        return map(self._load, self._items)


@dataclass(slots=True)
class Listing:
    """Samples that are not read yet, the classes, and what was noticed when listing them.

    boxes   whether samples have boxes rather than a label
    find    gives the sample of a key, or None, where that takes less than going through all
    """

    samples: Sequence[Sample]
    labels: tuple[Label, ...] = ()
    boxes: bool = False
    findings: list[Diagnostic] = field(default_factory=list)
    find: Callable[[str], Sample | None] | None = None
