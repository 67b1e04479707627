"""Which kinds of files become which: by the family of the source and the target's suffix."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ufkit.conversion.rules import WRONG_PAIR
from ufkit.core.diag import RequestError, Where
from ufkit.core.files import PathLike, Source
from ufkit.uff.io import BINARY, JSON, TEXT
from ufkit.wire.sniff import identify

ONNX, NPY = "onnx", "npy"
DEFAULT_OPSET = 17  # of ONNX; here, so that who writes none need not load `onnx`


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Files that become the same kinds of files. `forms` are those by the target's suffix.

    made    what the forms are forms of, where that is not what the files were
    """

    name: str
    forms: Mapping[str, str]
    made: str = ""

    @property
    def one(self) -> str:
        """The name with its article: a member of the family."""
        return f"{'an' if self is ONNX_MODEL else 'a'} {self.name}"


UFF = Family(
    "UFF",
    {
        ".onnx": ONNX,
        ".uff": BINARY,
        ".pb": BINARY,
        ".pbtxt": TEXT,
        ".txt": TEXT,
        ".json": JSON,
    },
)
TENSORFLOW = Family(
    "TensorFlow graph",
    {".uff": BINARY, ".pbtxt": TEXT, ".txt": TEXT, ".json": JSON, ".onnx": ONNX},
    made=UFF.name,
)
ONNX_MODEL = Family(
    "ONNX model",
    {".uff": BINARY, ".pb": BINARY, ".pbtxt": TEXT, ".txt": TEXT, ".json": JSON},
    made=UFF.name,
)
NET = Family(
    "Caffe net",
    {
        ".caffemodel": BINARY,
        ".fp32umodel": BINARY,
        ".int8umodel": BINARY,
        ".prototxt": TEXT,
        ".txt": TEXT,
        ".json": JSON,
    },
)
MEAN = Family("mean image", {".npy": NPY})
ARRAY = Family("mean image", {".binaryproto": BINARY})
_FAMILIES = {
    "caffe-net": NET,
    "caffe-text": NET,
    "caffe-json": NET,
    "caffe-blob": MEAN,
    "npy": ARRAY,
    "onnx": ONNX_MODEL,
    **dict.fromkeys(("tf-graph", "tf-text", "saved-model-file", "hdf5", "keras"), TENSORFLOW),
}


def family_of(source: Source) -> Family:
    """What a file is a member of; UFF where nothing tells, whose reader then says what it is."""
    return _FAMILIES.get(identify(source).name, UFF)


def target_form(target: PathLike, family: Family) -> str:
    """The form that a name asks for. Raises RequestError (CNV002)."""
    suffix = os.path.splitext(os.fspath(target))[1].lower()
    if suffix not in family.forms:
        message = f"{os.fspath(target)!r} names no kind of file that {family.one} becomes"
        hint = f"end the name in one of {', '.join(family.forms)}"
        raise RequestError(WRONG_PAIR.at(Where(os.fspath(target)), message, hint=hint))
    return family.forms[suffix]
