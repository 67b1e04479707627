"""What differs between two nets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit
from ufkit.core.files import Source
from ufkit.ufw.compare import compare_nets
from ufkit.ufw.io import open_net, open_prototxt
from ufkit.ufw.net import Net
from ufw.nets import CAFFE, PROTOTXT, blob_of, old_net, opened, quantised_net, small_net


def changed(change: Callable[[Net], Any]) -> ufkit.core.comparison.Comparison:
    net = opened(small_net())
    change(net)
    return compare_nets(opened(small_net()), opened(net))


def parts(result: Any) -> dict[str, Any]:
    """What is not empty of a comparison's JSON."""
    found = {k: v for k, v in result.as_dict().items() if isinstance(v, list) and v}
    return found | {"weights": [item["id"] for item in result.as_dict()["weights"]["different"]]}


@pytest.mark.parametrize("net", [small_net(), quantised_net(), old_net()], ids=lambda net: net.name)
def test_a_net_is_the_same_as_itself(net: Net) -> None:
    result = compare_nets(opened(net), opened(net))
    assert result.same
    assert result.nodes == len(net.layers)
    assert result.compared == len(dict(net.blobs()))


def test_real_nets(corpus: Path, tmp_path: Path) -> None:
    for name in CAFFE:
        path = corpus / "ufw" / f"{name}.caffemodel"
        assert ufkit.diff(path, path).same
    float_, int8 = (
        corpus / "ufw" / f"bm1880_lenet_{kind}.caffemodel" for kind in ("float", "int8")
    )
    result = ufkit.diff(float_, int8)
    assert [item.id for item in result.removed] == ["mnist", "relu1", "loss"]
    assert len(result.weights) == result.compared == 8
    ufkit.convert(int8, tmp_path / "x.json")
    assert ufkit.diff(int8, tmp_path / "x.json").same


def test_layers_and_their_fields() -> None:
    result = changed(lambda net: net["ip"].message.set("bottom", ["data"]))
    change = {"name": "bottom", "a": ["conv"], "b": ["data"]}
    assert result.changed[0].as_dict()["changes"] == [change]
    assert parts(changed(lambda net: net.add("new", "ReLU", ["ip"], ["ip"])))["added"] == [
        {"id": "new", "operation": "ReLU", "inputs": ["ip"]}
    ]
    assert parts(changed(lambda net: net["ip"].message.set("phase", 1)))["changed"] == [
        {"id": "ip", "operation": "InnerProduct", "changes": [{"name": "phase", "b": "TEST"}]}
    ]
    names = [
        item["name"] for item in parts(changed(lambda net: net.message.clear("input")))["changes"]
    ]
    assert names == ["input data"]


def test_weights() -> None:
    result = changed(lambda net: net["ip"].blobs[1].put(np.full(5, 1.5, np.float32)))
    (weights,) = result.weights
    assert (weights.id, weights.a) == ("ip/1", "float32[5]")
    assert weights.distance is not None
    assert (weights.distance.different, weights.distance.max_abs) == (5, 0.5)
    reshaped = changed(lambda net: net["ip"].blobs[1].put(np.ones((1, 5), np.float32)))
    assert reshaped.weights[0].distance is None
    a, b = opened(small_net()), opened(small_net())
    b["ip"].blobs[1].put(np.full(5, 1.001, np.float32))
    assert compare_nets(a, b, tolerance=0.01).same
    assert compare_nets(a, b, weights=False).same
    assert not compare_nets(a, b).same


def test_coefficients_are_held_against_floats_as_what_they_mean() -> None:
    a, b = Net.new("x"), Net.new("x")
    a.add("ip", "InnerProduct", arrays=[np.array([-64, -0.5, 0.1, 63.5], np.float32)])
    b.add("ip", "InnerProduct").message.set(
        "blobs", [quantised_net()["coefficients"].blobs[0].message]
    )
    (weights,) = compare_nets(a, opened(b)).weights
    assert weights.distance is not None
    assert weights.distance.different == 1
    assert weights.distance.max_abs == pytest.approx(0.1)


def test_a_text_is_compared_without_weights() -> None:
    text = open_prototxt(Source(PROTOTXT.encode(), "x.prototxt"))
    result = compare_nets(text, opened(small_net()))
    assert result.left_out == ["conv/0", "conv/1", "ip/0", "ip/1"]
    assert [change.name for item in result.changed for change in item.changes] == [
        "convolution_param.num_output",
        "convolution_param.kernel_size",
        "th_strategy",
        "inner_product_param.num_output",
    ]
    other = open_prototxt(Source(PROTOTXT.replace("th_strategy: USE_KL", "").encode(), "y"))
    (node,) = compare_nets(text, other).changed
    assert node.as_dict()["changes"] == [{"name": "th_strategy", "a": "USE_KL"}]


def test_damaged_weights_are_left_out_and_named() -> None:
    a, b = opened(small_net()), opened(small_net())
    b["ip"].blobs[1].message.set("data", [1.0, 2.0])
    result = compare_nets(a, b)
    assert result.left_out == ["ip/1"]
    assert [finding.code for finding in result.diagnostics] == ["UFW101"]


def test_a_net_and_a_graph_are_not_alike(tmp_path: Path) -> None:
    ufkit.save_net(small_net(), tmp_path / "a.caffemodel")
    with pytest.raises(ufkit.RequestError, match=r"a\.caffemodel is a Caffe net; .* is a UFF"):
        ufkit.diff(tmp_path / "a.caffemodel", ufkit.Builder().meta)


def test_integers_that_have_no_scale_stay_integers() -> None:
    a, b = Net.new("x"), Net.new("x")
    for net, last in ((a, 5), (b, 6)):
        blob = blob_of(dim=[3], int32_data=[1, -2, last], dtype=2)
        net.add("ip", "InnerProduct").message.set("blobs", [blob.message])
    (weights,) = compare_nets(opened(a), opened(b)).weights
    assert (weights.a, weights.distance and weights.distance.max_abs) == ("int8[3]", 1)


def test_open_nets_can_be_given(tmp_path: Path) -> None:
    ufkit.save_net(small_net(), tmp_path / "a.caffemodel")
    with open_net(tmp_path / "a.caffemodel") as net:
        assert ufkit.diff(net, tmp_path / "a.caffemodel").same


def test_parameters_that_are_no_numbers_are_equal_to_themselves() -> None:
    net = small_net()
    net.layers[0].message.set("loss_weight", [1.0, float("nan")])
    assert compare_nets(net, net).same
