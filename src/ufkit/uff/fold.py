"""Values that can be had without running a graph: those that follow from its constants."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ufkit.core.diag import FormatError
from ufkit.uff.dims import static
from ufkit.uff.evaluate import compute
from ufkit.uff.infer import facts_of
from ufkit.uff.model import MetaGraph, Node
from ufkit.uff.ops.spec import Array, Facts
from ufkit.uff.rules import TOO_LARGE

_LIMIT = 16 << 20  # bytes, beside as many as the file has


class Folding:
    """Computes values of constants, all of one graph together within a bound."""

    def __init__(self, meta: MetaGraph) -> None:
        self.room = _LIMIT + meta.source.size

    def value(self, node: Node, facts: Facts, sources: Sequence[Array]) -> Array | None:
        """The value of a node from those of its inputs; None where it is too large.

        Raises FormatError where they do not fit.
        """
        sizes = None if facts.shape is None else static(facts.shape)
        if sizes is None or (size := prod(sizes) * facts.dtype.itemsize) > self.room:
            return None
        try:
            made = compute(node, map(facts_of, sources), sources, limit=self.room)
        except FormatError as error:
            if error.diagnostic.rule is not TOO_LARGE:
                raise
            return None
        self.room -= size
        return made
