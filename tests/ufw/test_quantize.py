"""Nets from floats to integers and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ufkit.core.diag import FormatError, RequestError
from ufkit.core.files import Source
from ufkit.ufw.blob import Blob
from ufkit.ufw.dequantize import dequantize
from ufkit.ufw.net import Net
from ufkit.ufw.quant import BM1880, INT8, UFW, coefficients, quantize_weights
from ufkit.ufw.quantize import quantize
from ufkit.ufw.schema import BLOB, NET
from ufkit.ufw.table import Shifted, Table
from ufkit.wire.message import Message, to_bytes
from ufw.tiny import TABLE, tiny_net


def again(net: Net) -> Net:
    """The net as it is read from its bytes."""
    return Net(Message.read(NET, Source(to_bytes(net.message), "net")))


def fields(blob: Blob) -> dict[str, object]:
    singular = (field.name for field in blob.message.known() if not field.repeated)
    return {name: blob.message.get(name) for name in singular if name != "shape"}


def test_ufw() -> None:
    net = tiny_net()
    report = quantize(net, Table(TABLE))
    weights, bias = again(net)["conv"].blobs
    # ratio 2/4, largest 0.7: shift 8, as in test_quant; 0.1 * 2^8 * 127 / 4 = 812.8
    assert weights.stored("int32_data").tolist() == [[[[90, -45], [0, 0]]], [[[1, 3], [4, 5]]]]
    assert bias.stored("int32_data").tolist() == [813, -813]
    assert fields(weights) == {
        "right_shift_num": 8,
        "bit_width": 0,
        "factor_inverse_full_scale": 127,
        "fixed_sign_type": 1,
        "dtype": 2,  # INT8
        "scaleToFloat": 1 / 128,
    }
    assert fields(bias)["bit_width"] == 1
    assert fields(bias)["dtype"] == 4  # INT16
    assert fields(bias)["scaleToFloat"] == np.float32(4 / 127 / 256)
    np.testing.assert_array_equal(weights.array()[0], np.float32([[[90, -45], [0, 0]]]) / 128)
    assert [layer.name for layer in report.layers] == ["conv", "ip"]
    assert report.table.shifts == {"conv": Shifted(8), "ip": Shifted(7)}
    assert report.diagnostics == []


def test_per_channel() -> None:
    net = tiny_net()
    report = quantize(net, Table(TABLE), per_channel=True)
    weights, bias = again(net)["conv"].blobs
    # 0.04 / 2 * 2^12 = 81.9
    assert report.layers[0].shift.tolist() == [8, 12]
    assert weights.stored("int32_data")[1].tolist() == [[[20, 41], [61, 82]]]
    assert bias.stored("int32_data").tolist() == [813, -13005]  # -0.1 * 4096 * 127 / 4
    assert fields(weights)["per_channel_en"] is True
    assert "right_shift_num" not in fields(weights), "there is no one shift"
    assert weights.scales.tolist() == [1 / 128, 1 / 2048]  # type: ignore[union-attr]
    assert "conv" not in report.table.shifts


def test_bm1880() -> None:
    net = tiny_net()
    report = quantize(net, Table(TABLE), BM1880)
    weights, bias = again(net)["conv"].blobs
    assert weights.storage == "data"
    assert weights.array()[0].tolist() == [[[90, -45], [0, 0]]]
    assert bias.array().tolist() == [819, -819]
    assert fields(weights) == {}
    # the pool has thresholds 4 and 4: 2^7 < 256
    assert report.table.shifts["pool"] == Shifted(7, 128)
    with pytest.raises(RequestError, match="UFW205"):
        quantize(tiny_net(), Table(TABLE), BM1880, per_channel=True)


@pytest.mark.parametrize("per_channel", [False, True])
def test_there_and_back(per_channel: bool) -> None:
    net = tiny_net()
    report = quantize(net, Table(TABLE), per_channel=per_channel)
    back = again(net)
    assert dequantize(back) == ["conv", "ip"]
    for layer in report.layers:
        for blob, part in zip(again(back)[layer.name].blobs, layer.parts.values(), strict=True):
            assert blob.storage == "data"
            assert fields(blob) == {}
            scale = np.broadcast_to(part.scale, part.floats.shape[:1])
            error = np.abs(blob.array() - part.floats).reshape(len(scale), -1).max(1)
            assert np.all(error <= scale / 2 * 1.000001)


def test_integers_with_a_shift_only_need_the_table() -> None:
    net = tiny_net()
    quantize(net, Table(TABLE))
    for layer in net.layers:
        for blob in layer.blobs:
            blob.message.clear("scaleToFloat")
    with pytest.raises(RequestError) as caught:
        dequantize(again(net))
    assert {item.code for item in caught.value.diagnostics} == {"UFW208"}
    assert "'data' has no threshold" in str(caught.value)
    back = again(net)
    assert dequantize(back, Table(TABLE)) == ["conv", "ip"]
    assert back["conv"].blobs[0].array()[0, 0, 0].tolist() == [90 / 128, -45 / 128]
    assert back["conv"].blobs[1].array()[0] == np.float32(813 * 4 / 127 / 256)


def test_integers_without_anything() -> None:
    net = Net.new()
    net.add("conv", "Convolution", ["x"], ["y"], [np.ones((1, 1, 1, 1), np.int8)])
    with pytest.raises(RequestError, match="no scales, and the shift is none"):
        dequantize(net, Table({"x": 1.0, "y": 1.0}))
    net["conv"].blobs[0].message.set("right_shift_num", -7)
    with pytest.raises(RequestError, match="the shift is -7"):
        dequantize(net, Table({"x": 1.0, "y": 1.0}))


@pytest.mark.parametrize("scale", [3e38, float("nan")])
def test_scales_beyond_all_numbers(scale: float) -> None:
    net = tiny_net()
    quantize(net, Table(TABLE))
    net["ip"].blobs[0].message.set("scaleToFloat", scale)
    before = to_bytes(net.message)
    with pytest.raises(FormatError, match="UFW106"):
        dequantize(net)
    assert to_bytes(net.message) == before


def test_int8_coefficients() -> None:
    floats = np.float32([[0.5, -0.25], [0.1, 0.0]])
    integers, scale = coefficients(floats)
    net = Net.new()
    layer = net.add("ip", "InnerProduct", ["x"], ["y"], [floats])
    message = layer.blobs[0].message
    message.clear("data")
    message.set("int8_data", integers.tobytes())
    message.set("fscale_int8_to_float", float(scale))
    back = again(net)
    assert dequantize(back) == ["ip"]
    assert np.abs(back["ip"].blobs[0].array() - floats).max() <= scale / 2
    assert fields(back["ip"].blobs[0]) == {}


def test_the_bm1880s_table_says_what_is_in_integers() -> None:
    net = tiny_net()
    report = quantize(net, Table(TABLE), BM1880)
    assert dequantize(again(net), report.table, BM1880) == ["conv", "ip"]
    del report.table.shifts["ip"]
    assert dequantize(again(net), report.table, BM1880) == ["conv"]
    with pytest.raises(RequestError, match="UFW210"):
        dequantize(again(net), Table(TABLE), BM1880)
    with pytest.raises(RequestError, match="no whole ones") as caught:
        dequantize(tiny_net(), report.table, BM1880)
    assert "may be in floats" in str(caught.value)


# -- what is not quantised -------------------------------------------------------------------


def test_other_weights_stay_as_they_are() -> None:
    net = tiny_net()
    net.add("bn", "BatchNorm", ["ip"], ["bn"], [np.ones(2, np.float32)] * 3)
    net.add("prelu", "PReLU", ["bn"], ["out"], [np.ones(2, np.float32)])
    before = [to_bytes(layer.message) for layer in net.layers[-2:]]
    report = quantize(net, Table(TABLE))
    assert [item.code for item in report.diagnostics] == ["UFW206", "UFW206"]
    assert [item.where.node for item in report.diagnostics] == ["bn", "prelu"]
    assert [to_bytes(layer.message) for layer in net.layers[-2:]] == before


def test_too_large_weights_stay_in_floats() -> None:
    net = tiny_net()
    report = quantize(net, Table({**TABLE, "data": 1000.0}))  # 0.7 * 1000 / 4 = 175 > 127
    assert [item.code for item in report.diagnostics] == ["UFW207"]
    assert "0.7; times th_in / th_out, 250, that is 175" in report.diagnostics[0].message
    assert net["conv"].blobs[0].storage == "data"
    assert [layer.name for layer in report.layers] == ["ip"]


def test_biases_that_saturate_are_told() -> None:
    net = Net.new()
    weights = np.full((100, 1), 0.9, np.float32)
    bias = np.zeros(100, np.float32)
    bias[7] = 1e4  # one of a hundred: not enough for a smaller shift
    net.add("ip", "InnerProduct", ["x"], ["y"], [weights, bias])
    report = quantize(net, Table({"x": 1.0, "y": 1.0}))
    (found,) = report.diagnostics
    assert (found.code, found.where.node) == ("UFW211", "ip/1")
    assert "1 of 100 do not fit into 16 bits" in found.message
    (whole,) = report.layers[0].parts["bias"].errors.whole.rows()
    assert whole["saturated"] == 0.01


@pytest.mark.parametrize(
    ("type_", "shape", "each"),
    [
        ("Convolution", (2, 3, 1, 1), True),
        ("ConvolutionDepthwise", (2, 1, 3, 3), True),
        ("DepthwiseConvolution", (2, 1, 3, 3), True),
        ("InnerProduct", (2, 5), True),
        ("Deconvolution", (2, 2, 4, 4), False),  # [in, out, h, w]
        ("InnerProduct", (5, 2), False),  # [in, out], by its biases
    ],
)
def test_types(type_: str, shape: tuple[int, ...], each: bool) -> None:
    net = Net.new()
    weights = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    net.add("a", type_, ["x"], ["y"], [weights, np.zeros(2, np.float32)])
    report = quantize(net, Table({"x": 1.0, "y": 1.0}), per_channel=True)
    assert report.layers[0].shift.shape == ((2,) if each else ())
    assert [item.code for item in report.diagnostics] == ([] if each else ["UFW212"])


def test_a_transposed_inner_product_of_as_many_inputs_as_outputs() -> None:
    net = Net.new()
    layer = net.add("a", "InnerProduct", ["x"], ["y"], [np.eye(2, dtype=np.float32)])
    param = Message.new(layer.message.type.fields["inner_product_param"].type, transpose=True)
    layer.message.set("inner_product_param", param)
    report = quantize(net, Table({"x": 1.0, "y": 1.0}), per_channel=True)
    assert [item.code for item in report.diagnostics] == ["UFW212"]


def test_matrices_of_older_files() -> None:
    """Four axes for all: [1, 1, out, in], a bias [1, 1, 1, out]."""
    weights = np.float32([[0.5, 0.25], [0.01, 0.0]])
    net = Net.new()
    layer = net.add("ip", "InnerProduct", ["x"], ["y"], [weights, np.zeros(2, np.float32)])
    for blob, sizes in zip(layer.blobs, ((1, 1, 2, 2), (1, 1, 1, 2)), strict=True):
        blob.message.clear("shape")
        for name, size in zip(("num", "channels", "height", "width"), sizes, strict=True):
            blob.message.set(name, size)
    report = quantize(net, Table({"x": 1.0, "y": 1.0}), per_channel=True)
    assert report.layers[0].shift.tolist() == [7, 13]
    assert net["ip"].blobs[0].shape == (2, 2)
    assert net["ip"].blobs[1].shape == (2,)


# -- refused ---------------------------------------------------------------------------------


def test_all_missing_thresholds_at_once_and_nothing_is_edited() -> None:
    net = tiny_net()
    before = to_bytes(net.message)
    with pytest.raises(RequestError) as caught:
        quantize(net, Table({"conv": 4.0}))
    said = [(item.code, item.message.partition(";")[0]) for item in caught.value.diagnostics]
    assert said == [
        ("UFW202", "'data' has no threshold"),
        ("UFW202", "'pool' has no threshold"),
        ("UFW202", "'ip' has no threshold"),
    ]
    assert to_bytes(net.message) == before


def test_integers_are_not_quantised_once_more() -> None:
    net = tiny_net()
    quantize(net, Table(TABLE))
    with pytest.raises(RequestError) as caught:
        quantize(again(net), Table(TABLE))
    assert [item.where.node for item in caught.value.diagnostics] == ["conv/0", "conv/1", "ip/0"]
    assert {item.code for item in caught.value.diagnostics} == {"UFW209"}


def test_whole_numbers_may_be_what_is_meant() -> None:
    """Kernels by hand: identity, Sobel's."""
    net = Net.new()
    sobel = np.tile(np.float32([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]), (4, 1, 1, 1))
    net.add("conv", "Convolution", ["x"], ["y"], [sobel])
    net.add("ip", "InnerProduct", ["y"], ["z"], [np.eye(8, dtype=np.float32)])
    report = quantize(net, Table({"x": 1.0, "y": 1.0, "z": 1.0}))
    assert report.layers[0].parts["weights"].integers[0, 0].tolist() == [
        [-32, 0, 32],
        [-64, 0, 64],
        [-32, 0, 32],
    ]


