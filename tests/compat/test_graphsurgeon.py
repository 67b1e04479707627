"""Graphs that scripts search and edit."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphsurgeon as gs
import ufkit
from tf_graphs import BY_NAME, const, graph_def, node, placeholder, saved
from ufkit.conversion.tf_graph import SCHEMA
from ufkit.wire.message import to_bytes
from ufkit_compat.graph_def import GraphDef, NodeDef
from wire.judge import PACKAGE, Judge

FLOAT = BY_NAME["float32"]
# x -> conv/Conv2D -> conv/Relu -> end, and what nobody takes: spare, and const that it takes
NODES = (
    placeholder("x", 1, 4, 4, 1),
    const("conv/weights", np.ones((1, 1, 1, 2), np.float32)),
    node("conv/weights/read", "Identity", "conv/weights"),
    node("conv/Conv2D", "Conv2D", "x", "conv/weights/read"),
    node("conv/Relu", "Relu", "conv/Conv2D:0"),
    node("end", "Identity", "conv/Relu", "^conv/Conv2D"),
    const("lone", np.float32(1)),
    node("spare", "Neg", "lone"),
)


def graph() -> gs.DynamicGraph:
    return gs.DynamicGraph(to_bytes(graph_def(*NODES)))


def names(nodes: Any) -> list[str]:
    return [found.name for found in nodes]


def inputs(of: gs.StaticGraph, name: str) -> list[str]:
    return list(of.node_map[name].input)


def test_a_graph_is_a_path_bytes_a_graph_def_or_another_graph(tmp_path: Path) -> None:
    path = saved(tmp_path / "frozen.pb", *NODES)
    given = GraphDef.FromString(path.read_bytes())
    judge = Judge(PACKAGE / "conversion" / "tensorflow.proto")
    official = judge.parsed(SCHEMA["GraphDef"], path.read_bytes())
    for value in (path, str(path), path.read_bytes(), given, gs.StaticGraph(given), official):
        assert names(gs.DynamicGraph(value)) == names(graph())
    assert len(gs.DynamicGraph()) == 0
    for value in (3, [given]):
        with pytest.raises(ufkit.RequestError, match="CMP001"):
            gs.StaticGraph(value)
    with pytest.raises(ufkit.FormatError, match="UFF001"):
        gs.StaticGraph(b"<html>")
    with pytest.raises(ufkit.FileError, match="UFK001"):
        gs.StaticGraph(tmp_path / "none.pb")


def test_a_graph_def_that_is_given_is_the_graph() -> None:
    """So it was with NVIDIA's: scripts go on with either."""
    given = GraphDef.FromString(to_bytes(graph_def(*NODES)))
    edited = gs.DynamicGraph(given)
    edited.remove("spare")
    assert names(given.node) == names(edited)
    assert edited.as_graph_def() is given


def test_a_deep_copy_is_edited_apart() -> None:
    found = graph()
    assert names(found.graph_outputs) == ["end", "spare"]
    other = copy.deepcopy(found)
    other.remove("spare")
    other.node_map["end"].op = "Neg"
    assert (other["end"].op, found["end"].op) == ("Neg", "Identity")
    assert "spare" in found.node_map


def test_nodes_are_had_by_name_number_and_in_turn() -> None:
    found = graph()
    assert found["end"].op == found[5].op == "Identity"
    assert [n.op for n in found][:2] == ["Placeholder", "Const"]
    assert len(found) == len(NODES)
    with pytest.raises(KeyError):
        found["none"]


def test_what_follows_from_the_nodes() -> None:
    found = graph()
    assert names(found.graph_inputs) == ["x"]
    assert names(found.graph_outputs) == ["end", "spare"]
    assert names(found.node_outputs["conv/Conv2D"]) == ["conv/Relu", "end"]
    assert names(found.node_inputs["conv/Conv2D"]) == ["x", "conv/weights/read"]
    assert found.node_outputs["end"] == []


