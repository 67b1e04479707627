"""What two models are that are held against each other: a UFF graph, and ONNX of the same meaning.

Which of the two was made from the other does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

import onnx

from ufkit.core.files import PathLike
from ufkit.uff.infer import Inference
from ufkit.uff.orders import Order


class Twin(Protocol):
    """A graph, and where in the ONNX model its values are.

    inputs, outputs   by UFF id: the order in which ONNX has the axes of the fed array and of the
                      value
    names             by UFF id: the ONNX output, where it is not called by the id
    forms             by UFF id: an ONNX value and the order it is in, for nodes that have one
    """

    @property
    def inference(self) -> Inference: ...

    @property
    def inputs(self) -> Mapping[str, Order]: ...

    @property
    def outputs(self) -> Mapping[str, Order]: ...

    @property
    def names(self) -> Mapping[str, str]: ...

    @property
    def forms(self) -> Mapping[str, tuple[str, Order]]: ...

    def write_watched(self, path: PathLike, names: Collection[str]) -> set[str]:
        """Write the ONNX model with these values as outputs too; give those that it computes."""
        ...


def watch(graph: onnx.GraphProto, names: Collection[str]) -> set[str]:
    """Make outputs of values; give those of them that nodes compute."""
    made = {name for node in graph.node for name in node.output}
    declared = {output.name for output in graph.output}
    for name in sorted(made.intersection(names) - declared):
        graph.output.append(onnx.ValueInfoProto(name=name))
    return made.intersection(names)
