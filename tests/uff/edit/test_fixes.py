"""What is mended without asking, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ufkit
from graphs import small_net
from ufkit.core.files import Source
from ufkit.uff.edit.fixes import FIXES, fix
from ufkit.wire.message import Message, to_bytes

FAULTS: dict[str, Callable[[ufkit.Builder], object]] = {}


def fault(function: Callable[[ufkit.Builder], object]) -> Callable[[ufkit.Builder], object]:
    """Does to a small net what the rule its name begins with is about."""
    FAULTS[function.__name__] = function
    return function


@fault
def uff106_input_takes_the_image_tensor(b: ufkit.Builder) -> None:
    b.graph["image"].inputs = ("image_tensor:0",)


@fault
def uff102_an_output_that_is_not_there(b: ufkit.Builder) -> None:
    b.graph["MarkOutput_0"].inputs = ("gone", "probabilities")


@fault
def uff102_a_plugin_takes_what_is_not_there(b: ufkit.Builder) -> None:
    b.op("plugin", "_FlattenConcat_TRT", ["relu", "gone"])
    b.output("plugin")
    b.meta.add_descriptor("custom")


@fault
def uff105_a_node_nobody_needs(b: ufkit.Builder) -> None:
    b.op("idle", "Identity", ["relu"])


@fault
def uff211_data_nobody_needs(b: ufkit.Builder) -> None:
    b.meta.referenced_data["weights_gone"] = np.ones(3, np.float32)


@fault
def uff006_a_plugin_without_descriptor(b: ufkit.Builder) -> None:
    b.op("plugin", "_Plugin_TRT", ["relu"])
    b.output("plugin")


@fault
def uff303_shape_without_batch(b: ufkit.Builder) -> None:
    b.graph["image"].fields["shape"] = [8, 8, 3]


@fault
def uff307_concat_axis_beyond_the_rank(b: ufkit.Builder) -> None:
    b.op("both", "Concat", ["dense", "probabilities"], axis=2)
    b.output("both")


@fault
def uff005_key_given_twice(b: ufkit.Builder) -> None:
    message = b.graph["relu"].message
    entry = message.all("fields")[0]
    wrong = Message.new(entry.type, key="func", value=entry.get("value"))
    message.append("fields", wrong)


def anchors(b: ufkit.Builder, inputs: list[str]) -> str:
    """Six anchors of one cell."""
    fields = {"aspectRatios_u_flist": [1.0, 2.0, 0.5, 3.0, 0.33], "numLayers_u_int": 2}
    fields |= {"featureMapShapes_u_ilist": [1, 1], "variance_u_flist": [0.1, 0.1, 0.2, 0.2]}
    if "custom" not in [descriptor.id for descriptor in b.meta.descriptors]:
        b.meta.add_descriptor("custom")
    return b.op("anchors", "_GridAnchor_TRT", inputs, **fields)


@fault
def uff320_anchors_made_of_nothing(b: ufkit.Builder) -> None:
    b.output(anchors(b, []))


@fault
def uff323_nms_takes_the_image(b: ufkit.Builder) -> None:
    anchors(b, ["image"])
    for id_, size in (("boxes", 36), ("scores", 18)):
        b.const(id_, np.linspace(-1, 1, size, dtype=np.float32).reshape(1, size, 1, 1))
    limits = {"confidenceThreshold_u_float": 0.3, "nmsThreshold_u_float": 0.6}
    numbers = {"numClasses_u_int": 2, "topK_u_int": 9, "keepTopK_u_int": 9}
    b.op("NMS", "_NMS_TRT", ["image", "boxes", "anchors", "scores"], **limits, **numbers)
    b.output("NMS")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_mended_and_named(name: str) -> None:
    b = small_net()
    FAULTS[name](b)
    code = name[:6].upper()
    meta = ufkit.open(Source(to_bytes(b.meta.message)))
    before = list(ufkit.check(meta))
    assert code in [d.code for d in before]
    changes = fix(meta)
    assert code in [change.rule.code for change in changes if change.rule]
    meta = ufkit.open(Source(to_bytes(meta.message)))
    assert code not in [d.code for d in ufkit.check(meta)]
    assert fix(meta) == []
    if code not in ("UFF006", "UFF102") or "plugin" not in meta.graph:
        image = np.ones((1, 8, 8, 3), np.float32)
        expected = ufkit.run(small_net().graph, {"image": image})["probabilities"]
        mended = ufkit.run(meta.graph, {"image": image})["probabilities"]
        assert np.array_equal(mended, expected)


def test_each_fix_has_a_fault_here() -> None:
    assert {rule.code for rule, _ in FIXES} == {name[:6].upper() for name in FAULTS}


def test_a_sound_file_is_not_touched() -> None:
    data = to_bytes(small_net().meta.message)
    meta = ufkit.open(Source(data))
    assert fix(meta) == []
    assert to_bytes(meta.message) == data


def detector(nms_inputs: list[str], anchor_inputs: list[str]) -> ufkit.Builder:
    """The end of an SSD as graphsurgeon leaves it."""
    b = ufkit.Builder()
    b.meta.add_descriptor("custom")
    for id_ in ("Input", "boxes", "scores"):
        b.input(id_, [1, 4])
    b.op("anchors", "_GridAnchor_TRT", anchor_inputs)
    b.op("NMS", "_NMS_TRT", nms_inputs)
    b.output("NMS")
    return b


@pytest.mark.parametrize("stray", ["image_tensor:0", "Input"])
def test_nms_does_not_take_the_image(stray: str) -> None:
    b = detector([stray, "anchors", "NMS_boxes", "NMS_scores"], ["Input"])
    for id_ in ("boxes", "scores"):
        b.op(f"NMS_{id_}", "Identity", [id_])
    (change,) = [change for change in fix(b.meta) if change.rule and change.rule.code == "UFF323"]
    assert repr(stray) in change.message
    assert b.graph["NMS"].inputs == ("anchors", "NMS_boxes", "NMS_scores")


def test_a_fourth_value_of_nms_that_is_no_image_stays() -> None:
    b = detector(["anchors", "a", "b", "c"], ["Input"])
    for id_ in "abc":
        b.op(id_, "Identity", ["boxes"])
    fix(b.meta)
    assert b.graph["NMS"].inputs == ("anchors", "a", "b", "c")


def test_anchors_get_the_constant_that_the_plugin_reads() -> None:
    b = detector(["boxes", "anchors", "scores"], [])
    fix(b.meta)
    (id_,) = b.graph["anchors"].inputs
    assert ufkit.constant(b.graph[id_]).numpy().tolist() == [1, 1]


def test_a_convolution_without_its_input_is_nobodys_guess() -> None:
    b = small_net()
    b.graph["conv"].inputs = ("gone", "conv/kernel")
    assert fix(b.meta) == []
