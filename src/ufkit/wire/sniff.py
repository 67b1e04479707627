"""What a file is, told from its content: for the kinds ufkit opens and those it can only name."""

from __future__ import annotations

import codecs
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
    "tf-graph", "a TensorFlow graph", "it is what a UFF is made from: ufkit convert makes one"
)
SAVED_MODEL = Kind("saved-model", "a folder, a TensorFlow SavedModel", TF_GRAPH.hint)
SAVED_MODEL_FILE = Kind("saved-model-file", "the graph of a TensorFlow SavedModel", TF_GRAPH.hint)
FOLDER = Kind("folder", "a folder", "name a file in it")
TF_TEXT = Kind("tf-text", "a TensorFlow graph as text", TF_GRAPH.hint)
HDF5 = Kind("hdf5", "an HDF5 file, such as a Keras model")
KERAS = Kind("keras", "a Keras model")
ONNX = Kind(
    "onnx",
    "an ONNX model",
    "ONNX Runtime and TensorRT take it; for TensorRT before 10, ufkit convert makes a UFF of it",
)
CAFFE_NET = Kind(
    "caffe-net", "a Caffe net (caffemodel, umodel)", "ufkit.open_net opens it, in Python"
)
CAFFE_JSON = Kind("caffe-json", "the JSON form of a Caffe net", CAFFE_NET.hint)
CAFFE_TEXT = Kind(
    "caffe-text",
    "a Caffe net description (prototxt)",
    "ufkit.open_prototxt opens it, in Python; its weights are in another file",
)
CAFFE_TABLE = Kind("caffe-table", "a calibration table (prototxt)", "it goes with a net")
CAFFE_LABELS = Kind("caffe-labels", "a label map (prototxt)", "it goes with a dataset or detector")
CAFFE_BLOB = Kind("caffe-blob", "a Caffe blob (binaryproto)", "ufkit.open_blob opens it, in Python")
CAFFE_BLOBS = Kind("caffe-blobs", "a list of Caffe blobs (BlobProtoVector)")
DATUM = Kind("datum", "one record of a Caffe dataset (Datum)", "datasets of them are LMDB folders")
ANNOTATED_DATUM = Kind(
    "annotated-datum", "one record of an SSD dataset (AnnotatedDatum)", DATUM.hint
)
LMDB = Kind("lmdb", "an LMDB database, such as a dataset of Caffe", "ufkit.open_dataset opens it")
CAFFE_SOLVER = Kind("caffe-solver", "settings of a Caffe training (solver prototxt)")
HTML = Kind("html", "a web page", "a download page was saved instead of the file; fetch it again")
JSON = Kind("json", "JSON of some other kind")
TEXT = Kind("text", "plain text")
UNKNOWN = Kind("unknown", "of no kind that is known here")

_UFF_WORDS = "version|descriptor_core_version|descriptors|graphs|referenced_data|extra_fields"
_COMMENTS = rb"(?:\s|#[^\n]*\n)*"
_CAFFE = _COMMENTS + (
    rb"(?:(?:name|model_type|int8_scale)\s*:|layers?\s*:?\s*\{"
    rb"|input(?:_dim|_shape)?\s*[:{]|state\s*\{)"
)
_CAFFE_JSON = (
    rb'\s*\{\s*(?:"name"\s*:\s*"[^"]*"\s*,\s*)?'
    rb'"(?:layers?|input|input_dim|input_shape|state)"\s*:\s*[\[{]'
)
_TEXTS = tuple(
    (re.compile(pattern, re.I), kind)
    for pattern, kind in (
        (rb"version https://git-lfs", LFS_POINTER),
        (rb"\s*(?:<!doctype html|<html|<\?xml[^>]*>\s*<!doctype html)", HTML),
        (_COMMENTS + rb"(?:" + _UFF_WORDS.encode() + rb")\s*[:{<]", UFF_TEXT),
        (rb'\s*\{\s*"(?:' + _UFF_WORDS.encode() + rb')"', UFF_JSON),
        (_CAFFE_JSON, CAFFE_JSON),
        (_COMMENTS + rb"(?:node|library|versions)\s*\{", TF_TEXT),
        (_COMMENTS + rb"item\s*:?\s*\{[^{}]*\blabel\s*:", CAFFE_LABELS),
        (_CAFFE + rb"(?s:.*?)\b(?:threshold_y|right_shift_width)\s*:", CAFFE_TABLE),
        (_CAFFE, CAFFE_TEXT),
        (_COMMENTS + rb"(?:net|train_net|test_iter|test_interval|base_lr)\s*:", CAFFE_SOLVER),
        (rb"\s*[\[{]", JSON),
    )
)
_MAGIC = (
    (b"\x89HDF\r\n\x1a\n", HDF5),
    (b"PK\x03\x04", Kind("zip", "a ZIP archive, such as .npz or a PyTorch checkpoint")),
    (b"\x1f\x8b", Kind("gzip", "compressed with gzip", "unpack it first: gunzip")),
    (b"ptrt", Kind("trt-engine", "a TensorRT engine", "engines hold machine code, not a graph")),
    (b"ftrt", Kind("trt-engine", "a TensorRT engine", "engines hold machine code, not a graph")),
    (b"\x93NUMPY", Kind("npy", "a NumPy array")),
    (b"\x80\x02", Kind("pickle", "a Python pickle")),
    (b"\x80\x04", Kind("pickle", "a Python pickle")),
    (b"%PDF", Kind("pdf", "a PDF document")),
    (b"\x7fELF", Kind("elf", "a program or library")),
)
_LMDB_MAGIC = (b"\xde\xc0\xef\xbe", b"\xbe\xef\xc0\xde")  # of machines of either byte order
_LMDB_HEADERS = (16, 12, 24)  # bytes before it: 64 bits, 32 bits, LMDB 1.0
_TFLITE = Kind("tflite", "a TensorFlow Lite model")
_ZIP_NAME = 30  # where an archive has the name of its first member


