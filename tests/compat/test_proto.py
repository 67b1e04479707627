"""Messages act as protobuf's own do, whatever is done to them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.text_format import MessageToString
from hypothesis import given
from hypothesis import strategies as st

import ufkit
from ufkit.conversion.tf_graph import SCHEMA
from ufkit_compat.graph_def import AttrValue, GraphDef, NodeDef
from ufkit_compat.proto import class_of
from wire.judge import PACKAGE, Judge

JUDGE = Judge(PACKAGE / "conversion" / "tensorflow.proto")
Edit = Callable[[Any], Any]

keys = st.sampled_from(["a", "b", "dtype"])
words = st.sampled_from(["x", "y:1", "^z", ""])
wholes = st.integers(-(1 << 62), 1 << 62)
reals = st.floats(width=32, allow_nan=False)
blobs = st.binary(max_size=3)


def _fields(node: Any) -> None:
    node.name, node.op = "n", "Op"


def _tensor(node: Any, key: str, data: bytes) -> None:
    tensor = node.attr[key].tensor
    tensor.tensor_content = data
    tensor.tensor_shape.dim.add().size = len(data)
    tensor.float_val.extend([0.5, -1.0])


def _list(node: Any, key: str, values: list[int]) -> None:
    kept = node.attr[key].list
    kept.i.extend(values)
    kept.i[:1] = [7]
    kept.s.append(b"s")
    kept.shape.add().dim.extend([kept.shape[0].dim.add()])


def _swap(node: Any, key: str, other: str) -> None:
    value = type(node.attr[key])()
    value.CopyFrom(node.attr[key])
    node.attr[key].CopyFrom(node.attr[other])
    node.attr[other].CopyFrom(value)


def _scalar(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Edit]:
    return st.builds(lambda k, v: lambda node: setattr(node.attr[k], name, v), keys, values)


edits: st.SearchStrategy[Edit] = st.one_of(
    st.just(_fields),
    st.builds(lambda w: lambda node: node.input.append(w), words),
    st.builds(lambda i, w: lambda node: node.input.insert(i, w), st.integers(-2, 3), words),
    st.builds(lambda w: lambda node: node.input.remove(w) if w in node.input else None, words),
    st.builds(lambda ws: lambda node: node.input.__setitem__(slice(None), ws), st.lists(words)),
    st.just(lambda node: node.input.pop() if len(node.input) else None),
    _scalar("i", wholes),
    _scalar("f", reals),
    _scalar("b", st.booleans()),
    _scalar("s", blobs),
    _scalar("type", st.integers(0, 30)),
    st.builds(lambda k, d: lambda node: _tensor(node, k, d), keys, blobs),
    st.builds(lambda k, v: lambda node: _list(node, k, v), keys, st.lists(wholes)),
    st.builds(lambda k, j: lambda node: _swap(node, k, j), keys, keys),
    st.builds(lambda k: lambda node: node.attr[k].shape.SetInParent(), keys),
    st.builds(lambda k: lambda node: node.attr[k].func.attr["inner"].list.f.append(1.5), keys),
    st.builds(lambda k: lambda node: node.attr[k].list.ClearField("i"), keys),
    st.builds(lambda k: lambda node: node.attr[k].Clear(), keys),
    st.builds(lambda k: lambda node: node.attr.pop(k, None), keys),
    st.just(lambda node: node.ClearField("input")),
    st.just(lambda node: node.experimental_debug_info.original_node_names.append("o")),
    st.just(lambda node: node.MergeFrom(copy.deepcopy(node))),
)


@given(st.lists(edits, max_size=12), st.booleans())
def test_edits_leave_what_they_leave_in_protobufs_own(todo: list[Edit], reread: bool) -> None:
    ours, theirs = NodeDef(), JUDGE.official(SCHEMA["NodeDef"])
    for number, edit in enumerate(todo):
        if reread and number == len(todo) // 2:  # from here on it is edited as it lies in bytes
            ours = NodeDef.FromString(ours.SerializeToString())
        edit(ours)
        edit(theirs)
        assert list(ours.input) == list(theirs.input)
        assert sorted(ours.attr) == sorted(theirs.attr)
    encoded = ours.SerializeToString()
    assert JUDGE.parsed(SCHEMA["NodeDef"], encoded) == theirs
    assert NodeDef.FromString(theirs.SerializeToString()) == ours == NodeDef.FromString(encoded)
    assert str(ours) == MessageToString(theirs)
    assert ours.ByteSize() == len(encoded)
    for key in ours.attr:
        assert ours.attr[key].WhichOneof("value") == theirs.attr[key].WhichOneof("value")
        fields = [field.name for field, _ in theirs.attr[key].ListFields()]
        assert [field.name for field, _ in ours.attr[key].ListFields()] == fields


def test_what_is_read_stays_in_the_file_and_edits_are_written(tmp_path: Path) -> None:
    graph = GraphDef()
    for name in "abc":
        graph.node.add(name=name, op="Relu", input=["x"])
    data = graph.SerializeToString()
    again = GraphDef.FromString(data)
    assert [node.name for node in again.node] == ["a", "b", "c"]
    assert again.message.original is not None  # nothing was edited by looking
    assert "k" not in again.node[0].attr
    assert not again.node[0].HasField("experimental_debug_info")
    assert again.message.original is not None
    again.node[1].input[0] = "y"
    assert again.SerializeToString() == data.replace(
        b"b\x12\x04Relu\x1a\x01x", b"b\x12\x04Relu\x1a\x01y"
    )


def test_what_is_put_into_a_list_is_copied_and_what_is_in_it_is_the_node() -> None:
    node = NodeDef(name="n")
    graph = GraphDef()
    graph.node.append(node)
    node.name = "other"
    assert graph.node[0].name == "n"
    graph.node[0].name = "m"
    assert GraphDef.FromString(graph.SerializeToString()).node[0].name == "m"
    assert graph.node[0] in graph.node
    graph.node.remove(NodeDef(name="m"))
    assert len(graph.node) == 0


def test_messages_of_protobuf_itself_are_taken() -> None:
    official = JUDGE.official(SCHEMA["NodeDef"], {"name": "n", "input": ["a"]})
    graph = GraphDef(node=[official])
    graph.node.extend([official])
    graph.node[0].CopyFrom(official)
    assert [node.name for node in graph.node] == ["n", "n"]


def test_unknown_fields_survive_a_copy_and_an_edit() -> None:
    newer = NodeDef(name="n").SerializeToString() + b"\xf2\x06\x03new"  # field 110
    graph = GraphDef(node=[NodeDef.FromString(newer)])
    graph.node[0].op = "Relu"
    assert b"\xf2\x06\x03new" in copy.deepcopy(graph).SerializeToString()


def test_a_copy_has_edits_of_its_own() -> None:
    one = NodeDef(name="n", input=["a"], attr={"k": AttrValue(i=1)})
    read = NodeDef.FromString(one.SerializeToString())
    read.attr["k"].i = 2
    other = copy.deepcopy(read)
    other.attr["k"].i = 3
    other.input.append("b")
    assert (read.attr["k"].i, list(read.input)) == (2, ["a"])
    assert (other.attr["k"].i, list(other.input)) == (3, ["a", "b"])
    assert NodeDef.FromString(read.SerializeToString()).attr["k"].i == 2


@pytest.mark.parametrize(
    ("attempt", "error", "words"),
    [
        (lambda n: n.inputs, AttributeError, "did you mean 'input'"),
        (lambda n: setattr(n, "nam", "x"), AttributeError, "did you mean 'name'"),
        (lambda n: setattr(n, "input", ["x"]), AttributeError, "in place"),
        (lambda n: setattr(n, "experimental_debug_info", None), AttributeError, "in place"),
        (lambda n: n.attr.__setitem__("k", AttrValue()), ValueError, "CopyFrom"),
        (lambda n: n.input.append(3), ufkit.RequestError, "UFK112"),
        (lambda n: setattr(n.attr["k"], "i", 1 << 64), ufkit.RequestError, "UFK112"),
        (lambda n: n.CopyFrom(GraphDef()), TypeError, "NodeDef is wanted"),
        (lambda n: n.CopyFrom("text"), TypeError, "not str"),
        (lambda n: n.HasField("input"), ValueError, "cannot tell"),
        (lambda n: n.HasField("name"), ValueError, "cannot tell"),
        (lambda n: n.WhichOneof("value"), ValueError, "no oneof"),
        (lambda n: n.ParseFromString(b"\x0a\x7f"), ufkit.FormatError, "UFK"),
        (lambda n: hash(n), TypeError, "unhashable"),
        (lambda n: NodeDef(nam="x"), AttributeError, "did you mean 'name'"),
    ],
)
def test_misuse_is_told(attempt: Any, error: type[Exception], words: str) -> None:
    node = NodeDef(name="n")
    before = node.SerializeToString()
    with pytest.raises(error, match=words):
        attempt(node)
    node.attr.pop("k", None)
    assert node.SerializeToString() == before


def test_each_type_has_one_class() -> None:
    assert class_of(SCHEMA["NodeDef"]) is NodeDef
    assert isinstance(GraphDef(node=[NodeDef()]).node[0], NodeDef)
