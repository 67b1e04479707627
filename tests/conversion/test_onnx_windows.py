"""Windows, slices, paddings and sizes of ONNX at random, judged by ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from onnx_models import model, node, uff
from ufkit.core.diag import NotSupportedError
from ufkit.uff.evaluate import evaluate

Array = np.ndarray[Any, Any]
SMALL = settings(max_examples=60)


def runtime(made: onnx.ModelProto, fed: dict[str, Array]) -> Array | None:
    """What ONNX Runtime gives; None for a model that it does not take."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    data, providers = made.SerializeToString(), ["CPUExecutionProvider"]
    try:
        return ort.InferenceSession(data, options, providers=providers).run(None, fed)[0]
    except Exception:  # noqa: BLE001
        return None  # its errors share no base


def judged(made: onnx.ModelProto, x: Array) -> bool:
    """Whether the model was converted, and then equal; refused is what ONNX Runtime refuses too."""
    expected = runtime(made, {"x": x})
    assume(expected is not None)
    assert expected is not None
    try:
        found = uff(made)
    except NotSupportedError:
        return False
    got = evaluate(found.inference, {"x": x})["y"]
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    near = 1e-4 * float(np.abs(expected).max(initial=1))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=near)
    return True


def values(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape, np.float32) - np.float32(0.5)


@st.composite
def windows(draw: Any, *, dilated: bool = True) -> dict[str, Any]:
    """Attributes of a window over one or two axes, and the sizes of a map."""
    axes = draw(st.integers(1, 2))

    def each(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=axes, max_size=axes))

    found: dict[str, Any] = {"sizes": each(4, 9), "kernel_shape": each(1, 3)}
    found["strides"] = each(1, 3)
    if dilated:
        found["dilations"] = each(1, 2)
    manner = draw(st.sampled_from(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    if manner == "NOTSET":
        # ONNX Runtime takes no padding of a pool that is as wide as its kernel
        most = min(found["kernel_shape"]) - 1 if not dilated else 2
        found["pads"] = [*each(0, most), *each(0, most)]
    else:
        found["auto_pad"] = manner
        if manner != "VALID":
            found.pop("dilations", None)
    return found


@SMALL
@given(windows(), st.booleans(), st.integers(1, 2))
def test_convolutions(window: dict[str, Any], biased: bool, groups: int) -> None:
    sizes = window.pop("sizes")
    kernel = {"w": values(4, 4 // groups, *window["kernel_shape"])}
    kernel |= {"b": values(4)} if biased else {}
    conv = node("Conv", ["x", *kernel], ["y"], group=groups, **window)
    assert judged(model([conv], {"x": [2, 4, *sizes]}, ["y"], kernel), values(2, 4, *sizes))


@SMALL
@given(windows(), st.data(), st.integers(1, 2))
def test_transposed_convolutions(window: dict[str, Any], data: Any, groups: int) -> None:
    sizes = window.pop("sizes")
    if "auto_pad" in window:
        window.pop("auto_pad")
    more = [data.draw(st.integers(0, stride - 1)) for stride in window["strides"]]
    kernel = values(4, 6 // groups, *window["kernel_shape"])
    conv = node("ConvTranspose", ["x", "w"], ["y"], group=groups, output_padding=more, **window)
    made = model([conv], {"x": [2, 4, *sizes]}, ["y"], {"w": kernel})
    assert judged(made, values(2, 4, *sizes))


@SMALL
@given(windows(dilated=False), st.sampled_from(["AveragePool", "MaxPool"]), st.booleans(),
       st.booleans(), st.booleans())  # fmt: skip
def test_pools(window: dict[str, Any], op: str, ceil: bool, counted: bool, positive: bool) -> None:
    sizes = window.pop("sizes")
    if op == "AveragePool":
        window["count_include_pad"] = int(counted)
    first = [node("Relu" if positive else "Identity", ["x"], ["a"])]
    pool = node(op, ["a"], ["y"], ceil_mode=int(ceil and "auto_pad" not in window), **window)
    made = model([*first, pool], {"x": [2, 3, *sizes]}, ["y"], opset=22)
    narrow = any(map(int.__lt__, window["kernel_shape"], window["strides"]))
    assert judged(made, values(2, 3, *sizes)) or narrow


@SMALL
@given(st.lists(st.tuples(*[st.integers(-9, 9)] * 2, st.sampled_from([-3, -2, -1, 1, 2, 3])),
                min_size=2, max_size=2))  # fmt: skip
def test_slices(cuts: list[tuple[int, int, int]]) -> None:
    starts, ends, steps = (np.array(column) for column in zip(*cuts, strict=True))
    numbers = {"s": starts, "e": ends, "a": np.array([2, 0]), "t": steps}
    cut = node("Slice", ["x", *numbers], ["y"])
    assert judged(model([cut], {"x": [5, 2, 6]}, ["y"], numbers), values(5, 2, 6))


@SMALL
@given(
    st.lists(st.integers(-2, 3), min_size=6, max_size=6),
    st.sampled_from(["constant", "reflect", "edge"]),
    st.sampled_from([0.0, 1.5, -np.inf]),
)
def test_paddings(ends: list[int], mode: str, number: float) -> None:
    if mode != "constant":
        ends = [max(end, 0) for end in ends]
    numbers = {"p": np.array(ends)}
    if mode == "constant":
        numbers["v"] = np.array(number, np.float32)
    pad = node("Pad", ["x", *numbers], ["y"], mode=mode)
    x = values(4, 5, 6)
    made = model([pad], {"x": [4, 5, 6]}, ["y"], numbers)
    expected = runtime(made, {"x": x})
    assume(expected is not None and expected.size)
    got = evaluate(uff(made).inference, {"x": x})["y"]
    np.testing.assert_array_equal(got, expected)


_MANNERS = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
_ROUNDED = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


@SMALL
@given(st.tuples(*[st.integers(1, 11)] * 2), st.sampled_from(_MANNERS),
       st.sampled_from([*_ROUNDED, "linear"]))  # fmt: skip
def test_resizing(wanted: tuple[int, int], manner: str, rounded: str) -> None:
    mode = {"mode": "linear"} if rounded == "linear" else {"nearest_mode": rounded}
    resize = node("Resize", ["x", "", "", "sizes"], ["y"], **mode,
                  coordinate_transformation_mode=manner)  # fmt: skip
    numbers = {"sizes": np.array([1, 2, *wanted])}
    judged(model([resize], {"x": [1, 2, 5, 4]}, ["y"], numbers), values(1, 2, 5, 4))


@SMALL
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_products(outer: list[int], data: Any) -> None:
    """Vectors, matrices and batches of them, by weights or by what is computed."""
    left = data.draw(st.sampled_from([[4], [3, 4], [*outer, 3, 4]]))
    right = data.draw(st.sampled_from([[4], [4, 5], [*outer, 4, 5], [1, 4, 5]]))
    weights = {"w": values(*right)}
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    if data.draw(st.booleans()):
        nodes = [node("MatMul", ["x", "c"], ["y"]), node("Mul", ["w", "s"], ["c"])]
        nodes = [node("ReduceMax", ["x"], ["s"], keepdims=0), nodes[1], nodes[0]]
    made = model(nodes, {"x": left}, ["y"], weights)
    assert judged(made, values(*left))
