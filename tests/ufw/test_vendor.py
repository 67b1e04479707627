"""Bitmain's own tool as the judge: its LeNet for the BM1880, number by number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ufkit.core.diag import RequestError
from ufkit.core.files import Source
from ufkit.ufw.dequantize import dequantize
from ufkit.ufw.io import open_net, save_net
from ufkit.ufw.net import Net
from ufkit.ufw.quant import BM1880, UFW, multipliers
from ufkit.ufw.quantize import quantize
from ufkit.ufw.table import open_table, save_table

LAYERS = ("conv1", "conv2", "ip1", "ip2")


@pytest.fixture
def floats(corpus: Path) -> Net:
    return open_net(corpus / "ufw" / "bm1880_lenet_float.caffemodel")


@pytest.fixture
def judge(corpus: Path) -> Net:
    return open_net(corpus / "ufw" / "bm1880_lenet_int8.caffemodel")


def table_of(corpus: Path) -> Path:
    return corpus / "ufw" / "bm1880_lenet_calibration.prototxt"


def stripped(path: Path) -> bytes:
    """The vendor's table with thresholds only, as calibration leaves it."""
    lines = path.read_bytes().splitlines(keepends=True)
    ours = (b"  right_shift_width", b"  threshold_x_quantized")
    return b"".join(line for line in lines if not line.startswith(ours))


def test_all_integers_and_shifts(corpus: Path, floats: Net, judge: Net, tmp_path: Path) -> None:
    """430,500 weights, 580 biases, 6 shifts, 2 multipliers of pools: none differs."""
    given = stripped(table_of(corpus))
    assert b"right_shift_width: 8" not in given
    report = quantize(floats, open_table(Source(given, "table")), BM1880)
    save_net(floats, tmp_path / "int8.caffemodel")
    made = open_net(tmp_path / "int8.caffemodel")
    counts = {0: 0, 1: 0}
    for name in LAYERS:
        for at, (ours, theirs) in enumerate(zip(made[name].blobs, judge[name].blobs, strict=True)):
            assert ours.storage == theirs.storage == "data"
            assert ours.array().dtype == theirs.array().dtype == np.float32
            assert ours.shape == theirs.shape
            assert np.count_nonzero(ours.array() != theirs.array()) == 0
            counts[at] += ours.array().size
    assert counts == {0: 430_500, 1: 580}
    theirs = open_table(table_of(corpus))
    assert report.table.shifts == theirs.shifts
    assert sorted(report.table.shifts) == ["conv1", "conv2", "ip1", "ip2", "pool1", "pool2"]
    assert report.table.shifts["pool1"] == (8, 160)
    assert report.table.shifts["pool2"] == (7, 135)
    assert report.diagnostics == []

    save_table(report.table, tmp_path / "table.prototxt")
    again = open_table(tmp_path / "table.prototxt")
    assert (again.thresholds, again.shifts) == (theirs.thresholds, theirs.shifts)


def test_blobs_of_layers_are_the_vendors_bytes(floats: Net, judge: Net, corpus: Path) -> None:
    from ufkit.wire.message import to_bytes

    quantize(floats, open_table(table_of(corpus)), BM1880)
    for name in LAYERS:
        ours, theirs = floats[name].blobs, judge[name].blobs
        assert [to_bytes(b.message) for b in ours] == [to_bytes(b.message) for b in theirs]


def test_its_table_is_left_as_it_was(corpus: Path, floats: Net, tmp_path: Path) -> None:
    """The shifts it has already are those that are found: not a byte changes."""
    report = quantize(floats, open_table(table_of(corpus)), BM1880)
    save_table(report.table, tmp_path / "table.prototxt")
    assert (tmp_path / "table.prototxt").read_bytes() == table_of(corpus).read_bytes()


def test_its_relu(corpus: Path) -> None:
    """Of slope 0.1: 1 and 0.1 as multipliers and shifts are (64, 6) and (102, 10)."""
    tree = open_table(table_of(corpus)).tree
    assert tree is not None
    (relu,) = [layer.tree("relu_param") for layer in tree.trees("layer") if "relu_param" in layer]
    assert relu is not None
    values, shifts = multipliers([1.0, 0.1], BM1880)
    expected = {
        "gt_scale": values[0],
        "le_scale": values[1],
        "gt_right_shift_width": shifts[0],
        "le_right_shift_width": shifts[1],
    }
    assert {entry.name: entry.integer() for entry in relu} == expected


def test_the_full_scale_is_not_127(corpus: Path, floats: Net, judge: Net) -> None:
    """What tells the two profiles apart: with 127 most biases differ."""
    quantize(floats, open_table(table_of(corpus)), UFW)
    differ = sum(
        np.count_nonzero(floats[name].blobs[1].array() != judge[name].blobs[1].array())
        for name in LAYERS
    )
    assert differ > 400


def test_the_vendors_integers_back_to_floats(corpus: Path, floats: Net, judge: Net) -> None:
    """Within half a unit of the float net: 2^-shift * th_out / th_in."""
    table = open_table(table_of(corpus))
    assert dequantize(judge, table, BM1880) == list(LAYERS)
    th, shifts = table.thresholds, table.shifts
    units = {
        "conv1": th["conv1"] / th["data"],
        "conv2": th["conv2"] / th["pool1"],
        "ip1": th["ip1"] / th["pool2"],
        "ip2": th["ip2"] / th["ip1"],
    }
    for name, unit in units.items():
        scale = unit / 2 ** shifts[name].shift
        weights, bias = (blob.array() for blob in judge[name].blobs)
        exact, exact_bias = (blob.array() for blob in floats[name].blobs)
        assert np.abs(weights - exact).max() <= scale / 2 * 1.000001
        half = th[name] / 128 / 2 ** shifts[name].shift / 2
        assert np.abs(bias - exact_bias).max() <= half * 1.000001


def test_its_integers_are_not_quantised_once_more(corpus: Path, judge: Net) -> None:
    with pytest.raises(RequestError, match="all 500 are whole numbers") as caught:
        quantize(judge, open_table(table_of(corpus)), BM1880)
    assert caught.value.diagnostic.code == "UFW209"
