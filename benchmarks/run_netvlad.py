"""How long a real net runs in ONNX Runtime, one thread, converted by us and by tf2onnx."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from files import Files
from measure import Action, Side, interleave
from report import Row, seconds

_INPUT, _OUTPUT = "input_1", "net_vlad_layer_1/l2_normalize_1"
_RUNS = 10


def run(files: Files, rounds: int) -> Iterator[Row]:
    """The UFF file beside the frozen graph it was made from; results against TensorFlow's."""
    graph = files.netvlad
    missing = [name for name in ("tensorflow", "tf2onnx", "onnxruntime") if find_spec(name) is None]
    if missing or graph is None or not (uff := graph.with_suffix(".uff")).exists():
        why = f"no {', '.join(missing)}" if missing else "no graph with its UFF (--netvlad)"
        yield Row("inference", f"skipped: {why}", "")
        return
    ours, theirs = str(files.folder / "ours.onnx"), str(files.folder / "theirs.onnx")
    import ufkit

    ufkit.convert(uff, ours, ufkit.Options(force=True))
    command = [sys.executable, "-m", "tf2onnx.convert", "--graphdef", str(graph), "--opset", "17"]
    command += ["--inputs", f"{_INPUT}:0", "--outputs", f"{_OUTPUT}:0", "--output", theirs]
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run(command, check=True, capture_output=True, env=quiet)
    results = str(graph) + ".npz"
    sides = [
        Side(name, (path, results), "run_netvlad:inference")
        for name, path in (("ufkit", ours), ("tf2onnx", theirs))
    ]
    taken = interleave(sides, rounds)
    mine, other = (taken[side.name].seconds / _RUNS for side in sides)
    yield Row("inference", seconds(mine), seconds(other), mine / other, at_most=1.0)
    far, farther = (_error(path, results) for path in (ours, theirs))
    yield Row("from TensorFlow's result", f"{far:.2g}", f"{farther:.2g}")
    bare = _error(ours, results, fused=False)
    yield Row("the same, BatchNorm not fused by ONNX Runtime", f"{bare:.2g}", "")


def inference(model: str, results: str) -> Action:
    """Several runs of a model on the stored input."""
    import numpy as np

    session, feed = _session(model), np.load(results)[f"in:{_INPUT}"]
    name = session.get_inputs()[0].name
    session.run(None, {name: feed})

    def action() -> None:
        for _ in range(_RUNS):
            session.run(None, {name: feed})

    return action


def _session(model: str, *, fused: bool = True) -> Any:
    onnxruntime = importlib.import_module("onnxruntime")  # it has no types
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    left_out = [] if fused else ["ConvBNFusion"]
    return onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"], disabled_optimizers=left_out
    )


def _error(model: str, results: str, *, fused: bool = True) -> float:
    """Largest difference against the largest value of TensorFlow's stored result."""
    import numpy as np

    stored = np.load(results)
    session = _session(model, fused=fused)
    (got,) = session.run(None, {session.get_inputs()[0].name: stored[f"in:{_INPUT}"]})
    expected = stored[f"out:{_OUTPUT}"]
    return float(np.abs(got - expected).max() / np.abs(expected).max())
