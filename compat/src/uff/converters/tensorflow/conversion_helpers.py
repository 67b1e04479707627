"""The two functions that scripts call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from uff.converters.tensorflow.conversion import Request, convert
from ufkit.wire.message import to_bytes
from ufkit.wire.schema import did_you_mean
from ufkit_compat.graph_def import GraphDef, graph_def_of

_ARGUMENTS = tuple(field.name for field in fields(Request))


def from_tensorflow(
    graphdef: Any,
    output_nodes: Sequence[str | int] | str | int = (),
    preprocessor: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Any:
    """The UFF of a graph, as bytes.

    graphdef            a GraphDef, of this package or TensorFlow's; its bytes or path; a graph of
                        graphsurgeon. It is not edited.
    output_nodes        names, or numbers as list_nodes counts them, or one; without any, the nodes
                        that take something and that no other takes
    preprocessor        a Python script whose `preprocess(dynamic_graph)` edits the graph. It is
                        run, so it must be one you trust.
    output_filename     the UFF to write
    text                also write it as text beside it (.pbtxt), without the weights
    write_preprocessed  also write the edited graph beside it (_preprocessed.pb)
    input_node          inputs in the place of nodes: "name,new_name,dtype,dim1,dim2,..."
    list_nodes          print the nodes and convert nothing; gives None
    quiet               print only warnings
    debug_mode          also print each node that is written
    return_graph_info   give (bytes, input nodes, output nodes), the nodes as NodeDefs
    modern              write what ufkit makes of the graph, where NVIDIA's converter lost
                        constants and knew no newer operations; not of NVIDIA's

    What is written is what NVIDIA's converter wrote, node for node, unless `modern` is given.
    Another argument is warned of and ignored; NVIDIA's said nothing.
    Raises FileError, FormatError, RequestError and NotSupportedError, all of them
    `uff.model.exceptions.UffException`.
    """
    known = {name: value for name, value in kwargs.items() if name in _ARGUMENTS}
    for name in kwargs.keys() - known.keys():
        hint = did_you_mean(name, _ARGUMENTS) or f"there are {', '.join(_ARGUMENTS)}"
        message = f"there is no argument {name!r}, and it has no effect; {hint}"
        warnings.warn(message, UserWarning, stacklevel=2)
    request = Request(
        output_nodes=[output_nodes] if isinstance(output_nodes, str | int) else list(output_nodes),
        preprocessor=preprocessor,
        **known,
    )
    given = graph_def_of(graphdef)
    graph = GraphDef()
    graph.CopyFrom(given)
    converted = convert(graph, request)
    if converted is None:
        return None
    encoded = to_bytes(converted.meta.message)
    if request.return_graph_info:
        return encoded, converted.graph.graph_inputs, converted.graph.graph_outputs
    return encoded


def from_tensorflow_frozen_model(
    frozen_file: str | os.PathLike[str],
    output_nodes: Sequence[str | int] | str | int = (),
    preprocessor: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> Any:
    """The UFF of a file: a frozen graph, binary or text; otherwise as `from_tensorflow`."""
    return from_tensorflow(graph_def_of(frozen_file), output_nodes, preprocessor, **kwargs)
