"""Nets of Caffe and UFW as models to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from ufkit.ufw.io import open_net, save_net
from ufkit.ufw.layers import LAYERS
from ufkit.ufw.quantize import quantize
from ufkit.ufw.table import Table
from ufkit.ufw.winograd import put_winograd
from ufkit.viewer.categories import category
from ufkit.viewer.content import Item, Weights
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.openers import Wish
from ufkit.viewer.session import Session
from ufkit.viewer.subject import Subject
from ufkit.viewer.web.routes import application
from ufw.nets import PROTOTXT, old_net, quantised_net, small_net, write_net
from ufw.tiny import TABLE, tiny_net

Opened = Callable[..., Subject]

INPLACE = """name: "net"
layer { name: "train" type: "Data" top: "data" top: "label" include { phase: TRAIN } }
layer { name: "test" type: "Data" top: "data" top: "label" include { phase: TEST } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "x"
  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "msra" std: 0.1 } }
  param { lr_mult: 2 } th_strategy: USE_KL }
layer { name: "relu" type: "ReLU" bottom: "x" top: "x" }
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "x" batch_norm_param { eps: 1e-3 } }
layer { name: "odd" type: "Flower" bottom: "x" top: "odd" flower_param { petals: 5 } }
layer { name: "sum" type: "Eltwise" bottom: "x" bottom: "odd" top: "sum" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "sum" bottom: "label" top: "loss"
  include { phase: TRAIN } }
