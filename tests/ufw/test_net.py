"""Nets: read, edited, written back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ufkit
from ufkit.core.files import Source
from ufkit.ufw.io import open_net, save_net, unknown_fields
from ufkit.ufw.net import modern
from ufkit.ufw.schema import V1_LAYER
from ufw.nets import CAFFE, encoded, old_net, opened, quantised_net, small_net, write_net
from wire.judge import field_bytes, judge, tag


@pytest.mark.parametrize("name", CAFFE)
def test_real_nets_are_saved_byte_for_byte(corpus: Path, tmp_path: Path, name: str) -> None:
    path = corpus / "ufw" / f"{name}.caffemodel"
    with open_net(path) as net:
        for layer in net.layers:
            for blob in layer.blobs:
                assert blob.array().shape == blob.shape
        save_net(net, tmp_path / "same.caffemodel")
    assert (tmp_path / "same.caffemodel").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", CAFFE)
def test_real_nets_are_read_as_the_official_runtime_does(corpus: Path, name: str) -> None:
    path = corpus / "ufw" / f"{name}.caffemodel"
    judged = judge("caffe")
    official = judged.parsed(judged.type("NetParameter"), path.read_bytes())
    with open_net(path) as net:
        assert net.name == official.name
        others = [*official.layers, *official.layer]
        assert [layer.name for layer in net.layers] == [layer.name for layer in others]
        for layer, other in zip(net.layers, others, strict=True):
            assert layer.bottoms == tuple(other.bottom)
            assert layer.tops == tuple(other.top)
            for blob, values in zip(layer.blobs, other.blobs, strict=True):
                assert blob.array().reshape(-1).tolist() == list(values.data)


def test_a_real_net_of_the_older_style(corpus: Path) -> None:
    with open_net(corpus / "ufw" / "lenet_v1_layers.caffemodel") as net:
        assert net.style == "layers"
        assert {layer.style for layer in net.layers} == {"layers"}
        types = [layer.type for layer in net.layers]
        assert types[:3] == ["Data", "Convolution", "Pooling"]
        assert types[-1] == "SoftmaxWithLoss"
        assert all(blob.legacy for layer in net.layers for blob in layer.blobs)
        assert net["ip1"].blobs[1].shape == (1, 1, 1, 500)


def test_types_of_the_older_style_have_the_newer_names() -> None:
    numbers = V1_LAYER.fields["type"].type.numbers
    assert len(numbers) == 40
    new = {old: modern(old) for old in numbers}
    assert new["CONVOLUTION"] == "Convolution"
    assert new["INNER_PRODUCT"] == "InnerProduct"
    assert new["HDF5_DATA"] == "HDF5Data"
    assert new["SIGMOID_CROSS_ENTROPY_LOSS"] == "SigmoidCrossEntropyLoss"
    assert new["RELU"] == "ReLU"
    assert new["NONE"] == ""


def test_only_the_blob_that_was_edited_is_encoded_anew(tmp_path: Path) -> None:
    path = write_net(small_net(), tmp_path / "a.caffemodel")
    before = path.read_bytes()
    with open_net(path) as net:
        blob = net["conv"].blobs[1]
        span = blob.message.span
        blob.put(np.full(4, 2, np.float32))
        save_net(net, path)  # over the file that is open
    after = path.read_bytes()
    assert len(after) == len(before)
    assert after[: span.start] == before[: span.start]
    assert after[span.stop :] == before[span.stop :]
    with open_net(path) as net:
        assert net["conv"].blobs[1].array().tolist() == [2, 2, 2, 2]
        assert np.array_equal(net["ip"].blobs[1].array(), np.ones(5, np.float32))


def test_places_name_layer_and_blob() -> None:
    net = opened(small_net())
    where = net["ip"].blobs[1].where
    assert where.node == "ip/1"
    assert where.start is not None
    assert where.stop is not None
    assert where.stop - where.start == net["ip"].blobs[1].message.span.nbytes
    assert net["ip"].where().node == "ip"


def test_inputs_of_every_spelling() -> None:
    net = opened(small_net())
    assert net.inputs == {"data": (1, 3, 8, 8)}
    judged = judge("caffe")
    official = judged.official(judged.type("NetParameter"))
    official.input.extend(["a", "b", "c"])
    for dims in ([1, 2], [3]):
        official.input_shape.add().dim.extend(dims)
    layer = official.layer.add()
    layer.name, layer.type = "d", "Input"
    layer.top.extend(["d", "e"])
    layer.input_param.shape.add().dim.extend([7, 7])
    assert opened(official.SerializeToString()).inputs == {
        "a": (1, 2),
        "b": (3,),
        "c": None,
        "d": (7, 7),
        "e": (7, 7),
    }


def test_of_layers_with_one_name_the_first_has_the_weights() -> None:
    net = small_net()
    net.add("conv", "Convolution", ["ip"], ["x"], [np.zeros(2, np.float32)])
    net = opened(net)
    assert [name for name, _ in net.blobs()] == ["conv/0", "conv/1", "ip/0", "ip/1"]
    assert len(net["conv"].blobs) == 2
    with pytest.raises(KeyError):
        net["other"]


def test_unknown_fields_stay_where_they_are() -> None:
    layer = field_bytes(1, b"x") + field_bytes(5000, b"fork") + field_bytes(2, b"Odd")
    data = field_bytes(1, b"net") + field_bytes(100, layer) + tag(6000, 0) + b"\x01"
    net = opened(data)
    assert encoded(net) == data
    net.layers[0].message.set("type", "ReLU")
    assert field_bytes(5000, b"fork") in encoded(net)
    assert [finding.code for finding in unknown_fields(net)] == ["UFW007", "UFW007"]


@pytest.mark.parametrize("suffix", [".prototxt", ".json"])
@pytest.mark.parametrize("net", [small_net(), quantised_net(), old_net()], ids=lambda net: net.name)
def test_text_and_json_hold_everything(tmp_path: Path, net: ufkit.Net, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    save_net(net, path)
    with open_net(path) as back:
        assert encoded(back) == encoded(net)
        save_net(back, tmp_path / "x.caffemodel")
    assert (tmp_path / "x.caffemodel").read_bytes() == encoded(net)


@pytest.mark.parametrize("name", CAFFE[:3])
def test_real_nets_come_back_from_json(corpus: Path, tmp_path: Path, name: str) -> None:
    path = corpus / "ufw" / f"{name}.caffemodel"
    ufkit.convert(path, tmp_path / "x.json")
    ufkit.convert(tmp_path / "x.json", tmp_path / "x.caffemodel")
    assert (tmp_path / "x.caffemodel").read_bytes() == path.read_bytes()


def test_what_text_cannot_hold_is_refused_all_at_once(corpus: Path, tmp_path: Path) -> None:
    with (
        open_net(corpus / "ufw" / "pnet.caffemodel") as net,
        pytest.raises(ufkit.NotSupportedError) as raised,
    ):
        save_net(net, tmp_path / "x.prototxt")
    assert [finding.where.node for finding in raised.value.diagnostics] == [
        "loss_label",
        "loss_regression_box",
        "loss_landmark",
    ]
    assert not list(tmp_path.iterdir())


def test_what_is_no_net_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.caffemodel"
    path.write_text("<!DOCTYPE html>")
    with pytest.raises(ufkit.FormatError, match="a web page"):
        open_net(path)
    with pytest.raises(ufkit.FormatError, match="no net with weights"):
        open_net(Source(b"\x08\x01\x10\x01\x18\x01\x20\x01", "mean"))
    with pytest.raises(ufkit.FileError):
        open_net(tmp_path / "absent")


def test_nothing_but_what_was_asked_for_is_read(tmp_path: Path) -> None:
    """Weights in a hole of a file of 3 GiB: opening, listing and saving a part of it is quick."""
    import os

    size = 3 << 30
    blob = field_bytes(7, field_bytes(1, b"\x80\x80\x80\x80\x03")) + tag(5, 2) + _varint(size)
    inner = field_bytes(1, b"big") + field_bytes(2, b"InnerProduct") + tag(7, 2)
    inner += _varint(len(blob) + size) + blob
    path = tmp_path / "big.caffemodel"
    with path.open("wb") as file:
        file.write(field_bytes(1, b"net") + tag(100, 2) + _varint(len(inner) + size) + inner)
        file.seek(size, os.SEEK_CUR)
        file.write(field_bytes(100, field_bytes(1, b"behind")))
    with open_net(path) as net:
        assert [layer.name for layer in net.layers] == ["big", "behind"]
        assert net["big"].blobs[0].shape == (size // 4,)
        assert ufkit.summarize_net(net).parameters == size // 4
        array = net["big"].blobs[0].array()
        assert array[-1] == 0
        del array


def _varint(number: int) -> bytes:
    from wire.judge import varint

    return varint(number)
