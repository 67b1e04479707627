"""What scripts for NVIDIA's tools need of TensorFlow, without it.

    import ufkit_compat.tensorflow as tf

Here are: element types (`tf.float32`, `tf.as_dtype`), messages (`tf.GraphDef`, `tf.NodeDef`,
`tf.AttrValue`, `tf.TensorProto`, `tf.TensorShapeProto`), files (`tf.gfile.GFile`,
`tf.gfile.FastGFile`, `tf.io.gfile.GFile`, `.exists`), `tf.make_tensor_proto`, `tf.make_ndarray`, and
`tf.logging`, which does nothing; all of it below `tf.compat.v1` too. Anything else raises
AttributeError. It is never installed as `tensorflow`.
"""

from __future__ import annotations

import builtins
import os
from types import SimpleNamespace
from typing import Any, NoReturn

from ufkit_compat.dtypes import BY_NAME
from ufkit_compat.dtypes import DType as DType
from ufkit_compat.dtypes import as_dtype as as_dtype
from ufkit_compat.graph_def import AttrValue as AttrValue
from ufkit_compat.graph_def import GraphDef as GraphDef
from ufkit_compat.graph_def import NameAttrList as NameAttrList
from ufkit_compat.graph_def import NodeDef as NodeDef
from ufkit_compat.graph_def import TensorProto as TensorProto
from ufkit_compat.graph_def import TensorShapeProto as TensorShapeProto
from ufkit_compat.tensors import make_ndarray as make_ndarray
from ufkit_compat.tensors import make_tensor_proto as make_tensor_proto

__version__ = "1.15.0"  # whose names these are: scripts that ask take the names of TensorFlow 1


def _open(name: str | os.PathLike[str], mode: str = "r") -> Any:
    """A file, opened as TensorFlow opens local ones."""
    return builtins.open(name, mode, encoding=None if "b" in mode else "utf-8")


gfile = SimpleNamespace(
    GFile=_open, FastGFile=_open, Open=_open, Exists=os.path.exists, exists=os.path.exists
)
io = SimpleNamespace(gfile=gfile)
# Scripts silence TensorFlow; there is nothing to silence.
logging = SimpleNamespace(
    DEBUG=10, INFO=20, WARN=30, ERROR=40, FATAL=50, set_verbosity=lambda level: None
)
_V1_NAMES = frozenset(
    ("DType", "as_dtype", "gfile", "io", "logging", "make_ndarray", "make_tensor_proto")
)
_MESSAGES: dict[str, Any] = {
    "AttrValue": AttrValue,
    "GraphDef": GraphDef,
    "NameAttrList": NameAttrList,
    "NodeDef": NodeDef,
    "TensorProto": TensorProto,
    "TensorShapeProto": TensorShapeProto,
}


def _missing(place: str, name: str) -> NoReturn:
    raise AttributeError(
        f"{place}.{name} is not in ufkit_compat.tensorflow, which holds what scripts for uff and "
        "graphsurgeon need: types, GraphDef and its parts, gfile. What makes or runs a graph needs "
        "TensorFlow: save the frozen graph as .pb there, and let this script begin with the file."
    )


class _V1:
    """TensorFlow's names for version 1."""

    def __getattr__(self, name: str) -> Any:
        if name in (
            "gfile",
            "io",
            "logging",
            "DType",
            "as_dtype",
            "make_ndarray",
            "make_tensor_proto",
        ):
            return globals()[name]
        if name in _MESSAGES:
            return _MESSAGES[name]
        if name in BY_NAME:
            return BY_NAME[name]
        _missing("tf.compat.v1", name)


compat = SimpleNamespace(v1=_V1())


def __getattr__(name: str) -> Any:
    if name in BY_NAME:
        return BY_NAME[name]
    if name.startswith("__"):
        raise AttributeError(name)
    _missing("tf", name)
