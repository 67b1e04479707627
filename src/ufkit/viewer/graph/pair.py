"""Two models side by side: which item goes with which, and what differs between them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ufkit.core.comparison import Comparison

from ufkit.core.diag import Diagnostic, UfkitError
from ufkit.viewer.content import Picture, Weights
from ufkit.viewer.graph.arrays import BINS, Array, numbers, spread, statistics
from ufkit.viewer.subject import Subject

ADDED, REMOVED, CHANGED, RENAMED = "added", "removed", "changed", "renamed"
_MOST = 5_000  # differences that are listed
_MOST_CHANNELS = 4096


class Pair:
    """What `ufkit diff` says of two files, found when it is first asked for.

    failed   why they cannot be compared, where they cannot
    """

    def __init__(self, a: Subject, b: Subject) -> None:
        self.sides = (a, b)
        self._index: dict[tuple[int, int], dict[str, int]] = {}
        self._arrays: dict[int, dict[str, tuple[int, int, Weights]]] = {}

    @cached_property
    def _result(self) -> tuple[Comparison | None, tuple[Diagnostic, ...]]:
        from ufkit.conversion.compare import diff

        try:
            return diff(*(side.model.opened for side in self.sides if side.model)), ()
        except UfkitError as error:
            return None, error.diagnostics

    @property
    def comparison(self) -> Comparison | None:
        """The comparison; None where there is none."""
        return self._result[0]

    @property
    def failed(self) -> tuple[Diagnostic, ...]:
        return self._result[1]

    # -- items -------------------------------------------------------------------------------

    def pictures(self, side: int) -> list[Picture]:
        """The graphs of a side; none of a damaged file."""
        model = self.sides[side].model
        return [*model.pictures] if model else []

    def find(self, side: int, picture: int, key: str) -> int | None:
        """The item of the key that a difference has."""
        pictures = self.pictures(side)
        if picture >= len(pictures):
            return None
        if (side, picture) not in self._index:
            items = pictures[picture].items
            self._index[side, picture] = {item.key: at for at, item in enumerate(items)}
        return self._index[side, picture].get(self._bare(side, picture, key))

    def _bare(self, side: int, picture: int, key: str) -> str:
        """A key of a difference without its graph; they have it where a file is of several."""
        if len(self.pictures(0)) == len(self.pictures(1)) == 1:
            return key
        return key.removeprefix(f"{self.pictures(side)[picture].name}/")

    def array(self, side: int, name: str) -> tuple[int, int, Weights] | None:
        """Item, number and array of those weights of the first picture."""
        if side not in self._arrays:
            found: dict[str, tuple[int, int, Weights]] = {}
            for picture in self.pictures(side)[:1]:
                for at, item in enumerate(picture.items):
                    for number, weights in enumerate(item.weights):
                        if not item.folded:
                            found.setdefault(weights.name, (at, number, weights))
            self._arrays[side] = found
        return self._arrays[side].get(self._bare(side, 0, name)) if self.pictures(side) else None

    def partners(self, picture: int) -> list[int]:
        """For each item of a, the one of b that goes with it; -1 for none."""
        renamed = {item.a: item.b for item in self.comparison.renamed} if self.comparison else {}
        pictures = self.pictures(0)
        items = pictures[picture].items if picture < len(pictures) else []
        found = (self.find(1, picture, renamed.get(item.key, item.key)) for item in items)
        return [-1 if at is None else at for at in found]

    def changes(self, side: int, picture: int) -> dict[int, str]:
        """What is different about items of a side, by their number."""
        if self.comparison is None:
            return {}
        alone = self.comparison.added if side else self.comparison.removed
        named = [(ref.id, ADDED if side else REMOVED) for ref in alone]
        named += [(item.b if side else item.a, RENAMED) for item in self.comparison.renamed]
        named += [(item.id, CHANGED) for item in self.comparison.changed]
        found = {}
        for key, change in named:
            if (at := self.find(side, picture, key)) is not None:
                found[at] = change
        for weights in self.comparison.weights:
            if picture == 0 and (place := self.array(side, weights.id)):
                found.setdefault(place[0], CHANGED)
        owner = self.sides[side].owner
        for at, change in [*found.items()]:
            found.setdefault(owner(picture, at), CHANGED if change != RENAMED else RENAMED)
        return found

    # -- the list ----------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """The differences, each with the items it is about: what is listed on the page."""
        return [row for row, _ in zip(self._rows(), range(_MOST), strict=False)]

    def _rows(self) -> Iterator[dict[str, Any]]:
        result = self.comparison
        if result is None:
            return
        for change in result.changes:
            yield {"kind": "file", "key": change.name, "changes": [change.as_dict()]}
        for kind, refs, side in ((REMOVED, result.removed, 0), (ADDED, result.added, 1)):
            for ref in refs:
                yield {"kind": kind, **self._places(ref.id, side), "operation": ref.operation}
        for pair in result.renamed:
            sides = {"a": self.find(0, 0, pair.a), "b": self.find(1, 0, pair.b)}
            yield {"kind": RENAMED, "key": pair.a, "to": pair.b, **sides}
        for item in result.changed:
            changes = [change.as_dict() for change in item.changes]
            yield {"kind": CHANGED, **self._places(item.id), "changes": changes}
        for number, weights in enumerate(result.weights):
            places = [self.array(side, weights.id) for side in (0, 1)]
            yield {
                "kind": "weights",
                "key": weights.id,
                "number": number,
                "types": [weights.a, weights.b],
                "distance": _finite(weights.distance.as_dict()) if weights.distance else None,
                "a": places[0][0] if places[0] else None,
                "b": places[1][0] if places[1] else None,
            }

    def _places(self, key: str, only: int | None = None) -> dict[str, Any]:
        sides = {
            name: self.find(side, 0, key) if only in (None, side) else None
            for side, name in enumerate("ab")
        }
        return {"key": key, **sides}

    def weights(self, number: int) -> dict[str, Any] | None:
        """Plots of the weights of a difference; None where they cannot be put side by side."""
        assert self.comparison is not None
        name = self.comparison.weights[number].id
        places = [self.array(side, name) for side in (0, 1)]
        if places[0] is None or places[1] is None:
            return None
        a, b = (place[2].read() for place in places if place)
        if a.shape != b.shape or a.dtype.kind not in "iuf" or b.dtype.kind not in "iuf":
            return None
        return apart(a, b, places[0][2].channel)


def _finite(numbers: dict[str, Any]) -> dict[str, Any]:
    """Numbers that JSON can hold: what is infinite is said in words."""
    return {
        name: value if isinstance(value, int) or np.isfinite(value) else "infinite"
        for name, value in numbers.items()
    }


def apart(a: Array, b: Array, channel: int | None) -> dict[str, Any]:
    """Two arrays of one shape on one scale, and how far apart they are, by channel too.

    What is not finite, on either side, is left out of the differences.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # infinities, and NaNs that signal
        wide = [side.astype(np.float64) for side in (a, b)]
        difference = wide[1] - wide[0]
    kept = [side[np.isfinite(side)] for side in wide]
    low = min((float(side.min()) for side in kept if side.size), default=0.0)
    high = max((float(side.max()) for side in kept if side.size), default=0.0)
    edges = _edges(low, high)
    found = statistics(difference)
    reach = max(abs(found.least or 0.0), abs(found.greatest or 0.0))
    both = difference[np.isfinite(difference)]
    result: dict[str, Any] = {
        "edges": edges,
        "counts": [np.histogram(side, edges)[0].tolist() for side in kept],
        "channels": [],
        "difference": {
            "edges": _edges(-reach, reach),
            "counts": np.histogram(both, _edges(-reach, reach))[0].tolist(),
            "greatest": reach,
            "root_mean_square": float(np.hypot(found.mean or 0.0, found.deviation or 0.0)),
            "not_finite": found.not_finite,
        },
    }
    if channel is not None and a.ndim > 1 and a.shape[channel] <= _MOST_CHANNELS and a.size:
        others = tuple(axis for axis in range(a.ndim) if axis != channel)
        keep = np.isfinite(difference)
        far = np.max(np.abs(difference), axis=others, where=keep, initial=-np.inf)
        result["channels"] = numbers(far)
    return result


def _edges(low: float, high: float) -> list[float]:
    return np.linspace(*spread(low, high), BINS + 1).tolist()  # type: ignore[no-any-return]
