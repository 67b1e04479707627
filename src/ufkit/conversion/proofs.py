"""Proof of a conversion before its result is put in place."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

from ufkit.conversion.rules import CANNOT_CONVERT, UP_TO_FOREIGN
from ufkit.core.diag import Diagnostic, NotSupportedError
from ufkit.core.files import PathLike, Source
from ufkit.core.render import plural
from ufkit.uff.model import Graph

if TYPE_CHECKING:
    from ufkit.conversion.onnx_uff import FromOnnx
    from ufkit.conversion.pairs import Options
    from ufkit.conversion.twin import Twin
    from ufkit.conversion.uff_onnx import Conversion
    from ufkit.conversion.verify import Verification

Progress = Callable[[str, int, int], None]

# -- ONNX made from a UFF --------------------------------------------------------------------


def provable(conversion: Conversion) -> Conversion:
    """The part that can be run here. Raises NotSupportedError (CNV001) where there is none."""
    from ufkit.conversion.cut import up_to_foreign

    if not conversion.foreign:
        return conversion
    part = up_to_foreign(conversion)
    if not part.outputs:
        id_ = conversion.foreign[0]
        message = f"nothing here can run {id_!r}, and nothing is computed before it to be verified"
        where = conversion.inference.graph[id_].where()
        raise NotSupportedError(CANNOT_CONVERT.at(where, message, hint="leave out --verify"))
    return part


def prove_onnx(
    proven: Conversion, staged: PathLike, options: Options, progress: Progress
) -> Verification:
    """The file compared or, where that holds nodes that nothing here can run, the part before."""
    if not proven.names:
        return _verified(proven, staged, options, progress)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.onnx")
        proven.model.save(path)
        return _verified(proven, path, options, progress)


def rest(graph: Graph, conversion: Conversion) -> Diagnostic:
    """What was not compared."""
    from ufkit.conversion.plugins import DOMAIN as PLUGIN_DOMAIN

    ids = [*map(repr, conversion.foreign)]
    shown = ", ".join(ids if len(ids) <= 8 else [*ids[:7], "..."])
    domains = {node.domain for node in conversion.model.proto.graph.node} - {""}
    knows = "TensorRT" if domains == {PLUGIN_DOMAIN} else f"who knows {', '.join(sorted(domains))}"
    nodes = plural(len(ids), "node")
    message = f"everything up to {nodes} was compared; only {knows} can run {shown}"
    return UP_TO_FOREIGN.at(graph.where(), message)


# -- a UFF made from ONNX --------------------------------------------------------------------


def prove_uff(
    found: FromOnnx, graph: Graph, source: Source, options: Options, progress: Progress
) -> Verification:
    """A graph compared with the model that it was made from; `graph` is that of the file written.

    A model that is no file of its own is made one for that time, and so is one that computes
    other outputs than were asked for.
    """
    from ufkit.conversion.onnx_twin import OnnxTwin

    scalars = [id_ for id_, spec in found.inference.inputs.items() if not spec.shape]
    with tempfile.TemporaryDirectory() as folder:
        path = source.name
        if not os.path.isfile(path):
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as out:
                source.copy(0, source.size, out)
        twin = OnnxTwin(path, graph, scalars, found.forms)
        if options.outputs:
            path = os.path.join(folder, "outputs.onnx")
            twin.write_watched(path, found.outputs)
        return _verified(twin, path, options, progress)


def _verified(twin: Twin, path: PathLike, options: Options, progress: Progress) -> Verification:
    from ufkit.conversion.verify import verify

    return verify(
        twin,
        path,
        data=options.verify_data,
        seed=options.seed,
        tolerance=options.tolerance,
        progress=lambda done, total: progress("verifying", done, total),
    )
