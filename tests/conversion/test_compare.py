"""UFF files held against ONNX models, and ONNX models against each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import ufkit
from graphs import small_net
from ufkit.conversion import onnx_model
from ufkit.conversion.compare_names import owner
from ufkit.conversion.fit_axes import fitting_order
from ufkit.core.comparison import Change

Edit = Callable[[onnx.ModelProto], None]


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.uff"
    ufkit.save(small_net().meta, path)
    return path


def converted(path: Path, **options: Any) -> Path:
    target = path.with_suffix(".onnx")
    ufkit.convert(path, target, ufkit.Options(force=True, **options))
    return target


def edited(path: Path, edit: Edit) -> Path:
    """An ONNX file after an edit."""
    model = onnx.load(path)
    edit(model)
    target = path.with_name("edited.onnx")
    onnx.save(model, target)
    return target


def initializer(model: onnx.ModelProto, name: str) -> onnx.TensorProto:
    (found,) = [tensor for tensor in model.graph.initializer if tensor.name == name]
    return found


def foreign(model: onnx.ModelProto) -> None:
    """The names that tf2onnx would have given."""
    model.producer_name = "tf2onnx"
    graph, names = model.graph, {}
    for number, tensor in enumerate(graph.initializer):
        names[tensor.name] = tensor.name.partition(":")[0] + f"/read__{number}"
        tensor.name = names[tensor.name]
    for node in graph.node:
        names |= {output: f"{output}:0" for output in node.output}
        node.name += "__31"
    names |= {port.name: f"{port.name}:0" for port in graph.input}
    for port in [*graph.input, *graph.output]:
        port.name = names[port.name]
    for node in graph.node:
        node.input[:] = [names[name] for name in node.input]
        node.output[:] = [names[name] for name in node.output]


# -- what ufkit made -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"channels_first": True},
        {"opset": 13},
        {"shapes": {"image": [4, 8, 8, 3]}},
        {"shapes": {"image": ["batch", 8, 8, 3]}},
    ],
    ids=str,
)
def test_the_onnx_of_a_uff_is_the_same(net: Path, options: dict[str, Any]) -> None:
    target = converted(net, **options)
    for pair in ((net, target), (target, net)):
        result = ufkit.diff(*pair)
        assert result.same
        assert result.compared >= 3
        assert not result.diagnostics


def test_a_text_form_has_the_same_onnx(net: Path, tmp_path: Path) -> None:
    full = tmp_path / "net.json"
    ufkit.convert(net, full)
    assert ufkit.diff(full, converted(net)).same


def test_what_was_changed_in_the_uff_since(net: Path, tmp_path: Path) -> None:
    target, other = converted(net), tmp_path / "other.uff"
    with ufkit.open(net) as model:
        model.graph["pool"].fields["func"] = "avg"
        kernel = ufkit.constant(model.graph["dense/kernel"]).numpy().copy()
        kernel[3, 2] += 0.5
        model.referenced_data["weights_dense/kernel"] = kernel
        ufkit.save(model, other)
    result = ufkit.diff(other, target)
    assert [note.code for note in result.diagnostics] == ["CNV204"]
    changed = {c.name: (c.a, c.b) for node in result.changed for c in node.changes}
    assert changed["operation"] == ("AveragePool", "MaxPool")
    (weights,) = result.weights
    assert weights.id == "dense/kernel"
    assert weights.distance
    assert weights.distance.different == 1
    assert weights.distance.max_abs == pytest.approx(0.5)


def test_a_node_that_only_the_uff_has(net: Path, tmp_path: Path) -> None:
    """By names alone it would not be missed: many nodes vanish in a conversion."""
    target, other = converted(net), tmp_path / "other.uff"
    with ufkit.open(net) as model:
        model.graph.add("more", "Unary", ["dense"], func="neg")
        model.graph["probabilities"].inputs = ["more"]
        ufkit.save(model, other)
    result = ufkit.diff(target, other)
    assert [node.id for node in result.added] == ["more"]
    assert not result.removed


def test_a_uff_that_cannot_be_converted_is_not_what_the_onnx_was_made_of(
    net: Path, tmp_path: Path
) -> None:
    target, other = converted(net), tmp_path / "other.uff"
    with ufkit.open(net) as model:
        model.graph["conv"].fields["strides"] = [2, 2]
        ufkit.save(model, other)
    for pair, side in (((other, target), "a"), ((target, other), "b")):
        (change,) = ufkit.diff(*pair).changes
        assert change.name == "conversion"
        assert change.as_dict()[side].startswith("not possible: ")


def test_an_attribute_and_a_bit_of_the_onnx(net: Path) -> None:
    def edit(model: onnx.ModelProto) -> None:
        (conv,) = [node for node in model.graph.node if node.op_type == "Conv"]
        strides = next(item for item in conv.attribute if item.name == "strides")
        strides.ints[:] = [2, 2]
        weights = initializer(model, "conv/kernel:3201")
        data = bytearray(weights.raw_data)
        data[2] ^= 1
        weights.raw_data = bytes(data)

    target = converted(net)
    result = ufkit.diff(net, edited(target, edit))
    (node,) = result.changed
    assert node.changes == (Change("strides", [1, 1], [2, 2]),)
    assert [(w.id, w.distance and w.distance.different) for w in result.weights] == [
        ("conv/kernel:3201", 1)
    ]
    again = ufkit.diff(target, edited(target, edit))  # ONNX against ONNX says the same
    assert again.changed == result.changed
    assert again.weights == result.weights


def test_weights_beside_the_model(
    net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_model, "_LIMIT", 100)
    target = converted(net)
    beside = tmp_path / "net.onnx.data"
    assert ufkit.diff(net, target).same
    data = bytearray(beside.read_bytes())
    data[2] ^= 1
    beside.write_bytes(data)
    assert len(ufkit.diff(net, target).weights) == 1
    beside.write_bytes(data[:100])
    with pytest.raises(ufkit.FormatError) as caught:
        ufkit.diff(net, target)
    assert caught.value.diagnostic.code == "CNV202"
    beside.unlink()
    with pytest.raises(ufkit.FileError):
        ufkit.diff(net, target)


@pytest.mark.parametrize("location", ["../net.onnx.data", "/etc/passwd", "a\\..\\..\\b", ""])
def test_weights_are_taken_from_beside_the_model_only(net: Path, location: str) -> None:
    def edit(model: onnx.ModelProto) -> None:
        tensor = initializer(model, "dense/kernel")
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)

    target = converted(net)
    model = onnx.load(target)
    edit(model)
    target.write_bytes(model.SerializeToString())
    with pytest.raises(ufkit.FormatError, match="not beside the model"):
        ufkit.diff(net, target)


def test_custom_nodes(tmp_path: Path) -> None:
    builder = ufkit.Builder()
    builder.input("x", [1, 4])
    builder.op("y", "_Plugin_TRT", ["x"], size=3)
    builder.output("y")
    path = tmp_path / "custom.uff"
    ufkit.save(builder.meta, path)
    assert ufkit.diff(path, converted(path, allow_custom=True)).same


# -- what others made ------------------------------------------------------------------------


@pytest.mark.parametrize("channels_first", [False, True])
def test_names_of_another_program(net: Path, channels_first: bool) -> None:
    target = edited(converted(net, channels_first=channels_first), foreign)
    for pair in ((net, target), (target, net)):
        result = ufkit.diff(*pair)
        assert result.same
        assert (result.nodes, result.compared) == (7, 3)
        (note,) = result.diagnostics
        assert note.code == "CNV203"
        assert "7 of 7 operations, initializers those of 3 of 3 constants" in note.message
        assert {node.operation for node in result.unmatched} <= {"Transpose", "Reshape"}


def test_weights_of_another_program(net: Path) -> None:
    def edit(model: onnx.ModelProto) -> None:
        foreign(model)
        kernel = model.graph.initializer[0]
        assert kernel.name.startswith("conv/kernel")
        values = onnx.numpy_helper.to_array(kernel) + np.float32(0.25)
        kernel.raw_data = values.tobytes()

    target = edited(converted(net), edit)
    (weights,) = ufkit.diff(net, target).weights
    assert (weights.id, weights.a, weights.b) == ("conv/kernel", *["float32[3, 3, 3, 4]"] * 2)
    assert weights.distance
    assert weights.distance.max_abs == pytest.approx(0.25)
    assert ufkit.diff(net, target, weights=False).same
    assert ufkit.diff(net, target, tolerance=0.5).same


def test_inputs_and_outputs_of_another_program(net: Path) -> None:
    def edit(model: onnx.ModelProto) -> None:
        foreign(model)
        model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 9
        model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE

    target = edited(converted(net), edit)
    result = ufkit.diff(target, net)
    assert result.changes == [
        Change("input image", "float32[N, 9, 8, 3]", "float32[N, 8, 8, 3]"),
        Change("output probabilities", "float64[N, 5]", "float32[N, 5]"),
    ]


def test_models_that_have_nothing_in_common_are_not_the_same(net: Path, tmp_path: Path) -> None:
    builder = ufkit.Builder()
    builder.input("image", [-1, 8, 8, 3])
    builder.op("relu8", "Activation", ["image"], func="relu")
    builder.output("relu8")
    other = tmp_path / "other.uff"
    ufkit.save(builder.meta, other)

    def edit(model: onnx.ModelProto) -> None:
        foreign(model)

    result = ufkit.diff(other, edited(converted(net), edit))
    assert not result.same
    assert "names" in [change.name for change in result.changes]


def test_a_twin_against_onnx(net: Path, tmp_path: Path) -> None:
    """It cannot be converted, so it goes by names, which it has."""
    twin = tmp_path / "twin.pbtxt"
    ufkit.save(ufkit.open(net), twin)
    result = ufkit.diff(twin, converted(net))
    assert result.same
    assert result.left_out == ["conv/kernel", "dense/kernel"]
    assert [note.code for note in result.diagnostics] == ["CNV203", "UFF501"]


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("a/b", "a/b"),
        ("a/b:0", "a/b"),
        ("a/b:0312", "a/b"),
        ("a/b__12", "a/b"),
        ("a/b/read:0", "a/b"),
        ("a/b/ReadVariableOp_1__7", "a/b"),
        ("a/b/Conv2D", "a/b"),
        ("a/bias", None),
        ("a", None),
        ("b:0", None),
        ("", None),
    ],
)
def test_what_a_name_was_made_of(name: str, id_: str | None) -> None:
    assert owner(name, {"a/b"}) == id_


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 0, 1), (2, 3, 1, 0), (1, 0, 3, 2)])
@pytest.mark.parametrize("shape", [(3, 3, 3, 3), (1, 3, 4, 3), (2, 3, 5, 1), (5, 5, 1, 1)])
def test_the_order_of_weights_is_told_from_them(
    shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    a = np.random.default_rng(1).random(shape, np.float32)
    b = np.ascontiguousarray(a.transpose(order))
    for stored in (b, b.reshape(-1), b + np.float32(1e-3)):
        found = fitting_order(a, stored)
        np.testing.assert_allclose(a.transpose(found).ravel(), stored.ravel(), atol=2e-3)


# -- damage, and real files ------------------------------------------------------------------


def test_damaged_onnx_ends_in_our_errors(net: Path, tmp_path: Path) -> None:
    data = converted(net).read_bytes()
    broken = tmp_path / "broken.onnx"
    for producer in (b"ufkit", b"other"):
        whole = data.replace(b"ufkit", producer, 1)
        for at in range(0, len(data), 11):
            changed = bytearray(whole)
            changed[at] ^= 0x2B
            broken.write_bytes(changed)
            try:
                ufkit.diff(net, broken).as_dict()
            except ufkit.UfkitError:
                continue


def test_initializers_without_raw_data(net: Path) -> None:
    def edit(model: onnx.ModelProto) -> None:
        for tensor in model.graph.initializer:
            array = onnx.numpy_helper.to_array(tensor)
            if array.dtype == np.float32:
                made = onnx.helper.make_tensor(tensor.name, 1, array.shape, array.ravel())
                tensor.CopyFrom(made)

    assert ufkit.diff(net, edited(converted(net), edit)).same


def test_real_files(corpus: Path, tmp_path: Path) -> None:
    for name in ("lenet5", "vlad_stack", "netvlad_short", "degenerate_io"):
        source, target = corpus / "uff" / f"{name}.uff", tmp_path / f"{name}.onnx"
        ufkit.convert(source, target)
        assert ufkit.diff(source, target).same, name
        if name != "degenerate_io":  # nothing in it has a name but input and output
            result = ufkit.diff(source, edited(target, foreign))
            assert result.same, name
            assert result.compared > 0
    assert not ufkit.diff(corpus / "uff" / "mlp_mnist.uff", tmp_path / "lenet5.onnx").same
