"""Each rule has a file or a call that provokes it; none is without one."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import pytest

import graphsurgeon
import onnx_models
import tf_graphs
import uff
import ufkit
from graphs import small_net
from pictures import pixels, png, some_samples, voc_xml, write_coco, write_voc
from test_generated import RULES
from ufkit.cli.app import run
from ufkit.conversion.tf_uff import to_uff
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.core.diag import Diagnostic, Where
from ufkit.core.dtypes import DType
from ufkit.core.files import Source, need
from ufkit.datasets.convert import DatasetRequest, convert_dataset
from ufkit.datasets.engine import changed
from ufkit.datasets.formats.files import ImageFolder
from ufkit.datasets.formats.format import FormatOptions
from ufkit.datasets.open import list_dataset
from ufkit.datasets.report import Report as DatasetReport
from ufkit.datasets.sample import Label, Sample
from ufkit.datasets.transform import Transform
from ufkit.uff.build import Builder
from ufkit.uff.data import Orders, Ref
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import MetaGraph
from ufkit.ufw.annotations import Box, Record
from ufkit.ufw.blob import Blob
from ufkit.ufw.check import check_blob, check_labels, check_prototxt
from ufkit.ufw.datum import Datum
from ufkit.ufw.dequantize import dequantize
from ufkit.ufw.io import open_labels
from ufkit.ufw.mean import mean_blob
from ufkit.ufw.net import Net
from ufkit.ufw.pair import pair_findings
from ufkit.ufw.quant import multipliers
from ufkit.ufw.quantize import quantize
from ufkit.ufw.schema import BLOB
from ufkit.ufw.table import Table, open_table
from ufkit.viewer.drawing.png import to_png
from ufkit.viewer.graph.arrays import window
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.graph.scene import Scene
from ufkit.viewer.layout.diagram import Diagram
from ufkit.viewer.openers import Wish
from ufkit.viewer.subject import Subject
from ufkit.viewer.web.address import Address, listening
from ufkit.wire.message import Message, to_bytes
from ufkit_compat.preprocess import preprocess
from ufw.datasets import boxed, floats, foreign, made, of_records, record
from ufw.nets import PROTOTXT, blob_of, old_net
from ufw.nets import small_net as small_caffe
from ufw.tiny import TABLE, tiny_net

Findings = Iterator[Diagnostic]
NET = to_bytes(small_net().meta.message)
PROVOKED: dict[str, Callable[[Path], Any]] = {}


def provokes(*codes: str) -> Callable[[Callable[[Path], Any]], Callable[[Path], Any]]:
    """The function below gives findings, or raises, with one of these codes."""

    def register(function: Callable[[Path], Any]) -> Callable[[Path], Any]:
        PROVOKED.update(dict.fromkeys(codes, function))
        return function

    return register


def one(operation: str, *inputs: Any, orders: str = "", **fields: Any) -> Builder:
    """A graph of one node; arrays become constants, lists the shapes of Inputs."""
    b = Builder()
    ids = [
        b.input(f"x{i}", item) if isinstance(item, list) else b.const(f"c{i}", item)
        for i, item in enumerate(inputs)
    ]
    b.op("y", operation, ids, orders, **fields)
    b.output("y")
    return b


SSD_ANCHORS = {
    "aspectRatios_u_flist": [1.0, 2.0, 0.5],
    "featureMapShapes_u_ilist": [2, 1],
    "numLayers_u_int": 2,
    "variance_u_flist": [0.1, 0.1, 0.2, 0.2],
}  # 2 * 2 * 3 + 1 * 1 * 4 = 16 of them


# -- files -----------------------------------------------------------------------------------


@provokes("UFK001")
def _missing(folder: Path) -> Any:
    return ufkit.open(folder / "absent.uff")


@provokes("UFK002")
def _no_folder(folder: Path) -> Any:
    return ufkit.save(small_net().meta, folder / "absent" / "x.uff")


@provokes("UFK003")
def _exists(folder: Path) -> Any:
    ufkit.save(small_net().meta, folder / "a.uff")
    ufkit.convert(folder / "a.uff", folder / "b.onnx")
    return ufkit.convert(folder / "a.uff", folder / "b.onnx")


@provokes("UFK004")
def _extra(_: Path) -> Any:
    return need("no_such_library", "run")


@provokes("UFK005")
def _closed(folder: Path) -> Any:
    ufkit.save(small_net().meta, folder / "a.uff")
    with ufkit.open(folder / "a.uff") as model:
        node = model.graph["conv/kernel"]
    return node.fields["values"].view()


# -- wire ------------------------------------------------------------------------------------


def opened(data: bytes) -> Any:
    return list(ufkit.check(open_uff(Source(data, "x.uff"))))


@provokes("UFK101")
def _cut(_: Path) -> Any:
    return opened(b"\x08\x01\x10\x01\x22\x7f\x0a")


@provokes("UFK102")
def _tag(_: Path) -> Any:
    return opened(b"\x08\x01\x10\x01\x22\x02\x0a\x00\x27\x00")


@provokes("UFK103")
def _varint(_: Path) -> Any:
    return opened(b"\x10\x01\x22\x02\x0a\x00\x08" + b"\xff" * 11)


@provokes("UFK104")
def _deep(_: Path) -> Any:
    return opened(b"\x08\x01\x10\x01\x22\x02\x0a\x00" + b"\x33" * 200)


@provokes("UFK105")
def _utf8(_: Path) -> Any:
    return opened(b"\x08\x01\x10\x01\x22\x03\x0a\x01\xff")


@provokes("UFK106")
def _packed(_: Path) -> Any:
    from ufkit.uff.schema import SCHEMA

    return Message.read(SCHEMA["ListDouble"], Source(b"\x0a\x03abc")).all("val")


@provokes("UFK110")
def _text(_: Path) -> Any:
    return opened(b"version: 1\ngraphs { nodes { idd: 'x' } }")


@provokes("UFK111")
def _json(_: Path) -> Any:
    return opened(b'{"version": "1", "graphs": [{"nodes": 3}]}')


@provokes("UFK112")
def _misfit(_: Path) -> Any:
    return ufkit.MetaGraph.new().message.set("version", 1 << 70)


# -- UFF: files ------------------------------------------------------------------------------


@provokes("UFF001")
def _web_page(_: Path) -> Any:
    return opened(b"<!DOCTYPE html><html><body>404</body></html>")


@provokes("UFF002")
def _empty(_: Path) -> Any:
    return opened(b"")


@provokes("UFF003")
def _version(_: Path) -> Findings:
    b = small_net()
    b.meta.message.set("version", 9)
    return ufkit.check(b.meta)


@provokes("UFF004")
def _unknown(folder: Path) -> Any:
    ufkit.save(small_net().meta, folder / "a.uff")
    return opened((folder / "a.uff").read_bytes() + b"\x4a\x01x")


@provokes("UFF005")
def _key_twice(_: Path) -> Findings:
    b = small_net()
    message = b.graph["relu"].message
    message.set("fields", [*message.all("fields"), *message.all("fields")])
    return ufkit.check(b.meta)


@provokes("UFF006", "UFF201")
def _custom(_: Path) -> Findings:
    return ufkit.check(one("_Region_TRT", [1, 4]).meta)


# -- UFF: graphs -----------------------------------------------------------------------------


@provokes("UFF101")
def _id_twice(_: Path) -> Findings:
    b = one("Identity", [1, 4])
    b.op("y", "Identity", ["x0"])
    return ufkit.check(b.meta)


@provokes("UFF102")
def _dangling(_: Path) -> Findings:
    b = one("Identity", [1, 4])
    b.graph["y"].inputs = ["gone"]
    return ufkit.check(b.meta)


@provokes("UFF103")
def _circle(_: Path) -> Findings:
    b = one("Binary", [1, 4], [1, 4], func="add")
    b.graph["y"].inputs = ["x0", "y"]
    return ufkit.check(b.meta)


@provokes("UFF104")
def _no_output(_: Path) -> Findings:
    b = one("Identity", [1, 4])
    b.graph.remove(b.graph["MarkOutput_0"])
    return ufkit.check(b.meta)


@provokes("UFF105")
def _unreachable(_: Path) -> Findings:
    b = one("Identity", [1, 4])
    b.const("left over", np.zeros(3, np.float32))
    return ufkit.check(b.meta)


@provokes("UFF106")
def _arity(_: Path) -> Findings:
    return ufkit.check(one("Binary", [1, 4], func="add").meta)


# -- UFF: fields -----------------------------------------------------------------------------


@provokes("UFF200")
def _operation(_: Path) -> Findings:
    return ufkit.check(one("Konv", [1, 4]).meta)


@provokes("UFF202")
def _reference(_: Path) -> Findings:
    b = one("Identity", [1, 4])
    b.graph.add("c", "Const", shape=[], dtype=DType("float32", 4, 0x20020), values=Ref("gone"))
    return ufkit.check(b.meta)


@provokes("UFF203")
def _size(_: Path) -> Findings:
    b = small_net()
    b.graph["conv/bias"].fields["shape"] = [5]
    return ufkit.check(b.meta)


@provokes("UFF204")
def _skipped(folder: Path) -> Findings:
    ufkit.save(small_net().meta, folder / "a.pbtxt")
    return ufkit.check(ufkit.open(folder / "a.pbtxt"))


@provokes("UFF205")
def _field_missing(_: Path) -> Findings:
    return ufkit.check(one("Activation", [1, 4]).meta)


@provokes("UFF206")
def _field_unknown(_: Path) -> Findings:
    return ufkit.check(one("Activation", [1, 4], func="relu", funk="relu").meta)


@provokes("UFF207")
def _field_kind(_: Path) -> Findings:
    return ufkit.check(one("Activation", [1, 4], func=3).meta)


@provokes("UFF208")
def _field_value(_: Path) -> Findings:
    return ufkit.check(one("Activation", [1, 4], func="swish").meta)


@provokes("UFF209")
def _orders(_: Path) -> Findings:
    given = [Orders((0, 1, 2))]
    return ufkit.check(one("LRN", [1, 4, 4, 4], inputs_orders=given, window_size=1).meta)


@provokes("UFF210")
def _lost(_: Path) -> Findings:
    b = one("Identity", [1, 4])
    b.const("lost", np.zeros(0, np.float32))
    return ufkit.check(b.meta)


@provokes("UFF211")
def _unused(_: Path) -> Findings:
    b = one("Identity", [1, 4])
    b.meta.referenced_data["left over"] = b"abc"
    return ufkit.check(b.meta)


@provokes("UFF212")
def _foreign(_: Path) -> Findings:
    return ufkit.check(one("_AddV2", [1, 4], [1, 4]).meta)


@provokes("UFF213")
def _leftover(_: Path) -> Findings:
    return ufkit.check(one("_SoftmaxCrossEntropyWithLogits", [1, 4], [1, 4]).meta)


@provokes("UFF214")
def _no_value(_: Path) -> Findings:
    return ufkit.check(one("_NoOp").meta)


# -- UFF: meaning ----------------------------------------------------------------------------


@provokes("UFF301")
def _no_shape(_: Path) -> Findings:
    return ufkit.check(one("Identity", []).meta)


@provokes("UFF302")
def _conflict(_: Path) -> Findings:
    return ufkit.check(one("Binary", [1, 4], [1, 5], func="add").meta)


@provokes("UFF303")
def _batch(_: Path) -> Findings:
    b = small_net()
    b.graph["image"].fields["shape"] = [8, 8, 3]
    return ufkit.check(b.meta)


@provokes("UFF304")
def _nchw(_: Path) -> Findings:
    b = small_net()
    b.graph["image"].fields["shape"] = [1, 3, 8, 8]
    return ufkit.check(b.meta)


@provokes("UFF305")
def _softmax(_: Path) -> Findings:
    return ufkit.check(one("Softmax", [1, 4]).meta)


@provokes("UFF306")
def _reduce(_: Path) -> Findings:
    return ufkit.check(one("Reduce", [1, 4], func="sum", axes=[1]).meta)


@provokes("UFF307")
def _concat(_: Path) -> Findings:
    return ufkit.check(one("Concat", [1, 4], [1, 4], axis=2).meta)


@provokes("UFF308")
def _flatten(_: Path) -> Findings:
    return ufkit.check(small_net().meta)


@provokes("UFF309")
def _graphs(folder: Path) -> Findings:
    b = small_net()
    b.meta.add_graph("aux")
    ufkit.save(b.meta, folder / "a.uff")
    return iter(ufkit.convert(folder / "a.uff", folder / "a.onnx").diagnostics)


@provokes("UFF314")
def _control(_: Path) -> Findings:
    return ufkit.check(one("_Relu", [1, 4], np.float32(1)).meta)


@provokes("UFF310")
def _branches(_: Path) -> Findings:
    b = one("_Switch", [1, 4], np.array(False))
    b.op("merged", "_Merge", ["y", "x0"])
    b.graph["MarkOutput_0"].inputs = ["merged"]
    return ufkit.check(b.meta)


@provokes("UFF311")
def _padding(_: Path) -> Findings:
    window: dict[str, Any] = {"func": "max", "kernel": [2, 2], "padding": [1, 1]}
    return ufkit.check(one("Pool", [1, 4, 4, 2], implicit_padding="same", **window).meta)


def _split(names: tuple[str, ...]) -> Findings:
    b = Builder()
    b.input("x", [1, 4])
    b.const("axis", np.array(1, np.int32))
    b.op("split", "_Split", ["axis", "x"], num_split=2)
    for name in names:
        b.op(name, "Activation", ["split"], func="relu")
        b.output(name)
    return ufkit.check(b.meta)


@provokes("UFF312")
def _numbered(_: Path) -> Findings:
    return _split(("Relu", "Relu_1"))


@provokes("UFF313")
def _lost(_: Path) -> Findings:
    return _split(("left", "right"))


@provokes("UFF320")
def _anchors_without_input(_: Path) -> Findings:
    return ufkit.check(one("_GridAnchor_TRT", **SSD_ANCHORS).meta)


def detector(*, inputs: str = "boxes scores anchors", **fields: Any) -> Builder:
    """A detection of 16 anchors and 2 classes. `SSD_ANCHORS` says where the anchors come from."""
    b = Builder()
    b.input("image", [1, 3, 8, 8])
    b.const("AnchorInput", np.ones((1, 1), np.float32))
    b.op("anchors", "_GridAnchor_TRT", ["AnchorInput"], **SSD_ANCHORS)
    for name, length in (("boxes", 64), ("scores", 32)):
        b.op(name, "Identity", [b.input(f"{name}_in", [1, length, 1, 1])])
    limits = {"topK_u_int": 4, "keepTopK_u_int": 4, "numClasses_u_int": 2}
    thresholds = {"confidenceThreshold_u_float": 0.3, "nmsThreshold_u_float": 0.5}
    order = {"inputOrder_u_ilist": [0, 1, 2]}
    b.op("y", "_NMS_TRT", inputs.split(), **{**limits, **thresholds, **order, **fields})
    b.output("y")
    return b


@provokes("UFF321")
def _detection_counts(_: Path) -> Findings:
    return ufkit.check(detector(numClasses_u_int=3).meta)


@provokes("UFF322")
def _detection_order(_: Path) -> Findings:
    return ufkit.check(detector(inputs="scores boxes anchors").meta)


@provokes("UFF323")
def _stray_input(_: Path) -> Findings:
    return ufkit.check(detector(inputs="image boxes scores anchors").meta)


@provokes("UFF324")
def _flatten_axis(_: Path) -> Findings:
    return ufkit.check(one("_FlattenConcat_TRT", [1, 3, 4]).meta)


@provokes("UFF325")
def _flatten_rank(_: Path) -> Findings:
    return ufkit.check(one("_FlattenConcat_TRT", [1, 3, 2, 1, 4], axis_u_int=1).meta)


@provokes("UFF326")
def _kept_beyond(_: Path) -> Findings:
    return ufkit.check(detector(keepTopK_u_int=5).meta)


@provokes("UFF401")
def _feed(_: Path) -> Any:
    return ufkit.run(small_net().graph, {"image": np.zeros((1, 8, 8, 4), np.float32)})


@provokes("UFF402")
def _too_large(_: Path) -> Any:
    b = one("Pad", [1], np.array([[0, 1 << 40]]))
    return ufkit.run(b.graph, {"x0": np.zeros(1, np.float32)})


@provokes("UFF501", "UFF502")
def _twin(folder: Path) -> Any:
    b = Builder()
    b.const("w", np.zeros(100, np.float32))
    b.op("y", "LeakyRelu", ["w"], alpha=float(np.float32(0.001)))
    ufkit.save(b.meta, folder / "a.uff")
    b.graph["y"].fields["alpha"] = 0.0010000000475
    ufkit.save(b.meta, folder / "a.pbtxt")
    return ufkit.diff(folder / "a.uff", folder / "a.pbtxt").diagnostics


# -- command line ----------------------------------------------------------------------------


def told(*arguments: str) -> Findings:
    """What the command line says in JSON."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        run([*arguments, "--json"])
    by_code = {rule.code: rule for rule in RULES}
    for item in json.loads(out.getvalue())["diagnostics"]:
        yield by_code[item["code"]].at(Where(), item["message"])