def test_it_follows_edits_wherever_they_are_made() -> None:
    found = graph()
    assert names(found.graph_outputs) == ["end", "spare"]
    found.as_graph_def().node[5].input[:] = ["spare"]
    assert names(found.graph_outputs) == ["conv/Relu", "end"]
    found._internal_graphdef.node.extend([NodeDef(name="more", op="Neg", input=["end"])])
    found.node_map = {}  # scripts bring it up to date themselves
    assert found.node_map["more"].op == "Neg"
    found.node_map["more"].name = "renamed"
    assert "more" not in found.node_map


@pytest.mark.parametrize(
    ("search", "wanted"),
    [
        (lambda g: g.find_nodes_by_op("Identity"), ["conv/weights/read", "end"]),
        (lambda g: g.find_nodes_by_op({"Neg", "Relu"}), ["conv/Relu", "spare"]),
        (lambda g: g.find_nodes_by_name("Conv2D"), ["conv/Conv2D"]),
        (lambda g: g.find_nodes_by_name(["Re.*", "x"]), ["x", "conv/Relu"]),
        (lambda g: g.find_nodes_by_name("conv/Conv2D"), []),
        (lambda g: g.find_nodes_by_name("Conv"), []),
        (lambda g: g.find_nodes_by_path("conv/Conv2D"), ["conv/Conv2D"]),
        (lambda g: g.find_nodes_by_path("conv/R.*"), ["conv/Relu"]),
        (lambda g: g.find_nodes_by_path({"end", "spare", "none"}), ["end", "spare"]),
        (lambda g: g.find_nodes_by_name("*["), []),  # no regular expression: a name
        (lambda g: g.find_node_inputs(g["end"]), ["conv/Relu", "conv/Conv2D"]),
        (lambda g: g.find_node_inputs_by_name(g["conv/Conv2D"], "read"), ["conv/weights/read"]),
        (lambda g: g.find_node_inputs_by_op(g["end"], "Relu"), ["conv/Relu"]),
        (lambda g: g.find_node_chains_by_op(["Conv2D", "Relu"])[0], ["conv/Conv2D", "conv/Relu"]),
    ],
)
def test_search(search: Any, wanted: list[str]) -> None:
    assert names(search(graph())) == wanted


def test_an_input_that_is_not_there_is_told() -> None:
    found = graph()
    found["spare"].input.append("lonely")
    with pytest.raises(ufkit.RequestError, match=r"CMP002.*'lonely'.*\n.*\n.*'lone'"):
        found.find_node_inputs(found["spare"])
    assert names(found.node_inputs["spare"]) == ["lone"]


@pytest.mark.parametrize("what", ["conv/Relu", ["conv/Relu"], {"conv/Relu"}, "node", "nodes"])
def test_remove_takes_nodes_and_names(what: Any) -> None:
    found = graph()
    given = {"node": found["conv/Relu"], "nodes": [found["conv/Relu"]]}
    found.remove(given.get(what, what) if isinstance(what, str) else what)
    assert "conv/Relu" not in found.node_map
    assert inputs(found, "end") == ["^conv/Conv2D"]
    assert len(found) == len(NODES) - 1


def test_remove_with_what_only_they_need() -> None:
    found = graph()
    found.remove("conv/Conv2D", remove_exclusive_dependencies=True)
    assert names(found) == ["conv/Relu", "end", "lone", "spare"]
    found.remove(found.graph_outputs, remove_exclusive_dependencies=True)
    assert names(found) == []


def test_a_name_that_is_not_there_is_warned_of() -> None:
    found = graph()
    with pytest.warns(UserWarning, match="no node 'conv/Relux'.*did you mean 'conv/Relu'"):
        found.remove(["conv/Relux", "spare"])
    assert "spare" not in found.node_map
    found.remove(NodeDef(name="gone"))  # a node that was taken out before: nothing to say
    found.remove([])


