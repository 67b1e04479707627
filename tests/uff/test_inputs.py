"""Inputs as real files record them: without a shape, without the batch, channels first."""

from __future__ import annotations

import numpy as np
import pytest

import ufkit
from graphs import small_net
from ufkit.uff.build import Builder
from ufkit.uff.infer import infer


def _with_input(shape: list[int]) -> Builder:
    builder = small_net()
    builder.graph["image"].fields["shape"] = shape
    return builder


def _codes(builder: Builder) -> list[str]:
    return [finding.code for finding in infer(builder.graph).diagnostics]


def test_an_empty_shape_is_asked_for_with_the_flag_and_what_is_known() -> None:
    graph = _with_input([]).graph
    with pytest.raises(ufkit.RequestError) as caught:
        infer(graph).require_shapes()
    assert caught.value.diagnostic.code == "UFF301"
    assert "--shape image=N,H,W,3" in caught.value.diagnostic.hint


def test_every_input_without_a_shape_is_named_at_once() -> None:
    b = Builder()
    for name in ("left", "right"):
        b.input(name, [])
    b.op("sum", "Binary", ["left", "right"], func="add")
    b.output("sum")
    with pytest.raises(ufkit.RequestError) as caught:
        infer(b.graph).require_shapes()
    assert [d.where.node for d in caught.value.diagnostics] == ["main/left", "main/right"]


def test_a_shape_given_overrides_the_recorded_one() -> None:
    inference = infer(small_net().graph, {"image": [7, 8, 8, 3]})
    assert inference.facts["probabilities"].shape == (7, 5)


def test_a_shape_for_what_is_no_input_is_refused() -> None:
    with pytest.raises(ufkit.RequestError, match="imag"):
        infer(small_net().graph, {"imag": [1, 8, 8, 3]})


def test_a_missing_batch_is_put_in_front() -> None:
    builder = _with_input([8, 8, 3])
    assert "UFF303" in _codes(builder)
    assert str(infer(builder.graph).inputs["image"].shape) == "(N, 8, 8, 3)"


def test_a_missing_batch_shows_behind_a_flatten_too() -> None:
    b = Builder()
    b.input("x", [4, 3])
    b.op("flat", "Flatten", ["x"])
    b.const("kernel", np.ones((12, 2), np.float32))
    b.op("y", "FullyConnected", ["flat", "kernel"], "NC_CK")
    b.output("y")
    assert str(infer(b.graph).facts["y"].shape) == "(N, 2)"


def test_a_missing_batch_shows_behind_a_plugin_on_maps_too() -> None:
    b = Builder()
    b.input("x", [6, 4, 3])
    b.op("leaky", "_LReLU_TRT", ["x"], negSlope_u_float=0.1)
    b.const("kernel", np.ones((1, 1, 3, 2), np.float32))
    b.op("y", "Conv", ["leaky", "kernel"], "N+C_+CK")
    b.output("y")
    assert str(infer(b.graph).facts["y"].shape) == "(N, 6, 4, 2)"


def test_an_input_nobody_needs_may_be_left_out_or_fed() -> None:
    b = small_net()
    b.input("spare", [-1, 2])
    image = np.ones((1, 8, 8, 3), np.float32)
    without = ufkit.run(b.graph, {"image": image})
    fed = ufkit.run(b.graph, {"image": image, "spare": np.ones((1, 2), np.float32)})
    np.testing.assert_array_equal(without["probabilities"], fed["probabilities"])


def test_channels_first_data_on_channels_last_convolutions() -> None:
    """The array is fed as the file's shape says and seen as the convolutions want it."""
    image = np.random.default_rng(1).random((1, 8, 8, 3), np.float32)
    usual = ufkit.run(small_net().graph, {"image": image})["probabilities"]
    builder = _with_input([1, 3, 8, 8])
    assert "UFF304" in _codes(builder)
    turned = ufkit.run(builder.graph, {"image": image.transpose(0, 3, 1, 2)})["probabilities"]
    np.testing.assert_array_equal(usual, turned)


def test_a_size_that_is_no_size_is_a_finding() -> None:
    assert "UFF208" in _codes(_with_input([-1, -5, 8, 3]))


def test_a_batch_of_one_is_not_squeezed_where_the_batch_is_open() -> None:
    b = Builder()
    b.input("x", [-1, 1, 3])
    b.op("y", "Squeeze", ["x"])
    b.output("y")
    assert ufkit.run(b.graph, {"x": np.ones((1, 1, 3), np.float32)})["y"].shape == (1, 3)
