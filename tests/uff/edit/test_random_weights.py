"""Weights made up for text twins."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import ufkit
from graphs import small_net
from ufkit.core.files import Source
from ufkit.uff.const import skipped_marker
from ufkit.uff.data import Ref
from ufkit.uff.edit.cut import extract
from ufkit.uff.edit.random_weights import RandomWeights, random_weights
from ufkit.uff.edit.roles import Role
from ufkit.uff.io import write_to

SSD = ("ssd_mobilenet_v1_egohands", "ssd_mobilenet_v1_face", "ssd_mobilenet_v2_coco")


def binary(meta: ufkit.MetaGraph) -> bytes:
    out = io.BytesIO()
    write_to(meta, out)
    return out.getvalue()


def twin(b: ufkit.Builder) -> ufkit.MetaGraph:
    """The file as its text twin has it."""
    return as_text(b.meta)


def as_text(meta: ufkit.MetaGraph) -> ufkit.MetaGraph:
    out = io.BytesIO()
    write_to(meta, out, form="text")
    return ufkit.open(Source(out.getvalue(), "twin.pbtxt"))


def leave_out(meta: ufkit.MetaGraph, *ids: str) -> None:
    """Put the marker of a twin in the place of values, however small."""
    for id_ in ids:
        nbytes = ufkit.constant(meta.graph[id_]).nbytes
        meta.referenced_data[f"weights_{id_}"] = skipped_marker(nbytes)


def test_a_twin_can_be_saved_and_run() -> None:
    b = small_net()
    meta = twin(b)
    report = random_weights(meta, 0)
    assert str(report) == "2 constants of 1.7 KiB made up: 2 kernels"
    meta = ufkit.open(Source(binary(meta)))
    x = np.random.default_rng(1).standard_normal((4, 8, 8, 3)).astype(np.float32)
    result = ufkit.run(meta.graph, {"image": x})["probabilities"]
    assert np.isfinite(result).all()
    assert result.std() > 0.01
    kept = ufkit.constant(b.graph["conv/bias"]).numpy()  # so small that the twin holds it
    assert np.array_equal(ufkit.constant(meta.graph["conv/bias"]).numpy(), kept)


def test_the_seed_and_the_id_decide_and_the_order_does_not() -> None:
    first, again, other, turned = (twin(small_net()) for _ in range(4))
    turned.graph.message.set("nodes", [node.message for node in reversed(turned.graph.nodes)])
    turned = as_text(turned)
    for meta, seed in ((first, 3), (again, 3), (other, 4), (turned, 3)):
        random_weights(meta, seed)
    assert binary(first) == binary(again) != binary(other)
    assert turned.graph.nodes[0].id == first.graph.nodes[-1].id
    for id_ in ("conv/kernel", "dense/kernel"):
        same = [ufkit.constant(meta.graph[id_]).numpy() for meta in (first, turned)]
        assert np.array_equal(*same)
    kernels = [ufkit.constant(first.graph[id_]).numpy() for id_ in ("conv/kernel", "dense/kernel")]
    assert not np.array_equal(kernels[0].ravel()[:20], kernels[1].ravel()[:20])


@pytest.mark.parametrize(
    ("shape", "orders", "groups", "fan_in"),
    [
        ((3, 3, 64, 128), "N+C_+CK", 1, 576),
        ((3, 3, 64, 32), "N+C_+CK", 2, 576),  # the channels of one group
        ((3, 3, 64, 8), "N+C_+CK", 64, 9),  # depthwise: (spatial, channels, multiplier)
        ((128, 64, 3, 3), "NC+_KC+", 1, 576),
    ],
)
def test_a_kernel_is_drawn_for_what_it_sums(
    shape: tuple[int, ...], orders: str, groups: int, fan_in: int
) -> None:
    b = ufkit.Builder()
    b.input("x", [1, 9, 9, 64] if orders.startswith("N+C") else [1, 64, 9, 9])
    b.const("k", np.zeros(shape, np.float32))
    b.op("y", "Conv", ["x", "k"], orders, number_groups=groups)
    b.op("z", "Activation", ["y"], func="relu")
    b.output("z")
    leave_out(b.meta, "k")
    random_weights(b.meta, 0)
    values = ufkit.constant(b.graph["k"]).numpy()
    assert values.std() == pytest.approx((2 / fan_in) ** 0.5, rel=0.05)
    assert abs(values.mean()) < values.std() / 10


NORM = (
    ("sum", "Binary", ["var", "epsilon"], "add"),
    ("root", "Unary", ["sum"], "rsqrt"),
    ("scale", "Binary", ["root", "gamma"], "mul"),
    ("scaled", "Binary", ["x", "scale"], "mul"),
    ("moved", "Binary", ["mean", "scale"], "mul"),
    ("shift", "Binary", ["beta", "moved"], "sub"),
    ("y", "Binary", ["scaled", "shift"], "add"),
)


@pytest.mark.parametrize("form", ["fused", "apart", "apart, back to front"])
def test_batch_norm_is_told_fused_and_taken_apart(form: str) -> None:
    names = {"gamma": Role.SCALE, "beta": Role.OFFSET, "mean": Role.OFFSET, "var": Role.POSITIVE}
    b = ufkit.Builder()
    b.input("x", [2, 5, 5, 512])
    for name in names:
        b.const(name, np.zeros(512, np.float32))
    b.const("epsilon", np.float32(0.001))
    if form == "fused":
        b.op("y", "BatchNorm", ["x", *names], "N+C", epsilon=0.001)
    else:
        for id_, operation, inputs, func in NORM if form == "apart" else NORM[::-1]:
            b.op(id_, operation, inputs, func=func)
    b.output("y")
    leave_out(b.meta, *names)
    report = random_weights(b.meta, 0)
    assert report.roles == {Role.SCALE: 1, Role.OFFSET: 2, Role.POSITIVE: 1}
    drawn = {name: ufkit.constant(b.graph[name]).numpy() for name in names}
    assert 0.5 < drawn["var"].min() < drawn["var"].max() < 1.5
    assert 0.5 < drawn["gamma"].min() < drawn["gamma"].max() < 1.5
    assert abs(drawn["mean"]).max() < 1 > abs(drawn["beta"]).max()
    x = np.random.default_rng(0).standard_normal((2, 5, 5, 512)).astype(np.float32)
    assert 0.8 < ufkit.run(b.graph, {"x": x})["y"].std() < 1.25


def test_divisors_are_positive_and_tables_spread() -> None:
    b = ufkit.Builder()
    b.input("x", [1, 50])
    for name, shape in (("divisor", (50,)), ("table", (50, 30)), ("matrix", (50, 20))):
        b.const(name, np.zeros(shape, np.float32))
    b.const("rows", np.arange(3, dtype=np.int32))
    b.op("y", "Binary", ["x", "divisor"], func="div")
    b.op("looked_up", "Gather", ["table", "rows"])
    b.op("product", "_MatMul", ["y", "matrix"])
    b.output("y", "looked_up", "product")
    leave_out(b.meta, "divisor", "table", "matrix")
    report = random_weights(b.meta, 0)
    assert report.roles == {Role.POSITIVE: 1, Role.TABLE: 1, Role.KERNEL: 1}
    assert ufkit.constant(b.graph["divisor"]).numpy().min() > 0.5
    assert ufkit.constant(b.graph["table"]).numpy().std() == pytest.approx(1, rel=0.1)
    deviation = ufkit.constant(b.graph["matrix"]).numpy().std()
    assert deviation == pytest.approx(50**-0.5, rel=0.1)


def test_integers_are_not_made_up_and_it_is_said() -> None:
    b = ufkit.Builder()
    b.input("x", [1, 20])
    b.const("picked", np.arange(20, dtype=np.int32))
    b.op("y", "Gather", ["x", "picked"])
    b.output("y")
    meta = twin(b)
    report = random_weights(meta, 0)
    assert report.roles == {}
    (finding,) = report.kept
    assert finding.code == "UFF204"
    assert "80 bytes of int32[20]" in finding.message
    with pytest.raises(ufkit.FormatError, match="UFF204"):
        binary(meta)


def test_data_that_two_share_is_drawn_once() -> None:
    b = small_net()
    fields = dict(b.graph["dense/kernel"].fields) | {"values": Ref("weights_dense/kernel")}
    b.graph.add("a/unused", "Const", **fields)
    meta = twin(b)
    random_weights(meta, 0)
    alone = twin(small_net())
    random_weights(alone, 0)
    one, two = (ufkit.constant(m.graph["dense/kernel"]).numpy() for m in (meta, alone))
    assert np.array_equal(one, two)  # drawn as the kernel, not as what nobody takes


def test_a_small_text_cannot_ask_for_all_memory() -> None:
    b = small_net()
    kernel = b.graph["dense/kernel"]
    kernel.fields["shape"] = [1 << 20, 1 << 20]
    b.meta.referenced_data["weights_dense/kernel"] = skipped_marker(4 << 40)
    with pytest.raises(ufkit.FormatError) as caught:
        random_weights(b.meta, 0)
    assert caught.value.diagnostic.code == "UFF402"


def test_a_file_that_holds_its_weights_is_not_touched() -> None:
    meta = ufkit.open(Source(binary(small_net().meta)))
    assert random_weights(meta, 0) == RandomWeights()
    assert binary(meta) == binary(small_net().meta)


# -- real twins ------------------------------------------------------------------------------


def test_the_twin_of_a_netvlad_computes_something(corpus: Path) -> None:
    meta = ufkit.open(corpus / "uff" / "netvlad_short.uff.pbtxt")
    report = random_weights(meta, 0)
    assert report.kept == []
    meta = ufkit.open(Source(binary(meta)))
    x = np.random.default_rng(0).standard_normal((2, 240, 320, 3)).astype(np.float32)
    (result,) = ufkit.run(meta.graph, {"input_1": x}).values()
    assert np.isfinite(result).all()
    assert np.abs(result).max() > 0.01
    assert not np.allclose(result[0], result[1], atol=1e-3)


@pytest.mark.parametrize("name", SSD)
def test_the_scores_of_a_made_up_detector_are_spread_out(corpus: Path, name: str) -> None:
    meta = ufkit.open(corpus / "uff" / f"{name}.pbtxt")
    report = random_weights(meta, 0)
    assert report.kept == []
    assert report.roles[Role.POSITIVE] == report.roles[Role.SCALE] in (35, 64)
    graph = ufkit.open(Source(binary(meta))).graph
    maps = [*graph["concat_box_conf"].inputs, *graph["concat_box_loc"].inputs]
    extract(graph, [], maps)
    x = np.random.default_rng(0).uniform(-1, 1, (1, 3, 300, 300)).astype(np.float32)
    result = ufkit.run(graph, {"Input": x})
    logits = np.concatenate([result[id_].ravel() for id_ in maps[:6]])
    scores = 1 / (1 + np.exp(-logits))
    assert np.isfinite(logits).all()
    assert 0.1 < scores.std() < 0.45
    assert ((scores > 0.02) & (scores < 0.98)).mean() > 0.8
    boxes = np.concatenate([result[id_].ravel() for id_ in maps[6:]])
    assert np.isfinite(boxes).all()
    assert 0.1 < boxes.std() < 10
