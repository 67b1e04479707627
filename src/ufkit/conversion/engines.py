"""What runs an ONNX model: ONNX Runtime, or where that is missing the evaluator in `onnx`."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from ufkit.core.files import PathLike, need

ONNXRUNTIME, REFERENCE = "onnxruntime", "reference"


def best_engine() -> str:
    """ONNX Runtime when it is installed."""
    found = importlib.util.find_spec(ONNXRUNTIME)
    return ONNXRUNTIME if found else REFERENCE


def run_onnx(
    path: PathLike, feeds: Mapping[str, Any], *, engine: str = "", threads: int = 0
) -> dict[str, NDArray[Any]]:
    """The outputs of a model file by name. Raises MissingExtraError for ONNX Runtime."""
    if (engine or best_engine()) == REFERENCE:
        import onnx
        from onnx.reference import ReferenceEvaluator

        evaluator = ReferenceEvaluator(onnx.load(path))
        return dict(zip(evaluator.output_names, evaluator.run(None, dict(feeds)), strict=True))
    runtime = need(ONNXRUNTIME, "run")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))