def test_forwarding_leads_through_rows_of_nodes() -> None:
    found = graph()
    found.append(gs.create_node("a", op="Identity", inputs=["end", "x"]))
    found.append(gs.create_node("b", op="Neg", inputs=["x", "a", "^a"]))
    found.forward_inputs(["a", "conv/Relu", found["conv/weights/read"]])
    assert inputs(found, "b") == ["x", "end", "x", "^end", "^x"]
    assert inputs(found, "conv/Conv2D") == ["x", "conv/weights"]
    assert inputs(found, "end") == ["conv/Conv2D:0", "^conv/Conv2D"]
    assert not {"a", "conv/Relu", "conv/weights/read"} & set(found.node_map)


def test_nodes_with_control_inputs_stay_and_circles_end() -> None:
    found = graph()
    found.forward_inputs("end")
    assert "end" in found.node_map
    found.extend([NodeDef(name="p", op="Op", input=["q"]), NodeDef(name="q", op="Op", input=["p"])])
    found.forward_inputs(["p", "q"])
    assert not {"p", "q"} & set(found.node_map)


def test_a_long_row_is_forwarded() -> None:
    found = gs.DynamicGraph()
    found.extend([placeholder_node("n0")])
    for number in range(1, 3000):
        found.append(NodeDef(name=f"n{number}", op="Identity", input=[f"n{number - 1}"]))
    found.append(NodeDef(name="end", op="Neg", input=["n2999"]))
    found.forward_inputs(found.find_nodes_by_op("Identity"))
    assert inputs(found, "end") == ["n0"]


def placeholder_node(name: str) -> Any:
    return gs.create_node(name, op="Placeholder", dtype=np.float32, shape=[1])


def test_a_namespace_becomes_a_node_at_its_borders() -> None:
    found = graph()
    plugin = gs.create_plugin_node("conv_plugin", op="Conv_TRT", groups=1)
    found.collapse_namespaces({"conv": plugin})
    assert names(found) == ["x", "end", "lone", "spare", "conv_plugin"]
    assert inputs(found, "conv_plugin") == ["x"]
    assert inputs(found, "end") == ["conv_plugin"]  # once, though both inputs are of it
    assert list(plugin.input) == []
    assert found["conv_plugin"].attr["groups_u_int"].i == 1


def test_the_longest_namespace_counts_and_some_nodes_are_left() -> None:
    found = graph()
    one, two = (gs.create_plugin_node(name, op="P") for name in ("one", "two"))
    found.collapse_namespaces({"conv": one, "conv/weights": two}, exclude_nodes=["conv/Relu"])
    assert inputs(found, "one") == ["x", "two"]
    assert inputs(found, "two") == []
    assert inputs(found, "conv/Relu") == ["one"]
    assert inputs(found, "end") == ["conv/Relu", "one"]


def test_inputs_can_come_twice() -> None:
    found = gs.DynamicGraph()
    found.extend([placeholder_node("x")])
    found.extend([NodeDef(name=f"s/{i}", op="Op", input=["x"]) for i in range(2)])
    twice = gs.DynamicGraph(found.as_graph_def().SerializeToString())
    found.collapse_namespaces({"s": gs.create_plugin_node("p")})
    twice.collapse_namespaces({"s": gs.create_plugin_node("p")}, unique_inputs=False)
    assert inputs(found, "p") == ["x"]
    assert inputs(twice, "p") == ["x", "x"]


