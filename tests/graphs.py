"""Graphs that tests build: single operations from the table's examples, and small nets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufkit.core.dtypes import from_name
from ufkit.uff.build import Builder
from ufkit.uff.evaluate import evaluate
from ufkit.uff.infer import infer
from ufkit.uff.model import Graph
from ufkit.uff.ops.spec import Example, OpSpec


def single(spec: OpSpec, example: Example, *, open_batch: bool = False) -> Builder:
    """A graph of one operation on the example's inputs.

    With `open_batch` the first axis of each Input is left open.
    """
    builder = Builder()
    ids = []
    for i, array in enumerate(arrays(example)):
        if i in example.const:
            ids.append(builder.const(f"c{i}", array))
        else:
            shape = [-1, *array.shape[1:]] if open_batch and array.ndim else array.shape
            ids.append(builder.input(f"x{i}", shape, from_name(array.dtype.name)))
    builder.op("y", spec.name, ids, example.orders, **example.fields)
    builder.output(output(example))
    return builder


def output(example: Example) -> str:
    """The id of the value that `single` marks."""
    return f"y:{example.output}" if example.output else "y"


def arrays(example: Example) -> list[np.ndarray[Any, Any]]:
    """The example's inputs; shapes become random arrays, the same each time."""
    random = np.random.default_rng(7)
    return [
        random.standard_normal(item, np.float32) if isinstance(item, tuple) else np.asarray(item)
        for item in example.inputs
    ]


def scalars(example: Example) -> dict[str, tuple[int, ...]]:
    """Shapes of Inputs that are scalars: a file cannot tell them from an unknown shape."""
    return {id_: () for id_, array in feeds(example).items() if array.ndim == 0}


def feeds(example: Example) -> dict[str, np.ndarray[Any, Any]]:
    """What to feed the graph of `single`."""
    return {f"x{i}": a for i, a in enumerate(arrays(example)) if i not in example.const}


def small_net(*, batch: int = -1) -> Builder:
    """A convolutional net as NVIDIA's converter writes one: NHWC, biases as Binary, Flatten."""
    random = np.random.default_rng(3)

    def weights(*shape: int) -> np.ndarray[Any, Any]:
        return (random.standard_normal(shape) * 0.3).astype(np.float32)

    b = Builder()
    b.input("image", [batch, 8, 8, 3])
    b.const("conv/kernel", weights(3, 3, 3, 4))
    b.const("conv/bias", weights(4))
    b.op(
        "conv",
        "Conv",
        ["image", "conv/kernel"],
        "N+C_+CK",
        strides=[1, 1],
        dilation=[1, 1],
        implicit_padding="same",
    )
    b.op("conv/add", "Binary", ["conv", "conv/bias"], func="add")
    b.op("relu", "Activation", ["conv/add"], func="relu")
    b.op("pool", "Pool", ["relu"], "N+C", func="max", kernel=[2, 2], strides=[2, 2])
    b.op("flat", "Flatten", ["pool"])
    b.const("dense/kernel", weights(64, 5))
    b.op("dense", "FullyConnected", ["flat", "dense/kernel"], "NC_CK")
    b.op("probabilities", "Softmax", ["dense"], "N+C", axis=0)
    b.output("probabilities")
    return b


def values(graph: Graph, **feeds: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Every value that the outputs need, by id."""
    inference = infer(graph)
    return evaluate(inference, feeds, keep=[node.id for node in inference.graph.needed()])


X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
