"""Files of TensorFlow: frozen graphs and SavedModels are opened, others told how to be frozen."""

from __future__ import annotations

import os

from ufkit.conversion.rules import BAD_TF, NOT_FROZEN
from ufkit.conversion.tf_graph import SCHEMA, TfGraph
from ufkit.core.diag import FormatError, NotSupportedError, Where
from ufkit.core.files import PathLike, Source
from ufkit.uff.io import refusal, source_of
from ufkit.wire.message import Message
from ufkit.wire.sniff import (
    HDF5,
    KERAS,
    SAVED_MODEL,
    SAVED_MODEL_FILE,
    TF_GRAPH,
    TF_TEXT,
    identify,
    identify_folder,
)
from ufkit.wire.text import parse_text

_SERVING = "serving_default"
_FREEZE = (
    "tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2"
)
_WRITE = 'tf.io.write_graph(freeze({}).graph, ".", "frozen.pb", as_text=False)'
# Statements for one line of Python, to be pasted: a hint has but one.
_LINES = (
    "convert the frozen.pb that this makes in Python: import tensorflow as tf; "
    f"from {_FREEZE} as freeze; m = {{}}; {_WRITE}"
)
FREEZE_SAVED = _LINES.format('tf.saved_model.load("FOLDER")', 'm.signatures["serving_default"]')
FREEZE_KERAS = _LINES.format(
    'tf.keras.models.load_model("FILE")',
    "tf.function(m).get_concrete_function(tf.TensorSpec(m.inputs[0].shape))",
)


def open_file(path: PathLike) -> Source:
    """The bytes of a file; of a folder that is a SavedModel, those of its graph.

    Raises FileError.
    """
    if identify_folder(path) is SAVED_MODEL:
        return Source.open(os.path.join(path, "saved_model.pb"))
    return source_of(path)


def open_tensorflow(source: Source) -> TfGraph:
    """The graph of a file; raises as `read_graph_def`."""
    message, outputs = read_graph_def(source)
    return TfGraph(message, source.name, outputs)


def read_graph_def(source: Source) -> tuple[Message, list[str]]:
    """The GraphDef of a file, binary or text, or in a SavedModel, and the outputs that this names.

    Raises NotSupportedError (CNV402) for a Keras model, which is none, FormatError (CNV401, UFF001)
    for what is damaged or something else.
    """
    kind = identify(source)
    if kind in (HDF5, KERAS):
        message = f"this is {kind.description}: its weights are apart from its graph"
        raise NotSupportedError(NOT_FROZEN.at(Where(source.name), message, hint=FREEZE_KERAS))
    if kind is TF_TEXT:
        return parse_text(source, SCHEMA["GraphDef"]), []
    if kind is TF_GRAPH:
        return Message.read(SCHEMA["GraphDef"], source), []
    if kind is SAVED_MODEL_FILE:
        return _saved(source)
    raise refusal(source, kind)


def _saved(source: Source) -> tuple[Message, list[str]]:
    """The first graph of a SavedModel, and what its signature gives."""
    model = Message.read(SCHEMA["SavedModel"], source)
    metas = model.all("meta_graphs")
    graph = metas[0].get("graph_def") if metas else None
    if graph is None:
        raise FormatError(BAD_TF.at(Where(source.name), "the SavedModel has no graph"))
    signatures = {item.get("key"): item.get("value") for item in metas[0].all("signature_def")}
    signature = signatures.get(_SERVING) or next(iter(signatures.values()), None)
    given = signature.all("outputs") if signature else []
    infos = [entry.get("value") for entry in sorted(given, key=lambda entry: entry.get("key"))]
    return graph, [info.get("name") for info in infos if info]