def told_when(error: BaseException, folder: Path) -> Findings:
    """What the command line says when summing up a file ends in an error nobody meant."""

    def fail(*_: Any) -> Any:
        raise error

    ufkit.save(small_net().meta, folder / "a.uff")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ufkit.uff.summary.summarize", fail)
        yield from told("info", str(folder / "a.uff"))


@provokes("CLI001")
def _usage(_: Path) -> Findings:
    return told("info")


@provokes("CLI002")
def _fault(folder: Path) -> Findings:
    return told_when(ZeroDivisionError(), folder)


@provokes("CLI003")
def _memory(folder: Path) -> Findings:
    return told_when(MemoryError(), folder)


@provokes("CLI004")
def _interrupt(folder: Path) -> Findings:
    return told_when(KeyboardInterrupt(), folder)


@provokes("CLI005")
def _arrays(folder: Path) -> Findings:
    ufkit.save(small_net().meta, folder / "a.uff")
    (folder / "x.npy").write_bytes(b"no array")
    return told("run", str(folder / "a.uff"), "-i", f"image={folder / 'x.npy'}")


# -- Caffe and UFW ---------------------------------------------------------------------------


@provokes("UFW001")
def _no_net(_: Path) -> Any:
    return ufkit.open_net(Source(b"<html>", "x"))


