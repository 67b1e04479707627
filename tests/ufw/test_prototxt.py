"""Texts of nets, alone and with their weights; label maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ufkit
from ufkit.core.files import Source
from ufkit.ufw.check import check_prototxt
from ufkit.ufw.connections import outputs
from ufkit.ufw.io import open_labels, open_net, open_prototxt, save_prototxt
from ufkit.ufw.pair import pair_findings, paired
from ufkit.ufw.prototxt import Prototxt
from ufkit.ufw.summary import summarize_net
from ufw.nets import PROTOTXT, opened, small_net


def text(source: str = PROTOTXT) -> Prototxt:
    return open_prototxt(Source(source.encode(), "x.prototxt"))


def test_the_int8_net_of_the_corpus(corpus: Path) -> None:
    net = open_prototxt(corpus / "ufw" / "mobilenet_deploy_int8_unique_top.prototxt")
    assert len(net.layers) == 112
    assert net.name == "MOBILENET"
    assert net.model_type == "BMNETC2UModel"
    assert net.int8_scale == 46.774544
    assert net.inputs == {"data": (1, 3, 224, 224)}
    assert outputs(net.layers) == ["loss"]
    assert net.layers[1].parameters["convolution_param"].text("num_output") == "32"
    summary = summarize_net(net)
    assert summary.types["Convolution"] == 28
    assert summary.arithmetic == ""
    assert list(check_prototxt(net)) == []


def test_layers_and_inputs() -> None:
    net = text()
    assert net.inputs == {"data": (1, 3, 8, 8)}
    assert [(layer.name, layer.type) for layer in net.layers] == [
        ("conv", "Convolution"),
        ("ip", "InnerProduct"),
    ]
    assert net.layers[1].bottoms == ("conv",)
    assert net.layers[1].tree.text("th_strategy") == "USE_KL"
    assert net.layers[1].where().line == 12
    number = net.layers[0].parameter("kernel_size")
    assert number is not None
    assert number.integer() == 3


def test_the_older_style() -> None:
    net = text(
        'input: "x" input_shape { dim: 2 dim: 3 }\n'
        'layers { name: "a" type: INNER_PRODUCT bottom: "x" top: "a" }\n'
        'layers { name: "b" type: SOFTMAX_LOSS include { phase: TRAIN } }'
    )
    assert net.style == "layers"
    assert [layer.type for layer in net.layers] == ["InnerProduct", "SoftmaxWithLoss"]
    assert [layer.training_only for layer in net.layers] == [False, True]
    assert net.inputs == {"x": (2, 3)}


def test_edits_keep_the_rest(tmp_path: Path) -> None:
    net = text()
    name = net.layers[0].tree.get("name")
    assert name is not None
    name.set("first")
    save_prototxt(net, tmp_path / "x.prototxt")
    expected = PROTOTXT.replace('name: "conv"', 'name: "first"')
    assert (tmp_path / "x.prototxt").read_text() == expected


# -- with weights ----------------------------------------------------------------------------


def test_a_text_and_its_weights(corpus: Path) -> None:
    folder = corpus / "ufw"
    net = open_net(folder / "pnet.caffemodel")
    found = list(pair_findings(open_prototxt(folder / "pnet.prototxt"), net))
    assert [(finding.code, finding.where.node) for finding in found] == [("UFW402", "conv4-3")]
    with open_net(folder / "bm1880_lenet_float.caffemodel") as lenet:
        assert not list(
            pair_findings(open_prototxt(folder / "bm1880_lenet_deploy.prototxt"), lenet)
        )


def test_weights_are_found_by_name() -> None:
    net = opened(small_net())
    assert list(pair_findings(text(), net)) == []
    assert [other and other.name for _, other in paired(text(), net)] == ["conv", "ip"]
    renamed = text(PROTOTXT.replace('name: "ip"', 'name: "other"'))
    codes = [(f.code, f.where.node) for f in pair_findings(renamed, net)]
    assert codes == [("UFW401", "other"), ("UFW402", "ip")]


@pytest.mark.parametrize(
    ("old", "new", "numbers"),
    [
        ("num_output: 4", "num_output: 6", "num_output is 6; the weights [4, 3, 3, 3] have 4"),
        ("num_output: 5", "num_output: 7", "num_output is 7; the bias [5] has 5"),
        ("kernel_size: 3", "kernel_size: 5", "kernel_size is 5; the weights are [4, 3, 3, 3]"),
    ],
)
def test_shapes_that_contradict_the_text(old: str, new: str, numbers: str) -> None:
    found = list(pair_findings(text(PROTOTXT.replace(old, new)), opened(small_net())))
    assert {finding.code for finding in found} == {"UFW403"}
    assert numbers in [finding.message for finding in found]


def test_a_deconvolution_has_its_outputs_on_the_second_axis() -> None:
    net = small_net()
    kernel = np.zeros((5, 2, 4, 4), np.float32)
    net.add("up", "Deconvolution", ["ip"], ["up"], [kernel, np.zeros(2, np.float32)])
    source = PROTOTXT + 'layer { name: "up" type: "Deconvolution" bottom: "ip" top: "up" '
    source += "convolution_param { num_output: 2 kernel_size: 4 } }"
    assert list(pair_findings(text(source), opened(net))) == []


# -- labels ----------------------------------------------------------------------------------


def test_label_maps_of_the_corpus(corpus: Path) -> None:
    voc = open_labels(corpus / "ufw" / "labelmap_voc.prototxt").labels
    assert len(voc) == 21
    assert voc[0][:3] == (0, "none_of_the_above", "background")
    assert voc[15].display_name == "person"
    assert len(open_labels(corpus / "ufw" / "labelmap_coco.prototxt").labels) == 81


def test_an_item_without_a_number_is_named_with_its_line() -> None:
    source = 'item { name: "a" label: 0 }\nitem {\n name: "b" }'
    with pytest.raises(ufkit.FormatError) as raised:
        assert open_labels(Source(source.encode(), "x")).labels
    assert raised.value.diagnostic.where.line == 2
