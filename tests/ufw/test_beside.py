"""A float net beside the same in integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ufkit.core.diag import RequestError
from ufkit.ufw.beside import Beside, BesideNet, BesideTable, holds_integers
from ufkit.ufw.histogram import by_integer, by_value, number_of
from ufkit.ufw.io import open_net
from ufkit.ufw.net import Net
from ufkit.ufw.quant import BM1880, coefficients
from ufkit.ufw.quantize import quantize
from ufkit.ufw.schema import BLOB, BLOB_SHAPE
from ufkit.ufw.table import Table, open_table
from ufkit.wire.message import Message
from ufw.nets import opened
from ufw.tiny import TABLE, tiny_net


def numbers(beside: Beside) -> list[tuple[str, float, float]]:
    """Of each part of each layer the noise and the largest error."""
    return [
        (f"{layer.name} {name}", float(whole.sqnr[0]), float(whole.max_abs[0]))
        for at, layer in enumerate(beside.layers)
        for name, part in beside.held(at).parts.items()
        for whole in [part.errors.whole]
    ]


@pytest.mark.parametrize("per_channel", [False, True])
def test_a_net_and_its_table_tell_the_same(per_channel: bool) -> None:
    table = Table(dict(TABLE))
    other = tiny_net()
    report = quantize(other, table, per_channel=per_channel)
    by_net = BesideNet(opened(tiny_net()), opened(other))
    by_table = BesideTable(opened(tiny_net()), table, per_channel=per_channel)
    wanted = [
        (f"{layer.name} {name}", float(part.errors.whole.sqnr[0]))
        for layer in report.layers
        for name, part in layer.parts.items()
    ]
    assert [row[:2] for row in numbers(by_table)] == wanted
    for found, (name, sqnr) in zip(numbers(by_net), wanted, strict=True):
        assert found[0] == name
        assert found[1] == pytest.approx(sqnr, rel=1e-5)  # the scale is kept as float32
    held = by_table.held(0)
    assert held.thresholds == (2.0, 4.0)
    assert held.shift is not None
    assert held.shift.shape == ((2,) if per_channel else ())


def test_nets_are_left_alone() -> None:
    net = opened(tiny_net())
    BesideTable(net, Table(dict(TABLE))).held(0)
    assert net.message.original is not None


def test_what_the_vendor_made_is_what_the_table_says(corpus: Path) -> None:
    folder = corpus / "ufw"
    table = open_table(folder / "bm1880_lenet_calibration.prototxt")
    with (
        open_net(folder / "bm1880_lenet_float.caffemodel") as floats,
        open_net(folder / "bm1880_lenet_int8.caffemodel") as integers,
    ):
        assert holds_integers(floats) == set()
        assert holds_integers(integers) == {"conv1", "conv2", "ip1", "ip2"}
        theirs = BesideNet(floats, integers, table)
        ours = BesideTable(floats, table, BM1880)
        assert numbers(theirs) == numbers(ours)
        assert [int(theirs.held(at).shift or 0) for at in range(4)] == [8, 10, 11, 10]
        with pytest.raises(RequestError, match="UFW208"):
            BesideNet(floats, integers).held(0)


def test_coefficients_and_biases_that_stay_in_floats() -> None:
    floats = tiny_net()
    integers, scale = coefficients(floats["conv"].blobs[0].array())
    other = tiny_net()
    blob = Message.new(BLOB, shape=Message.new(BLOB_SHAPE, dim=integers.shape))
    blob.set("int8_data", integers.tobytes())
    blob.set("fscale_int8_to_float", float(scale))
    other["conv"].message.set("blobs", [blob, other["conv"].message.all("blobs")[1]])
    beside = BesideNet(opened(floats), opened(other))
    assert [layer.name for layer in beside.layers] == ["conv"]
    held = beside.held(0)
    assert list(held.parts) == ["weights"]
    assert held.parts["weights"].errors.max_abs.max() <= scale * 0.51
    assert held.shift is None


def test_integers_that_stand_for_nothing_are_refused_layer_by_layer() -> None:
    other = tiny_net()
    quantize(other, Table(dict(TABLE)))
    for blob in other["ip"].blobs:
        blob.message.clear("scaleToFloat")
    beside = BesideNet(opened(tiny_net()), opened(other))
    assert beside.held(0).parts
    with pytest.raises(RequestError) as refused:
        beside.held(1)
    assert [finding.code for finding in refused.value.diagnostics] == ["UFW208"] * 2
    assert refused.value.diagnostic.where.node == "ip/0"


def test_layers_of_another_size_are_refused() -> None:
    other = tiny_net()
    quantize(other, Table(dict(TABLE)))
    wide = Net.new("wide")
    wide.add("ip", "InnerProduct", ["x"], ["y"], [np.float32(np.ones((3, 7)) / 3)])
    with pytest.raises(RequestError, match="UFW403"):
        BesideNet(opened(wide), opened(other)).held(0)


def test_a_table_that_lacks_thresholds_is_refused_layer_by_layer() -> None:
    table = Table({"data": 2.0, "conv": 4.0})
    beside = BesideTable(opened(tiny_net()), table)
    assert beside.held(0).parts
    with pytest.raises(RequestError, match="UFW202"):
        beside.held(1)


def test_histograms_count_every_number() -> None:
    beside = BesideTable(opened(tiny_net()), Table(dict(TABLE)))
    for part in beside.held(0).parts.values():
        for found in (by_value(part), by_integer(part)):
            assert found.meant.sum() == found.got.sum() == part.floats.size
            assert len(found.edges) == len(found.meant) + 1
    weights, bias = beside.held(0).parts.values()
    assert number_of(weights).bits == 8
    assert by_value(weights).limits == (float(weights.scale) * 127,) * 2
    codes = by_integer(weights)
    middles = (codes.edges[:-1] + codes.edges[1:]) / 2
    counted = {int(m): int(n) for m, n in zip(middles, codes.got, strict=True) if n}
    values, counts = np.unique(weights.integers, return_counts=True)
    assert counted == dict(zip(values.tolist(), counts.tolist(), strict=True))
    assert number_of(bias).bits in (8, 16)


def test_numbers_that_saturate_lie_beyond_the_limits() -> None:
    floats, other = tiny_net(), tiny_net()
    quantize(other, Table(dict(TABLE)))
    floats["conv"].blobs[0].put(floats["conv"].blobs[0].array() * np.float32(3))
    held = BesideNet(opened(floats), opened(other)).held(0)
    codes = by_integer(held.parts["weights"])
    assert codes.meant[codes.edges[1:] > codes.limits[1]].sum() == 1  # 0.7 times 3
    assert codes.got[codes.edges[1:] > codes.limits[1] + 1].sum() == 0
    assert held.parts["weights"].errors.whole.saturated[0] > 0
