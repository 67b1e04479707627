"""Everything that can be asked of a file nobody vouches for. Only UfkitError may come out."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from ufkit.conversion.onnx_graph import open_graph
from ufkit.conversion.onnx_uff import from_onnx
from ufkit.conversion.tf_files import open_tensorflow
from ufkit.conversion.tf_uff import to_uff
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.core.diag import UfkitError
from ufkit.core.files import Source
from ufkit.uff.check import check
from ufkit.uff.edit.edits import Edits, edit
from ufkit.uff.infer import infer
from ufkit.uff.io import BINARY, JSON, TEXT, write_to
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import Graph, MetaGraph
from ufkit.uff.recover import recover
from ufkit.uff.runner import run
from ufkit.uff.summary import summarize


class Nowhere(io.BytesIO):
    """Takes everything, keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


Stage = Callable[[MetaGraph], Any]


def opened(data: bytes) -> MetaGraph:
    return open_uff(Source(data, "attack.uff"))


def checked(meta: MetaGraph) -> None:
    for finding in check(meta):
        str(finding)
        finding.as_dict()


def summed(meta: MetaGraph) -> None:
    str(summarize(meta).as_dict())


def converted(meta: MetaGraph) -> None:
    for graph in meta.graphs[:3]:
        with_errors(lambda graph=graph: to_onnx(graph).model.write_to(Nowhere()))


def ran(meta: MetaGraph) -> None:
    for graph in meta.graphs[:3]:
        with_errors(lambda graph=graph: _run(graph))


def _run(graph: Graph) -> None:
    """On zeros, for random inputs of raw bytes do not exist."""
    feeds = {}
    for id_, spec in infer(graph).inputs.items():
        shape = [size if isinstance(size, int) else 2 for size in spec.shape]
        if prod(max(size, 1) for size in shape) > 1 << 20:
            return
        feeds[id_] = np.zeros(shape, spec.dtype.numpy)
    run(graph, feeds)


def saved(meta: MetaGraph) -> None:
    """Binary as it came; text and JSON read back to the same message."""
    out = io.BytesIO()
    if meta.message.span.nbytes:
        write_to(meta, out, form=BINARY)
        assert out.getvalue() == bytes(meta.message.span.view())


def written(meta: MetaGraph) -> None:
    for form in (TEXT, JSON):
        out = io.BytesIO()
        write_to(meta, out, form=form, full=True)
        again = io.BytesIO()
        write_to(opened(out.getvalue()), again, form=form, full=True)
        assert out.getvalue() == again.getvalue(), form


def recovered(data: bytes) -> None:
    """Whatever is left makes a file that opens."""
    out = io.BytesIO()
    write_to(recover(Source(data, "attack.uff")).meta, out)
    for graph in opened(out.getvalue()).graphs:
        assert all(node.fields is not None for node in graph)


def edited(meta: MetaGraph) -> None:
    """Each change by itself and in turn; the last stage, since others look at the file as it is."""
    for graph in meta.graphs[:3]:
        outputs = graph.outputs[:1]
        for edits in (
            Edits(fix=True),
            Edits(set_batch=2),
            Edits(random_weights=0),
            Edits(fold=True),
            Edits(inputs=[id_ for node in graph.nodes[:1] for id_ in node.inputs[:1]]),
            Edits(outputs=outputs, remove_unreachable=True),
            Edits(rename={id_: f"{id_}_" for id_ in outputs}),
        ):
            with_errors(lambda graph=graph, edits=edits: edit(graph, edits))
    write_to(meta, Nowhere(), form=BINARY)


def from_tensorflow(data: bytes, *, strict: bool) -> None:
    """What is no UFF may be what one is made from."""
    made = to_uff(open_tensorflow(Source(data, "attack.pb")), strict=strict)
    for finding in made.diagnostics:
        str(finding)
    write_to(made.meta, Nowhere(), form=BINARY)


def from_model(data: bytes) -> None:
    """Or an ONNX model."""
    made = from_onnx(open_graph(Source(data, "attack.onnx")))
    for finding in made.diagnostics:
        str(finding)
    write_to(made.meta, Nowhere(), form=BINARY)


LOOKS: tuple[Stage, ...] = (checked, summed)
STAGES: tuple[Stage, ...] = (*LOOKS, converted, ran, saved, written, edited)


def with_errors(action: Callable[[], Any]) -> Any:
    """The result of an action; None where it ended in an error of ours, which can be shown."""
    try:
        return action()
    except UfkitError as error:
        str(error)
        return None


def exercise(data: bytes, stages: tuple[Stage, ...] = STAGES) -> Iterator[str]:
    """Go through the stages with a file; yields the name of each before it starts."""
    yield "recovered"
    with_errors(lambda: recovered(data))
    yield "opened"
    meta = with_errors(lambda: opened(data))
    for stage in stages if meta is not None else ():
        yield stage.__name__
        with_errors(lambda stage=stage: stage(meta))
    for strict in (True, False) if meta is None else ():
        yield "from TensorFlow, strict" if strict else "from TensorFlow"
        with_errors(lambda strict=strict: from_tensorflow(data, strict=strict))
    if meta is None:
        yield "from ONNX"
        with_errors(lambda: from_model(data))