@provokes("UFW002")
def _no_layers(_: Path) -> Findings:
    return ufkit.check_net(Net.new("empty"))


@provokes("UFW003", "UFW006", "UFW108")
def _old_layers(_: Path) -> Findings:
    both = small_caffe()
    both.message.set("layers", old_net().message.all("layers"))
    return chain(ufkit.check_net(both), ufkit.check_net(old_net()))


@provokes("UFW004", "UFW005")
def _connections(_: Path) -> Findings:
    net = small_caffe()
    net.add("ip", "ReLU", ["nobody"], ["x"])
    return ufkit.check_net(net)


@provokes("UFW008")
def _groups(_: Path) -> Findings:
    text = PROTOTXT.replace("num_output: 4", "num_output: 4 group: 2")
    return check_prototxt(ufkit.open_prototxt(Source(text.encode(), "x")))


@provokes("UFW009")
def _no_such_input(_: Path) -> Findings:
    return ufkit.check_net(small_caffe(), {"nobody": [1, 3, 8, 8]})


@provokes("UFW007")
def _fork(folder: Path) -> Any:
    net = ufkit.open_net(Source(b"\xa2\x06\x07\x0a\x01x\xc2\x3e\x01y", "x"))
    return ufkit.save_net(net, folder / "x.prototxt")


