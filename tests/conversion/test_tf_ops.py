"""What becomes of each operation of TensorFlow: the node, its fields, what it computes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import ufkit
from tf_graphs import BY_NAME, const, node, opened, placeholder
from ufkit.conversion.tf_ops import ENTRIES
from ufkit.conversion.tf_uff import to_uff
from ufkit.uff.data import Orders
from ufkit.uff.model import Graph, Node
from ufkit.uff.orders import spell
from ufkit.wire.message import Message

F32, I32 = BY_NAME["float32"], BY_NAME["int32"]
WINDOW: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": b"VALID"}
RANDOM = np.random.default_rng(5)


def floats(*shape: int) -> Any:
    return RANDOM.standard_normal(shape, np.float32)


def converted(*nodes: Message, strict: bool = True) -> Graph:
    return to_uff(opened(*nodes), outputs=["y"], strict=strict).meta.graph


def fields(found: Node) -> dict[str, Any]:
    """The fields, axis orders as they are spelt."""
    plain = {name: found.fields[name] for name in found.fields}
    for name, value in plain.items():
        if name == "inputs_orders":
            assert all(isinstance(order, Orders) for order in value)
            plain[name] = "_".join(spell(order.axes) for order in value)
    return plain


def case(*nodes: Message) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """Operation, inputs and fields of the node `y`."""
    y = converted(*nodes)["y"]
    return y.operation, y.inputs, fields(y)


X = placeholder("x", 2, 8, 8, 4)
KERNEL = const("k", floats(3, 3, 4, 6))


@pytest.mark.parametrize(
    ("op", "operation", "func"),
    [
        ("Add", "Binary", "add"),
        ("RealDiv", "Binary", "div"),
        ("Maximum", "Binary", "max"),
        ("Rsqrt", "Unary", "rsqrt"),
        ("Neg", "Unary", "neg"),
        ("Relu6", "Activation", "relu6"),
        ("Softplus", "Activation", "softplus"),
    ],
)
def test_element_by_element(op: str, operation: str, func: str) -> None:
    inputs = ["x", "x"] if operation == "Binary" else ["x"]
    assert case(X, node("y", op, *inputs)) == (operation, tuple(inputs), {"func": func})


def test_convolutions() -> None:
    conv = node("y", "Conv2D", "x", "k", **WINDOW, dilations=[1, 2, 3, 1])
    wanted = {"inputs_orders": "N+C_+CN", "strides": [1, 1], "dilation": [2, 3]}
    assert case(X, KERNEL, conv) == ("Conv", ("x", "k"), wanted)
    first = node(
        "y", "Conv2D", "x", "k", strides=[1, 1, 2, 3], padding=b"SAME", data_format=b"NCHW"
    )
    wanted = {"inputs_orders": "NC+_+CN", "strides": [2, 3], "implicit_padding": "same"}
    assert case(X, KERNEL, first) == ("Conv", ("x", "k"), wanted)


def test_the_groups_of_a_depthwise_convolution_are_the_channels() -> None:
    conv = node("y", "DepthwiseConv2dNative", "x", "k", **WINDOW)
    assert case(X, const("k", floats(3, 3, 4, 2)), conv)[2]["number_groups"] == 4


def test_a_transposed_convolution_takes_the_map_first() -> None:
    shape = const("s", np.array([2, 16, 16, 6], np.int32))
    conv = node("y", "Conv2DBackpropInput", "s", "k", "x", strides=[1, 2, 2, 1], padding=b"SAME")
    wanted = {"inputs_orders": "N+C_+NC", "strides": [2, 2], "implicit_padding": "same"}
    assert case(X, const("k", floats(3, 3, 6, 4)), shape, conv) == (
        "ConvTranspose",
        ("x", "k", "s"),
        wanted,
    )


PADDINGS = np.array([[0, 0], [1, 1], [2, 2], [0, 0]], np.int32)


@pytest.mark.parametrize(
    ("paddings", "fused"),
    [
        (PADDINGS, True),
        (np.add(PADDINGS, [[0, 0], [0, 1], [0, 0], [0, 0]]), False),
        (np.add(PADDINGS, [[1, 1], [0, 0], [0, 0], [0, 0]]), False),
    ],
)
def test_zeros_around_a_map_become_a_field_where_they_can(paddings: Any, fused: bool) -> None:
    pad = node("p", "Pad", "x", "amounts")
    conv = node("y", "Conv2D", "p", "k", **WINDOW)
    nodes = (X, const("amounts", np.asarray(paddings, np.int32)), KERNEL, pad, conv)
    graph = converted(*nodes)
    assert ("p" in graph) is not fused
    assert graph["y"].inputs == (("x" if fused else "p"), "k")
    assert graph["y"].fields.get("padding") == ([1, 2] if fused else None)
    image = floats(2, 8, 8, 4)
    (got,) = ufkit.run(graph, {"x": image}).values()
    whole = converted(X, KERNEL, node("y", "Conv2D", "x", "k", **WINDOW))
    whole["x"].fields["shape"] = list(np.pad(image, paddings).shape)
    (wanted,) = ufkit.run(whole, {"x": np.pad(image, paddings)}).values()
    np.testing.assert_allclose(got, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("amounts", "padding"), [([0, 0, 1, 1, 2, 2, 0, 0], [1, 2]), ([0, 0, 1, 2, 0, 0, 0, 0], None)]
)
def test_padding_of_a_convolutions_own(amounts: list[int], padding: list[int] | None) -> None:
    more = {"strides": [1, 1, 1, 1], "padding": b"EXPLICIT", "explicit_paddings": amounts}
    graph = converted(X, KERNEL, node("y", "Conv2D", "x", "k", **more))
    assert graph["y"].fields.get("padding") == padding
    (got,) = ufkit.run(graph, {"x": floats(2, 8, 8, 4)}).values()
    assert got.shape == (2, 6 + sum(amounts[2:4]), 6 + sum(amounts[4:6]), 6)


@pytest.mark.parametrize("taken", [0, 1])
def test_a_dilated_convolution_is_one_node(taken: int) -> None:
    nodes = [
        X,
        KERNEL,
        const("block", np.array([2, 2], np.int32)),
        const("added", np.array([[2, 2], [2, 2 + taken * 2]], np.int32)),
        const("taken", np.array([[0, 0], [0, taken * 2]], np.int32)),
        node("cut", "SpaceToBatchND", "x", "block", "added", T=F32),
        node("conv", "Conv2D", "cut", "k", **WINDOW, T=F32),
        node("y", "BatchToSpaceND", "conv", "block", "taken", T=F32),
    ]
    graph = converted(*nodes)
    assert [n.operation for n in graph if n.operation not in ("Const", "MarkOutput")] == [
        "Conv",
        "Input",
    ]
    image = floats(2, 8, 8, 4)
    (got,) = ufkit.run(graph, {"x": image}).values()
    zeros = const("z", np.array([[0, 0], [2, 2], [2, 2], [0, 0]], np.int32))
    conv = node("y", "Conv2D", "p", "k", **WINDOW, dilations=[1, 2, 2, 1])
    plain = converted(X, KERNEL, zeros, node("p", "Pad", "x", "z"), conv)
    (wanted,) = ufkit.run(plain, {"x": image}).values()
    np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_pools() -> None:
    pool = node("y", "AvgPool", "x", ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1], padding=b"SAME")
    wanted = {
        "inputs_orders": "N+C",
        "func": "avg",
        "kernel": [2, 3],
        "strides": [2, 1],
        "implicit_padding": "same",
    }
    assert case(X, pool) == ("Pool", ("x",), wanted)


def test_a_bias_is_written_before_what_adds_it() -> None:
    graph = converted(X, const("b", floats(4)), node("y", "BiasAdd", "x", "b"))
    assert [n.id for n in graph] == ["b", "y", "x", "MarkOutput_0"]
    assert fields(graph["y"]) == {"func": "add"}


def test_a_bias_of_channels_that_come_first_has_axes_behind_it() -> None:
    graph = converted(X, const("b", floats(4)), node("y", "BiasAdd", "x", "b", data_format=b"NCHW"))
    assert graph["b"].fields["shape"] == [4, 1, 1]


@pytest.mark.parametrize(
    ("a", "b", "orders"),
    [(False, False, "NC_CN"), (True, False, "CN_CN"), (False, True, "NC_NC")],
)
def test_products_of_matrices(a: bool, b: bool, orders: str) -> None:
    y = node("y", "MatMul", "x", "w", transpose_a=a, transpose_b=b)
    found = case(placeholder("x", 3, 3), const("w", floats(3, 3)), y)
    assert found == ("FullyConnected", ("x", "w"), {"inputs_orders": orders})


@pytest.mark.parametrize(
    ("name", "operation"),
    [("net/Flatten_1/flatten/Reshape", "Flatten"), ("net/flatten/deeper/Reshape", "Reshape")],
)
def test_a_reshape_in_a_scope_called_flatten_is_one(name: str, operation: str) -> None:
    shape = const("s", np.array([2, -1], np.int32))
    graph = to_uff(opened(X, shape, node(name, "Reshape", "x", "s")), outputs=[name]).meta.graph
    assert graph[name].operation == operation
    assert ("s" in graph) is (operation == "Reshape")


AXIS = const("a", np.array(2, np.int32))


def test_inputs_that_become_fields_are_no_nodes() -> None:
    for message, wanted in [
        (node("y", "Transpose", "x", "p"), {"permutation": [0, 3, 1, 2]}),
        (node("y", "ExpandDims", "x", "a"), {"axis": 2}),
        (node("y", "ArgMax", "x", "a"), {"axis": 2}),
        (node("y", "ConcatV2", "x", "x", "a"), {"axis": 2}),
        (
            node("y", "Sum", "x", "a", keep_dims=True),
            {"axes": [2], "func": "sum", "keepdims": True},
        ),
    ]:
        graph = converted(X, AXIS, const("p", np.array([0, 3, 1, 2], np.int32)), message)
        assert fields(graph["y"]) == wanted
        assert not [n for n in graph if n.operation == "Const"]


def test_fields_that_are_attributes() -> None:
    gamma = [const(name, floats(4)) for name in "gbmv"]
    norm = node("y", "FusedBatchNorm", "x", *"gbmv", epsilon=0.25, is_training=False)
    wanted: dict[str, Any] = {"inputs_orders": "N+C", "epsilon": 0.25}
    assert case(X, *gamma, norm) == ("BatchNorm", ("x", *"gbmv"), wanted)
    lrn = node("y", "LRN", "x", depth_radius=2, bias=2.0, alpha=0.5, beta=0.75)
    wanted = {"inputs_orders": "N+C", "window_size": 2, "k": 2.0, "alpha": 0.5, "beta": 0.75}
    assert case(X, lrn) == ("LRN", ("x",), wanted)
    assert case(X, node("y", "Pack", "x", "x", axis=1)) == ("Stack", ("x", "x"), {"axis": 1})
    assert case(X, node("y", "Squeeze", "x", squeeze_dims=[0]))[2] == {"axes": [0]}
    assert case(X, node("y", "LeakyRelu", "x", alpha=0.5))[2] == {"alpha": 0.5}
    assert case(X, node("y", "Softmax", "x"))[2] == {"inputs_orders": "N+C", "axis": 0}


def test_an_input_that_is_an_identity_is_what_that_takes() -> None:
    graph = converted(X, node("i", "Identity", "x"), node("y", "Relu", "i:0"))
    assert graph["y"].inputs == ("x",)
    assert "i" not in graph


def test_what_uff_has_no_operation_for_keeps_its_attributes() -> None:
    foo = node(
        "y",
        "Foo",
        "x",
        form=b"NHWC",
        many=[b"a", b"b"],
        number=3,
        real=0.5,
        yes=True,
        T=F32,
        types=[F32, I32],
        odd=BY_NAME["bool"],
        none=BY_NAME["string"],
        sizes=X.all("attr")[1].get("value").get("shape"),
        value=const("c", [1.0]).all("attr")[1].get("value").get("tensor"),
    )
    made = to_uff(opened(X, foo), outputs=["y"], strict=True)
    y = made.meta.graph["y"]
    assert y.operation == "_Foo"
    assert {key: str(y.fields[key]) for key in ("T", "odd", "none", "value")} == {
        "T": "float32",
        "odd": "None",
        "none": "None",
        "value": "None",
    }
    plain = {k: y.fields[k] for k in ("form", "many", "number", "real", "yes", "sizes")}
    assert plain == {
        "form": "b'NHWC'",
        "many": ["a", "b"],
        "number": 3,
        "real": 0.5,
        "yes": True,
        "sizes": [2, 8, 8, 4],
    }
    assert [str(item) for item in y.fields["types"]] == ["float32", "int32"]
    assert [d.id for d in made.meta.descriptors] == ["tensorflow_extension", "custom"]


def test_operations_that_stay_are_told_once_each() -> None:
    nodes = [X, *(node(f"f{i}", "Foo", "x") for i in range(3)), node("c", "Cast", "x", SrcT=F32)]
    made = to_uff(opened(*nodes), outputs=["f0", "f1", "f2", "c"])
    texts = [item.message for item in made.diagnostics]
    assert texts[0].startswith("Cast is written as _Cast; ufkit runs it")
    assert texts[1] == "Foo is written as _Foo (3: f2, f1, f0)"
    assert [item.code for item in made.diagnostics] == ["CNV404", "CNV404"]


@pytest.mark.parametrize(
    "message",
    [
        node("y", "Transpose", "x", "x"),
        node("y", "StridedSlice", "x", "a", "a", "a", ellipsis_mask=1),
        node("y", "GatherV2", "x", "a", "a", batch_dims=1),
        node("y", "DepthwiseConv2dNative", "x", "x", **WINDOW),
        node("y", "Conv2D", "x", "x", strides=[1, 1, 1, 1], padding=b"ODD"),
    ],
    ids=lambda message: message.get("op"),
)
def test_a_use_that_uff_cannot_say_stays_as_it_is(message: Message) -> None:
    made = to_uff(opened(X, AXIS, message), outputs=["y"])
    assert made.meta.graph["y"].operation == f"_{message.get('op')}"
    (finding,) = made.diagnostics
    assert finding.code == "CNV404"
    assert ": its " in finding.message


@pytest.mark.parametrize("op", sorted(ENTRIES))
@pytest.mark.parametrize("strict", [True, False])
def test_no_attributes_and_no_inputs_end_well_or_in_an_error_of_ours(op: str, strict: bool) -> None:
    for inputs in ([], ["x"], ["x", "x"], ["x", "x", "x"]):
        with contextlib.suppress(ufkit.UfkitError):
            made = to_uff(opened(X, node("y", op, *inputs)), outputs=["y"], strict=strict)
            assert made.outputs == ["y"]
