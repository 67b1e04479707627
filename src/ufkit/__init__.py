"""Opens UFF and UFW files, says what is in them, and gets them where they have to go.

    import ufkit

    with ufkit.open("model.uff") as model:
        print(ufkit.summarize(model))
    ufkit.convert("model.uff", "model.onnx", ufkit.Options(verify=True))
    with ufkit.open_net("net.caffemodel") as net:
        kernel = net["conv1"].blobs[0].array()

Not here: training, TensorRT engines, anything that needs TensorFlow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ufkit.conversion.compare import diff as diff
    from ufkit.conversion.pairs import Options as Options
    from ufkit.conversion.pairs import Report as Report
    from ufkit.conversion.pairs import convert as convert
    from ufkit.core.comparison import Comparison as Comparison
    from ufkit.core.diag import Diagnostic as Diagnostic
    from ufkit.core.diag import FileError as FileError
    from ufkit.core.diag import FormatError as FormatError
    from ufkit.core.diag import MissingExtraError as MissingExtraError
    from ufkit.core.diag import NotSupportedError as NotSupportedError
    from ufkit.core.diag import RequestError as RequestError
    from ufkit.core.diag import Severity as Severity
    from ufkit.core.diag import UfkitError as UfkitError
    from ufkit.core.tensor import Tensor as Tensor
    from ufkit.datasets.convert import DatasetRequest as DatasetRequest
    from ufkit.datasets.convert import convert_dataset as convert_dataset
    from ufkit.datasets.convert import mean_of as mean_of
    from ufkit.datasets.formats.format import FormatOptions as FormatOptions
    from ufkit.datasets.open import list_dataset as list_dataset
    from ufkit.datasets.sample import Sample as Sample
    from ufkit.datasets.transform import Transform as Transform
    from ufkit.uff.build import Builder as Builder
    from ufkit.uff.check import check as check
    from ufkit.uff.const import constant as constant
    from ufkit.uff.edit.editor import Editor as Editor
    from ufkit.uff.edit.edits import Edits as Edits
    from ufkit.uff.edit.edits import edit as edit
    from ufkit.uff.io import open as open
    from ufkit.uff.io import save as save
    from ufkit.uff.model import Graph as Graph
    from ufkit.uff.model import MetaGraph as MetaGraph
    from ufkit.uff.model import Node as Node
    from ufkit.uff.recover import Recovered as Recovered
    from ufkit.uff.recover import recover as recover
    from ufkit.uff.runner import run as run
    from ufkit.uff.summary import Summary as Summary
    from ufkit.uff.summary import summarize as summarize
    from ufkit.ufw.annotations import AnnotatedDatum as AnnotatedDatum
    from ufkit.ufw.annotations import Box as Box
    from ufkit.ufw.blob import Blob as Blob
    from ufkit.ufw.check import check_net as check_net
    from ufkit.ufw.dataset import Dataset as Dataset
    from ufkit.ufw.dataset import open_dataset as open_dataset
    from ufkit.ufw.dataset_check import check_dataset as check_dataset
    from ufkit.ufw.dataset_summary import summarize_dataset as summarize_dataset
    from ufkit.ufw.datum import Datum as Datum
    from ufkit.ufw.dequantize import dequantize as dequantize
    from ufkit.ufw.io import open_blob as open_blob
    from ufkit.ufw.io import open_net as open_net
    from ufkit.ufw.io import open_prototxt as open_prototxt
    from ufkit.ufw.io import save_blob as save_blob
    from ufkit.ufw.io import save_net as save_net
    from ufkit.ufw.io import save_prototxt as save_prototxt
    from ufkit.ufw.net import Net as Net
    from ufkit.ufw.prototxt import Prototxt as Prototxt
    from ufkit.ufw.quantize import quantize as quantize
    from ufkit.ufw.summary import summarize_net as summarize_net
    from ufkit.ufw.table import Table as Table
    from ufkit.ufw.table import open_table as open_table
    from ufkit.ufw.table import save_table as save_table
    from ufkit.ufw.writer import create_dataset as create_dataset

# Where each public name lives. Modules load when a name is first used, so that a command that
# only looks at a file never imports onnx.
_HOMES = {
    "diff": "conversion.compare",
    "Options": "conversion.pairs",
    "Report": "conversion.pairs",
    "convert": "conversion.pairs",
    "Comparison": "core.comparison",
    "Diagnostic": "core.diag",
    "FileError": "core.diag",
    "FormatError": "core.diag",
    "MissingExtraError": "core.diag",
    "NotSupportedError": "core.diag",
    "RequestError": "core.diag",
    "Severity": "core.diag",
    "UfkitError": "core.diag",
    "Tensor": "core.tensor",
    "DatasetRequest": "datasets.convert",
    "convert_dataset": "datasets.convert",
    "mean_of": "datasets.convert",
    "FormatOptions": "datasets.formats.format",
    "list_dataset": "datasets.open",
    "Sample": "datasets.sample",
    "Transform": "datasets.transform",
    "Builder": "uff.build",
    "check": "uff.check",
    "constant": "uff.const",
    "Editor": "uff.edit.editor",
    "Edits": "uff.edit.edits",
    "edit": "uff.edit.edits",
    "open": "uff.io",
    "save": "uff.io",
    "Graph": "uff.model",
    "MetaGraph": "uff.model",
    "Node": "uff.model",
    "Recovered": "uff.recover",
    "recover": "uff.recover",
    "run": "uff.runner",
    "Summary": "uff.summary",
    "summarize": "uff.summary",
    "AnnotatedDatum": "ufw.annotations",
    "Box": "ufw.annotations",
    "Blob": "ufw.blob",
    "check_net": "ufw.check",
    "dequantize": "ufw.dequantize",
    "Dataset": "ufw.dataset",
    "open_dataset": "ufw.dataset",
    "check_dataset": "ufw.dataset_check",
    "summarize_dataset": "ufw.dataset_summary",
    "Datum": "ufw.datum",
    "open_blob": "ufw.io",
    "open_net": "ufw.io",
    "open_prototxt": "ufw.io",
    "save_blob": "ufw.io",
    "save_net": "ufw.io",
    "save_prototxt": "ufw.io",
    "Net": "ufw.net",
    "Prototxt": "ufw.prototxt",
    "quantize": "ufw.quantize",
    "summarize_net": "ufw.summary",
    "Table": "ufw.table",
    "open_table": "ufw.table",
    "save_table": "ufw.table",
    "create_dataset": "ufw.writer",
}

__version__ = "0.1.0"
# the names are the keys above; spelt out twice they would drift
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
