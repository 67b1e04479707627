"""The schemas, read from `ufw.proto` and `caffe.proto` beside this module."""

from __future__ import annotations

from importlib.resources import files

from ufkit.wire.proto import parse_proto


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text()


UFW = parse_proto(_text("ufw.proto"))
BLOB = UFW["BlobProto"]
BLOB_SHAPE = UFW["BlobShape"]
DATUM = UFW["Datum"]
ANNOTATED_DATUM = UFW["AnnotatedDatum"]
ANNOTATION_GROUP = UFW["AnnotationGroup"]
ANNOTATION = UFW["Annotation"]
BOX = UFW["NormalizedBBox"]

CAFFE = parse_proto(_text("caffe.proto"), {"ufw.proto": UFW})
NET = CAFFE["NetParameter"]
LAYER = CAFFE["LayerParameter"]
V1_LAYER = CAFFE["V1LayerParameter"]
