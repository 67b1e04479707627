"""Running a UFF graph through its ONNX form."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufkit.conversion.engines import ONNXRUNTIME, open_onnx
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.core.files import need
from ufkit.uff.evaluate import fed
from ufkit.uff.inputs import GivenShapes
from ufkit.uff.model import Graph
from ufkit.uff.orders import inverse
from ufkit.uff.runner import shapes_for


def run_lowered(
    graph: Graph,
    feeds: Mapping[str, Any],
    *,
    shapes: GivenShapes | None = None,
    engine: str = ONNXRUNTIME,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, NDArray[Any]]:
    """The outputs of a UFF graph by id, computed from its ONNX form by an engine.

    Feeds and results as `ufkit.run` has them. Raises as that and `to_onnx` do.
    """
    if engine == ONNXRUNTIME:
        need(ONNXRUNTIME, "run")
    conversion = to_onnx(graph, shapes=shapes_for(graph, feeds, shapes), progress=progress)
    arrays = dict(fed(conversion.inference, feeds))
    for name, spec in conversion.inference.inputs.items():
        if name not in arrays:  # no output needs it, but an engine wants all
            sizes = [size if isinstance(size, int) else 1 for size in spec.shape]
            arrays[name] = np.zeros(sizes, spec.dtype.numpy)
    turned = {id_: arrays[id_].transpose(order) for id_, order in conversion.inputs.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        conversion.model.save(path)
        got = open_onnx(path, engine=engine).run(turned)
    return {id_: got[id_].transpose(inverse(o)) for id_, o in conversion.outputs.items()}
