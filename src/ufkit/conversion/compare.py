"""What differs between two models of any kind: one call, which goes by what the files are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from ufkit.core.comparison import Comparison
from ufkit.core.files import PathLike
from ufkit.uff.compare import compare
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import MetaGraph

Progress = Callable[[int, int], None]


def diff(
    a: PathLike | MetaGraph,
    b: PathLike | MetaGraph,
    *,
    tolerance: float = 0.0,
    weights: bool = True,
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """What differs between two models: files told by their content, or models that are open.

    Weights whose largest difference, against the largest value of b, is within `tolerance` count
    as the same; without `weights` their values are not read. `progress` is told bytes.
    Raises FileError, FormatError that says what a file is when it is none of these.
    """
    with ExitStack() as stack:
        sides = [
            side if isinstance(side, MetaGraph) else stack.enter_context(open_uff(side))
            for side in (a, b)
        ]
        return compare(sides[0], sides[1], tolerance=tolerance, weights=weights, progress=progress)
