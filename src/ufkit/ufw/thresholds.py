"""Which threshold a layer's input and output have, where a table names only some blobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ufkit.ufw.net import Layer, Net

# Layers that give out what they take, or a part of it: one threshold does for both. ONNC's tool
# folds thresholds over ReLU and Flatten likewise, both ways.
SAME = frozenset({"Dropout", "Flatten", "Permute", "ReLU", "ReLU6", "Reshape", "Split"})


class Thresholds:
    """Thresholds of all blobs of a net: those of a table, and what follows from them.

    A blob that the table lacks has that of the blob it is a copy of (Split, Flatten, ...) or, when
    ReLU or the like is all that takes it, that of the result.
    """

    def __init__(self, net: Net, table: Mapping[str, float]) -> None:
        self.known = dict(table)
        layers = net.layers
        takers = Counter(name for layer in layers for name in layer.bottoms)
        same = [layer for layer in layers if layer.type in SAME and layer.bottoms]
        for layer in same:
            if (threshold := self.known.get(layer.bottoms[0])) is not None:
                for top in layer.tops:
                    self.known.setdefault(top, threshold)
        for layer in reversed(same):
            if takers[layer.bottoms[0]] == 1 and len(layer.tops) == 1:
                threshold = self.known.get(layer.tops[0])
                if threshold is not None:
                    self.known.setdefault(layer.bottoms[0], threshold)
        # Who computes a blob anew in place: its threshold is that of the result.
        self.rewriters = {
            name: layer
            for layer in layers
            if layer.type not in SAME
            for name in set(layer.bottoms) & set(layer.tops)
        }

    def missing(self, layer: Layer) -> list[str]:
        """What keeps the layer from its two thresholds: a sentence for each that it lacks."""
        found = []
        for role, names in (("input", layer.bottoms), ("output", layer.tops)):
            if not names:
                found.append(f"the layer names no {role}")
            elif names[0] not in self.known:
                found.append(f"its {role} {names[0]!r} has none")
        if layer.tops and (other := self.rewriters.get(layer.tops[0])) is not None:
            message = f"{layer.tops[0]!r} has that of what {other.type} {other.name!r} makes of it"
            found.append(f"its output has none: {message} in place")
        return found

    def of(self, layer: Layer) -> tuple[float, float]:
        """Those of the layer's first input and output. Raises KeyError for what is `missing`."""
        return self.known[layer.bottoms[0]], self.known[layer.tops[0]]