@provokes("UFW101", "UFW102", "UFW103", "UFW104", "UFW106", "UFW109")
def _blobs(_: Path) -> Findings:
    fields: list[dict[str, Any]] = [
        {"dim": [5], "data": [1.0]},
        {"dim": [-1], "data": [1.0]},
        {"dim": [5]},
        {"dim": [1], "data": [1.0], "int8_data": b"1"},
        {"dim": [1], "data": [np.nan]},
        {"dim": [16], "data": range(16)},
    ]
    return chain.from_iterable(check_blob(blob_of(**values)) for values in fields)


@provokes("UFW105")
def _foreign_blob(_: Path) -> Findings:
    return check_blob(Blob(Message.read(BLOB, Source(b"\x50\x01", "x"))))


@provokes("UFW107")
def _too_wide(_: Path) -> Any:
    return Blob.of(np.array([1 << 40]))


@provokes("UFW110")
def _no_mean(_: Path) -> Any:
    return mean_blob(np.zeros((2, 2)))


@provokes("UFW301", "UFW302", "UFW308", "UFW309", "UFW310", "UFW311", "UFW312", "UFW313",
          "UFW314", "UFW315", "UFW316", "UFW317", "UFW318")  # fmt: skip
def _odd_dataset(folder: Path) -> Findings:
    broken = Datum.of(np.zeros(3, np.uint8))
    broken.message.set("data", b"1234")
    resized = Datum.of_image(cv2.imencode(".png", np.ones((4, 5, 3), np.uint8))[1].tobytes())
    resized.message.set("height", 300)
    unreadable = Datum.read(resized.to_bytes())
    unreadable.message.set("data", b"\x89PNG")
    records: list[Record] = [
        *(broken, resized, unreadable, record(0), record(0)),
        Datum.of(np.ones((1, 4, 5), np.uint8)),
        floats([np.nan]),
        floats([0]),
        boxed(Box(0, 0, 1.5, 1), Box(1, 0, 0, 1)),
    ]
    labels = open_labels(Source(b"item { label: 1 }", "x"))
    return ufkit.check_dataset(of_records(folder / "db", records), labels)


