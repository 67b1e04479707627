"""`ufkit quantize` and `ufkit dequantize`."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ufkit.ufw.io import open_net
from ufw.tiny import TABLE, saved, tiny_net

needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)


@pytest.fixture
def caffe(tmp_path: Path) -> Path:
    return saved(tiny_net(), tmp_path)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE))
    return path


def test_a_net_in_integers_and_a_report(run: Any, caffe: Path, table: Path) -> None:
    out = caffe.with_suffix(".int8umodel")
    result = run("quantize", caffe, out, "--table", table)
    assert result.code == 0
    head, *rows = result.out.splitlines()
    assert head.split() == [
        "layer", "numbers", "shift", "max", "error", "MSE", "SQNR", "dB", "cosine", "saturated",
        "worst", "channel",
    ]  # fmt: skip
    assert rows[0].split()[:4] == ["conv", "weights", "8", "8"]
    assert rows[1].split()[:3] == ["bias", "2", "8"]
    assert rows[-1].startswith(f"wrote {out}: ")
    assert open_net(out)["conv"].blobs[0].storages == ["int32_data"]


def test_json(run: Any, caffe: Path, table: Path) -> None:
    out = caffe.with_suffix(".int8umodel")
    result = run("quantize", caffe, out, "--table", table, "--per-channel", "--json")
    assert result.code == 0
    data = result.json["data"]
    assert result.json["schema"] == "ufkit.quantize/1"
    assert data["bytes"] == out.stat().st_size
    conv = data["layers"][0]
    assert (conv["name"], conv["threshold_in"], conv["threshold_out"]) == ("conv", 2.0, 4.0)
    assert conv["shift"] == [8, 12]
    weights = conv["parts"][0]
    assert (weights["name"], weights["count"]) == ("weights", 8)
    # 90/128 stands for 0.7: off by 0.003125; -45/128 for -0.35: by 0.0015625
    assert weights["max_abs"] == pytest.approx(0.003125, abs=1e-7)
    assert [channel["saturated"] for channel in weights["channels"]] == [0, 0]
    assert weights["channels"][0]["mse"] == pytest.approx(
        (0.003125**2 + 0.0015625**2) / 4, rel=1e-4
    )


def test_every_channel_as_text(run: Any, caffe: Path, table: Path) -> None:
    result = run("quantize", caffe, caffe.with_suffix(".q"), "--table", table, "--channels")
    assert "weights 0" in result.out
    assert "bias 1" in result.out


def test_bm1880(run: Any, caffe: Path, table: Path, tmp_path: Path) -> None:
    out, shifts = tmp_path / "int8.caffemodel", tmp_path / "shifts.prototxt"
    args = ("quantize", caffe, out, "--table", table, "--profile", "bm1880")
    result = run(*args)
    assert result.code == 2
    assert "needs --table-out" in result.err
    assert not out.exists()
    assert run(*args, "--table-out", shifts).code == 0
    assert "right_shift_width: 8" in shifts.read_text()
    back = tmp_path / "floats.caffemodel"
    assert run("dequantize", out, back, "--profile", "bm1880", "--table", shifts).code == 0
    weights = open_net(back)["conv"].blobs[0].array()
    assert np.abs(weights - tiny_net()["conv"].blobs[0].array()).max() <= 1 / 256


def test_the_vendors_net(run: Any, corpus: Path, tmp_path: Path) -> None:
    """From the float net and the thresholds to the bytes of Bitmain's own integers."""
    folder, out, shifts = corpus / "ufw", tmp_path / "out", tmp_path / "shifts.prototxt"
    table = folder / "bm1880_lenet_calibration.prototxt"
    result = run("quantize", folder / "bm1880_lenet_float.caffemodel", out, "--table", table,
                 "--profile", "bm1880", "--table-out", shifts, "--json")  # fmt: skip
    assert result.code == 0
    counts = [part["count"] for layer in result.json["data"]["layers"] for part in layer["parts"]]
    assert sum(counts[::2]) == 430_500
    assert sum(counts[1::2]) == 580
    judge = open_net(folder / "bm1880_lenet_int8.caffemodel")
    for layer in open_net(out).layers:
        for at, blob in enumerate(layer.blobs):
            np.testing.assert_array_equal(blob.array(), judge[layer.name].blobs[at].array())
    assert shifts.read_bytes() == table.read_bytes()


