"""What a file is, told from its content: for the kinds ufkit opens and those it can only name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ufkit.core.diag import FormatError
from ufkit.core.files import PathLike, Source
from ufkit.wire.reader import LEN, VARINT, Record, scan

_HEAD = 4096  # bytes that a text is told by
_FIRST = 16  # fields that a message is told by


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file. `hint` says what its holder can do about it."""

    name: str
    description: str
    hint: str = ""


UFF = Kind("uff", "a UFF file")
UFF_TEXT = Kind("uff-text", "the text form of a UFF file")
UFF_JSON = Kind("uff-json", "the JSON form of a UFF file")
EMPTY = Kind("empty", "empty, 0 bytes", "the download or the export failed; fetch it again")
LFS_POINTER = Kind(
    "lfs-pointer",
    "a Git LFS pointer, not the file itself",
    "in the repository it came from: git lfs install && git lfs pull",
)
TF_GRAPH = Kind(
    "tf-graph", "a TensorFlow graph", "it is what a UFF is made from; tf2onnx turns it into ONNX"
)
SAVED_MODEL = Kind("saved-model", "a folder, a TensorFlow SavedModel", TF_GRAPH.hint)
FOLDER = Kind("folder", "a folder", "name a file in it")
TF_TEXT = Kind("tf-text", "a TensorFlow graph as text", "it is not a UFF")
ONNX = Kind("onnx", "an ONNX model", "it needs no conversion: ONNX Runtime and TensorRT take it")
CAFFE_NET = Kind("caffe-net", "a Caffe net (caffemodel)", "it is not a UFF")
CAFFE_TEXT = Kind("caffe-text", "a Caffe net description (prototxt)", "it is not a UFF")
HTML = Kind("html", "a web page", "a download page was saved instead of the file; fetch it again")
JSON = Kind("json", "JSON of some other kind")
TEXT = Kind("text", "plain text")
UNKNOWN = Kind("unknown", "of no kind that is known here")

_UFF_WORDS = "version|descriptor_core_version|descriptors|graphs|referenced_data|extra_fields"
_COMMENTS = rb"(?:\s|#[^\n]*\n)*"
_TEXTS = tuple(
    (re.compile(pattern, re.I), kind)
    for pattern, kind in (
        (rb"version https://git-lfs", LFS_POINTER),
        (rb"\s*(?:<!doctype html|<html|<\?xml[^>]*>\s*<!doctype html)", HTML),
        (_COMMENTS + rb"(?:" + _UFF_WORDS.encode() + rb")\s*[:{<]", UFF_TEXT),
        (rb'\s*\{\s*"(?:' + _UFF_WORDS.encode() + rb')"', UFF_JSON),
        (_COMMENTS + rb"(?:node|library|versions)\s*\{", TF_TEXT),
        (
            _COMMENTS + rb"(?:name\s*:|layers?\s*\{|input(?:_dim|_shape)?\s*[:{]|state\s*\{)",
            CAFFE_TEXT,
        ),
        (rb"\s*[\[{]", JSON),
    )
)
_MAGIC = (
    (b"\x89HDF\r\n\x1a\n", Kind("hdf5", "an HDF5 file, such as a Keras model")),
    (b"PK\x03\x04", Kind("zip", "a ZIP archive, such as .npz, .keras or a PyTorch checkpoint")),
    (b"\x1f\x8b", Kind("gzip", "compressed with gzip", "unpack it first: gunzip")),
    (b"ptrt", Kind("trt-engine", "a TensorRT engine", "engines hold machine code, not a graph")),
    (b"ftrt", Kind("trt-engine", "a TensorRT engine", "engines hold machine code, not a graph")),
    (b"\x93NUMPY", Kind("npy", "a NumPy array")),
    (b"\x80\x02", Kind("pickle", "a Python pickle")),
    (b"\x80\x04", Kind("pickle", "a Python pickle")),
    (b"%PDF", Kind("pdf", "a PDF document")),
    (b"\x7fELF", Kind("elf", "a program or library")),
)
_TFLITE = Kind("tflite", "a TensorFlow Lite model")


def identify(source: Source) -> Kind:
    """The kind of a file. Reads its head, and the fields of its outermost message."""
    if source.size == 0:
        return EMPTY
    head = bytes(source.view(0, _HEAD))
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[4:8] == b"TFL3":
        return _TFLITE
    text = head.removeprefix(b"\xef\xbb\xbf")
    printable = not re.search(rb"[\x00-\x08\x0e-\x1f]", text)
    if printable:
        for pattern, kind in _TEXTS:
            if pattern.match(text):
                return kind
    return _identify_message(source) or (TEXT if printable else UNKNOWN)


def identify_folder(path: PathLike) -> Kind | None:
    """The kind of a folder; None for what is none."""
    if not os.path.isdir(path):
        return None
    return SAVED_MODEL if os.path.exists(os.path.join(path, "saved_model.pb")) else FOLDER


def _identify_message(source: Source) -> Kind | None:
    """By numbers and wire types of the outermost message's fields, as far as it is intact."""
    fields = _intact(source)
    wires = {number: records[0][1] for number, records in fields.items()}

    def has(**wanted: int) -> bool:
        return all(wires.get(int(name[1:])) == wire for name, wire in wanted.items())

    if has(f1=VARINT, f2=LEN) or has(f1=VARINT, f7=LEN):
        return ONNX
    if wires.keys() & {1, 2, 4} and all(wires.get(n, wire) == wire for n, wire in _UFF_WIRES):
        return UFF
    if has(f100=LEN) or has(f2=LEN) or has(f1=LEN):
        return CAFFE_NET if has(f100=LEN) or _starts_with_text(source, fields) else TF_GRAPH
    return None


_UFF_WIRES = ((1, VARINT), (2, VARINT), (3, LEN), (4, LEN), (5, LEN))


def _intact(source: Source) -> dict[int, list[Record]]:
    """The first of the outermost fields; of a damaged message, those before the damage."""
    stop = source.size
    for _ in range(3):  # the fault may lie in a length, one step behind its field's tag
        try:
            return scan(source, 0, stop, most=_FIRST)
        except FormatError as error:
            stop = error.diagnostic.where.start or 0
    return {}


def _starts_with_text(source: Source, fields: dict[int, list[Record]]) -> bool:
    """Field 1 is a name in Caffe's NetParameter, a message in TensorFlow's GraphDef."""
    if 1 not in fields:
        return True
    _, _, start, stop = fields[1][0]
    return not bytes(source.view(start, stop)[:1]).startswith(b"\n")