"""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    sessions = []

    def start(source: Any, **wish: Any) -> Subject:
        path = tmp_path / f"net{len(sessions)}"
        if isinstance(source, str):
            path.write_text(source)
        elif isinstance(source, Path):
            path = source
        else:
            write_net(source, path)
        sessions.append(Session([str(path)], Wish(**wish)))
        return sessions[-1].subjects[0]

    yield start
    for session in sessions:
        session.close()


def items(subject: Subject) -> dict[str, Item]:
    assert subject.model is not None
    return {item.key: item for item in subject.model.pictures[0].items}


def takes(subject: Subject, key: str) -> list[tuple[str, str]]:
    """What an item takes: from which, and the shape at the link."""
    assert subject.model is not None
    all_ = subject.model.pictures[0].items
    return [(all_[link.source].key, link.label) for link in items(subject)[key].takes]


def fields(subject: Subject, key: str) -> dict[str, tuple[Any, bool]]:
    assert subject.model is not None
    at = [item.key for item in subject.model.pictures[0].items].index(key)
    return {row.name: (row.value, row.given) for row in subject.model.details(0, at).fields}


def arrays(subject: Subject, key: str) -> dict[str, Weights]:
    return {array.role: array for array in items(subject)[key].weights}


def test_a_net_with_weights(opened: Opened) -> None:
    subject = opened(small_net())
    assert subject.contents.description == "Caffe net, binary"
    assert subject.pages == ["graph", "summary", "check"]
    found = items(subject)
    assert list(found) == ["data", "conv", "ip", "ip (output)"]
    assert found["data"].lines == ["1×3×8×8"]
    assert found["data"].category == "input"
    assert found["conv"].category == "layer"
    assert found["conv"].weight_lines == ["kernel ⟨4×3×3×3⟩", "bias ⟨4⟩"]
    assert {"names", "fields", "weights"} == subject.model.pictures[0].said
    assert found["conv"].macs == 4 * 6 * 6 * 27
    assert takes(subject, "conv") == [("data", "1×3×8×8")]
    assert takes(subject, "ip (output)") == [("ip", "1×5")]
    kernel = arrays(subject, "conv")["kernel"]
    assert (kernel.name, kernel.axes, kernel.channel) == ("conv/0", "KCHW", 0)
    assert kernel.where.start is not None
    assert np.array_equal(kernel.read(), small_net()["conv"].blobs[0].array())
    matrix = arrays(subject, "ip")["weights"]
    assert (matrix.axes, matrix.channel) == ("KC", 0)


def test_layers_in_place_and_of_training(opened: Opened) -> None:
    subject = opened(INPLACE)
    assert takes(subject, "conv") == [("test", "?×?×?×?")]
    assert takes(subject, "relu")[0][0] == "conv"
    assert takes(subject, "bn")[0][0] == "relu"
    assert [source for source, _ in takes(subject, "sum")] == ["bn", "odd"]
    assert [source for source, _ in takes(subject, "loss")] == ["sum", "test"]
    assert [source for source, _ in takes(subject, "label (output)")] == ["test"]
    assert "loss (output)" not in items(subject)
    found = items(subject)
    assert found["sum"].title == "Eltwise SUM"
    assert found["odd"].category == "other"
    assert subject.model is not None
    facts = subject.model.details(0, 0).facts
    assert ("layer", "of training only") in facts


def test_settings_have_types_defaults_and_places(opened: Opened) -> None:
    subject = opened(INPLACE)
    found = fields(subject, "conv")
    assert found["num_output"] == (4, True)
    assert found["bias_term"] == (True, False)
    assert found["weight_filler.type"] == ("msra", True)
    assert found["weight_filler.std"] == (0.1, True)
    assert found["param.lr_mult"] == (2, True)
    assert found["th_strategy"] == ("USE_KL", True)
    assert fields(subject, "odd")["flower_param.petals"] == (5, True)
    assert subject.model is not None
    details = subject.model.details(0, 2)
    row = next(row for row in details.fields if row.name == "num_output")
    assert (row.kind, row.doc, row.where.line) == ("uint32", "output channels", 5)
    assert details.doc.startswith("Slides kernels")
    assert details.where.line == 4


def test_a_text_and_its_weights(opened: Opened, tmp_path: Path) -> None:
    weights = write_net(small_net(), tmp_path / "small.caffemodel")
    assert items(opened(PROTOTXT))["conv"].weights == []
    subject = opened(PROTOTXT, weights=open_net(weights))
    assert "weights of" in subject.contents.description
    assert [*arrays(subject, "conv")] == ["kernel", "bias"]
    assert items(subject)["ip"].macs == 5 * 144
    assert subject.findings() == []
    wrong = opened(PROTOTXT.replace("num_output: 4", "num_output: 9"), weights=open_net(weights))
    assert {finding.code for finding in wrong.findings()} == {"UFW403"}
    assert wrong.model is not None
    assert {wrong.model.places()[finding.where.node] for finding in wrong.findings()} == {(0, 1)}


def test_quantised_arrays_are_shown_as_meant_and_as_stored(opened: Opened) -> None:
    net = tiny_net()
    quantize(net, Table(dict(TABLE)), per_channel=True)
    put_winograd(net["ip"].blobs[0], np.zeros((0,), np.int8), 0)
    found = arrays(opened(net), "conv")
    assert [*found] == [
        "kernel", "kernel, stored integers", "kernel, scales",
        "bias", "bias, stored integers", "bias, scales",
    ]  # fmt: skip
    meant, stored, scales = (found[name] for name in [*found][:3])
    assert (meant.dtype, stored.dtype, scales.shape) == ("int8 × scale", "int8", (2,))
    wanted = stored.read() * scales.read().reshape(2, 1, 1, 1)
    assert meant.read() == pytest.approx(wanted, rel=1e-6)
    assert stored.read().dtype == np.int8
    assert "blob 0: bit_width" in fields(opened(net), "conv")
    coefficients = arrays(opened(quantised_net()), "coefficients")
    assert [*coefficients] == ["weights", "weights, stored integers"]
    assert coefficients["weights"].read().tolist() == [-64.0, -0.5, 0.0, 63.5]
    assert coefficients["weights, stored integers"].read().tolist() == [-128, -1, 0, 127]


def test_winograd_and_gradients_are_arrays_too(opened: Opened) -> None:
    net = small_net()
    blob = net["conv"].blobs[0]
    u = np.arange(4 * 3 * 16).reshape(4, 3, 4, 4)
    put_winograd(blob, u, 5)
    blob.message.set("diff", [0.5] * (4 * 27))
    found = arrays(opened(net), "conv")
    assert np.array_equal(found["kernel, Winograd's form"].read(), u)
    assert found["kernel, gradient"].read().shape == (4, 3, 3, 3)


def test_older_nets(opened: Opened) -> None:
    subject = opened(old_net())
    matrix = arrays(subject, "ip")["weights"]
    assert (matrix.shape, matrix.axes, matrix.channel) == ((1, 1, 2, 3), "11KC", 2)
    assert {finding.code for finding in subject.findings()} == {"UFW006", "UFW108"}


def test_damaged_blobs_say_so_instead_of_arrays(opened: Opened) -> None:
    net = small_net()
    net["conv"].message.all("blobs")[0].get("shape").set("dim", [4, 3, 3, 4])
    array = items(opened(net))["conv"].weights[0]
    assert "holds 108 elements" in array.note
    net["conv"].message.all("blobs")[0].get("shape").set("dim", [-1])
    array = items(opened(net))["conv"].weights[0]
    assert array.shape is None
    assert array.note


def test_damaged_files_show_their_diagnostics(tmp_path: Path, opened: Opened) -> None:
    path = write_net(small_net(), tmp_path / "net.caffemodel")
    path.write_bytes(path.read_bytes()[:-100])
    subject = opened(path)
    assert subject.findings()
    broken = opened(INPLACE.replace('name: "odd"', "name: {}"))
    assert broken.model is None
    assert broken.pages == ["check"]
    assert broken.findings()[0].code == "UFK110"


def test_shapes_can_be_given(opened: Opened) -> None:
    subject = opened(INPLACE, shapes={"data": [1, 3, 9, 9]})
    assert takes(subject, "relu") == [("conv", "1×4×7×7")]
    assert subject.model is not None
    assert subject.model.inputs == {"data", "label"}


def test_every_type_of_layer_has_a_colour() -> None:
    assert [name for name in LAYERS if category(name) == "other"] == []


def test_the_pages_of_a_net(tmp_path: Path) -> None:
    path = tmp_path / "net.caffemodel"
    save_net(small_net(), path)
    session, layouter = Session([str(path)]), Layouter(tmp_path)
    try:
        client = TestClient(application(session, layouter))
        base = "/api/files/0/pictures/0"
        scene = client.get(f"{base}/scene").json()
        assert [box["title"] for box in scene["boxes"]] == [
            "data", "Convolution", "InnerProduct", "ip",
        ]  # fmt: skip
        item = client.get(f"{base}/item", params={"item": 1}).json()
        assert item["arrays"][0]["shape"] == [4, 3, 3, 3]
        array = client.get(f"{base}/array", params={"item": 1, "array": 0}).json()
        assert len(array["statistics"]["lows"]) == 4
        sums = client.get(f"{base}/summary").json()
        assert sums["whole"]["parameters"] == 108 + 4 + 720 + 5
        assert sums["whole"]["macs"] == 4 * 36 * 27 + 720
        found = client.get(f"{base}/search", params={"q": "num_output"}).json()
        assert found["total"] == 0  # the net has no settings
    finally:
        session.close()
        layouter.close()


@pytest.mark.parametrize(
    "name",
    [
        "bm1880_lenet_float.caffemodel", "bm1880_lenet_int8.caffemodel", "pnet.caffemodel",
        "lenet_v1_layers.caffemodel", "pnet.prototxt", "bm1880_lenet_deploy.prototxt",
        "mobilenet_deploy_int8_unique_top.prototxt",
    ],
)  # fmt: skip
def test_real_nets(corpus: Path, opened: Opened, name: str) -> None:
    subject = opened(corpus / "ufw" / name)
    assert subject.model is not None
    picture = subject.model.pictures[0]
    for at, item in enumerate(picture.items):
        details = subject.model.details(0, at)
        assert item.category != "other"
        assert item.operation == "Output" or details.doc
        for array in item.weights:
            assert array.read().shape == array.shape
    assert all(finding.severity != "error" for finding in subject.findings())
