"""`uff.model`: files built node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ufkit
from uff import model
from uff.model import uff_pb2
from uff.model.exceptions import UffException
from uff.model.utils import convert_to_str
from uff_contents import everything
from ufkit.core.files import Source
from ufkit.uff.build import Builder
from ufkit.uff.ops import OPS


def opened(meta: model.MetaGraph) -> ufkit.MetaGraph:
    return ufkit.open(Source(meta.to_uff().SerializeToString()))


def built() -> model.MetaGraph:
    """Every operation once."""
    meta = model.MetaGraph()
    same = model.DescriptorOp().field_enum("implicit_padding", ["same"], optional=True)
    meta.extend_descriptor(model.Descriptor("tensorflow_extension", 1, False, {"Conv": same}))
    g = meta.add_graph("main")
    x = g.input([-1, 8, 8, 2], np.float32, "x")
    kernel = g.const(np.ones((3, 3, 2, 2), np.float32), "kernel")
    y: Any = g.conv(
        x, "kernel", [1, 1], None, left_format="N+C", right_format="+CK", name="conv",
        fields={"implicit_padding": "same"},
    )  # fmt: skip
    y = g.pool(y, "MAX", [2, 2], [2, 2], data_format="N+C")
    y = g.lrn(y, 5, 1.0, 0.5, 1.0, "N+C")
    ones = g.const(np.ones(2, np.float32))
    y = g.batchnorm(y, ones, ones, ones, ones, 1e-3, "N+C")
    size = g.const(np.array([1, 8, 8, 2], np.int32))
    y = g.conv_transpose(
        y, kernel, size, [2, 2], left_format="N+C", right_format="+KC",
        fields={"implicit_padding": "same"},
    )  # fmt: skip
    y = g.leaky_relu(g.activation(g.unary(g.binary(y, ones, "add"), "neg"), "relu"), 0.1)
    y = g.pad(y, g.const(np.zeros((4, 2), np.int32)))
    y = g.softmax(y, 0, "N+C")
    y = g.transpose(y, (0, 3, 1, 2))
    y = g.squeeze(g.expand_dims(g.identity(y), 1), axis=[1])
    y = g.concat([y, y], 1)
    flat = g.flatten(y)
    dense = g.fully_connected(flat, g.const(np.ones((256, 3), np.float32)), "NC", "CK")
    first = g.const(np.array([0], np.int32))
    end = g.const(np.array([1], np.int32))
    step = g.const(np.array([1], np.int32))
    rows = g.strided_slice(g.shape(dense), first, end, step, shrink_axis_mask=1)
    back = g.reshape(dense, g.stack([rows, g.const(np.int32(3), "three")], 0))
    sums = g.reduce(back, "sum", 1, True, name="sums")
    g.gather([back, first], indices_dtype=np.int32, params_dtype=np.float32)
    g.gather_v2([back, first], axis=0, indices_dtype=np.int32, params_dtype=np.float32)
    best, worst = g.argmax(back, 1), g.argmin(back, 1)
    plugin = g.custom_node("Mine", [sums], "mine", {"topK_u_int": 3}, {"note": "kept"})
    for output in (plugin, best, worst):
        g.mark_output(output)
    return meta


def test_every_operation_is_written_as_ufkit_knows_it() -> None:
    meta = opened(built())
    graph = meta.graph
    operations = {n.operation for n in graph}
    core = {name for name in OPS if not name.startswith("_")}
    assert operations - {"_Mine"} == core | {"MarkOutput"}
    assert [d.id for d in meta.descriptors] == ["tensorflow_extension", "custom"]
    assert graph.outputs == ["mine", "ArgMax_0", "ArgMin_0"]
    assert graph["mine"].fields["topK_u_int"] == 3
    assert graph["mine"].extra_fields["note"] == "kept"
    errors = [d for d in ufkit.check(meta) if d.severity is ufkit.Severity.ERROR]
    assert errors == []


def test_a_net_computes() -> None:
    rng = np.random.default_rng(0)
    meta = model.MetaGraph()
    g = meta.add_graph("main")
    weights = rng.standard_normal((4, 3)).astype(np.float32)
    dense = g.fully_connected(g.input([2, 4]), g.const(weights), "NC", "CK")
    g.mark_output(g.activation(dense, "relu", "y"))
    x = rng.standard_normal((2, 4)).astype(np.float32)
    found = ufkit.run(opened(meta).graph, {"Input_0": x})
    (result,) = found.values()
    np.testing.assert_allclose(result, np.maximum(x @ weights, 0), rtol=1e-5)


def test_it_is_what_the_builder_of_ufkit_makes() -> None:
    meta = model.MetaGraph()
    meta.extend_descriptor(model.Descriptor("tensorflow_extension", 1))
    g = meta.add_graph("main")
    g.input([1, 2], name="x")
    g.const(np.float32([1, 2]), "c")
    g.binary("x", "c", "mul", "y")
    g.mark_output("y")
    b = Builder()
    b.input("x", [1, 2])
    b.const("c", np.float32([1, 2]))
    b.op("y", "Binary", ["x", "c"], func="mul")
    b.output("y")
    assert everything(opened(meta)) == everything(b.meta)


def test_names_that_are_taken_get_a_number() -> None:
    g = model.MetaGraph().add_graph("main")
    names = [g.input([1]).name, g.input([1]).name, g.input([1], name="x").name]
    names += [g.input([1], name="x").name, g.identity("x").name, g.mark_output("x", "out").name]
    assert names == ["Input_0", "Input_1", "x", "x_0", "Identity_0", "out"]
    assert list(g.nodes) == names
    assert (g.nodes["x"].op, g.nodes["out"].inputs, g.name) == ("Input", ["x"], "main")


def test_as_protobuf_has_it() -> None:
    meta = built()
    encoded = uff_pb2.MetaGraph()
    encoded.ParseFromString(meta.to_uff().SerializeToString())
    by_op = {n.operation: n for n in encoded.graphs[0].nodes}
    assert list(by_op["Input"].fields["shape"].i_list.val) == [-1, 8, 8, 2]
    assert by_op["Input"].fields["dtype"].dtype == uff_pb2.DT_FLOAT32
    assert by_op["Pool"].fields["func"].s == "max"
    assert "padding" not in by_op["Pool"].fields
    assert by_op["Conv"].fields["inputs_orders"].ref == "orders_N+C_+CK"
    orders = encoded.referenced_data["orders_N+C_+CK"].dim_orders_list.val[0].orders
    assert list(orders[uff_pb2.OE_SPECIAL].val) == [0, 2, uff_pb2.OE_INCREMENT, 1]
    assert by_op["Conv"].fields["inputs_orders"].WhichOneof("data_oneof") == "ref"
    by_op["Input"].fields["shape"].i_list.val[0] = 1
    with ufkit.open(Source(encoded.SerializeToString())) as edited:
        assert edited.graph["x"].fields["shape"] == [1, 8, 8, 2]


def test_for_looking_at_weights_are_left_out() -> None:
    text = str(built().to_uff(debug=True))
    assert 'blob: "(...144 bytes skipped...)"' in text
    assert len(built().to_uff().referenced_data["weights_kernel"].blob) == 144


def test_data_and_references() -> None:
    meta = model.MetaGraph()
    assert meta.create_ref("a", 3).ref == "a"
    assert meta.create_ref("a", b"x").ref == "a_0"
    assert meta.create_orders_ref(["NC", "CK"]).ref == "orders_NC_CK"
    assert meta.create_orders_ref(["NC", "CK"]).ref == "orders_NC_CK"
    encoded = meta.to_uff()
    assert encoded.referenced_data["a"].i == 3
    assert encoded.referenced_data["a_0"].blob == b"x"
    assert model.create_data(model.List("d", [1, 2])).d_list.val[1] == 2.0
    assert model.create_data([], model.FieldType.s_list).WhichOneof("type") == "s_list"
    assert model.create_data(np.float16).dtype == uff_pb2.DT_FLOAT16
    assert model.create_data(np.int64(3)).i == 3
    assert convert_to_str(b"a") == convert_to_str("a") == "a"


@pytest.mark.parametrize(
    ("attempt", "code"),
    [
        (lambda m, g: (g.identity("none"), m.to_uff()), "UFF102"),
        (lambda m, g: g.const(np.float64(1)), "UFF208"),
        (lambda m, g: g.const("text"), "UFF208"),
        (lambda m, g: g.input([1], np.complex64), "UFF208"),
        (lambda m, g: g.softmax("x", 0, "NHWC"), "UFF209"),
        (lambda m, g: g.custom_node("P", [], None, {"a": {}}), "UFF207"),
    ],
)
def test_what_no_file_can_hold_is_told(attempt: Any, code: str) -> None:
    meta = model.MetaGraph()
    with pytest.raises(UffException, match=code):
        attempt(meta, meta.add_graph("main"))
