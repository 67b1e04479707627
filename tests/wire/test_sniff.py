"""What a file is, told from its content."""

from __future__ import annotations

from pathlib import Path

import pytest

from ufkit.core.files import Source
from ufkit.wire.sniff import identify
from wire.judge import judge

CORPUS = {
    "uff/lenet5.uff": "uff",
    "uff/lenet5.pb": "tf-graph",
    "uff/netvlad_short.uff.pbtxt": "uff-text",
    "uff/lfs_pointer.uff": "lfs-pointer",
    "ufw/pnet.caffemodel": "caffe-net",
    "ufw/lenet_v1_layers.caffemodel": "caffe-net",
    "ufw/mean.binaryproto": "caffe-blob",
    "ufw/pnet.prototxt": "caffe-text",
    "ufw/mobilenet_deploy_int8_unique_top.prototxt": "caffe-text",
    "ufw/bm1880_lenet_deploy.prototxt": "caffe-text",
    "ufw/bm1880_lenet_calibration.prototxt": "caffe-table",
    "ufw/labelmap_voc.prototxt": "caffe-labels",
    "ufw/labelmap_coco.prototxt": "caffe-labels",
    "lmdb/thumbs_32x32/data.mdb": "lmdb",
    "lmdb/signatures_20x20/data.mdb": "lmdb",
}


def kind(data: bytes | str) -> str:
    return identify(Source(data.encode() if isinstance(data, str) else data)).name


@pytest.mark.parametrize("name", CORPUS)
def test_real_files(corpus: Path, name: str) -> None:
    assert identify(Source.open(corpus / name)).name == CORPUS[name]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('# c\nname: "x"\nlayer { name: "a" }', "caffe-text"),
        ("layers { bottom: 'x' }", "caffe-text"),
        ("layer: { name: 'x' }", "caffe-text"),
        ("int8_scale: 2.5", "caffe-text"),
        ("model_type: BMNETC2UModel", "caffe-text"),
        ('input: "data"', "caffe-text"),
        ('name: "x" layer { name: "a" threshold_y: 1.5 }', "caffe-table"),
        ('item {\n  name: "a"\n  label: 1 }', "caffe-labels"),
        ('item { id: 1 name: "a" }', "text"),  # TensorFlow's
        ('net: "train.prototxt"\nbase_lr: 0.1', "caffe-solver"),
        ('{"name": "x", "layer": [{"name": "a"}]}', "caffe-json"),
        ('{"layers": []}', "caffe-json"),
        ('{"class_name": "Model", "config": {"layers": []}}', "json"),
        ('{"name": "package", "version": "1"}', "json"),
        ('{"graphs": []}', "uff-json"),
        ("version: 1", "uff-text"),
        ("node { name: 'x' }", "tf-text"),
        ("\nimages/0.jpg 1\n" + "images/1.jpg 2\n" * 9, "text"),  # a newline begins a field, too
        ("\n# a list of images\n" + "é.jpg 1\n" * 2000, "text"),
    ],
)
def test_texts(text: str, name: str) -> None:
    assert kind(text) == name


def test_records_and_blobs() -> None:
    ufw = judge("ufw")

    def made(type_: str, **values: object) -> bytes:
        return ufw.official(ufw.type(type_), values).SerializeToString()  # type: ignore[no-any-return]

    dims = {"num": 1, "channels": 3, "height": 2, "width": 2}
    assert kind(made("BlobProto", **dims, data=[0.0] * 12)) == "caffe-blob"
    assert kind(made("BlobProto", **dims)[:8]) == "caffe-blob"  # its data cut off
    assert kind(made("BlobProto", shape={"dim": [2]}, data=[1, 2])) == "caffe-blob"
    assert kind(made("BlobProto", shape={"dim": [2]}, int8_data=b"ab")) == "caffe-blob"
    assert kind(made("BlobProto", shape={"dim": [2]}, int32_data=[1, -2], dtype=2)) == "caffe-blob"
    blob = {"shape": {"dim": [2]}, "data": [1.0, 2.0]}
    assert kind(made("BlobProtoVector", blobs=[blob, blob])) == "caffe-blobs"
    datum = {"channels": 3, "height": 2, "width": 2, "data": b"x" * 12, "label": 7}
    assert kind(made("Datum", **datum)) == "datum"
    assert kind(made("Datum", shape={"dim": [2]}, data=b"ab", dtype=3)) == "datum"
    group = {"group_label": 1, "annotation": [{"bbox": {"xmin": 0.5}}]}
    annotated = made("AnnotatedDatum", datum=datum, type=0, annotation_group=[group])
    assert kind(annotated) == "annotated-datum"


def test_others_are_not_taken_for_caffe() -> None:
    onnx = b"\x08\x08\x12\x04test" + b"\x3a\x02\x0a\x00"
    assert kind(onnx) == "onnx"
    assert kind(b"\x08\x08\x3a\x02\x0a\x00\x42\x02\x10\x0d") == "onnx"
    uff = judge("uff")
    meta = uff.type("MetaGraph")
    for values in (
        {"version": 1, "descriptor_core_version": 1, "graphs": [{"id": "main"}]},
        {"version": 1},
        {"graphs": [{"id": "main", "nodes": [{"id": "x"}]}]},
    ):
        assert kind(uff.official(meta, values).SerializeToString()) == "uff"
