"""How a file of each kind becomes a model to look at, and what the user may say about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ufkit.core.files import Source
from ufkit.viewer.content import Model
from ufkit.wire.sniff import Kind

if TYPE_CHECKING:
    from ufkit.uff.inputs import GivenShapes
    from ufkit.ufw.net import Net
    from ufkit.ufw.table import Table


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user said beside the names of the files.

    shapes    shapes of inputs by name, where files do not record them
    weights   the net with the weights of a prototxt
    table     the table of thresholds that a net of integers was made with
    source    format of a dataset, where its content does not tell
    labels    label map of a dataset
    images    folder that a dataset's names of images are relative to
    """

    shapes: GivenShapes = field(default_factory=dict)
    weights: Net | None = None
    table: Table | None = None
    source: str = ""
    labels: str = ""
    images: str = ""


def _uff(source: Source, kind: Kind, wish: Wish) -> Model:
    from ufkit.uff.io import open as open_uff
    from ufkit.viewer.models.uff import UffModel

    return UffModel(open_uff(source), kind.name, wish.shapes)


def _onnx(source: Source, kind: Kind, wish: Wish) -> Model:
    from ufkit.viewer.models.onnx import OnnxModel

    return OnnxModel(source, wish.shapes)


def _tensorflow(source: Source, kind: Kind, wish: Wish) -> Model:
    """A graph as the UFF that it becomes."""
    from ufkit.conversion.tf_files import open_tensorflow
    from ufkit.conversion.tf_uff import to_uff
    from ufkit.viewer.models.uff import UffModel

    return UffModel(to_uff(open_tensorflow(source)).meta, kind.name, wish.shapes)


def _net(source: Source, kind: Kind, wish: Wish) -> Model:
    from ufkit.ufw.io import open_net
    from ufkit.viewer.models.net import NetModel

    return NetModel(open_net(source), kind.name, shapes=wish.shapes)


def _prototxt(source: Source, kind: Kind, wish: Wish) -> Model:
    from ufkit.ufw.io import open_prototxt
    from ufkit.viewer.models.net import NetModel

    return NetModel(open_prototxt(source), kind.name, weights=wish.weights, shapes=wish.shapes)


OPENERS: dict[str, Callable[[Source, Kind, Wish], Model]] = {
    "uff": _uff,
    "uff-text": _uff,
    "uff-json": _uff,
    "onnx": _onnx,
    "tf-graph": _tensorflow,
    "tf-text": _tensorflow,
    "caffe-net": _net,
    "caffe-json": _net,
    "caffe-text": _prototxt,
}