def identify(source: Source) -> Kind:
    """The kind of a file. Reads its head, and the fields of its outermost message."""
    if source.size == 0:
        return EMPTY
    head = bytes(source.view(0, _HEAD))
    if head[:2] == b"PK" and head.startswith((b"metadata.json", b"config.json"), _ZIP_NAME):
        return KERAS
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[4:8] == b"TFL3":
        return _TFLITE
    if any(head[at : at + 4] in _LMDB_MAGIC for at in _LMDB_HEADERS):
        return LMDB
    text = head.removeprefix(b"\xef\xbb\xbf")
    printable = not re.search(rb"[\x00-\x08\x0e-\x1f]", text)
    if printable:
        for pattern, kind in _TEXTS:
            if pattern.match(text):
                return kind
        if _is_written(text):
            return TEXT
    return _identify_message(source) or (TEXT if printable else UNKNOWN)


def _is_written(head: bytes) -> bool:
    """Whether bytes without control characters are text. A newline and the letter behind it are
    a field of a message too, so that of a text some fields can be read; but no message of a kind
    that is known here goes on for long in UTF-8, its tags are control characters."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last letter may be cut
    except UnicodeDecodeError:
        return False
    return True


def identify_folder(path: PathLike) -> Kind | None:
    """The kind of a folder; None for what is none."""
    if not os.path.isdir(path):
        return None
    if os.path.exists(os.path.join(path, "data.mdb")):
        return LMDB
    return SAVED_MODEL if os.path.exists(os.path.join(path, "saved_model.pb")) else FOLDER


def _identify_message(source: Source) -> Kind | None:
    """By numbers and wire types of the outermost message's fields, as far as it is intact."""
    fields = _intact(source)
    wires = {number: records[0][1] for number, records in fields.items()}

    def has(**wanted: int) -> bool:
        return all(wires.get(int(name[1:])) == wire for name, wire in wanted.items())

    if _is_blob(source, fields):
        return CAFFE_BLOB
    if has(f3=VARINT, f4=LEN) or has(f4=LEN, f8=LEN, f9=VARINT):
        return DATUM
    if has(f1=VARINT, f2=LEN) and wires.keys() == {1, 2} and _holds_meta_graph(source, fields):
        return SAVED_MODEL_FILE
    if has(f1=VARINT, f2=LEN) or has(f1=VARINT, f7=LEN):
        return ONNX
    if wires.keys() & {1, 2, 4} and all(wires.get(n, wire) == wire for n, wire in _UFF_WIRES):
        return UFF
    if has(f1=LEN, f2=VARINT, f3=LEN):
        return ANNOTATED_DATUM
    if wires == {1: LEN} and all(_holds_blob(source, record) for record in fields[1]):
        return CAFFE_BLOBS
    if has(f100=LEN) or has(f2=LEN) or has(f1=LEN):
        return CAFFE_NET if has(f100=LEN) or _starts_with_text(source, fields) else TF_GRAPH
    return None


_UFF_WIRES = ((1, VARINT), (2, VARINT), (3, LEN), (4, LEN), (5, LEN))
_BLOB_DIMS = (1, 2, 3, 4)  # num, channels, height, width of older files
_BLOB_SHAPE = 7
_BLOB_DATA = (5, 8, 10, 14)  # in floats, doubles, bytes, integers
_BLOB_LAST = 25


def _is_blob(source: Source, fields: dict[int, list[Record]]) -> bool:
    """Whether the fields are a blob's: four sizes, or a shape and numbers."""
    if not fields or max(fields) > _BLOB_LAST:
        return False
    dims = [fields[number][0][1] for number in _BLOB_DIMS if number in fields]
    if dims:
        return len(dims) == len(_BLOB_DIMS) and set(dims) == {VARINT}
    if _BLOB_SHAPE not in fields or not any(number in fields for number in _BLOB_DATA):
        return False
    _, wire, start, stop = fields[_BLOB_SHAPE][0]
    try:
        return wire == LEN and scan(source, start, stop, most=_FIRST).keys() <= {1}
    except FormatError:
        return False


def _holds_blob(source: Source, record: Record) -> bool:
    try:
        return _is_blob(source, scan(source, record[2], record[3], most=_FIRST))
    except FormatError:
        return False


def _intact(source: Source) -> dict[int, list[Record]]:
    """The first of the outermost fields; of a damaged message, those before the damage."""
    stop = source.size
    for _ in range(3):  # the fault may lie in a length, one step behind its field's tag
        try:
            return scan(source, 0, stop, most=_FIRST)
        except FormatError as error:
            stop = error.diagnostic.where.start or 0
    return {}


def _holds_meta_graph(source: Source, fields: dict[int, list[Record]]) -> bool:
    """Field 2 is a message in a SavedModel, the name of a program in an ONNX model."""
    _, _, start, stop = fields[2][0]
    return bytes(source.view(start, stop)[:1]) in (b"\n", b"\x12")


def _starts_with_text(source: Source, fields: dict[int, list[Record]]) -> bool:
    """Field 1 is a name in Caffe's NetParameter, a message in TensorFlow's GraphDef."""
    if 1 not in fields:
        return True
    _, _, start, stop = fields[1][0]
    return not bytes(source.view(start, stop)[:1]).startswith(b"\n")
