"""The names that programs rely on."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import ufkit

NAMES = {
    "AnnotatedDatum",
    "Blob",
    "Box",
    "Builder",
    "Comparison",
    "Dataset",
    "DatasetRequest",
    "Datum",
    "Diagnostic",
    "Editor",
    "Edits",
    "FileError",
    "FormatError",
    "FormatOptions",
    "Graph",
    "MetaGraph",
    "MissingExtraError",
    "Net",
    "Node",
    "NotSupportedError",
    "Options",
    "Prototxt",
    "Recovered",
    "Report",
    "RequestError",
    "Sample",
    "Severity",
    "Summary",
    "Table",
    "Tensor",
    "Transform",
    "UfkitError",
    "__version__",
    "check",
    "check_dataset",
    "check_net",
    "constant",
    "convert",
    "convert_dataset",
    "create_dataset",
    "dequantize",
    "diff",
    "edit",
    "list_dataset",
    "mean_of",
    "open",
    "open_blob",
    "open_dataset",
    "open_net",
    "open_prototxt",
    "recover",
    "open_table",
    "quantize",
    "run",
    "save",
    "save_blob",
    "save_net",
    "save_prototxt",
    "save_table",
    "summarize",
    "summarize_dataset",
    "summarize_net",
}


def test_the_public_names_are_these() -> None:
    assert set(ufkit.__all__) == NAMES == set(dir(ufkit))
    for name in NAMES:
        assert getattr(ufkit, name) is not None


def test_each_is_typed_as_it_is_loaded() -> None:
    """The imports that type checkers see are those that happen."""
    tree = ast.parse(Path(ufkit.__file__).read_text())
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == NAMES - {"__version__"}
    for name, module in seen.items():
        assert getattr(importlib.import_module(str(module)), name) is getattr(ufkit, name)


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, ufkit; print([m for m in ('numpy', 'onnx', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ufkit", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"ufkit {ufkit.__version__}\n"
