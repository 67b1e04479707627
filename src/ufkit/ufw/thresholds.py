"""Which threshold a layer's input and output have, where a table names only some blobs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from ufkit.ufw.net import Layer, Net

# Layers that give out what they take, or a part of it: one threshold does for both. ONNC's tool
# folds thresholds over ReLU and Flatten likewise, both ways.
SAME = frozenset({"Dropout", "Flatten", "Permute", "ReLU", "ReLU6", "Reshape", "Split"})

State = tuple[str, int]  # a blob, and how often it has been computed anew in place


class Thresholds:
    """Thresholds of what the layers of a net take and make: those of a table, and what follows.

    A blob that the table lacks has that of the blob it is a copy of (Split, Flatten, ...) or, when
    ReLU or the like is all that takes it, that of the result.

    A blob computed anew in place is several arrays of one name. The table means the last of them;
    unless it has the name of the layer that makes that one, and then it means the first.
    """

    def __init__(self, net: Net, table: Mapping[str, float]) -> None:
        self._takes: dict[Layer, State] = {}
        self._makes: dict[Layer, State] = {}
        self._rewriters: dict[str, list[Layer]] = defaultdict(list)
        self._takers: Counter[State] = Counter()  # beside those that leave it where it is
        for layer in net.layers:
            states = [self._state(name) for name in layer.bottoms]
            if states:
                self._takes[layer] = states[0]
            in_place = set(layer.bottoms) & set(layer.tops)
            if layer.type not in SAME:
                for name in in_place:
                    self._rewriters[name].append(layer)
            if layer.type not in SAME or not in_place:
                self._takers.update(states)
            if layer.tops:
                self._makes[layer] = self._state(layer.tops[0])
        self._origins: dict[State, State] = {}  # of copies
        self.known = dict(self._named(table))
        self._fold([layer for layer in net.layers if layer.type in SAME and layer.bottoms])

    def _state(self, name: str) -> State:
        return name, len(self._rewriters.get(name, ()))

    def _named(self, table: Mapping[str, float]) -> Iterator[tuple[State, float]]:
        """What the table says itself."""
        for name, threshold in table.items():
            rewriters = self._rewriters.get(name, [])
            if rewriters and rewriters[-1].name not in table:
                yield (name, len(rewriters)), threshold
                continue
            yield (name, 0), threshold
            for at, layer in enumerate(rewriters, 1):
                if layer.name in table:
                    yield (name, at), table[layer.name]

    def _fold(self, same: list[Layer]) -> None:
        for layer in same:
            taken = self._takes[layer]
            for name in set(layer.tops) - set(layer.bottoms):
                self._origins[name, 0] = self._origins.get(taken, taken)
                if taken in self.known:
                    self.known.setdefault((name, 0), self.known[taken])
        for layer in reversed(same):
            taken, made = self._takes[layer], self._makes.get(layer)
            if made in self.known and self._takers[taken] == 1 and len(layer.tops) == 1:
                self.known.setdefault(taken, self.known[made])

    def missing(self, layer: Layer) -> Iterator[tuple[str, str]]:
        """What keeps the layer from having two: each with what can be done, or ""."""
        for role, states in (("takes", self._takes), ("makes", self._makes)):
            state = states.get(layer)
            if state is None:
                yield f"{layer.name!r} names nothing that it {role}", ""
            elif state not in self.known:
                yield self._lacking(*self._origins.get(state, state))

    def _lacking(self, name: str, at: int) -> tuple[str, str]:
        rewriters = self._rewriters.get(name, [])
        if at == len(rewriters):
            return f"{name!r} has no threshold", ""
        after = rewriters[at]
        message = (
            f"{name!r}, before {after.type} {after.name!r} computes it anew in place, has no "
            "threshold"
        )
        return message, f"name both: {name!r} for this, {rewriters[-1].name!r} for what comes of it"

    def of(self, layer: Layer) -> tuple[float, float]:
        """Those of the layer's first input and output. Raises KeyError for what is `missing`."""
        return self.known[self._takes[layer]], self.known[self._makes[layer]]