def test_a_net_without_such_layers() -> None:
    net = Net.new()
    net.add("relu", "ReLU", ["x"], ["y"])
    with pytest.raises(RequestError, match="UFW210"):
        quantize(net, Table(TABLE))
    with pytest.raises(RequestError, match="UFW210"):
        dequantize(net)


def test_numbers_that_are_none() -> None:
    """In the last layer, so that the first would have been edited by then."""
    net = tiny_net()
    net["ip"].blobs[0].put(np.float32([[1, np.nan], [np.inf, 0], [0, 0]]))
    before = to_bytes(net.message)
    with pytest.raises(FormatError, match="UFW106") as caught:
        quantize(net, Table(TABLE))
    assert "of 6 numbers 2 are no numbers" in str(caught.value)
    assert to_bytes(net.message) == before


def test_thresholds_from_python_are_looked_at_too() -> None:
    with pytest.raises(RequestError, match="UFW201"):
        quantize(tiny_net(), Table({**TABLE, "conv": 1e300}))


def test_a_full_scale_is_all_that_tells_profiles_apart() -> None:
    assert (UFW.full_scale, BM1880.full_scale) == (127, 128)
    weights = np.float32([0.5])
    assert quantize_weights(weights, 1.0, 3, INT8).tolist() == [4]


def test_winograd_beside_the_weights(tmp_path: Path) -> None:
    from ufkit.ufw.quant import right_shift
    from ufkit.ufw.winograd import kernels, put_winograd, transformed, winograd_of

    g = np.random.default_rng(0).uniform(-1, 1, (3, 2, 3, 3)).astype(np.float32)
    u = transformed(g)
    shift = int(right_shift(np.abs(u).max(), 1.0))
    blob = Blob.of(g)
    assert winograd_of(blob) is None
    put_winograd(blob, quantize_weights(u, 1.0, shift), shift)
    read = Blob(Message.read(BLOB, Source(to_bytes(blob.message))))
    found = winograd_of(read)
    assert found is not None
    integers, again_shift = found
    assert (integers.shape, again_shift) == ((3, 2, 4, 4), shift)
    np.testing.assert_allclose(kernels(integers) / 2.0**shift, g, atol=2 / 2**shift)
    np.testing.assert_array_equal(read.array(), g)
    read.put(g[:2])
    with pytest.raises(FormatError, match="96 integers"):
        winograd_of(read)