def test_nets_from_the_wild(run: Any, corpus: Path, tmp_path: Path) -> None:
    """PReLU in place, and layers of the older style."""
    ranges = {"data": 1, "conv1": 3, "PReLU1": 2, "pool1": 2, "conv2": 3, "PReLU2": 3, "conv3": 3,
              "PReLU3": 2, "conv4-1": 1, "conv4-2": 1, "conv4-3": 4}  # fmt: skip
    table, out = tmp_path / "t.json", tmp_path / "pnet.int8umodel"
    table.write_text(json.dumps(ranges))
    result = run("quantize", corpus / "ufw" / "pnet.caffemodel", out, "--table", table, "--json")
    assert result.code == 0
    assert len(result.json["data"]["layers"]) == 6
    assert result.codes == ["UFW206"] * 3  # the weights of PReLU stay
    assert all(part["sqnr"] > 30 for x in result.json["data"]["layers"] for part in x["parts"])
    del ranges["PReLU1"]
    table.write_text(json.dumps(ranges))
    result = run("quantize", corpus / "ufw" / "pnet.caffemodel", out, "--table", table, "--force")
    assert result.code == 2
    assert "'PReLU1' for what comes of it" in result.err

    table = corpus / "ufw" / "bm1880_lenet_calibration.prototxt"
    out = tmp_path / "v1.int8umodel"
    assert run("quantize", corpus / "ufw" / "lenet_v1_layers.caffemodel", out, "--table", table,
               "--per-channel").code == 0  # fmt: skip
    assert open_net(out).layers[-2].blobs[0].message.get("per_channel_en")


# -- refused ---------------------------------------------------------------------------------


def test_all_that_is_missing_at_once(run: Any, caffe: Path, table: Path) -> None:
    table.write_text('{"conv": 4}')
    out = caffe.with_suffix(".int8umodel")
    result = run("quantize", caffe, out, "--table", table, "--json")
    assert result.code == 2
    assert result.codes == ["UFW202"] * 3
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--profile", "bm1880", "--per-channel", "--table-out", "t"], "--per-channel is for UFW"),
        (["--table-out", "t.json"], "JSON has no place for them"),
        (["--channels", "--json"], "--json has all channels anyway"),
        (["--table-out", "out"], "are the same file"),
    ],
)
def test_options_that_lose_or_lack_something(
    run: Any, caffe: Path, table: Path, options: list[str], said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(caffe.parent)
    result = run("quantize", caffe, "out", "--table", table, *options)
    assert result.code == 2
    assert said in result.err + result.out
    assert not (caffe.parent / "out").exists()


def test_nothing_is_replaced_unasked(run: Any, caffe: Path, table: Path) -> None:
    before = caffe.read_bytes()
    assert run("quantize", caffe, caffe, "--table", table).code == 3
    result = run("quantize", caffe, caffe.with_suffix(".q"), "--table", table, "--table-out", table,
                 "--profile", "bm1880")  # fmt: skip
    assert result.code in (2, 3)
    assert caffe.read_bytes() == before
    assert run("quantize", caffe, caffe, "--table", table, "--force").code == 0
    assert run("dequantize", caffe, caffe).code == 3
    assert run("dequantize", caffe, caffe, "--force").code == 0
    assert open_net(caffe)["conv"].blobs[0].storage == "data"


def test_wrong_files(run: Any, caffe: Path, table: Path, net: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for args, code in (
        (("quantize", net, out, "--table", table), "UFW001"),
        (("quantize", caffe, out, "--table", caffe), "UFW203"),
        (("quantize", caffe, out, "--table", tmp_path / "absent"), "UFK001"),
        (("dequantize", net, out), "UFW001"),
        (("dequantize", caffe, out), "UFW210"),
        (("dequantize", caffe, out, "--profile", "bm1880", "--table", table), "UFW210"),
    ):
        result = run(*args, "--json")
        assert result.code in (2, 3), args
        assert code in result.codes, args
        assert not out.exists()


def test_bm1880_needs_its_table_to_go_back(run: Any, caffe: Path, tmp_path: Path) -> None:
    result = run("dequantize", caffe, tmp_path / "out", "--profile", "bm1880")
    assert result.code == 2
    assert "needs --table" in result.err


# -- pictures --------------------------------------------------------------------------------


@needs_matplotlib
@pytest.mark.parametrize("options", [[], ["--per-channel"]])
def test_pictures(run: Any, table: Path, tmp_path: Path, options: list[str]) -> None:
    net = tiny_net()
    net.add("../../odd $\\frac name\n", "InnerProduct", ["pool"], ["ip"],
            [np.zeros((3, 2), np.float32)])  # fmt: skip
    folder = tmp_path / "a" / "plots"
    args = ("quantize", saved(net, tmp_path), tmp_path / "q", "--table", table, "--plot", folder)
    result = run(*args, *options, "--json")
    assert result.code == 0
    pictures = sorted(folder.iterdir())
    assert [str(path) for path in pictures] == result.json["data"]["pictures"]
    assert [path.name for path in pictures][:2] == ["000-conv.png", "001-ip.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
    (tmp_path / "q").unlink()
    result = run(*args)
    assert result.code == 3
    assert not (tmp_path / "q").exists(), (
        "pictures are not replaced unasked, nor is the net written"
    )


def test_without_matplotlib_it_is_named(
    run: Any, caffe: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = caffe.with_suffix(".q")
    result = run("quantize", caffe, out, "--table", table, "--plot", caffe.parent / "plots")
    assert result.code == 5
    assert "ufkit[plot]" in result.err
    assert not out.exists()