def test_one_node_can_stand_for_itself() -> None:
    found = graph()
    found.collapse_namespaces({"conv/Relu": gs.create_plugin_node("conv/Relu", op="Clip_TRT")})
    assert found["conv/Relu"].op == "Clip_TRT"
    assert inputs(found, "end") == ["conv/Relu", "^conv/Conv2D"]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    found = graph()
    found.remove("spare")
    found.write(tmp_path / "edited.pb")
    assert names(gs.StaticGraph(tmp_path / "edited.pb")) == names(found)
    found.read(tmp_path / "edited.pb")
    found.remove("lone")
    found.write(tmp_path / "edited.pb")  # over the file whose weights it holds
    again = gs.StaticGraph(str(tmp_path / "edited.pb"))
    assert gs.extract_numpy_array(again["conv/weights"]).tolist() == [[[[1.0, 1.0]]]]
    with pytest.raises(ufkit.NotSupportedError, match="CMP006"):
        found.write_tensorboard(tmp_path)


# -- nodes -----------------------------------------------------------------------------------


def attributes(made: Any) -> dict[str, tuple[str, Any]]:
    def plain(value: Any) -> Any:
        kind = value.WhichOneof("value")
        found = getattr(value, kind)
        if kind == "list":
            return kind, list(found.i) or list(found.f)
        if kind == "shape":
            return kind, [dim.size for dim in found.dim]
        return kind, found

    return {key: plain(made.attr[key]) for key in made.attr}


def test_attributes_of_plugins_have_suffixes() -> None:
    made = gs.create_plugin_node(
        "NMS",
        op="NMS_TRT",
        inputs=["a", NodeDef(name="b")],
        dtype=np.float32,
        shape=(1, None),
        whole=3,
        real=0.5,
        yes=True,
        text="SIGMOID",
        wholes=[1, 2],
        reals=(1, 0.5),
        of_numpy=np.float32(0.25),
        none=[],
    )
    assert (made.name, made.op, list(made.input)) == ("NMS", "NMS_TRT", ["a", "b"])
    assert attributes(made) == {
        "dtype": ("type", 1),
        "shape": ("shape", [1, -1]),
        "whole_u_int": ("i", 3),
        "real_u_float": ("f", 0.5),
        "yes_u_int": ("i", 1),
        "text_u_str": ("s", b"SIGMOID"),
        "wholes_u_ilist": ("list", [1, 2]),
        "reals_u_flist": ("list", [1.0, 0.5]),
        "of_numpy_u_float": ("f", 0.25),
        "none_u_ilist": ("list", []),
    }


def test_attributes_of_others_have_none() -> None:
    made = gs.create_node("mean", op="Mean", keep_dims=True, T=np.dtype("int32"), n=2)
    assert attributes(made) == {"keep_dims": ("b", True), "T": ("type", 3), "n": ("i", 2)}
    assert gs.create_node("Relu").op == "Relu"
    assert gs.create_node("r", "Relu", trt_plugin=True, n=1).attr["n_u_int"].i == 1


def test_arrays_are_tensors() -> None:
    made = gs.create_node("c", op="Const", value=np.array([[1, 2]], np.float32))
    assert made.attr["dtype"].type == made.attr["value"].tensor.dtype == 1
    assert gs.extract_numpy_array(made).tolist() == [[1.0, 2.0]]
    with pytest.raises(ufkit.FormatError, match="CNV401"):
        gs.extract_numpy_array(NodeDef(name="c", op="Const"))


def test_nodes_are_updated() -> None:
    made = gs.create_node("a", op="AddV2", inputs=["x"], T=np.float32)
    assert gs.update_node(made, op="Add", inputs=["y"]) is made
    assert (made.name, made.op, list(made.input)) == ("a", "Add", ["x", "y"])
    gs.update_node(made, "b")
    assert (made.name, made.op) == ("b", "Add")


@pytest.mark.parametrize(
    "wrong", [{"x": None}, {"x": ["a"]}, {"x": {}}, {"dtype": "floaty"}, {"shape": ["a"]},
              {"inputs": [3]}, {"x": 1 << 70}, {"x": np.array(["a"])}]
)  # fmt: skip
def test_what_no_node_can_hold_is_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(ufkit.RequestError, match=r"CMP003|UFK112"):
        gs.create_plugin_node("n", **wrong)


