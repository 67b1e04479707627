"""What scripts for NVIDIA's tools need of TensorFlow, without it.

    import ufkit_compat.tensorflow as tf

Here are: element types (`tf.float32`, `tf.as_dtype`), messages (`tf.GraphDef`, `tf.NodeDef`,
`tf.AttrValue`, `tf.TensorProto`, `tf.TensorShapeProto`), files (`tf.gfile.GFile`,
`tf.gfile.FastGFile`, `tf.io.gfile.GFile`, `.exists`), `tf.make_tensor_proto`, `tf.make_ndarray`,
and `tf.logging`, which does nothing; all of it below `tf.compat.v1` too. Anything else raises
AttributeError. It is never installed as `tensorflow`.
"""

from __future__ import annotations

import builtins
import os
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


def _missing(place: str, name: str) -> NoReturn:
    raise AttributeError(
        f"{place}.{name} is not in ufkit_compat.tensorflow, which holds what scripts for uff and "
        "graphsurgeon need: types, GraphDef and its parts, gfile. What makes or runs a graph needs "
        "TensorFlow: save the frozen graph as .pb there, and let this script begin with the file."
    )


class _Names:
    """Names below another; one that is not there says what to do."""

    def __init__(self, place: str, **names: Any) -> None:
        self.__dict__.update(names)
        self._place = place

    def __getattr__(self, name: str) -> NoReturn:
        _missing(self._place, name)


gfile = _Names(
    "tf.gfile",
    GFile=_open,
    FastGFile=_open,
    Open=_open,
    Exists=os.path.exists,
    exists=os.path.exists,
)
io = _Names("tf.io", gfile=gfile)
# Scripts silence TensorFlow; there is nothing to silence.
logging = _Names(
    "tf.logging", DEBUG=10, INFO=20, WARN=30, ERROR=40, FATAL=50, set_verbosity=lambda level: None
)
compat = _Names(
    "tf.compat",
    v1=_Names(
        "tf.compat.v1",
        **BY_NAME,
        AttrValue=AttrValue,
        DType=DType,
        GraphDef=GraphDef,
        NameAttrList=NameAttrList,
        NodeDef=NodeDef,
        TensorProto=TensorProto,
        TensorShapeProto=TensorShapeProto,
        as_dtype=as_dtype,
        gfile=gfile,
        io=io,
        logging=logging,
        make_ndarray=make_ndarray,
        make_tensor_proto=make_tensor_proto,
    ),
)


def __getattr__(name: str) -> Any:
    if name in BY_NAME:
        return BY_NAME[name]
    if name.startswith("__"):
        raise AttributeError(name)
    _missing("tf", name)