@provokes("UFW303")
def _no_place(_: Path) -> Any:
    return Datum.of(np.zeros(1))


@provokes("UFW304")
def _no_dataset(folder: Path) -> Any:
    return ufkit.open_dataset(folder)


@provokes("UFW305")
def _cut_short(folder: Path) -> Any:
    data = (made(folder / "db") / "data.mdb").read_bytes()
    (folder / "db" / "data.mdb").write_bytes(data[:-4096])
    return ufkit.open_dataset(folder / "db")


@provokes("UFW306")
def _no_record(folder: Path) -> Any:
    return ufkit.open_dataset(foreign(folder / "db", {b"a": b"text"}))


@provokes("UFW307")
def _long_key(folder: Path) -> Any:
    with ufkit.create_dataset(folder / "db") as out:
        out.put(record(0), "x" * 600)


@provokes("UFW401", "UFW402", "UFW403")
def _pair_of_nets(_: Path) -> Findings:
    other = PROTOTXT.replace("num_output: 4", "num_output: 9").replace('"ip"', '"other"')
    text = ufkit.open_prototxt(Source(other.encode(), "x"))
    return pair_findings(text, small_caffe())


@provokes("UFW501")
def _labels(_: Path) -> Findings:
    return check_labels(open_labels(Source(b"item { label: 1 } item { label: 1 }", "x")))


# -- editing ---------------------------------------------------------------------------------


@provokes("UFF521")
def _nobody(folder: Path) -> Any:
    return ufkit.Editor(small_net().graph).remove("nobody")


@provokes("UFF522")
def _taken(folder: Path) -> Any:
    return ufkit.Editor(small_net().graph).rename({"conv": "relu"})


@provokes("UFF523")
def _apart(folder: Path) -> Any:
    return ufkit.Editor(small_net().graph).extract(["dense"], ["relu"])


# -- conversions -----------------------------------------------------------------------------


@provokes("CNV001")
def _no_equivalent(_: Path) -> Any:
    b = one("Identity", np.zeros(3, np.float32))
    b.graph["c0"].fields["dtype"] = DType("uint8", 4, 123)
    return to_onnx(b.graph)


@provokes("CNV201")
def _no_model(folder: Path) -> Any:
    from ufkit.conversion.engines import open_onnx

    (folder / "a.onnx").write_bytes(b"\x08\x0a\x3a\x00")
    return open_onnx(folder / "a.onnx")


@provokes("CNV002")
def _pair(folder: Path) -> Any:
    ufkit.save(small_net().meta, folder / "a.uff")
    return ufkit.convert(folder / "a.uff", folder / "a.tflite")


@provokes("CNV003")
def _opset(folder: Path) -> Any:
    ufkit.save(small_net().meta, folder / "a.uff")
    return ufkit.convert(folder / "a.uff", folder / "a.onnx", ufkit.Options(opset=7))


@provokes("CNV004")
def _nameless(_: Path) -> Any:
    b = one("Identity", [1, 4])
    b.graph["y"].message.set("id", "")
    b.graph["MarkOutput_0"].message.set("inputs", [""])
    return to_onnx(MetaGraph(b.meta.message).graph)


@provokes("CNV005")
def _no_array(folder: Path) -> Any:
    (folder / "a.npy").write_bytes(b"\x93NUMPY")
    return ufkit.convert(folder / "a.npy", folder / "a.binaryproto")


@provokes("CNV205")
def _not_alike(folder: Path) -> Any:
    ufkit.save(small_net().meta, folder / "a.uff")
    return ufkit.diff(folder / "a.uff", small_caffe())


@provokes("CNV101")
def _differs(folder: Path) -> Findings:
    ufkit.save(small_net().meta, folder / "a.uff")
    options = ufkit.Options(verify=True, tolerance=-1.0)
    return iter(ufkit.convert(folder / "a.uff", folder / "a.onnx", options).diagnostics)


@provokes("CNV102")
def _not_finite(folder: Path) -> Findings:
    b = one("Unary", [2, 4], func="log")
    b.op("z", "Binary", ["y", "y"], func="sub")
    b.graph["MarkOutput_0"].inputs = ["z"]
    ufkit.save(b.meta, folder / "a.uff")
    zeros = {"x0": np.zeros((2, 4), np.float32)}
    options = ufkit.Options(verify=True, verify_data=zeros)
    return iter(ufkit.convert(folder / "a.uff", folder / "a.onnx", options).diagnostics)


@provokes("CNV103")
def _without_runtime(folder: Path) -> Findings:
    ufkit.save(small_net().meta, folder / "a.uff")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda name: None)
        report = ufkit.convert(folder / "a.uff", folder / "a.onnx", ufkit.Options(verify=True))
    return iter(report.diagnostics)


def against_onnx(folder: Path, old: bytes, new: bytes) -> ufkit.Comparison:
    """The small net against its ONNX form, in which some bytes were replaced."""
    ufkit.save(small_net().meta, folder / "a.uff")
    ufkit.convert(folder / "a.uff", folder / "a.onnx")
    data = (folder / "a.onnx").read_bytes()
    (folder / "a.onnx").write_bytes(data.replace(old, new))
    return ufkit.diff(folder / "a.uff", folder / "a.onnx")


