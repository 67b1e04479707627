"""TensorFlow's messages, and graphs of whatever scripts have them as."""

from __future__ import annotations

import os
from typing import Any

from ufkit.conversion.tf_files import open_file, read_graph_def
from ufkit.conversion.tf_graph import SCHEMA
from ufkit.core.diag import RequestError, Where
from ufkit.core.files import Source
from ufkit_compat.proto import Proto, class_of
from ufkit_compat.rules import NO_GRAPH

GraphDef = class_of(SCHEMA["GraphDef"])
NodeDef = class_of(SCHEMA["NodeDef"])
AttrValue = class_of(SCHEMA["AttrValue"])
NameAttrList = class_of(SCHEMA["NameAttrList"])
TensorProto = class_of(SCHEMA["TensorProto"])
TensorShapeProto = class_of(SCHEMA["TensorShapeProto"])


def graph_def_of(graph: Any) -> Proto:
    """The GraphDef that something is, or holds.

    A GraphDef from here is the same object, so that edits of it are edits of the graph. A path of
    a file (frozen graph, binary or text, or SavedModel of constants) and bytes are read, without
    the weights. TensorFlow's own objects are read from their bytes: they are not edited.
    Raises FileError, FormatError; RequestError (CMP001) for what is no graph.
    """
    if isinstance(graph, GraphDef):
        return graph
    if isinstance(graph, str | os.PathLike):
        return _read(open_file(graph))
    if isinstance(graph, bytes | bytearray | memoryview):
        return _read(Source(bytes(graph), "graph"))
    if hasattr(graph, "as_graph_def"):  # graphs of graphsurgeon, and TensorFlow's
        return graph_def_of(graph.as_graph_def())
    if hasattr(graph, "SerializeToString") and not isinstance(graph, Proto):
        return _read(Source(graph.SerializeToString(), "graph"))
    message = f"{type(graph).__name__} is no graph"
    raise RequestError(NO_GRAPH.at(Where(), message))


def _read(source: Source) -> Proto:
    return GraphDef.over(read_graph_def(source)[0])
