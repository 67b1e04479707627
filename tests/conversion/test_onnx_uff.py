"""ONNX models to UFF: whole models, their ends, their weights, and what stands in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import ufkit
from onnx_models import model, node, saved, small_model, uff
from ufkit.conversion.onnx_graph import open_graph
from ufkit.conversion.onnx_tensor import External, tensor_of
from ufkit.conversion.onnx_uff import from_onnx
from ufkit.core.diag import FormatError, NotSupportedError, RequestError
from ufkit.core.files import Source
from ufkit.uff.evaluate import evaluate

TORCH = Path(__file__).parent / "torch_models"
F1 = np.ones(1, np.float32)


def proven(made: onnx.ModelProto, folder: Path, **options: Any) -> ufkit.Report:
    """Converted, and compared with ONNX Runtime."""
    path = saved(made, folder / "model.onnx")
    report = ufkit.convert(path, folder / "net.uff", ufkit.Options(verify=True, **options))
    assert report.ok, report.verification
    return report


def operations(folder: Path) -> list[str]:
    with ufkit.open(folder / "net.uff") as written:
        return [n.operation for n in written.graph if n.operation not in ("Const", "MarkOutput")]


# -- models ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(TORCH.glob("*.onnx")), ids=lambda path: path.stem)
def test_models_that_torch_exported(path: Path, tmp_path: Path) -> None:
    report = ufkit.convert(path, tmp_path / "net.uff", ufkit.Options(verify=True))
    assert report.ok
    assert report.verification
    assert report.verification.engine == "onnxruntime"
    with ufkit.open(tmp_path / "net.uff") as written:
        assert ufkit.check(written) is not None
        assert [i.id for i in written.graph.inputs] == ["image"]
        batch = 2 if path.stem.endswith("unfolded") else -1
        assert written.graph.inputs[0].fields["shape"][0] == batch
        assert written.graph.outputs == ["result"]


def test_there_are_twelve_of_them() -> None:
    files = [*TORCH.glob("*.onnx")]
    assert len(files) == 12
    assert sum(path.stat().st_size for path in files) < 300_000


@pytest.mark.parametrize("name", ["resnet_exported", "mobilenet_traced"])
def test_plain_nets_need_the_core_only(name: str, tmp_path: Path) -> None:
    report = ufkit.convert(TORCH / f"{name}.onnx", tmp_path / "net.uff")
    assert report.diagnostics == []
    assert not [name for name in operations(tmp_path) if name.startswith("_")]


def test_a_net_in_uffs_words(tmp_path: Path) -> None:
    proven(small_model(), tmp_path)
    with ufkit.open(tmp_path / "net.uff") as written:
        nodes = {n.id: n for n in written.graph if n.operation != "Const"}
        padding = nodes["conv/Conv"].fields["padding"]
    assert [(id_, n.operation) for id_, n in nodes.items()] == [
        ("image", "Input"),
        ("conv/Conv", "Conv"),
        ("conv", "Binary"),
        ("relu", "Activation"),
        ("pool", "Reduce"),
        ("flat", "Flatten"),
        ("dense/FullyConnected", "FullyConnected"),
        ("dense_1", "Binary"),  # the weights have the name
        ("probabilities", "Softmax"),
        ("MarkOutput_0", "MarkOutput"),
    ]
    assert padding == [1, 1]
    assert nodes["conv/Conv"].inputs == ("image", "kernel")


@pytest.mark.parametrize("form", ["uff", "pbtxt", "json"])
def test_each_form(form: str, tmp_path: Path) -> None:
    source = saved(small_model(), tmp_path / "model.onnx")
    report = ufkit.convert(source, tmp_path / f"net.{form}", ufkit.Options(verify=True))
    assert report.ok
    with ufkit.open(tmp_path / f"net.{form}") as written:
        assert len(written.graph) == 14


def test_only_equal_models_are_put_in_place(tmp_path: Path, monkeypatch: Any) -> None:
    from ufkit.conversion.engines import Session

    right = Session.run
    monkeypatch.setattr(
        Session, "run", lambda self, fed: {n: a * 1.01 for n, a in right(self, fed).items()}
    )
    source = saved(small_model(), tmp_path / "model.onnx")
    report = ufkit.convert(source, tmp_path / "net.uff", ufkit.Options(verify=True))
    assert not report.ok
    assert report.verification
    assert report.verification.first is not None
    assert report.verification.first.id == "conv"
    assert os.listdir(tmp_path) == ["model.onnx"]


def test_onnx_itself_is_not_needed(tmp_path: Path) -> None:
    """It takes as long to load as a small model to convert."""
    source, target = saved(small_model(), tmp_path / "model.onnx"), tmp_path / "net.uff"
    code = f"import sys, ufkit; ufkit.convert({str(source)!r}, {str(target)!r})"
    code += "; print('onnx' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(ufkit.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")


# -- weights ---------------------------------------------------------------------------------


def test_weights_stay_where_they_are(tmp_path: Path) -> None:
    source = Source.open(saved(small_model(), tmp_path / "model.onnx"))
    found = from_onnx(open_graph(source))
    span = ufkit.constant(found.meta.graph["kernel"]).span
    assert span.source is source
    assert span.nbytes == 4 * 3 * 3 * 3 * 4


@pytest.mark.parametrize(
    ("number", "values"),
    [
        (TensorProto.FLOAT, [1.5, -2.25]),
        (TensorProto.FLOAT16, [1.5, -2.25]),
        (TensorProto.BFLOAT16, [1.5, -2.25]),
        (TensorProto.DOUBLE, [1.5, -2.25]),
        (TensorProto.INT8, [-3, 100]),
        (TensorProto.UINT8, [3, 200]),
        (TensorProto.INT16, [-3, 3000]),
        (TensorProto.UINT16, [3, 60000]),
        (TensorProto.INT32, [-3, 1 << 30]),
        (TensorProto.UINT32, [3, 1 << 31]),
        (TensorProto.INT64, [-3, 1 << 40]),
        (TensorProto.UINT64, [3, 1 << 60]),
        (TensorProto.BOOL, [True, False]),
    ],
)
@pytest.mark.parametrize("raw", [True, False])
def test_every_type_and_encoding(number: int, values: list[Any], raw: bool) -> None:
    proto = helper.make_tensor("t", number, [2, 1], values)
    if raw:
        proto = numpy_helper.from_array(numpy_helper.to_array(proto), "t")
    fields = [node("Constant", [], ["t"], value=proto), node("Cast", ["t"], ["y"], to=1)]
    found = uff(model(fields, {}, ["y"]))
    got = evaluate(found.inference, {})["y"]
    np.testing.assert_array_equal(got, np.array(values, np.float32).reshape(2, 1))


def _external(folder: Path) -> onnx.ModelProto:
    path = folder / "model.onnx"
    onnx.save(
        small_model(), path, save_as_external_data=True, location="model.data", size_threshold=0
    )
    return onnx.load(path, load_external_data=False)


def test_weights_beside_the_model(tmp_path: Path) -> None:
    _external(tmp_path)
    source = tmp_path / "model.onnx"
    report = ufkit.convert(source, tmp_path / "net.uff", ufkit.Options(verify=True))
    assert report.ok
    found = from_onnx(open_graph(Source.open(source)))
    spans = [ufkit.constant(found.meta.graph[name]).span for name in ("kernel", "dense")]
    assert spans[0].source is spans[1].source
    assert spans[0].source.name.endswith("model.data")


@pytest.mark.parametrize("location", ["../model.data", "/etc/passwd", "a/../../b", "", "\\x"])
def test_weights_from_elsewhere_are_refused(location: str, tmp_path: Path) -> None:
    made = _external(tmp_path)
    for tensor in made.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = location
    with pytest.raises(FormatError, match="CNV202"):
        uff(made)


@pytest.mark.parametrize(("key", "value"), [("offset", "99999"), ("length", "-4"), ("offset", "x")])
def test_weights_that_are_not_there(key: str, value: str, tmp_path: Path) -> None:
    made = _external(tmp_path)
    entries = made.graph.initializer[0].external_data
    next(entry for entry in entries if entry.key == key).value = value
    with pytest.raises(FormatError, match="CNV202"):
        from_onnx(open_graph(Source(made.SerializeToString(), str(tmp_path / "model.onnx"))))


def test_a_tensor_of_another_size_than_its_shape() -> None:
    made = small_model()
    made.graph.initializer[0].dims[0] = 5
    with pytest.raises(FormatError, match=r"432 bytes; float32\[5, 3, 3, 3\] needs 540"):
        uff(made)


def test_an_impossible_shape() -> None:
    proto = TensorProto(name="t", dims=[1 << 40, 1 << 40], data_type=1)
    from ufkit.conversion.onnx_schema import SCHEMA
    from ufkit.wire.message import Message

    message = Message.read(SCHEMA["TensorProto"], Source(proto.SerializeToString(), "t"))
    with pytest.raises(FormatError, match="60 bits"):
        tensor_of(message, External("t"))


# -- the graph's ends ------------------------------------------------------------------------


def test_outputs_keep_names_and_order(tmp_path: Path) -> None:
    nodes = [
        node("Relu", ["x"], ["a"], "w"),  # the name of a weight
        node("Identity", ["a"], ["b"], "x"),  # and of an input
        node("Neg", ["b"], ["x^1 /:ü"]),
        node("Dropout", ["a"], ["d"]),
    ]
    outputs = ["x^1 /:ü", "d", "x", "w", "b", "a"]
    proven(model(nodes, {"x": ["n", 3]}, outputs, {"w": F1}), tmp_path)
    with ufkit.open(tmp_path / "net.uff") as written:
        assert written.graph.outputs == outputs
        assert [m.id for m in written.graph][-6:] == [f"MarkOutput_{k}" for k in range(6)]


def test_names_that_nodes_share() -> None:
    nodes = [node("Relu", ["x"], ["a"], "n"), node("Neg", ["a"], ["b"], "n")]
    found = uff(model([*nodes, node("Abs", ["b"], ["y"])], {"x": [1]}, ["y"]))
    assert [n.id for n in found.meta.graph] == ["x", "n", "n_1", "y", "MarkOutput_0"]


def test_an_input_that_nothing_takes_stays(tmp_path: Path) -> None:
    made = model([node("Relu", ["x"], ["y"])], {"spare": [2], "x": [3]}, ["y"])
    proven(made, tmp_path)
    with ufkit.open(tmp_path / "net.uff") as written:
        assert [i.id for i in written.graph.inputs] == ["spare", "x"]


def test_initializers_that_old_models_list_as_inputs(tmp_path: Path) -> None:
    made = model([node("Add", ["x", "w"], ["y"])], {"x": [3], "w": [1]}, ["y"], {"w": F1})
    proven(made, tmp_path)
    assert operations(tmp_path) == ["Input", "Binary"]


def test_an_input_of_one_number_is_warned_of(tmp_path: Path) -> None:
    made = model([node("Relu", ["x"], ["y"])], {"x": []}, ["y"])
    report = proven(made, tmp_path)
    assert [item.code for item in report.diagnostics] == ["CNV504"]


def test_sizes_that_are_open_can_be_given(tmp_path: Path) -> None:
    made = model([node("Relu", ["x"], ["y"])], {"x": ["n", 3, "h", "w"]}, ["y"])
    with pytest.raises(NotSupportedError, match=r"--shape x=N,3,224,224"):
        uff(made)
    report = proven(made, tmp_path, shapes={"x": ["N", 3, 6, 7]})
    assert report.uff
    assert report.uff.meta.graph["x"].fields["shape"] == [-1, 3, 6, 7]
    with pytest.raises(RequestError, match="CNV503"):
        uff(made, shapes={"z": [1]})
    with pytest.raises(RequestError, match="4 axes; 2 sizes"):
        uff(made, shapes={"x": [1, 2]})


def test_two_batches_of_different_names() -> None:
    made = model([node("Add", ["x", "y"], ["z"])], {"x": ["n", 1], "y": ["m", 1]}, ["z"])
    with pytest.raises(NotSupportedError, match="UFF has one batch"):
        uff(made)


@pytest.mark.parametrize("name", ["r", "relu"])
def test_other_outputs(name: str, tmp_path: Path) -> None:
    report = proven(small_model(), tmp_path, outputs=[name])
    assert report.uff
    assert report.uff.outputs == ["r"]
    with pytest.raises(RequestError, match="did you mean"):
        uff(small_model(), outputs=["relo"])


# -- what is known before the model runs -----------------------------------------------------


def test_shapes_computed_in_the_graph_are_folded(tmp_path: Path) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Unsqueeze", ["n", "axis"], ["u"]),
        node("Concat", ["u", "rest"], ["shape"], axis=0),
        node("Reshape", ["x", "shape"], ["y"]),
    ]
    numbers = {"zero": np.array(0), "axis": np.array([0]), "rest": np.array([-1, 2])}
    proven(model(nodes, {"x": ["n", 4, 3]}, ["y"], numbers), tmp_path)
    assert operations(tmp_path) == ["Input", "Reshape"]


def test_weights_made_of_constants_are_constants(tmp_path: Path) -> None:
    nodes = [
        node("Mul", ["v", "g"], ["kernel"]),  # as weight norm leaves them
        node("Conv", ["x", "kernel"], ["y"], "conv"),
    ]
    weights = {"v": np.ones((2, 3, 1, 1), np.float32), "g": np.full((2, 1, 1, 1), 3, np.float32)}
    proven(model(nodes, {"x": [1, 3, 4, 4]}, ["y"], weights), tmp_path)
    assert operations(tmp_path) == ["Input", "Conv"]


def test_functions_of_the_model(tmp_path: Path) -> None:
    scaled = helper.make_function(
        "own",
        "Scaled",
        ["a", "b"],
        ["c"],
        [
            node("LeakyRelu", ["a"], ["t"]),
            node("Mul", ["t", "b"], ["c"]),
        ],
        [helper.make_opsetid("", 17)],
        ["alpha"],
    )
    reference = scaled.node[0].attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT)
    reference.ref_attr_name = "alpha"
    nodes = [
        node("Scaled", ["x", "w"], ["m"], "first", domain="own", alpha=0.3),
        node("Scaled", ["m", "w"], ["y"], "second", domain="own", alpha=0.6),
    ]
    opsets = [helper.make_opsetid("own", 1)]
    made = model(nodes, {"x": [2, 3]}, ["y"], {"w": F1 * 2}, opsets=opsets, functions=[scaled])
    proven(made, tmp_path)
    with ufkit.open(tmp_path / "net.uff") as written:
        leaky = [n for n in written.graph if n.operation == "LeakyRelu"]
        assert [n.id for n in leaky] == ["first/LeakyRelu", "second/LeakyRelu"]
        assert [round(n.fields["alpha"], 6) for n in leaky] == [0.3, 0.6]


def test_functions_that_call_themselves_end() -> None:
    forever = helper.make_function(
        "own",
        "Forever",
        ["a"],
        ["b"],
        [node("Forever", ["a"], ["b"], domain="own")],
        [helper.make_opsetid("own", 1)],
    )
    made = model(
        [node("Forever", ["x"], ["y"], domain="own")],
        {"x": [1]},
        ["y"],
        opsets=[helper.make_opsetid("own", 1)],
        functions=[forever],
    )
    with pytest.raises(FormatError, match="CNV502"):
        uff(made)


# -- obstacles -------------------------------------------------------------------------------


def test_all_obstacles_at_once() -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("QuantizeLinear", ["a", "w"], ["q"], "quantise"),
        node("Wild", ["a"], ["b"], "wild", domain="com.example"),
        node("LSTM", ["b", "w", "w"], ["c"], "recur", hidden_size=1),
        node("MaxPool", ["c"], ["d"], "pool", kernel_shape=[2]),
        node("ConvInteger", ["q", "q"], ["e"]),
    ]
    made = model(nodes, {"x": ["n", 3], "u": ["n"]}, ["d", "e", "u"], {"w": F1})
    made.graph.input[1].type.tensor_type.elem_type = TensorProto.UINT8
    with pytest.raises(NotSupportedError) as caught:
        uff(made)
    found = [(item.where.node, item.message.partition(":")[0]) for item in caught.value.diagnostics]
    assert found == [
        ("u", "input"),
        ("wild", "Wild"),
        ("recur", "LSTM"),
        ("quantise", "QuantizeLinear"),
        ("e", "ConvInteger"),
    ]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (model([node("Relu", ["x"], ["y"])], {"x": [1]}, ["y"], opset=6), "opset 6; 7 to"),
        (model([node("LRN", ["x"], ["y"], size=4)], {"x": [1, 4, 2]}, ["y"]), "4 channels wide"),
        (
            model(
                [node("MaxPool", ["x"], ["y"], kernel_shape=[2], dilations=[2])],
                {"x": [1, 4, 9]},
                ["y"],
            ),
            "dilations",
        ),
        (
            model([node("MaxPool", ["x"], ["y", "z"], kernel_shape=[2])], {"x": [1, 4, 9]}, ["z"]),
            "its result 1",
        ),
        (
            model([node("Cast", ["x"], ["y"], to=TensorProto.DOUBLE)], {"x": [1]}, ["y"]),
            "casts to float64",
        ),
    ],
)
def test_uses_that_uff_cannot_say(made: onnx.ModelProto, reason: str) -> None:
    with pytest.raises(NotSupportedError, match=reason):
        uff(made)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("Relu", ["z"], ["y"])], "nothing gives its input 'z'"),
        ([node("Relu", ["x"], ["z"])], "nothing gives the output 'y'"),
        ([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])], "'y' is given twice"),
        ([node("Add", ["x", "b"], ["y"]), node("Neg", ["y"], ["b"])], "waits for its own result"),
        ([node("Add", ["x"], ["y"])], "Add lacks input 1"),
    ],
)
def test_graphs_that_are_not_sound(nodes: list[onnx.NodeProto], reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        uff(model(nodes, {"x": [1]}, ["y"]))


def test_operations_outside_the_core_are_told_once() -> None:
    nodes = [node("Erf", ["x"], ["a"], "one"), node("Erf", ["a"], ["y"], "two")]
    found = uff(model(nodes, {"x": [2]}, ["y"]))
    (item,) = found.diagnostics
    assert item.code == "CNV501"
    assert "_Erf is none of UFF's core (2: one, two)" in item.message


def test_roots_of_whole_numbers() -> None:
    nodes = [node("Pow", ["x", "half"], ["y"])]
    half = {"half": np.array(0.5, np.float32)}
    made = model(nodes, {"x": [3]}, ["y"], half, dtype=TensorProto.INT32)
    got = evaluate(uff(made).inference, {"x": np.array([4, 9, 10], np.int32)})["y"]
    assert got.tolist() == [2, 3, 3]


def test_old_resizing_that_run_times_round_differently() -> None:
    def made(scale: float) -> onnx.ModelProto:
        scales = {"s": np.array([1, 1, scale, scale], np.float32)}
        return model(
            [node("Resize", ["x", "s"], ["y"])], {"x": [1, 1, 5, 5]}, ["y"], scales, opset=10
        )

    assert uff(made(2)).outputs == ["y"]
    with pytest.raises(NotSupportedError, match="round differently"):
        uff(made(0.6))


@pytest.mark.parametrize("opset", range(7, 29))
def test_every_opset(opset: int) -> None:
    """Operators whose axes moved from attributes to inputs, and what Softmax means."""
    axes: Any = {"axes": [1]} if opset < 13 else {}
    more = [] if opset < 13 else ["axis"]
    nodes = [
        node("Unsqueeze", ["x", *more], ["u"], **axes),
        node("Squeeze", ["u", *more], ["s"], **axes),
        node("ReduceSum", ["s", *more], ["r"], keepdims=1, **axes),
        node("Softmax", ["r"], ["y"], axis=1),
    ]
    made = model(nodes, {"x": [2, 3, 4]}, ["y"], {"axis": np.array([1])}, opset=opset)
    fed = {"x": np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 9}
    got = evaluate(uff(made).inference, fed)["y"]
    summed = fed["x"].sum(1, keepdims=True)
    axis = 1 if opset >= 13 else (1, 2)
    wide = np.exp(summed - summed.max(axis, keepdims=True))
    np.testing.assert_allclose(got, wide / wide.sum(axis, keepdims=True), rtol=1e-5)