@provokes("CNV202")
def _short_weights(folder: Path) -> Any:
    return against_onnx(folder, b"\x08\x40\x08\x05\x10\x01", b"\x08\x41\x08\x05\x10\x01")


@provokes("CNV203")
def _foreign(folder: Path) -> Findings:
    return iter(against_onnx(folder, b"ufkit", b"other").diagnostics)


@provokes("CNV204")
def _converted(folder: Path) -> Findings:
    return iter(against_onnx(folder, b"MaxPool", b"minPool").diagnostics)


def of_tensorflow(*nodes: Message, **options: Any) -> Findings:
    """What is said of a graph of TensorFlow with an input x."""
    graph = tf_graphs.opened(tf_graphs.placeholder("x", 2), *nodes)
    return iter(to_uff(graph, **options).diagnostics)


@provokes("CNV401")
def _tf_gone(_: Path) -> Findings:
    return of_tensorflow(tf_graphs.node("y", "Neg", "gone"))


@provokes("CNV402")
def _tf_variable(_: Path) -> Findings:
    return of_tensorflow(tf_graphs.node("v", "VariableV2"), tf_graphs.node("y", "Add", "x", "v"))


@provokes("CNV403")
def _tf_no_output(_: Path) -> Findings:
    return of_tensorflow(outputs=["y"])


@provokes("CNV404")
def _tf_stays(_: Path) -> Findings:
    return of_tensorflow(tf_graphs.node("y", "Foo", "x"))


@provokes("CNV405")
def _tf_guessed(_: Path) -> Findings:
    return of_tensorflow(tf_graphs.node("y", "Neg", "x"))


def with_constant(tensor: Message) -> Findings:
    constant = tf_graphs.node("c", "Const", value=tensor)
    return of_tensorflow(constant, tf_graphs.node("y", "Add", "x", "c"))


@provokes("CNV406")
def _tf_lost(_: Path) -> Findings:
    return with_constant(tf_graphs.tensor("string", (), string_val=[b"a"]))


@provokes("CNV407")
def _tf_other_type(_: Path) -> Findings:
    return with_constant(tf_graphs.tensor("float64", (), double_val=[1]))


@provokes("CNV408")
def _tf_training(_: Path) -> Findings:
    switch = tf_graphs.node("s", "Switch", "x", "p")
    phase = tf_graphs.placeholder("p", dtype="bool")
    return of_tensorflow(phase, switch, tf_graphs.node("y", "Merge", "s", "s:1"))


def of_onnx(*nodes: onnx.NodeProto, sizes: list[Any] | None = None, **options: Any) -> Findings:
    """What is said of an ONNX model with an input x that gives y."""
    more = {"opset": options.pop("opset")} if "opset" in options else {}
    made = onnx_models.model(nodes, {"x": [2] if sizes is None else sizes}, ["y"], **more)
    return iter(onnx_models.uff(made, **options).diagnostics)


@provokes("CNV501")
def _outside_core(_: Path) -> Findings:
    return of_onnx(onnx_models.node("Erf", ["x"], ["y"]))


@provokes("CNV502")
def _onnx_unsound(_: Path) -> Findings:
    return of_onnx(onnx_models.node("Relu", ["gone"], ["y"]))


@provokes("CNV503")
def _onnx_no_value(_: Path) -> Findings:
    return of_onnx(onnx_models.node("Relu", ["x"], ["y"]), outputs=["z"])


@provokes("CNV504")
def _onnx_scalar(_: Path) -> Findings:
    return of_onnx(onnx_models.node("Relu", ["x"], ["y"]), sizes=[])


@provokes("CNV505")
def _onnx_opset(_: Path) -> Findings:
    return of_onnx(onnx_models.node("Relu", ["x"], ["y"]), opset=6)


@provokes("CNV104")
def _up_to_plugins(folder: Path) -> Findings:
    b = one("Activation", [2, 4], func="relu")
    b.op("z", "_Unheard_TRT", ["y"])
    b.output("z")
    ufkit.save(b.meta, folder / "a.uff")
    options = ufkit.Options(verify=True, plugins="trt")
    return iter(ufkit.convert(folder / "a.uff", folder / "a.onnx", options).diagnostics)


@provokes("CNV105")
def _chosen_otherwise(folder: Path) -> Findings:
    from ufkit.conversion.engines import Session

    b = one("Unary", [1, 2], func="neg")
    b.op("z", "ArgMax", ["y"], axis=1)
    b.graph["MarkOutput_0"].inputs = ["z"]
    ufkit.save(b.meta, folder / "a.uff")
    nearly_equal = {"x0": np.array([[0.5, 0.5 + 2**-24]], np.float32)}
    options = ufkit.Options(verify=True, verify_data=nearly_equal)
    right = Session.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "run", lambda self, fed: right(self, {"x0": fed["x0"][:, ::-1]}))
        report = ufkit.convert(folder / "a.uff", folder / "a.onnx", options)
    assert report.ok
    return iter(report.diagnostics)


@provokes("UFF511", "UFF512")
def _cut_in_a_node(_: Path) -> Findings:
    return iter(ufkit.recover(Source(NET[: NET.index(b"relu")], "x.uff")).diagnostics)


@provokes("UFF513")
def _cut_in_a_constant(_: Path) -> Findings:
    return iter(
        ufkit.recover(Source(NET[: NET.rindex(b"weights_dense/kernel") + 1000])).diagnostics
    )


