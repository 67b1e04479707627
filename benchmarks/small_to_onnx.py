"""How long a small net takes to become ONNX, next to tf2onnx on a net of the same size."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from files import Files
from measure import Action, Side, interleave
from report import Row, mib, seconds


def run(files: Files, rounds: int) -> Iterator[Row]:
    """UFF on our side, on theirs the TensorFlow graph that such a UFF once came from."""
    out, theirs = str(files.folder / "mobile.onnx"), str(files.folder / "netvlad.onnx")
    uff, graph = str(files.mobile), str(files.netvlad)
    script = f"import ufkit; ufkit.convert({uff!r}, {out!r}, ufkit.Options(force=True))"
    sides = [
        Side("ufkit", (uff, out), "small_to_onnx:ufkit_convert"),
        Side("ufkit process", (sys.executable, "-c", script)),
    ]
    missing = [name for name in ("tensorflow", "tf2onnx") if find_spec(name) is None]
    peer = not missing and files.netvlad is not None
    if peer:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        inputs, outputs = "input_1:0", "net_vlad_layer_1/l2_normalize_1:0"
        command = [sys.executable, "-m", "tf2onnx.convert", "--graphdef", graph]
        command += ["--inputs", inputs, "--outputs", outputs, "--opset", "17", "--output", theirs]
        arguments = graph, inputs, outputs, theirs
        sides += [
            Side("tf2onnx", arguments, "small_to_onnx:tf2onnx_convert"),
            Side("tf2onnx process", tuple(command)),
        ]
    taken = interleave(sides, rounds)
    why = f"skipped: no {', '.join(missing)}" if missing else "skipped: no graph (--netvlad)"
    for side, what in (("", "in one process"), (" process", "whole process")):
        ours = taken[f"ufkit{side}"].seconds
        if peer:
            other = taken[f"tf2onnx{side}"].seconds
            yield Row(what, seconds(ours), seconds(other), other / ours, unit="x faster")
        else:
            yield Row(what, seconds(ours), why)
    yield Row(
        "peak resident", mib(taken["ufkit"].peak), mib(taken["tf2onnx"].peak) if peer else why
    )


def ufkit_convert(source: str, target: str) -> Action:
    from ufkit import Options, convert

    return lambda: convert(source, target, Options(force=True))


def tf2onnx_convert(graph: str, inputs: str, outputs: str, target: str) -> Action:
    import tensorflow as tf
    import tf2onnx

    def action() -> object:
        definition = tf.compat.v1.GraphDef.FromString(Path(graph).read_bytes())
        model, _ = tf2onnx.convert.from_graph_def(
            definition, input_names=[inputs], output_names=[outputs], opset=17
        )
        return Path(target).write_bytes(model.SerializeToString())

    return action
