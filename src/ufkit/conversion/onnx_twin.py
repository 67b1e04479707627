"""An ONNX model as the twin of the UFF that was made from it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

import onnx

from ufkit.conversion.twin import watch
from ufkit.core.files import PathLike
from ufkit.uff.infer import Inference, infer
from ufkit.uff.model import Graph
from ufkit.uff.orders import Order, identity

_LIMIT = (1 << 31) - (1 << 20)  # bytes that a model may have in one piece


class OnnxTwin:
    """The model at `path`, and the graph of a UFF that has its values under the same names.

    scalars   ids of Inputs that are one number, which a UFF cannot say
    forms     by UFF id: the ONNX value that the node's value is
    """

    def __init__(
        self, path: PathLike, graph: Graph, scalars: Iterable[str], forms: Mapping[str, str]
    ) -> None:
        self.path = os.fspath(path)
        self.inference: Inference = infer(graph, dict.fromkeys(scalars, ()))
        self.names: dict[str, str] = {}
        self.inputs = {id_: self._order(id_) for id_ in self.inference.inputs}
        self.outputs = {id_: self._order(id_) for id_ in graph.outputs}
        self.forms = {id_: (name, self._order(id_)) for id_, name in forms.items() if id_ in graph}

    def _order(self, id_: str) -> Order:
        """ONNX has all axes where the UFF has them."""
        facts = self.inference.facts.get(id_)
        return identity(len((facts and facts.shape) or ()))

    def write_watched(self, path: PathLike, names: Collection[str]) -> set[str]:
        """The model with these values as outputs too, all its weights with it."""
        model = onnx.load(self.path)
        made = watch(model.graph, names)
        large = model.ByteSize() > _LIMIT
        beside = f"{os.path.basename(path)}.data"
        onnx.save(model, os.fspath(path), save_as_external_data=large, location=beside)
        return made