@provokes("UFF514")
def _length_of_a_node(_: Path) -> Findings:
    at = NET.index(b"\x0a\x05image") - 1
    data = NET[:at] + b"\x05" + NET[at + 1 :]
    return iter(ufkit.recover(Source(data, "x.uff")).diagnostics)


# -- quantisation ----------------------------------------------------------------------------


def quantised(changes: dict[str, float], *more: Any, **options: Any) -> Findings:
    """what is said of the tiny net, with some thresholds changed and a layer more."""
    net = tiny_net()
    if more:
        net.add(*more)
    return iter(quantize(net, Table({**TABLE, **changes}), **options).diagnostics)


@provokes("UFW201")
def _no_range(_: Path) -> Findings:
    return quantised({"data": 0.0})


@provokes("UFW202", "UFW210")
def _no_thresholds(_: Path) -> Any:
    raise ufkit.RequestError(*_raised(tiny_net(), {}), *_raised(Net.new(), {}))


def _raised(net: Net, table: dict[str, float]) -> tuple[Diagnostic, ...]:
    with pytest.raises(ufkit.RequestError) as caught:
        quantize(net, Table(table))
    return caught.value.diagnostics


@provokes("UFW203")
def _no_table(_: Path) -> Any:
    return open_table(Source(b"[]"))


@provokes("UFW204")
def _two_thresholds(_: Path) -> Any:
    return open_table(Source(b'{"x": 1, "x": 2}'))


@provokes("UFW205")
def _no_shift(_: Path) -> Any:
    return multipliers([1000.0])


@provokes("UFW206")
def _float_layer(_: Path) -> Findings:
    return quantised({}, "p", "PReLU", ["ip"], ["p"], [np.ones(2, np.float32)])


@provokes("UFW207")
def _large(_: Path) -> Findings:
    return quantised({"data": 1e6})


@provokes("UFW208")
def _no_scale(_: Path) -> Any:
    net = Net.new()
    net.add("conv", "Convolution", ["x"], ["y"], [np.ones((1, 1, 1, 1), np.int8)])
    return dequantize(net)


@provokes("UFW209")
def _integers(_: Path) -> Findings:
    weights = np.ones((2, 2), np.int8)
    return quantised({}, "i", "InnerProduct", ["pool"], ["ip"], [weights])


@provokes("UFW211")
def _saturated(_: Path) -> Findings:
    weights, bias = np.full((99, 1), 0.9, np.float32), np.zeros(99, np.float32)
    bias[0] = 1e6
    return quantised({}, "i", "InnerProduct", ["pool"], ["ip"], [weights, bias])


@provokes("UFW212")
def _one_shift(_: Path) -> Findings:
    weights = np.ones((1, 1, 2, 2), np.float32)
    return quantised({}, "d", "Deconvolution", ["pool"], ["ip"], [weights], per_channel=True)


# -- datasets --------------------------------------------------------------------------------

LISTED = "good.png 1\nabsent.png 2\nempty.png 3\nlarge.png 4\ngood.png cat\ngood.png 1 2\n"
OBJECT = (
    "<object><name>cat</name><bndbox><xmin>{}</xmin><ymin>1</ymin><xmax>{}</xmax>"
    "<ymax>2</ymax></bndbox></object>"
)


def listed(folder: Path, form: str = "npz", **more: Any) -> Findings:
    """What converting a list with a fault in each line gives."""
    (folder / "list.txt").write_text(LISTED)
    (folder / "good.png").write_bytes(png(pixels(0)))
    (folder / "large.png").write_bytes(png(pixels(0, 50, 50)))
    (folder / "empty.png").touch()
    request = DatasetRequest(target=form, on_error="skip", **more)
    return iter(convert_dataset(folder / "list.txt", folder / "out", request).found)


def annotated(folder: Path, xml: str, **more: Any) -> Findings:
    """What converting a VOC folder of one annotation gives."""
    write_voc(folder / "voc", xml)
    return iter(convert_dataset(folder / "voc", folder / "x.lmdb", DatasetRequest(**more)).found)


@provokes("DAT001")
def _no_dataset(folder: Path) -> Any:
    return list_dataset(folder)


@provokes("DAT002")
def _no_sample(folder: Path) -> Any:
    return list_dataset(folder, "images")


@provokes("DAT003")
def _no_place_for_labels(folder: Path) -> Findings:
    return listed(folder, "lmdb")


class _Killed(Transform):
    def __call__(self, sample: Sample) -> Any:
        os._exit(1)


@provokes("DAT004")
def _killed(_: Path) -> Any:
    return list(changed([Sample("a", b"")], _Killed(), DatasetReport(), workers=2))


@provokes("DAT005")
def _two_of_one_name(folder: Path) -> Any:
    images = ImageFolder(folder)
    images.add(Sample("a.png", png(pixels(0))))
    return images.add(Sample("A.PNG", png(pixels(0))))


@provokes("DAT101", "DAT102", "DAT104", "DAT201")
def _lines(folder: Path) -> Findings:
    return listed(folder)


@provokes("DAT103")
def _no_picture(_: Path) -> Any:
    return Transform()(Sample("a", array=np.zeros((5, 2, 2), np.float32)))


@provokes("DAT202")
def _no_xml(folder: Path) -> Findings:
    return annotated(folder, "<annotation>")


