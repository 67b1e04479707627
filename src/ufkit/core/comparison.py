"""What a difference between two models is, whatever they were read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ufkit.core.diag import Diagnostic
from ufkit.core.elements import Distance


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()  # what one side of a Change has where only the other has something


@dataclass(frozen=True, slots=True)
class Change:
    """Something that both sides have a value for, or one; values are those that JSON has."""

    name: str
    a: Any = ABSENT
    b: Any = ABSENT

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the side that is absent is left out."""
        sides = {"a": self.a, "b": self.b}
        return {"name": self.name} | {k: v for k, v in sides.items() if v is not ABSENT}


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node that only one side has."""

    id: str
    operation: str
    inputs: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"id": self.id, "operation": self.operation, "inputs": list(self.inputs)}


@dataclass(frozen=True, slots=True)
class Renamed:
    """A node that has another id in b and is otherwise the same, its inputs renamed with it."""

    a: str
    b: str
    operation: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"a": self.a, "b": self.b, "operation": self.operation}


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node of both sides that is not the same; `operation` is that of a."""

    id: str
    operation: str
    changes: tuple[Change, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        changes = [change.as_dict() for change in self.changes]
        return {"id": self.id, "operation": self.operation, "changes": changes}


@dataclass(frozen=True, slots=True)
class WeightsChange:
    """Weights that are not the same.

    a, b      type and shape, as `float32[3, 3, 1, 16]`
    distance  of the elements; None where they cannot be held against each other
    """

    id: str
    a: str
    b: str
    distance: Distance | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        distance = self.distance.as_dict() if self.distance else None
        return {"id": self.id, "a": self.a, "b": self.b, "distance": distance}


@dataclass(slots=True)
class Comparison:
    """Two models held against each other.

    a, b             names of the files
    tolerance        weights whose relative distance is no greater count as the same
    changes          of the files and graphs: versions, descriptors, inputs, outputs
    removed, added   nodes of a alone, of b alone
    renamed          nodes that differ in nothing but their id
    changed          nodes of both that differ
    weights          weights of both that differ
    unmatched        nodes of either side without a counterpart where that may well be: of a model
                     that another program made, compared by name
    nodes            how many nodes both have
    compared         how many weights were compared
    left_out         ids of weights whose values could not be compared, and why not is among
                     `diagnostics`; their types and shapes are equal
    diagnostics      how the comparison was made where that is not plain
    """

    a: str
    b: str
    tolerance: float = 0.0
    changes: list[Change] = field(default_factory=list)
    removed: list[NodeRef] = field(default_factory=list)
    added: list[NodeRef] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)
    changed: list[NodeChange] = field(default_factory=list)
    weights: list[WeightsChange] = field(default_factory=list)
    unmatched: list[NodeRef] = field(default_factory=list)
    nodes: int = 0
    compared: int = 0
    left_out: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        parts = (self.changes, self.removed, self.added, self.renamed, self.changed, self.weights)
        return not any(parts)

    def hold(self, name: str, a: Any, b: Any) -> None:
        """Hold two values of the file against each other: a change where they differ."""
        if a != b:
            self.changes.append(Change(name, a, b))

    def weigh(self, id_: str, a: str, b: str, distance: Distance | None) -> None:
        """Take weights as compared, and add them where they differ by more than the tolerance."""
        self.compared += 1
        within = distance is not None and (
            not distance.different or (self.tolerance and distance.relative <= self.tolerance)
        )
        if a != b or not within:
            self.weights.append(WeightsChange(id_, a, b, distance))

    def as_dict(self) -> dict[str, Any]:
        """For JSON; diagnostics are left to the caller."""
        return {
            "a": self.a,
            "b": self.b,
            "same": self.same,
            "tolerance": self.tolerance,
            "nodes": self.nodes,
            "changes": [item.as_dict() for item in self.changes],
            "removed": [item.as_dict() for item in self.removed],
            "added": [item.as_dict() for item in self.added],
            "renamed": [item.as_dict() for item in self.renamed],
            "changed": [item.as_dict() for item in self.changed],
            "unmatched": [item.as_dict() for item in self.unmatched],
            "weights": {
                "compared": self.compared,
                "left_out": self.left_out,
                "different": [item.as_dict() for item in self.weights],
            },
        }