# -- extras ----------------------------------------------------------------------------------


def dilated(paddings: Any, crops: Any) -> gs.DynamicGraph:
    ones = [1, 1, 1, 1]
    found = gs.DynamicGraph(
        to_bytes(
            graph_def(
                placeholder("x", 1, 8, 8, 1),
                const("block", np.int32([2, 2])),
                const("paddings", np.int32(paddings)),
                const("crops", np.int32(crops)),
                const("w", np.ones((3, 3, 1, 1), np.float32)),
                node("cut", "SpaceToBatchND", "x", "block", "paddings"),
                node("conv", "Conv2D", "cut", "w", padding=b"VALID", strides=ones, T=FLOAT),
                node("join", "BatchToSpaceND", "conv", "block", "crops"),
                node("end", "Relu", "join"),
            )
        )
    )
    gs.extras.process_dilated_conv(found)
    return found


def test_a_dilated_convolution_is_one_node() -> None:
    found = dilated([[2, 3], [2, 2]], [[0, 1], [0, 0]])
    assert names(found) == ["x", "w", "conv", "end"]
    assert inputs(found, "conv") == ["x", "w"]
    assert inputs(found, "end") == ["conv"]
    assert list(found["conv"].attr["dilations"].list.i) == [1, 2, 2, 1]
    around = [0, 0, 2, 2, 2, 2, 0, 0]
    assert list(found["conv"].attr["explicit_paddings"].list.i) == around
    assert names(dilated([[0, 0]] * 2, [[0, 0]] * 2)) == ["x", "w", "conv", "end"]


def test_dilated_convolutions_in_a_row() -> None:
    ones = [1, 1, 1, 1]
    zeros = np.zeros((2, 2), np.int32)
    nodes = [placeholder("j0", 1, 8, 8, 1), const("block", np.int32([2, 2])), const("zeros", zeros)]
    nodes.append(const("w", np.ones((1, 1, 1, 1), np.float32)))
    for at in range(1, 4):
        nodes += [
            node(f"c{at}", "SpaceToBatchND", f"j{at - 1}", "block", "zeros"),
            node(f"n{at}", "Conv2D", f"c{at}:0", "w", padding=b"VALID", strides=ones, T=FLOAT),
            node(f"j{at}", "BatchToSpaceND", f"n{at}", "block", "zeros"),
        ]
    found = gs.DynamicGraph(to_bytes(graph_def(*nodes)))
    gs.extras.process_dilated_conv(found)
    # the last one may be an output by the name of its end
    left = ["j0", "block", "zeros", "w", "n1", "n2", "c3", "n3", "j3"]
    assert names(found) == left
    assert [inputs(found, name)[0] for name in ("n1", "n2", "c3")] == ["j0", "n1", "n2"]


def test_what_no_dilation_says_stays() -> None:
    assert len(dilated([[0, 0]] * 2, [[0, 1]] * 2)) == 9


def test_a_softmax_is_one_node() -> None:
    found = gs.DynamicGraph(
        to_bytes(
            graph_def(
                placeholder("x", 2, 4, 5),
                node("Shape", "Shape", "x"),
                const("one", np.int32(1)),
                node("Sub", "Sub", "Shape", "one"),
                node("Slice/begin", "Pack", "Sub"),
                node("Slice", "Slice", "Shape", "Slice/begin", "one"),
                const("concat/values_0", np.int32([-1])),
                node("concat", "ConcatV2", "concat/values_0", "Slice", "one"),
                node("flat", "Reshape", "x", "concat"),
                node("Softmax", "Softmax", "flat"),
                node("back", "Reshape", "Softmax", "Shape"),
                node("end", "Relu", "back"),
            )
        )
    )
    gs.extras.process_softmax(found)
    assert names(found) == ["x", "Softmax", "end"]
    assert inputs(found, "Softmax") == ["x"]
    assert names(found.graph_outputs) == ["end"]
