"""The verbs on nets, their texts, label maps and mean images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit
from ufw.nets import PROTOTXT, old_net, quantised_net, small_net, write_net


@pytest.fixture
def caffe(tmp_path: Path) -> Path:
    return write_net(small_net(), tmp_path / "net.caffemodel")


@pytest.fixture
def prototxt(tmp_path: Path) -> Path:
    path = tmp_path / "deploy.prototxt"
    path.write_text(PROTOTXT)
    return path


@pytest.fixture
def mean(tmp_path: Path) -> Path:
    path = tmp_path / "mean.binaryproto"
    np.save(tmp_path / "source.npy", np.arange(12, dtype=np.float32).reshape(3, 2, 2))
    ufkit.convert(tmp_path / "source.npy", path)
    return path


# -- info ------------------------------------------------------------------------------------


def test_info_of_a_net(run: Any, caffe: Path) -> None:
    result = run("info", caffe)
    assert result.code == 0
    assert "Caffe net, binary" in result.out
    assert "net small: 2 layers" in result.out
    assert "input   data  [1, 3, 8, 8]" in result.out
    assert "parameters  837 float32, 3.3 KiB" in result.out
    assert "float32[4, 3, 3, 3]  float32[4]" in result.out
    data = run("info", caffe, "--json").json["data"]
    assert data["form"] == "caffe-net"
    assert data["style"] == "layer"
    assert data["inputs"] == [{"name": "data", "shape": [1, 3, 8, 8]}]
    assert data["layer_list"][1]["blobs"][0]["shape"] == [5, 144]


def test_info_has_shapes_and_work(run: Any, caffe: Path, prototxt: Path) -> None:
    out = run("info", caffe).out
    assert "output  ip    [1, 5]" in out
    assert f"work        {4 * 6 * 6 * 27 + 720:,} multiply-accumulates" in out
    assert "data -> conv    [1, 4, 6, 6]" in out
    data = run("info", caffe, "--shape", "data=N,3,9,9", "--json").json["data"]
    assert data["shapes"]["conv"] == [None, 4, 7, 7]
    assert data["layer_list"][0]["macs"] == 4 * 7 * 7 * 27
    assert data["inputs"][0]["shape"] == [1, 3, 8, 8]  # as the file has it


def test_check_of_shapes_that_are_given(run: Any, caffe: Path) -> None:
    assert run("check", caffe, "--shape", "data=1,3,8,8").code == 0
    result = run("check", caffe, "--shape", "data=1,3,9,8", "--json")
    assert (result.code, result.codes) == (1, ["UFW403"])
    assert run("check", caffe, "--shape", "date=1,3,9,8").code == 2


def test_info_says_what_weights_are(run: Any, tmp_path: Path) -> None:
    out = run("info", write_net(quantised_net(), tmp_path / "x.int8umodel")).out
    assert "weights     float, int8 coefficients, int8 neurons: 1 in data" in out
    assert "the older style" in run("info", write_net(old_net(), tmp_path / "o")).out


def test_info_of_a_text_with_its_weights(run: Any, prototxt: Path, caffe: Path) -> None:
    assert "none in this file" in run("info", prototxt).out
    out = run("info", prototxt, "--weights", caffe).out
    assert "837 float32" in out
    other = prototxt.with_name("other.prototxt")
    other.write_text(PROTOTXT.replace("num_output: 4", "num_output: 40"))
    result = run("info", other, "--weights", caffe, "--json")
    assert result.code == 0
    assert set(result.codes) == {"UFW403"}


def test_the_int8_net_of_the_corpus(run: Any, corpus: Path) -> None:
    path = corpus / "ufw" / "mobilenet_deploy_int8_unique_top.prototxt"
    out = run("info", path).out
    assert "model type BMNETC2UModel, INT8, scale 46.7745" in out
    assert "net MOBILENET: 112 layers" in out
    table = out[out.index("takes -> makes") :].splitlines()[1:]
    assert len(table) == 112
    assert len(run("info", path, "--json").json["data"]["layer_list"]) == 112


def test_info_of_the_rest(run: Any, corpus: Path, mean: Path) -> None:
    out = run("info", mean).out
    assert "float32[1, 3, 2, 2]" in out
    assert "1.5, 5.5, 9.5 by channel (B, G, R as Caffe stores them)" in out
    assert "21 labels" in run("info", corpus / "ufw" / "labelmap_voc.prototxt").out
    data = run("info", corpus / "ufw" / "labelmap_coco.prototxt", "--json").json["data"]
    assert len(data["labels"]) == 81
    table = run("info", corpus / "ufw" / "bm1880_lenet_calibration.prototxt")
    assert "threshold_y" in table.out
    assert "1.3900346756" in table.out


# -- check -----------------------------------------------------------------------------------


def test_check(run: Any, caffe: Path, prototxt: Path, tmp_path: Path) -> None:
    assert "nothing found" in run("check", caffe).out
    assert run("check", prototxt, "--weights", caffe).code == 0
    prototxt.write_text(PROTOTXT.replace("kernel_size: 3", "kernel_size: 5"))
    result = run("check", prototxt, "--weights", caffe, "--json")
    assert (result.code, result.codes) == (1, ["UFW403"])
    old = write_net(old_net(), tmp_path / "old")
    assert run("check", old, "--json").codes == ["UFW006", "UFW108"]
    caffe.write_bytes(caffe.read_bytes()[:-9])
    assert run("check", caffe).code == 1


# -- dump ------------------------------------------------------------------------------------


def test_dump_leaves_long_rows_out_unless_told(run: Any, caffe: Path, tmp_path: Path) -> None:
    out = run("dump", caffe).out
    assert 'type: "Convolution"' in out
    assert "# data: 435 bytes left out" in out
    assert out.count("data: 1.0") == 5
    full = tmp_path / "net.prototxt"
    assert run("dump", caffe, "--full", "-o", full).code == 0
    assert run("convert", full, tmp_path / "back.caffemodel").code == 0
    assert (tmp_path / "back.caffemodel").read_bytes() == caffe.read_bytes()


def test_dump_as_json_can_be_opened(run: Any, caffe: Path, tmp_path: Path) -> None:
    run("dump", caffe, "--json", "-o", tmp_path / "x.json")
    assert "837 float32" in run("info", tmp_path / "x.json").out
    layer = json.loads(run("dump", caffe, "--node", "ip", "--json").out)["layer"]
    assert [item["name"] for item in layer] == ["ip"]
    result = run("dump", caffe, "--node", "con")
    assert result.code == 2
    assert "did you mean 'conv'" in result.err


def test_dump_says_what_is_not_known(run: Any, corpus: Path) -> None:
    result = run("dump", corpus / "ufw" / "pnet.caffemodel")
    assert "# caffe.LayerParameter has fields not known: 148 (10 bytes)" in result.out
    assert "UFW007" in run("dump", corpus / "ufw" / "pnet.caffemodel", "--json").err


def test_dump_of_a_text_is_the_text(run: Any, prototxt: Path, corpus: Path) -> None:
    assert run("dump", prototxt).out == PROTOTXT
    one = run("dump", prototxt, "--node", "conv").out
    assert one.startswith('layer {\n  name: "conv"')
    assert "InnerProduct" not in one
    found = json.loads(run("dump", prototxt, "--json").out)
    assert found["input_dim"] == [1, 3, 8, 8]
    assert found["layer"][0]["convolution_param"] == {"num_output": 4, "kernel_size": 3}
    labels = json.loads(run("dump", corpus / "ufw" / "labelmap_voc.prototxt", "--json").out)
    assert labels["item"][1]["label"] == 1


# -- weights ---------------------------------------------------------------------------------


def test_weights_out_and_back(run: Any, caffe: Path, tmp_path: Path) -> None:
    out = run("weights", caffe, "--stats").out
    assert "conv/0" in out
    assert "4 arrays, 3.3 KiB" in out
    for suffix in (".npz", ".safetensors"):
        path, back = tmp_path / f"w{suffix}", tmp_path / f"back{suffix}.caffemodel"
        assert "4 arrays" in run("weights", caffe, path).out
        result = run("weights", caffe, "--from", path, back)
        assert "4 arrays put in, 0 of them new" in result.out
        assert back.read_bytes() == caffe.read_bytes()
    np.savez(tmp_path / "new.npz", **{"ip/1": np.full(5, 7, np.float32)})
    result = run("weights", caffe, "--from", tmp_path / "new.npz", caffe, "--force", "--json")
    assert result.json["data"] == {"file": str(caffe), "tensors": 1, "changed": 1}
    with ufkit.open_net(caffe) as net:
        assert net["ip"].blobs[1].array().tolist() == [7] * 5


def test_weights_that_do_not_fit(run: Any, caffe: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", **{"ip/1": np.zeros(6, np.float32), "x/0": np.zeros(1)})
    target = tmp_path / "out.caffemodel"
    result = run("weights", caffe, "--from", tmp_path / "bad.npz", target, "--json")
    assert (result.code, result.codes) == (2, ["UFW403", "UFW403"])
    assert not target.exists()
    assert run("weights", caffe, "--from", tmp_path / "bad.npz").code == 2
    (tmp_path / "bad.safetensors").write_bytes(b"\xff" * 20)
    result = run("weights", caffe, "--from", tmp_path / "bad.safetensors", target, "--json")
    assert (result.code, result.codes) == (3, ["CLI005"])


def test_damaged_blobs_are_listed_and_not_written(run: Any, tmp_path: Path) -> None:
    net = small_net()
    net["ip"].blobs[1].message.get("shape").set("dim", [6])
    path = write_net(net, tmp_path / "x.caffemodel")
    assert "! data holds 5 elements; the shape [6] has 6" in run("weights", path).out
    result = run("weights", path, tmp_path / "w.npz", "--json")
    assert (result.code, result.codes) == (3, ["UFW101"])
    assert not (tmp_path / "w.npz").exists()


# -- convert ---------------------------------------------------------------------------------


def test_convert_a_mean(run: Any, mean: Path, tmp_path: Path) -> None:
    target = tmp_path / "m.npy"
    result = run("convert", mean, target, "--mean-layout", "c", "--rgb")
    assert "B G R in Caffe, R G B in the array" in result.out
    assert np.load(target).tolist() == [9.5, 5.5, 1.5]
    assert "channels B G R" in run("convert", mean, target, "--force").out
    assert np.load(target).shape == (1, 3, 2, 2)
    assert run("convert", target, tmp_path / "m.binaryproto").code == 0
    assert (tmp_path / "m.binaryproto").read_bytes() == mean.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("info", "net.caffemodel", "--shape", "x=1"), "'x' is nothing that it takes"),
        (("info", "net.caffemodel", "--nodes"), "--nodes does not concern"),
        (("info", "net.uff", "--weights", "net.caffemodel"), "--weights does not concern"),
        (("check", "net.caffemodel", "--weights", "x"), "--weights does not concern"),
        (("weights", "net.caffemodel", "--graph", "x"), "--graph does not concern"),
        (("weights", "net.uff", "--from", "x.npz", "y"), "--from does not concern"),
        (("weights", "deploy.prototxt"), "weights can do nothing with this file"),
        (("dump", "deploy.prototxt", "--full"), "--full does not concern"),
        (("convert", "net.caffemodel", "x.onnx"), "names no kind of file that a Caffe net becomes"),
        (("convert", "net.caffemodel", "x.json", "--opset", "9"), "json Caffe net"),
        (("convert", "net.caffemodel", "x.prototxt", "--full"), "holds the weights anyway"),
        (("convert", "net.caffemodel", "x.prototxt", "--rgb"), "mean images"),
        (("run", "net.caffemodel"), "a Caffe net"),
        (("view", "net.uff", "--weights", "net.caffemodel"), "--weights goes with a prototxt"),
        (("view", "net.caffemodel", "--table", "x.json"), "cannot read: No such file"),
        (("view", "deploy.prototxt", "--weights", "net.uff"), "no net with weights"),
    ],
)
def test_what_makes_no_sense(
    run: Any, net: Path, caffe: Path, prototxt: Path, arguments: tuple[str, ...], reason: str
) -> None:
    folder = net.parent
    full = [folder / item if Path(item).suffix else item for item in arguments]
    result = run(*full)
    assert result.code in (2, 3)
    assert reason in result.err
    assert not (folder / "x.onnx").exists()


def test_every_verb_on_every_file_of_the_corpus(run: Any, corpus: Path) -> None:
    for path in sorted((corpus / "ufw").iterdir()):
        for verb in ("info", "check", "dump", "weights"):
            assert run(verb, path).code in (0, 2), (verb, path.name)
        assert run("info", path, "--json").json["ok"]
        assert run("check", path, "--json").json["ok"]


def test_damage_ends_in_our_errors(run: Any, corpus: Path, tmp_path: Path) -> None:
    for name in ("pnet.caffemodel", "mean.binaryproto", "pnet.prototxt", "labelmap_voc.prototxt"):
        data = (corpus / "ufw" / name).read_bytes()
        path = tmp_path / name
        for size in range(0, len(data), len(data) // 25):
            path.write_bytes(data[:size])
            for verb in ("info", "check", "dump", "weights"):
                assert run(verb, path).code in (0, 1, 2, 3), (verb, name, size)


def test_diff(run: Any, caffe: Path, prototxt: Path, net: Path, tmp_path: Path) -> None:
    assert run("diff", caffe, caffe).code == 0
    other = small_net()
    other["ip"].blobs[1].put(np.full(5, 2, np.float32))
    result = run("diff", caffe, write_net(other, tmp_path / "other"))
    assert result.code == 1
    assert "ip/1  float32[5]" in result.out
    assert run("diff", prototxt, caffe, "--json").json["data"]["weights"]["left_out"]
    assert run("diff", caffe, net).code == 2
