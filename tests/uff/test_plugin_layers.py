"""TensorRT's plugins on maps, with numbers worked out by hand from their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ufkit
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.core.dtypes import FLOAT16
from ufkit.uff.build import Builder
from ufkit.uff.infer import infer

Array = np.ndarray[Any, Any]


def plugin(operation: str, shape: list[int], layout: str = "NC+", **fields: Any) -> Builder:
    """A plugin `y` behind a convolution that changes nothing, on maps of that layout."""
    b = Builder()
    b.input("x", shape)
    channels = shape[1 if layout == "NC+" else 3]
    b.const("k", np.eye(channels, dtype=np.float32).reshape(1, 1, channels, channels))
    b.op("conv", "Conv", ["x", "k"], f"{layout}_+CK")
    b.op("relu", "Activation", ["conv"], func="relu")
    b.op("y", operation, ["relu"], **fields)
    b.output("y")
    return b


def computed(b: Builder, x: Any) -> Array:
    return ufkit.run(b.graph, {"x": np.asarray(x, np.float32)})["y"]


def test_a_leaky_relu_has_its_slope_below_zero() -> None:
    b = Builder()
    b.input("x", [-1, 3])
    b.op("y", "_LReLU_TRT", ["x"], negSlope_u_float=0.25)
    b.output("y")
    np.testing.assert_array_equal(computed(b, [[-4, 0, 2]]), [[-1, 0, 2]])


def test_its_slope_has_to_be_there() -> None:
    b = Builder()
    b.input("x", [-1, 3])
    b.op("y", "_LReLU_TRT", ["x"])
    b.output("y")
    with pytest.raises(ufkit.NotSupportedError, match="'negSlope_u_float' is missing"):
        computed(b, [[-4, 0, 2]])


@pytest.mark.parametrize("layout", ["NC+", "N+C"])
@pytest.mark.parametrize(
    ("scale", "row"),
    [
        (2.0, [1, 1, 2, 2, 3, 3]),
        (1.5, [1, 1, 2, 3]),  # int(4.5) elements; 0, 0.67, 1.33 and 2 are rounded down
        (0.7, [1, 2]),  # int(2.1) elements; 0 and 1.43
    ],
)
def test_resizing_takes_the_nearest_element_towards_the_front(
    layout: str, scale: float, row: list[int]
) -> None:
    shape = [1, 1, 2, 3] if layout == "NC+" else [1, 2, 3, 1]
    b = plugin("_ResizeNearest_TRT", [-1, *shape[1:]], layout, scale_u_float=scale)
    got = computed(b, np.array([[1, 2, 3]] * 2).reshape(shape)).squeeze()
    np.testing.assert_array_equal(got.reshape(-1, len(row)), [row] * int(2 * scale))


def test_channels_are_where_the_convolution_before_has_them() -> None:
    for layout, shape in (("NC+", ["N", 5, 8, 4]), ("N+C", ["N", 10, 8, 2])):
        given = [-1, 5, 4, 2]
        b = plugin("_ResizeNearest_TRT", given, layout, scale_u_float=2.0)
        facts = infer(b.graph).facts["y"]
        assert [*map(str, facts.shape or ())] == [*map(str, shape)]


def test_through_operations_that_move_axes_no_order_is_told() -> None:
    b = plugin("_ResizeNearest_TRT", [-1, 4, 2, 5], "N+C", scale_u_float=2.0)
    b.op("turned", "Transpose", ["relu"], permutation=[0, 3, 1, 2])
    b.graph["y"].inputs = ["turned"]
    assert [*map(str, infer(b.graph).facts["y"].shape or ())] == ["N", "5", "8", "4"]


def test_only_floats_are_taken() -> None:
    b = Builder()
    b.input("x", [-1, 2, 3, 4], FLOAT16)
    b.op("y", "_ResizeNearest_TRT", ["x"], scale_u_float=2.0)
    b.output("y")
    (finding,) = infer(b.graph).diagnostics
    assert finding.code == "UFF302"
    assert finding.message == "x is float16; the plugin takes float32"


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_has_to_be_positive(scale: float) -> None:
    b = plugin("_ResizeNearest_TRT", [-1, 1, 2, 3], scale_u_float=scale)
    with pytest.raises(ufkit.NotSupportedError, match="it must be positive"):
        to_onnx(b.graph)


def test_a_map_cannot_be_scaled_to_nothing() -> None:
    b = plugin("_ResizeNearest_TRT", [-1, 1, 2, 3], scale_u_float=0.25)
    with pytest.raises(ufkit.NotSupportedError, match="nothing is left of an axis of 2"):
        to_onnx(b.graph)


# channels (3, 4) at one place, (0, 2) at the other: lengths 5 and 2, of the whole map sqrt(29)
MAP = np.array([3, 0, 4, 2], np.float32).reshape(1, 2, 1, 2)
ALL = np.sqrt(29)


@pytest.mark.parametrize("layout", ["NC+", "N+C"])
@pytest.mark.parametrize(
    ("across", "shared", "weights", "expected"),
    [
        (0, 0, [10, 20], [6, 0, 16, 20]),
        (0, 1, [10], [6, 0, 8, 10]),
        (1, 1, [10], [30 / ALL, 0, 40 / ALL, 20 / ALL]),
        (1, 0, [10, 20], [3 / ALL / 10, 0, 4 / ALL / 20, 2 / ALL / 20]),  # the kernel divides
    ],
)
def test_normalizing_divides_by_the_length(
    layout: str, across: int, shared: int, weights: list[float], expected: list[float]
) -> None:
    turn = (0, 1, 2, 3) if layout == "NC+" else (0, 2, 3, 1)
    x = MAP.transpose(turn)
    fields = {
        "weights_u_flist": [float(w) for w in weights],
        "acrossSpatial_u_int": across,
        "channelShared_u_int": shared,
        "eps_u_float": 0.0,
    }
    got = computed(plugin("_Normalize_TRT", [-1, *x.shape[1:]], layout, **fields), x)
    wanted = np.array(expected).reshape(MAP.shape).transpose(turn)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"weights_u_flist": [1.0, 2.0, 3.0]}, "3 weights for 2, one for each channel"),
        ({"weights_u_flist": [1.0, 2.0], "channelShared_u_int": 1}, "2 weights for 1, shared"),
        ({"weights_u_flist": [1.0, 2.0], "nbWeights_u_int": 2}, "nbWeights_u_int is 2"),
    ],
)
def test_weights_that_do_not_fit_are_told(fields: dict[str, Any], message: str) -> None:
    b = plugin("_Normalize_TRT", [-1, 2, 1, 2], **fields)
    assert message in "\n".join(map(str, infer(b.graph).diagnostics))


def test_a_batch_of_one_is_repeated_to_the_batch_of_the_other() -> None:
    """The README of the plugin has this example."""
    b = Builder()
    b.input("x", [-1, 2, 2, 2])
    tile = np.arange(16, 28, dtype=np.float32).reshape(1, 3, 2, 2)
    b.const("tile", tile)
    b.op("y", "_BatchTilePlugin_TRT", ["x", "tile"])
    b.output("y")
    got = computed(b, np.arange(16).reshape(2, 2, 2, 2))
    np.testing.assert_array_equal(got, np.concatenate([tile, tile]))


def test_a_larger_batch_cannot_be_repeated() -> None:
    b = Builder()
    b.input("x", [-1, 2])
    b.const("tile", np.zeros((2, 3, 2, 2), np.float32))
    b.op("y", "_BatchTilePlugin_TRT", ["x", "tile"])
    b.output("y")
    (finding,) = infer(b.graph).diagnostics
    assert finding.code == "UFF302"
    assert "[N, 2] and [2, 3, 2, 2]" in finding.message


def test_tensorrt_is_given_the_map_with_channels_first() -> None:
    b = plugin("_ResizeNearest_TRT", [-1, 4, 6, 3], "N+C", scale_u_float=2.0)
    model = to_onnx(b.graph, trt_plugins=True).model.proto
    (node,) = [node for node in model.graph.node if node.domain]
    assert node.op_type == "ResizeNearest_TRT"
    made = {name: node for node in model.graph.node for name in node.output}
    assert made[node.input[0]].op_type == "Relu"  # as the convolution leaves it
    assert [n.op_type for n in model.graph.node if node.output[0] in n.input] == ["Transpose"]