@provokes("DAT203")
def _entity(folder: Path) -> Findings:
    return annotated(folder, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')


@provokes("DAT204")
def _unknown_class(folder: Path) -> Findings:
    options = FormatOptions(labels=(Label(1, "dog", "dog"),))
    return annotated(folder, voc_xml("a", (32, 24), OBJECT.format(1, 2)), options=options)


@provokes("DAT205")
def _without_annotation(folder: Path) -> Findings:
    write_voc(folder / "voc", "", "b")
    (folder / "voc" / "Annotations" / "b.xml").unlink()
    return annotated(folder, voc_xml("a", (32, 24), ""))


@provokes("DAT206")
def _difficult(folder: Path) -> Findings:
    write_coco(folder / "coco", some_samples(2, boxes=True))
    request = DatasetRequest(target="yolo")
    return iter(convert_dataset(folder / "coco", folder / "yolo", request).found)


@provokes("DAT207")
def _without_image(folder: Path) -> Findings:
    path = write_coco(folder / "coco", some_samples(2, boxes=True))
    file = path if path.is_file() else next(path.rglob("*.json"))
    document = json.loads(file.read_text())
    document["images"].pop()
    file.write_text(json.dumps(document))
    request = DatasetRequest(target="yolo")
    return iter(convert_dataset(folder / "coco", folder / "yolo", request).found)


@provokes("DAT301", "DAT302")
def _boxes(folder: Path) -> Findings:
    objects = OBJECT.format(1, 99) + OBJECT.format(5, 5)
    return annotated(folder, voc_xml("a", (32, 24), objects))


@provokes("DAT303")
def _other_size(folder: Path) -> Findings:
    return annotated(folder, voc_xml("a", (64, 48), OBJECT.format(1, 2)))


@provokes("VWR001")
def _no_page(folder: Path) -> Any:
    (folder / "notes.txt").write_text("nothing of interest")
    return Subject(0, str(folder / "notes.txt"), Wish())


@provokes("VWR002")
def _not_there(folder: Path) -> Any:
    return window(np.zeros((2, 2)), [], 5, 0)


@provokes("VWR003")
def _too_long(folder: Path) -> Any:
    layouter = Layouter(folder, limit=0)
    try:
        return layouter.lay_out(Diagram([60.0] * 999, [24.0] * 999, []))
    finally:
        layouter.close()


@provokes("VWR004")
def _address_taken(folder: Path) -> Any:
    with listening(Address()) as server:
        return listening(Address(port=server.getsockname()[1]))


@provokes("VWR005")
def _too_large(folder: Path) -> bytes:
    return to_png(Scene(1_000_000, 1_000_000))


@provokes("VWR006")
def _changed(folder: Path) -> Any:
    path = folder / "net.uff"
    ufkit.save(small_net().meta, path)
    subject = Subject(0, str(path), Wish())
    os.truncate(path, 100)
    return subject.verify()


@provokes("VWR101")
def _too_large_record(folder: Path) -> Any:
    from ufkit.viewer.records.subject import DatasetSubject

    image = bytearray(png(np.zeros((4, 4, 3), np.uint8)))
    image[16:24] = (50_000).to_bytes(4, "big") * 2
    with ufkit.create_dataset(folder / "db") as out:
        out.put(ufkit.Datum.of_image(bytes(image)), "a")
    return DatasetSubject(str(folder / "db"), "lmdb").thumbnails.small(0, 100)


@provokes("CMP001")
def _no_graph(folder: Path) -> Findings:
    raise AssertionError(graphsurgeon.StaticGraph(3))


@provokes("CMP002")
def _node_is_not_there(folder: Path) -> Findings:
    graph = graphsurgeon.DynamicGraph()
    graph.append(graphsurgeon.create_node("y", op="Relu", inputs=["x"]))
    raise AssertionError(graph.find_node_inputs(graph["y"]))


@provokes("CMP003")
def _no_attribute(folder: Path) -> Findings:
    raise AssertionError(graphsurgeon.create_plugin_node("p", op="P", size={}))


@provokes("CMP004")
def _bad_script(folder: Path) -> Findings:
    (folder / "config.py").write_text("1 / 0")
    preprocess(folder / "config.py", graphsurgeon.DynamicGraph())
    return iter(())


@provokes("CMP005")
def _script_wants_tensorflow(folder: Path) -> Findings:
    (folder / "config.py").write_text("import tensorflow.no_such_part")
    preprocess(folder / "config.py", graphsurgeon.DynamicGraph())
    return iter(())


@provokes("CMP006")
def _tensorboard(folder: Path) -> Findings:
    graphsurgeon.StaticGraph().write_tensorboard(folder)


@provokes("CMP007")
def _no_input(folder: Path) -> Findings:
    graph = to_bytes(tf_graphs.graph_def(tf_graphs.placeholder("x", 1)))
    raise AssertionError(uff.from_tensorflow(graph, ["x"], input_node=["x"], quiet=True))


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_rule_is_provoked(code: str, tmp_path: Path) -> None:
    assert code in PROVOKED, f"{code} has no fixture in {Path(__file__).name}"
    try:
        found = list(PROVOKED[code](tmp_path))
    except ufkit.UfkitError as error:
        found = list(error.diagnostics)
    finding = next((item for item in found if item.code == code), None)
    assert finding, f"{code} was to be found, not {[item.code for item in found]}"
    assert finding.message
    assert finding.rule.why


def test_no_fixture_is_left_over() -> None:
    assert set(PROVOKED) == {rule.code for rule in RULES}


def test_messages_carry_the_place() -> None:
    (finding,) = [f for f in _size(Path()) if f.code == "UFF203"]
    assert finding.where.node == "main/conv/bias"
    assert "16 bytes" in finding.message
    assert "20" in finding.message
