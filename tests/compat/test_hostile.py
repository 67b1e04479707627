"""Graphs made to harm: only our own errors come out of the drop-ins, and in time."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Iterator

import pytest

import graphsurgeon as gs
import ufkit
from attacks.tensorflow_graphs import X, cases, node
from tf_graphs import BY_NAME, const, graph_def, placeholder
from tf_graphs import node as made
from uff.converters.tensorflow.conversion import Request, convert
from ufkit.wire.message import to_bytes
from ufkit_compat.graph_def import graph_def_of

WIDE = 300
SMALL = to_bytes(
    graph_def(
        placeholder("x", 1, 4),
        const("w", [[1.0] * 4] * 4),
        made("conv/Dense", "MatMul", "x", "w", T=BY_NAME["float32"]),
        made("conv/read", "Identity", "conv/Dense"),
        made("y", "Relu", "conv/read", T=BY_NAME["float32"]),
    )
)


def wide() -> Iterator[bytes]:
    """Nodes of a chain that is looked for, each taking the one before many times."""
    for chain in (gs.extras._SOFTMAX, gs.extras._DILATED):
        names = [f"n{at}" for at in range(len(chain))]
        yield X + b"".join(
            node(name, op, *[before] * WIDE)
            for name, op, before in zip(names, chain, ["x", *names], strict=False)
        )
        rows = [
            node(f"{name}/{row}", op, f"{before}/{row}" if before != "x" else "x")
            for row in range(WIDE)
            for name, op, before in zip(names, chain, ["x", *names], strict=False)
        ]
        yield X + b"".join(rows)


def exercise(data: bytes) -> None:
    """All that a script may do with a graph."""
    with contextlib.suppress(ufkit.UfkitError):
        graph = gs.DynamicGraph(data)
        graph.forward_inputs(graph.find_nodes_by_op("Identity"))
        graph.collapse_namespaces({"conv": gs.create_plugin_node("p"), "n1": gs.create_node("q")})
        graph.remove(graph.graph_outputs, remove_exclusive_dependencies=True)
        for found in graph:
            str(found)
            assert all(found.attr[key].WhichOneof("value") != "" for key in found.attr)
        graph.as_graph_def().SerializeToString()
    with contextlib.suppress(ufkit.UfkitError):
        convert(graph_def_of(data), Request(quiet=True))  # what is large stays unwritten


@pytest.mark.parametrize("files", [cases, wide])
def test_attacks_end(files: object) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for data in files():  # type: ignore[operator]
            exercise(data)


def test_damage_ends() -> None:
    rng = random.Random(0)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for _ in range(300):
            data = bytearray(SMALL)
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            exercise(bytes(data[: rng.randrange(len(data) // 2, len(data) + 1)]))
