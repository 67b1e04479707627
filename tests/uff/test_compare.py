"""Two UFF files held against each other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import ufkit
from graphs import small_net
from ufkit.core.comparison import Change, Comparison
from ufkit.core.files import Source
from ufkit.uff.compare import compare
from ufkit.uff.data import Ref
from ufkit.uff.io import open as open_uff

Edit = Callable[[ufkit.MetaGraph], None]


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.uff"
    ufkit.save(small_net().meta, path)
    return path


def edited(path: Path, edit: Edit) -> Comparison:
    """A file against the same after an edit, saved and read again."""
    other = path.with_name("other.uff")
    with ufkit.open(path) as model:
        edit(model)
        ufkit.save(model, other)
    return ufkit.diff(path, other)


def only(result: Comparison) -> Change:
    """The one change of the one node that changed, nothing else being different."""
    (node,) = result.changed
    (change,) = node.changes
    rest = (result.changes, result.removed, result.added, result.renamed, result.weights)
    assert not any(rest)
    return change


@pytest.mark.parametrize("form", ["net.json", "net.pbtxt", "net.uff"])
def test_the_form_of_a_file_is_no_difference(net: Path, tmp_path: Path, form: str) -> None:
    other = tmp_path / "other" / form
    other.parent.mkdir()
    ufkit.convert(net, other, ufkit.Options(full=form == "net.pbtxt"))
    for pair in ((net, other), (other, net)):
        result = ufkit.diff(*pair)
        assert result.same
        assert (result.nodes, result.compared) == (12, 3)
        assert not result.diagnostics


def test_a_field(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        model.graph["conv"].fields["strides"] = [1, 2]

    result = edited(net, edit)
    assert result.changed[0].id == "conv"
    assert only(result) == Change("strides", [1, 1], [1, 2])


def test_a_field_that_comes_and_one_that_goes(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        fields = model.graph["conv"].fields
        fields["number_groups"] = 1
        del fields["implicit_padding"]

    (node,) = edited(net, edit).changed
    assert node.changes == (Change("implicit_padding", a="same"), Change("number_groups", b=1))
    assert node.changes[0].as_dict() == {"name": "implicit_padding", "a": "same"}


def test_kinds_that_look_alike(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        model.graph["probabilities"].fields["axis"] = "0"

    assert only(edited(net, edit)) == Change("axis (kind)", "i", "s")


def test_axis_orders_are_spelt(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        model.referenced_data["orders_N+C"] = model.referenced_data["orders_NC_CK"]

    result = edited(net, edit)
    expected = (Change("inputs_orders", ["N+C"], ["NC", "CN"]),)
    assert {node.id: node.changes for node in result.changed} == {
        "pool": expected,
        "probabilities": expected,
    }


def test_an_operation_and_an_input(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        model.graph["relu"].operation = "Unary"
        model.graph["pool"].inputs = ["conv/add"]

    result = edited(net, edit)
    assert [(node.id, node.operation, node.changes) for node in result.changed] == [
        ("relu", "Activation", (Change("operation", "Activation", "Unary"),)),
        ("pool", "Pool", (Change("inputs", ["relu"], ["conv/add"]),)),
    ]


def test_the_order_of_nodes_and_the_names_of_references_are_no_difference(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        data = model.referenced_data
        data["moved"] = data.data("weights_conv/bias")
        del data["weights_conv/bias"]
        model.graph["conv/bias"].fields["values"] = Ref("moved")
        nodes = [node.message for node in model.graph]
        model.graph.message.set("nodes", nodes[::-1])

    assert edited(net, edit).same


def test_nodes_of_one_side(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        model.graph.remove(model.graph["relu"])
        model.graph["pool"].inputs = ["extra"]
        model.graph.add("extra", "Unary", ["conv/add"], func="neg")

    result = edited(net, edit)
    assert [(n.id, n.operation, n.inputs) for n in result.removed] == [
        ("relu", "Activation", ("conv/add",))
    ]
    assert [n.id for n in result.added] == ["extra"]
    assert [n.id for n in result.changed] == ["pool"]
    assert not result.renamed


def test_a_scope_with_another_name_is_told_as_that(net: Path, tmp_path: Path) -> None:
    """Constants by their values, what takes them by what they are called now."""
    text = tmp_path / "full.pbtxt"
    ufkit.convert(net, text, ufkit.Options(full=True))
    other = tmp_path / "other.pbtxt"
    renamed = text.read_text().replace('"conv', '"block1/conv').replace('"pool"', '"max"')
    other.write_text(renamed)
    result = ufkit.diff(net, other)
    assert not result.same
    assert {(r.a, r.b) for r in result.renamed} == {
        ("conv", "block1/conv"),
        ("conv/kernel", "block1/conv/kernel"),
        ("conv/bias", "block1/conv/bias"),
        ("conv/add", "block1/conv/add"),
        ("pool", "max"),
    }
    assert not any((result.removed, result.added, result.changed, result.weights))


def test_what_is_renamed_and_changed_is_removed_and_added(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        model.graph.remove(model.graph["relu"])
        model.graph["pool"].inputs = ["act"]
        model.graph.add("act", "Activation", ["conv/add"], func="relu6")

    result = edited(net, edit)
    assert not result.renamed
    assert ([n.id for n in result.removed], [n.id for n in result.added]) == (["relu"], ["act"])


def test_what_belongs_to_the_file(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        model.message.set("version", 2)
        model.add_descriptor("custom", 3)
        model.extra_fields["note"] = "x"
        model.graph.message.set("id", "other")
        model.graph.extra_fields["n"] = 1

    result = edited(net, edit)
    assert result.changes == [
        Change("version", 1, 2),
        Change("descriptor custom", b="version 3"),
        Change("extra_fields.note", b="x"),
        Change("graph", "main", "other"),
        Change("extra_fields.n", b=1),
    ]
    assert not result.same


def test_several_graphs(tmp_path: Path) -> None:
    def model(*ids: str, func: str = "relu") -> ufkit.MetaGraph:
        meta = ufkit.MetaGraph.new()
        for id_ in ids:
            graph = meta.add_graph(id_)
            graph.add("x", "Input", shape=[1])
            graph.add("y", "Activation", ["x"], func=func)
        return meta

    result = compare(model("a", "b"), model("b", "c", "d", func="tanh"))
    assert [change.as_dict() for change in result.changes] == [
        {"name": "graph a", "a": "2 nodes"},
        {"name": "graph c", "b": "2 nodes"},
        {"name": "graph d", "b": "2 nodes"},
    ]
    (node,) = result.changed
    assert node.id == "b/y"
    assert compare(model("a", "b"), model("b", "a")).same


def test_ids_that_are_given_twice_go_together_in_their_order() -> None:
    def model(*funcs: str) -> ufkit.MetaGraph:
        meta = ufkit.MetaGraph.new()
        graph = meta.add_graph()
        for func in funcs:
            graph.add("y", "Activation", [], func=func)
        return meta

    assert compare(model("relu", "tanh"), model("relu", "tanh")).same
    assert only(compare(model("relu", "tanh"), model("relu", "elu"))) == Change(
        "func", "tanh", "elu"
    )
    result = compare(model("relu", "tanh"), model("relu"))
    assert [node.id for node in result.removed] == ["y"]


# -- weights ---------------------------------------------------------------------------------


def constants(**values: object) -> ufkit.MetaGraph:
    builder = ufkit.Builder()
    for name, value in values.items():
        builder.const(name, value)
    return builder.meta


def test_one_bit(net: Path) -> None:
    data = bytearray(net.read_bytes())
    with ufkit.open(net) as model:
        span = ufkit.constant(model.graph["dense/kernel"]).span
        values = ufkit.constant(model.graph["dense/kernel"]).numpy().ravel().copy()
    data[span.start + 4 * 100 + 2] ^= 1
    result = compare(ufkit.open(net), open_uff(Source(bytes(data), "flipped.uff")))
    flipped = np.frombuffer(data[span.start : span.stop], np.float32)
    (weights,) = result.weights
    assert not result.changed
    assert (weights.id, weights.a, weights.b) == ("dense/kernel", *["float32[64, 5]"] * 2)
    assert weights.distance
    assert (weights.distance.different, weights.distance.elements) == (1, 320)
    gap = abs(float(values[100]) - float(flipped[100]))
    assert weights.distance.max_abs == gap
    assert weights.distance.relative == gap / np.abs(flipped).max()


def test_shapes_and_types() -> None:
    kernel = np.arange(6, dtype=np.float32).reshape(2, 3)
    half = kernel.astype(np.float16) + np.float16(0.5)
    result = compare(constants(w=kernel, v=kernel), constants(w=kernel.T, v=half))
    turned, halved = result.weights
    assert (turned.a, turned.b, turned.distance) == ("float32[2, 3]", "float32[3, 2]", None)
    assert (halved.a, halved.b) == ("float32[2, 3]", "float16[2, 3]")
    assert halved.distance
    assert (halved.distance.different, halved.distance.max_abs) == (6, 0.5)
    assert not result.changed
    result = compare(constants(w=kernel), constants(w=kernel.astype(np.float16)))
    assert not result.same  # equal in every element, but not in type
    assert result.weights[0].distance
    assert result.weights[0].distance.different == 0


def test_tolerance() -> None:
    a, b = constants(w=np.float32([1, 10])), constants(w=np.float32([1.1, 10]))
    assert not compare(a, b).same
    assert not compare(a, b, tolerance=0.009).same
    assert compare(a, b, tolerance=0.011).same
    nan = constants(w=np.float32([1, np.nan]))
    assert not compare(a, nan, tolerance=1e9).same
    assert compare(nan, nan).same
    assert not compare(a, constants(w=np.float16([1, 10])), tolerance=1).same


def test_integers_beyond_what_a_double_holds() -> None:
    a, b = constants(w=np.int64([1 << 60])), constants(w=np.int64([(1 << 60) + 1]))
    (weights,) = compare(a, b).weights
    assert weights.distance
    assert weights.distance.different == 1
    assert compare(a, b, tolerance=1e-12).same


def test_without_weights() -> None:
    a, b = constants(w=np.float32([1, 2])), constants(w=np.float32([1, 3]))
    result = compare(a, b, weights=False)
    assert result.same
    assert result.compared == 0
    assert not compare(a, constants(w=np.float32([1])), weights=False).same
    assert not compare(a, constants(w=np.int8([1, 2])), weights=False).same


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float16", "float32", "bool"])
@given(data=st.data())
def test_the_distance_is_that_of_numpy(dtype: str, data: st.DataObject) -> None:
    shape = arrays.array_shapes(max_dims=2, max_side=5)
    a = data.draw(arrays.arrays(dtype, shape))
    b = data.draw(st.one_of(st.just(a.copy()), arrays.arrays(dtype, a.shape)))
    result = compare(constants(w=a), constants(w=b))
    wide, other = a.astype(np.float64), b.astype(np.float64)
    equal = (wide == other) | (np.isnan(wide) & np.isnan(other))
    assert result.same == equal.all()
    if not result.same:
        (weights,) = result.weights
        assert weights.distance
        assert weights.distance.different == (~equal).sum()
        with np.errstate(invalid="ignore"):
            gap = np.nan_to_num(np.abs(wide - other)[~equal], nan=np.inf, posinf=np.inf).max()
        assert weights.distance.max_abs == gap


def test_a_difference_far_behind_is_found(tmp_path: Path) -> None:
    """Behind many blocks, in one that is not whole."""
    a = np.zeros((1 << 20) + 3, np.float32)
    b = a.copy()
    a[5], b[5] = 8, 8
    b[-1] = 2
    (weights,) = compare(constants(w=a), constants(w=b)).weights
    assert weights.distance
    assert weights.distance.as_dict() == {
        "elements": a.size,
        "different": 1,
        "max_abs": 2.0,
        "relative": 0.25,
    }


def test_memory_stays_small(tmp_path: Path) -> None:
    for name, last in (("a", 0), ("b", 1)):
        values = np.zeros(48 << 20, np.int16)
        values[-1] = last
        ufkit.save(constants(w=values), tmp_path / f"{name}.uff")
    code = (
        "import resource, sys, numpy, ufkit\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "diff = ufkit.diff  # loads it\n"
        "before = peak()\n"
        "result = diff(*sys.argv[1:])\n"
        "assert result.weights[0].distance.different == 1\n"
        "print(peak() - before)\n"
    )
    paths = [tmp_path / "a.uff", tmp_path / "b.uff"]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 48 << 20


# -- what a text leaves out ------------------------------------------------------------------


def test_a_twin_without_weights(net: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.pbtxt"
    ufkit.save(ufkit.open(net), twin)
    result = ufkit.diff(net, twin)
    assert result.same
    assert result.left_out == ["conv/kernel", "dense/kernel"]  # a bias of 16 bytes is kept
    assert result.compared == 1
    (note,) = result.diagnostics
    assert note.code == "UFF501"
    assert "2 weights, 1,712 bytes" in note.message
    assert note.where.file == str(twin)


def test_a_twin_of_other_sizes_is_different(net: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.pbtxt"
    ufkit.save(ufkit.open(net), twin)
    text = twin.read_text()
    twin.write_text(text.replace("(...1280 bytes", "(...1284 bytes"))
    (weights,) = ufkit.diff(net, twin).weights
    assert weights.id == "dense/kernel"


def test_doubles_of_old_converters(tmp_path: Path) -> None:
    def model(epsilon: float) -> ufkit.MetaGraph:
        builder = ufkit.Builder()
        builder.input("x", [1])
        builder.op("y", "LeakyRelu", ["x"], alpha=epsilon)
        return builder.meta

    exact = float(np.float32(0.001))
    binary, text = tmp_path / "a.uff", tmp_path / "a.pbtxt"
    ufkit.save(model(exact), binary)
    ufkit.save(model(0.0010000000475), text)
    result = ufkit.diff(binary, text)
    assert result.same
    assert [note.code for note in result.diagnostics] == ["UFF502"]
    ufkit.save(model(0.001000000048), text)
    assert not ufkit.diff(binary, text).same
    assert not compare(model(exact), model(0.0010000000475)).same  # no text, no excuse


# -- files that are damaged, and real ones ---------------------------------------------------


def test_damage_ends_in_our_errors(net: Path) -> None:
    data = net.read_bytes()
    whole = ufkit.open(net)
    for at in range(0, len(data), 7):
        broken = bytearray(data)
        broken[at] ^= 0x55
        try:
            result = compare(whole, open_uff(Source(bytes(broken), "broken.uff")))
        except ufkit.UfkitError:
            continue
        result.as_dict()


def test_constants_without_what_they_need_are_compared_as_fields(net: Path) -> None:
    def edit(model: ufkit.MetaGraph) -> None:
        del model.graph["conv/bias"].fields["shape"]

    assert only(edited(net, edit)) == Change("shape", a=[4])


def test_weights_of_the_wrong_size_are_the_same_as_themselves_only(net: Path) -> None:
    def cut(model: ufkit.MetaGraph) -> None:
        model.referenced_data["weights_conv/bias"] = b"123"

    def cut_otherwise(model: ufkit.MetaGraph) -> None:
        model.referenced_data["weights_conv/bias"] = b"124"

    (weights,) = edited(net, cut).weights
    assert (weights.a, weights.b) == ("float32[4] in 16 bytes", "float32[4] in 3 bytes")
    first, second = ufkit.open(net), ufkit.open(net)
    cut(first)
    cut(second)
    assert compare(first, second).same
    cut_otherwise(second)
    assert not compare(first, second).same


def test_many_nodes_take_little_time() -> None:
    def model(prefix: str) -> ufkit.MetaGraph:
        builder = ufkit.Builder()
        last = builder.input("x", [1])
        for number in range(20_000):
            last = builder.op(f"{prefix}{number}", "Unary", [last], func="neg")
        return builder.meta

    result = compare(model("a"), model("b"))
    assert len(result.renamed) == 20_000


def test_real_files_are_the_same_as_themselves(corpus: Path) -> None:
    for path in sorted((corpus / "uff").glob("*.uff")):
        if path.name != "lfs_pointer.uff":
            result = ufkit.diff(path, path)
            assert result.same, path
            assert not result.diagnostics


def test_a_real_twin_is_the_same(corpus: Path) -> None:
    binary = corpus / "uff" / "netvlad_short.uff"
    result = ufkit.diff(binary, binary.with_name("netvlad_short.uff.pbtxt"))
    assert result.same
    assert [note.code for note in result.diagnostics] == ["UFF501", "UFF502"]
    assert (result.nodes, result.compared, len(result.left_out)) == (279, 37, 68)


def test_real_files_that_differ(corpus: Path) -> None:
    result = ufkit.diff(corpus / "uff" / "netvlad.uff", corpus / "uff" / "netvlad_short.uff")
    assert len(result.removed) == 36
    assert not result.added
    assert Change("shape", [-1, 480, 752, 3], [-1, 240, 320, 3]) in [
        change for node in result.changed for change in node.changes
    ]
