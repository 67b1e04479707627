"""What models of each format say of themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tf_graphs
import ufkit
from graphs import small_net
from ufkit.core.diag import FileError, FormatError, Severity
from ufkit.core.dtypes import FLOAT32
from ufkit.uff.build import Builder
from ufkit.uff.const import constant
from ufkit.uff.io import save
from ufkit.viewer.content import Item, Model
from ufkit.viewer.graph.pair import Pair
from ufkit.viewer.graph.panel import panel
from ufkit.viewer.graph.search import search
from ufkit.viewer.graph.totals import totals
from ufkit.viewer.openers import Wish
from ufkit.viewer.session import Session
from ufkit.viewer.subject import Subject
from ufkit.wire.message import to_bytes


def opened(path: Path) -> tuple[Subject, Model]:
    subject = Subject(0, str(path), Wish())
    assert subject.model is not None
    return subject, subject.model


def named(model: Model, operation: str) -> Item:
    return next(item for item in model.pictures[0].items if item.operation == operation)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.uff"
    save(small_net().meta, path)
    return path


def test_constants_are_drawn_in_those_that_take_them(net: Path) -> None:
    _, model = opened(net)
    conv = named(model, "Conv")
    assert [weights.role for weights in conv.weights] == ["kernel"]
    assert conv.weights[0].axes == "+CK"
    assert conv.weights[0].channel == 3
    assert all(item.folded for item in model.pictures[0].items if item.operation == "Const")
    assert any(line.startswith("kernel") for line in conv.weight_lines)


def test_multiply_accumulates_are_those_of_one_sample(net: Path) -> None:
    subject, model = opened(net)
    conv = named(model, "Conv")
    kernel = conv.weights[0].shape
    assert kernel is not None
    height, width = (int(size) for size in conv.value.split("×")[1:3])
    assert conv.macs == height * width * int(np.prod(kernel))
    assert totals(model.pictures[0])["whole"]["macs"] >= conv.macs
    subject.close()


def test_a_constant_that_several_take_counts_once(tmp_path: Path) -> None:
    builder = Builder()
    image = builder.input("image", [1, 4])
    shared = builder.const("shared", np.ones((1, 4), np.float32))
    first = builder.op("a", "Binary", [image, shared], func="add")
    builder.output(builder.op("b", "Binary", [first, shared], func="mul"))
    path = tmp_path / "shared.uff"
    save(builder.meta, path)
    found = totals(opened(path)[1].pictures[0])
    assert (found["whole"]["parameters"], found["whole"]["bytes"]) == (4, 16)
    assert len(found["largest"]) == 1


def test_the_panel_has_every_field_with_its_default(net: Path) -> None:
    subject, model = opened(net)
    items = model.pictures[0].items
    at = next(number for number, item in enumerate(items) if item.operation == "Conv")
    found = panel(subject, 0, at)
    fields = {row["name"]: row for row in found["fields"]}
    assert fields["inputs_orders"]["given"]
    assert not fields["number_groups"]["given"]
    assert fields["number_groups"]["value"] == 1
    assert fields["number_groups"]["doc"]
    assert found["place"].startswith("bytes ")
    assert [row["role"] for row in found["inputs"]] == ["input"]


def test_search_ranks_whole_keys_before_parts(net: Path) -> None:
    _, model = opened(net)
    key = named(model, "Pool").key
    found = search(model, 0, key)
    assert found["rows"][0]["key"] == key
    assert search(model, 0, "pool func=max")["total"] == 1
    assert search(model, 0, "")["total"] == 0


def test_a_converted_model_shows_the_same_shapes_and_work(net: Path, tmp_path: Path) -> None:
    target = tmp_path / "net.onnx"
    ufkit.convert(net, target)
    _, uff = opened(net)
    _, model = opened(target)
    assert model.description.startswith("ONNX, opset")
    assert named(model, "Conv").macs == named(uff, "Conv").macs
    conv = named(model, "Conv")
    assert conv.weights[0].read().ndim == 4
    assert conv.weights[0].channel == 0
    details = model.details(0, model.pictures[0].items.index(conv))
    rows = {row.name: row for row in details.fields}
    assert rows["auto_pad"].default == "NOTSET" or rows["auto_pad"].given
    assert "convolution" in details.doc.lower()


def test_attributes_of_every_kind_are_told(tmp_path: Path) -> None:
    tensor = onnx.numpy_helper.from_array(np.zeros((2, 3), np.float32))
    node = onnx.helper.make_node(
        "Odd", ["x"], ["y"], "odd", domain="mine", i=0, f=0.5, s="text", ints=[1, 2],
        floats=[0.5], strings=["a", "b"], t=tensor,
    )  # fmt: skip
    info = [onnx.helper.make_tensor_value_info(n, 1, ["N", 3]) for n in "xy"]
    graph = onnx.helper.make_graph([node], "g", info[:1], info[1:])
    path = tmp_path / "odd.onnx"
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("mine", 1)]
    path.write_bytes(onnx.helper.make_model(graph, opset_imports=opsets).SerializeToString())
    _, model = opened(path)
    rows = {row.name: (row.kind, row.value) for row in model.details(0, 1).fields}
    assert rows == {
        "i": ("int", "0"),
        "f": ("float", "0.5"),
        "s": ("string", "text"),
        "ints": ("ints", "[1, 2]"),
        "floats": ("floats", "[0.5]"),
        "strings": ("strings", "[a, b]"),
        "t": ("tensor", "(2×3)"),
    }
    assert model.pictures[0].items[1].category == "plugin"


def test_a_tensorflow_graph_is_shown_as_the_uff_it_becomes(tmp_path: Path) -> None:
    path = tmp_path / "frozen.pb"
    nodes = tf_graphs.placeholder("x", 1, 4), tf_graphs.node("y", "Relu", "x")
    path.write_bytes(to_bytes(tf_graphs.graph_def(*nodes)))
    _, model = opened(path)
    assert "TensorFlow" in model.description
    assert model.pictures[0].items


def test_what_has_no_page_is_named_for_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing of interest")
    with pytest.raises(FormatError) as caught:
        Subject(0, str(path), Wish())
    assert caught.value.diagnostic.code == "VWR001"
    with pytest.raises(FileError):
        Subject(0, str(tmp_path / "none"), Wish())


def onnx_file(path: Path, nodes: list[Any], initializers: Sequence[Any] = ()) -> Path:
    """A model of those nodes from x to y."""
    info = [onnx.helper.make_tensor_value_info(n, 1, [2]) for n in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", info[:1], info[1:], initializers)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    path.write_bytes(model.SerializeToString())
    return path


def test_what_is_wrong_with_an_onnx_graph_is_found_at_its_nodes(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("Add", ["x", "nowhere"], ["y"], name="sum"),
        onnx.helper.make_node("Relu", ["x"], ["y"], name="again"),
    ]
    _, model = opened(onnx_file(tmp_path / "odd.onnx", nodes))
    found = {(at := model.places()[d.where.node]) and d.message: at for d in model.findings}
    assert found == {
        "nothing gives its input 'nowhere'": (0, 1),
        "value 'y' is given twice": (0, 2),
    }


def test_an_onnx_graph_that_waits_for_itself_is_found(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("Add", ["x", "b"], ["a"]),
        onnx.helper.make_node("Add", ["a", "x"], ["b"]),
        onnx.helper.make_node("Relu", ["b"], ["y"]),
    ]
    _, model = opened(onnx_file(tmp_path / "cycle.onnx", nodes))
    assert ["waits for its own result" in d.message for d in model.findings] == [True]


@pytest.mark.parametrize("operation", ["Conv", "ConvInteger", "QLinearConv"])
def test_convolutions_of_integers_have_work_as_others_do(tmp_path: Path, operation: str) -> None:
    kind = onnx.TensorProto.FLOAT if operation == "Conv" else onnx.TensorProto.UINT8
    scale, zero = ["scale", "zero"], np.zeros((), np.uint8)
    given = ["x", *scale, "w", *scale, *scale] if operation == "QLinearConv" else ["x", "w"]
    held = {"w": np.ones((5, 3, 3, 3), onnx.helper.tensor_dtype_to_np_dtype(kind))}
    if operation == "QLinearConv":
        held |= {"scale": np.ones((), np.float32), "zero": zero}
    ends = [
        onnx.helper.make_tensor_value_info("x", kind, [1, 3, 8, 8]),
        onnx.helper.make_tensor_value_info(
            "y", onnx.TensorProto.INT32 if operation == "ConvInteger" else kind, [1, 5, 6, 6]
        ),
    ]
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in held.items()]
    nodes = [onnx.helper.make_node(operation, given, ["y"])]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    path = tmp_path / "integers.onnx"
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    assert named(opened(path)[1], operation).macs == 5 * 6 * 6 * 3 * 3 * 3


def test_inputs_keep_their_shapes_in_a_graph_without_order(tmp_path: Path) -> None:
    builder = Builder()
    image = builder.input("image", [1, 4])
    builder.output(builder.op("sum", "Binary", [image, image], func="add"))
    builder.graph["sum"].inputs = ["image", "sum"]
    path = tmp_path / "circle.uff"
    save(builder.meta, path)
    _, model = opened(path)
    assert "1" in named(model, "Input").value
    assert "4" in named(model, "Input").value
    assert "UFF103" in {finding.code for finding in model.findings}


def test_inputs_and_outputs_are_summed_up_under_their_names(tmp_path: Path) -> None:
    builder = Builder()
    held = builder.op("learning", "_PlaceholderWithDefault", [builder.input("image", [1, 4])])
    builder.output(builder.op("y", "Unary", [held], func="neg"))
    path = tmp_path / "net.uff"
    save(builder.meta, path)
    ends = totals(opened(path)[1].pictures[0])["ends"]
    assert [row["key"] for row in ends] == ["image", "learning", "MarkOutput_0"]


@pytest.mark.parametrize("how", ["shortened", "overwritten", "replaced", "deleted"])
def test_a_file_that_is_written_to_while_it_is_shown_is_not_read_on(net: Path, how: str) -> None:
    subject, model = opened(net)
    if how == "shortened":
        os.truncate(net, 100)
    elif how == "overwritten":
        net.write_bytes(net.read_bytes())
        os.utime(net, (1, 1))
    elif how == "replaced":
        other = net.with_suffix(".new")
        other.write_bytes(b"else")
        other.replace(net)
    else:
        net.unlink()
    if how in ("shortened", "overwritten"):
        with pytest.raises(FileError) as caught:
            subject.verify()
        assert caught.value.diagnostic.code == "VWR006"
    else:
        subject.verify()
        assert named(model, "Conv").weights[0].read().size


def test_what_the_branches_of_a_node_take_belongs_to_it(tmp_path: Path) -> None:
    kept = onnx.numpy_helper.from_array(np.ones(2, np.float32), "kept")
    value = [onnx.helper.make_tensor_value_info(n, 1, [2]) for n in ("inner", "r")]
    branches = {
        name: onnx.helper.make_graph(
            [onnx.helper.make_node(operation, ["r", "kept"], ["inner"])], name, [], value[:1]
        )
        for name, operation in (("then_branch", "Add"), ("else_branch", "Mul"))
    }
    condition = onnx.numpy_helper.from_array(np.array(True), "condition")
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["r"], name="before"),
        onnx.helper.make_node("If", ["condition"], ["y"], **branches),
    ]
    _, model = opened(onnx_file(tmp_path / "if.onnx", nodes, [condition, kept]))
    found = named(model, "If")
    taken = [model.pictures[0].items[link.source].key for link in found.takes]
    assert (taken, [array.name for array in found.weights]) == (["before"], ["condition", "kept"])


def test_shapes_that_an_onnx_model_states_are_shown_where_none_can_be_inferred(
    tmp_path: Path,
) -> None:
    node = onnx.helper.make_node("Gemm", ["x"], ["y"])
    _, model = opened(onnx_file(tmp_path / "odd.onnx", [node]))
    assert named(model, "input").value == "2"


def test_initializers_that_are_not_there_are_found_and_shown_without_sizes(tmp_path: Path) -> None:
    lost = onnx.helper.make_tensor("lost", 1, [2], [1, 2])
    lost.dims[0] = -2
    node = onnx.helper.make_node("Add", ["x", "lost"], ["y"], name="sum")
    _, model = opened(onnx_file(tmp_path / "lost.onnx", [node], [lost]))
    assert [(d.code, model.places()[d.where.node]) for d in model.findings] == [("CNV202", (0, 1))]
    assert named(model, "Add").weights[0].shape is None
    assert totals(model.pictures[0])["whole"]["parameters"] == 0


def test_an_onnx_model_is_not_said_to_be_without_faults_that_nobody_looked_for(
    tmp_path: Path,
) -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    _, model = opened(onnx_file(tmp_path / "net.onnx", [node]))
    assert model.findings == []
    assert "onnx.checker" in model.extent


def test_an_onnx_model_that_onnx_itself_cannot_read_is_shown_without_shapes(tmp_path: Path) -> None:
    kept = onnx.TensorProto(name="k", data_type=1, dims=[2], data_location=1)
    kept.external_data.add(key="location", value="net.data")
    node = onnx.helper.make_node("Add", ["x", "k"], ["y"])
    path = onnx_file(tmp_path / "net.onnx", [node], [kept])
    path.write_bytes(path.read_bytes().replace(b"\x08net.data", b"\xbanet.data"))
    _, model = opened(path)
    assert named(model, "Add").value == ""
    assert [d.severity for d in model.findings] == [Severity.ERROR]


def test_a_constant_that_cannot_be_is_shown_and_its_findings_are_told_where_it_is_drawn(
    tmp_path: Path,
) -> None:
    builder = Builder()
    image = builder.input("image", [1, 4])
    builder.tensor("giant", (1 << 31, 1 << 31), FLOAT32, b"1234")
    builder.output(builder.op("sum", "Binary", [image, "giant"], func="add"))
    path = tmp_path / "giant.uff"
    save(builder.meta, path)
    subject, model = opened(path)
    item = named(model, "Binary")
    assert (item.weights[0].shape, "60 bits" in item.weights[0].note) == (None, True)
    shown = panel(subject, 0, model.pictures[0].items.index(item))
    assert "UFF203" in [row["code"] for row in shown["findings"]]
    with pytest.raises(FormatError):
        item.weights[0].read()


def test_a_damaged_file_has_findings_and_no_model(net: Path) -> None:
    net.write_bytes(net.read_bytes()[:-40])
    subject = Subject(0, str(net), Wish())
    findings = subject.findings()
    assert findings
    assert subject.pages == (["graph", "summary", "check"] if subject.model else ["check"])


def test_a_model_and_what_became_of_it_are_held_against_each_other(
    net: Path, tmp_path: Path
) -> None:
    target = tmp_path / "net.onnx"
    ufkit.convert(net, target)
    session = Session([str(net), str(target)])
    pair = Pair(*session.subjects)
    assert pair.comparison is not None
    assert pair.comparison.same
    assert pair.rows() == []


def test_a_file_of_several_graphs_is_held_against_one_of_a_single_graph(
    net: Path, tmp_path: Path
) -> None:
    builder = small_net()
    conv = next(node for node in builder.graph if node.operation == "Conv")
    kernel = constant(builder.graph[conv.inputs[1]])
    builder.output(builder.op("more", "Unary", [conv.id], func="neg"))
    builder.meta.add_graph("second")
    path = tmp_path / "several.uff"
    save(builder.meta, path)
    changed = bytearray(path.read_bytes())
    held = bytes(kernel.span.peek())
    start = changed.index(held)
    changed[start : start + 4] = np.float32(7).tobytes()
    path.write_bytes(changed)
    pair = Pair(*Session([str(net), str(path)]).subjects)
    found = {row["key"]: (row.get("a"), row.get("b")) for row in pair.rows()}
    keys = [item.key for item in pair.pictures(1)[0].items]
    assert found["main/more"] == (None, keys.index("more"))
    kernels = [row for row in pair.rows() if row["kind"] == "weights"]
    assert [keys[row["b"]] for row in kernels] == [conv.id]
    assert pair.weights(kernels[0]["number"]) is not None
    assert pair.changes(1, 0)[keys.index("more")] == "added"


def test_shapes_are_given_to_the_inputs_that_have_them(tmp_path: Path) -> None:
    """Of two files each takes its own; ONNX files, too, leave sizes open."""
    ports = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 3]) for name in "xy"
    ]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:]
    )
    onnx.save(onnx.helper.make_model(graph), tmp_path / "net.onnx")
    builder = Builder()
    builder.output(builder.op("relu", "Activation", [builder.input("image", [2, 5])], func="relu"))
    save(builder.meta, tmp_path / "net.uff")
    paths = [str(tmp_path / "net.uff"), str(tmp_path / "net.onnx")]
    session = Session(paths, Wish(shapes={"image": [4, 5], "x": [8, 3], "other": [1]}))
    labels = [
        [link.label for item in subject.model.pictures[0].items for link in item.takes]
        for subject in session
        if subject.model
    ]
    session.close()
    assert labels == [["4×5", "4×5"], ["8×3", "8×3"]]


def test_what_an_onnx_model_says_of_itself_is_told(tmp_path: Path) -> None:
    ports = [onnx.helper.make_tensor_value_info(name, 1, [1]) for name in "xy"]
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "g", ports[:1], ports[1:])
    model = onnx.helper.make_model(graph, producer_name="keeper", producer_version="1.2")
    model.doc_string = "finds cats"
    onnx.helper.set_model_props(model, {"author": "nobody to ask"})
    onnx.save(model, tmp_path / "net.onnx")
    session = Session([str(tmp_path / "net.onnx")])
    (subject,) = session.subjects
    assert subject.model is not None
    facts = dict(subject.model.pictures[0].facts)
    session.close()
    assert facts["made by"] == "keeper 1.2"
    assert facts["description"] == "finds cats"
    assert facts["author"] == "nobody to ask"
