"""One entry for each type of layer: what it does, what it makes of what it takes, and its work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NoReturn

from ufkit.core.diag import Diagnostic, Rule
from ufkit.ufw.blob import MAX_RANK
from ufkit.ufw.connections import AnyLayer
from ufkit.ufw.params import Parameter

Size = int | None  # None: not known before it runs
Shape = tuple[Size, ...]
Shapes = list[Shape | None]

_LARGEST = 1 << 40  # elements along an axis


class Conflict(Exception):
    """A layer cannot take what it is given; the text says why, with both numbers."""


@dataclass(slots=True)
class Use:
    """A layer, and what is known of what it is given.

    inputs   shapes of what it takes; None where nothing is known
    blobs    shapes of its weights, none where they are in no file
    told     all its fields
    param    those of its type's own message
    """

    layer: AnyLayer
    inputs: Sequence[Shape | None]
    blobs: Sequence[tuple[int, ...] | None]
    told: Parameter
    param: Parameter
    findings: list[Diagnostic] = field(default_factory=list)

    def blob(self, at: int) -> tuple[int, ...] | None:
        """The shape of its blob of that number, if it is known."""
        return self.blobs[at] if at < len(self.blobs) else None

    def conflict(self, message: str) -> NoReturn:
        raise Conflict(message)

    def report(self, rule: Rule, message: str) -> None:
        """A finding about it that does not keep its shapes from being known."""
        self.findings.append(rule.at(self.layer.where(), message, hint=""))

    def axis(self, shape: Shape, axis: int, *, end: bool = False) -> int:
        """An axis counted from the front; with `end`, the one past the last may be meant too."""
        found = axis + len(shape) if axis < 0 else axis
        if not 0 <= found < len(shape) + end:
            self.conflict(f"axis {axis} is not in {written(shape)}, which has {len(shape)} axes")
        return found

    def positive(self, value: int, name: str) -> int:
        """A number that has to be at least 1."""
        if value < 1:
            self.conflict(f"{name} is {value}; it is 1 at least")
        return value


@dataclass(frozen=True, slots=True)
class LayerType:
    """A type of layer.

    doc        what it does, in a sentence
    shapes     of what it makes; where there are more, they are not known
    parameter  the message of its settings
    blobs      what its weights are called, and their axes: K output and C input channels, H, W
    macs       multiply-accumulates, from the use and the shape of its first result
    takes      how many arrays it needs
    """

    name: str
    doc: str
    shapes: Callable[[Use], Shapes]
    parameter: str = ""
    blobs: tuple[tuple[str, str], ...] = ()
    macs: Callable[[Use, Shape], Size] | None = None
    takes: int = 1


def same(use: Use) -> Shapes:
    """What comes out is as what goes in."""
    return [use.inputs[0]]


def checked(shape: Shape | None) -> Shape | None:
    """A shape that an array can have. Raises Conflict."""
    if shape is None:
        return None
    if len(shape) > MAX_RANK:
        raise Conflict(f"the result would have {len(shape)} axes; an array has {MAX_RANK} at most")
    for size in shape:
        if size is not None and not 0 <= size < _LARGEST:
            raise Conflict(f"the result would be {written(shape)}, which no array can be")
    return shape


def product(sizes: Iterable[Size]) -> Size:
    """The product of sizes; None where one is not known."""
    known = [*sizes]
    return None if None in known else prod(size for size in known if size is not None)


def work(elements: Shape, each: Size) -> Size:
    """So many multiply-accumulates for each element; of one sample where the batch is open."""
    many = product((1 if elements[0] is None else elements[0], *elements[1:])) if elements else 1
    return product((many, each))


def fits(a: Size, b: Size) -> bool:
    """Whether two sizes may be the same."""
    return a is None or b is None or a == b


def written(shape: Sequence[Size] | None) -> str:
    """A shape in a message: [1, 3, ?, ?]."""
    return "?" if shape is None else f"[{', '.join('?' if s is None else str(s) for s in shape)}]"
