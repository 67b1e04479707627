"""Weights out of nets and back; what they are summed up as."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import ufkit
from ufkit.conversion.weights import save_weights
from ufkit.ufw.io import open_net
from ufkit.ufw.net import Net
from ufkit.ufw.summary import summarize_net
from ufkit.ufw.weights import net_weights, put_weights
from ufw.nets import CAFFE, encoded, old_net, opened, quantised_net, small_net


def arrays(net: Net) -> dict[str, np.ndarray]:
    return {name: np.array(tensor) for name, tensor in net_weights(net).items()}


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("net", [small_net(), quantised_net(), old_net()], ids=lambda net: net.name)
def test_they_go_out_and_come_back(tmp_path: Path, net: Net, suffix: str) -> None:
    path = tmp_path / f"w{suffix}"
    net = opened(net)
    save_weights(net_weights(net), path)
    loaded = dict(np.load(path)) if suffix == ".npz" else load_file(path)
    for name, array in arrays(net).items():
        assert loaded[name].dtype == array.dtype
        assert np.array_equal(loaded[name], array)
    again = opened(encoded(net))
    assert put_weights(again, loaded) == 0
    assert encoded(again) == encoded(net)


@pytest.mark.parametrize("name", CAFFE)
def test_real_nets(corpus: Path, tmp_path: Path, name: str) -> None:
    path = corpus / "ufw" / f"{name}.caffemodel"
    with open_net(path) as net:
        save_weights(net_weights(net), tmp_path / "w.npz")
        loaded = dict(np.load(tmp_path / "w.npz"))
        assert loaded
        assert put_weights(net, loaded) == 0
        assert encoded(net) == path.read_bytes()


def test_storages_are_kept() -> None:
    net = quantised_net()
    found = arrays(net)
    assert {name: array.dtype.name for name, array in found.items()} == {
        "float/0": "float32",
        "double/0": "float64",
        "neurons/0": "int8",
        "coefficients/0": "int8",
    }
    changed = {name: array + array.dtype.type(0) for name, array in found.items()}
    for array in changed.values():
        array.flat[1] = 3
    assert put_weights(net, changed) == 4
    back = opened(encoded(net))
    for layer in back.layers:
        (blob,) = layer.blobs
        assert blob.storages == quantised_net()[layer.name].blobs[0].storages
        assert np.array_equal(blob.stored(blob.storage), changed[f"{layer.name}/0"])
    assert back["coefficients"].blobs[0].message.get("fscale_int8_to_float") == 0.5


def test_a_second_storage_does_not_keep_the_old_numbers() -> None:
    net = small_net()
    net["ip"].blobs[1].message.set("int8_data", b"12345")
    net = opened(net)
    put_weights(net, {"ip/1": np.zeros(5, np.float32)})
    assert opened(encoded(net))["ip"].blobs[1].storages == ["data"]


def test_only_what_is_new_is_encoded() -> None:
    net = opened(small_net())
    new = arrays(net)
    new["ip/1"] = np.full(5, 9, np.float32)
    assert put_weights(net, new) == 1
    assert net["conv"].message.span.nbytes == opened(small_net())["conv"].message.span.nbytes
    assert opened(encoded(net))["ip"].blobs[1].array().tolist() == [9] * 5


def test_what_does_not_fit_is_listed_all_at_once() -> None:
    net = quantised_net()
    before = encoded(net)
    with pytest.raises(ufkit.RequestError) as raised:
        put_weights(
            net,
            {
                "flaot/0": np.zeros((2, 3), np.float32),
                "float/0": np.zeros((3, 2), np.float32),
                "neurons/0": np.zeros((2, 2), np.float32),
                "coefficients/0": np.array([0, 1, 2, 200]),
                "double/0": np.zeros((3, 2), np.int32),
            },
        )
    assert [finding.code for finding in raised.value.diagnostics] == [
        "UFW403",
        "UFW403",
        "UFW107",
        "UFW107",
        "UFW107",
    ]
    assert "did you mean 'float/0'?" in raised.value.diagnostics[0].hint
    assert encoded(net) == before


def test_doubles_go_into_floats_only_where_nothing_is_lost() -> None:
    net = opened(small_net())
    assert put_weights(net, {"ip/1": np.array([1.0, 2, 3, 4, np.nan])}) == 1
    with pytest.raises(ufkit.RequestError, match="cannot all be held as float32"):
        put_weights(net, {"ip/1": np.array([0.1, 2, 3, 4, 5])})


def test_summary() -> None:
    summary = summarize_net(opened(quantised_net()))
    assert summary.parameters == 20
    assert summary.dtypes == {"float32": 6, "float64": 6, "int8": 8}
    assert summary.storages == {"data": 1, "double_data": 1, "int32_data": 1, "int8_data": 1}
    assert summary.arithmetic == "float, int8 coefficients, int8 neurons"
    assert summary.outputs == ["d"]
    assert [str(layer.blobs[0]) for layer in summary.layer_list] == [
        "float32[2, 3]",
        "float64[3, 2]",
        "int8[2, 2]",
        "int8[4]",
    ]
