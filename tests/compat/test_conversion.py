"""`import uff`: the two functions of scripts, and what they give, print and write."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphsurgeon as gs
import uff
import ufkit
from tf_graphs import BY_NAME, const, graph_def, node, placeholder, saved, tensor
from uff.model.exceptions import UffException
from uff_contents import everything
from ufkit.conversion.tf_graph import SCHEMA
from ufkit.core.files import Source
from ufkit.wire.message import to_bytes
from ufkit_compat.graph_def import GraphDef
from wire.judge import PACKAGE, Judge

FLOAT = BY_NAME["float32"]
NODES = (
    placeholder("x", -1, 4),
    const("w", np.eye(4, dtype=np.float32)),
    node("dense", "MatMul", "x", "w", T=FLOAT),
    node("relu", "Relu", "dense", T=FLOAT),
    node("half", "AddV2", "relu", "relu", T=FLOAT),
)
ENCODED = to_bytes(graph_def(*NODES))


def contents(encoded: bytes) -> dict[str, Any]:
    return everything(ufkit.open(Source(encoded)))


def ids(encoded: bytes) -> list[str]:
    return [node.id for node in ufkit.open(Source(encoded)).graph]


@pytest.mark.parametrize("name", ["lenet5", "mlp_mnist", "netvlad"])
def test_equal_to_what_nvidia_wrote(corpus: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "net.uff"
    encoded = uff.from_tensorflow_frozen_model(
        str(corpus / "uff" / f"{name}.pb"), quiet=True, output_filename=str(target)
    )
    assert target.read_bytes() == encoded
    with ufkit.open(corpus / "uff" / f"{name}.uff") as theirs:
        assert contents(encoded) == everything(theirs)


def test_a_graph_is_taken_in_any_form(tmp_path: Path) -> None:
    path = saved(tmp_path / "frozen.pb", *NODES)
    judge = Judge(PACKAGE / "conversion" / "tensorflow.proto")
    forms = [
        path,
        str(path),
        ENCODED,
        GraphDef.FromString(ENCODED),
        gs.DynamicGraph(path),
        judge.parsed(SCHEMA["GraphDef"], ENCODED),
    ]
    made = [uff.from_tensorflow(form, ["relu"], quiet=True) for form in forms]
    assert len(set(made)) == 1
    assert ids(made[0]) == ["relu", "dense", "w", "x", "MarkOutput_0"]


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "net.uff"
    uff.from_tensorflow(ENCODED, output_filename=target, text=True, write_preprocessed=True)
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert [line for line in lines if not line.startswith((" ", "attr", "}"))] == [
        f"Preprocessed graph written to {tmp_path / 'net_preprocessed.pb'}",
        "UFF Version 0.6.9",
        "=== Automatically deduced input nodes ===",
        '[name: "x"',
        'op: "Placeholder"',
        "]",
        "=========================================",
        "",
        "=== Automatically deduced output nodes ===",
        '[name: "half"',
        'op: "AddV2"',
        'input: "relu"',
        'input: "relu"',
        "]",
        "==========================================",
        "",
        "Using output node half",
        "Converting to UFF graph",
        "Warning: No conversion function registered for layer: AddV2 yet.",
        "Converting half as custom op: AddV2",
        "No. nodes: 6",
        f"UFF Output written to {target}",
        f"UFF Text Output written to {tmp_path / 'net.pbtxt'}",
    ]
    assert printed.err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "net.pbtxt",
        "net.uff",
        "net_preprocessed.pb",
    ]
    assert "(...64 bytes skipped...)" in (tmp_path / "net.pbtxt").read_text()
    assert len(gs.StaticGraph(tmp_path / "net_preprocessed.pb")) == len(NODES)


def test_quiet_prints_only_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    uff.from_tensorflow(ENCODED, ["relu"], quiet=True)
    assert capsys.readouterr() == ("", "")
    uff.from_tensorflow(ENCODED, ["half"], quiet=True)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_what_was_lost_is_told_on_the_other_stream(capsys: pytest.CaptureFixture[str]) -> None:
    text = node(
        "c", "Const", dtype=BY_NAME["string"], value=tensor("string", (1,), string_val=[b"a"])
    )
    uff.from_tensorflow(to_bytes(graph_def(placeholder("x", 1), text, node("y", "Op", "x", "c"))))
    printed = capsys.readouterr()
    assert "CNV406" in printed.err
    assert "CNV" not in printed.out


def test_nodes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert uff.from_tensorflow(ENCODED, list_nodes=True, quiet=True) is None
    assert capsys.readouterr().out.splitlines() == [
        '1 Placeholder: "x"',
        '2 Const: "w"',
        '3 MatMul: "dense"',
        '4 Relu: "relu"',
        '5 AddV2: "half"',
    ]


def test_outputs_can_be_numbers_of_that_list() -> None:
    assert uff.from_tensorflow(ENCODED, "relu", quiet=True) == uff.from_tensorflow(
        ENCODED, ["relu"], quiet=True
    )
    by_name = uff.from_tensorflow(ENCODED, ["relu", "dense"], quiet=True)
    assert uff.from_tensorflow(ENCODED, ["4", -3], quiet=True) == by_name
    for wrong in (0, 6, "-6"):
        with pytest.raises(UffException, match="CMP002"):
            uff.from_tensorflow(ENCODED, [wrong], quiet=True)


def test_the_graphs_ends_are_given_when_asked_for() -> None:
    encoded, inputs, outputs = uff.from_tensorflow(ENCODED, quiet=True, return_graph_info=True)
    assert ids(encoded)[0] == "half"
    assert [found.name for found in inputs] == ["x"]
    assert [found.name for found in outputs] == ["half"]


def test_an_input_comes_in_the_place_of_a_node() -> None:
    encoded = uff.from_tensorflow(
        ENCODED, ["relu"], input_node=["dense,features,float32,-1,4"], quiet=True
    )
    with ufkit.open(Source(encoded)) as model:
        assert [n.id for n in model.graph] == ["relu", "features", "MarkOutput_0"]
        assert model.graph["features"].fields["shape"] == [-1, 4]
    same = uff.from_tensorflow(ENCODED, ["relu"], input_node=["3,,float32,2,4"], quiet=True)
    assert ids(same) == ["relu", "dense", "MarkOutput_0"]
    for wrong in ("dense", "dense,x,float32,a", "dense,x,floaty,1", ""):
        with pytest.raises(UffException, match="CMP007"):
            uff.from_tensorflow(ENCODED, ["relu"], input_node=[wrong], quiet=True)


def test_modern_is_what_ufkit_makes_of_it() -> None:
    encoded = uff.from_tensorflow(ENCODED, ["half"], quiet=True, modern=True)
    with ufkit.open(Source(encoded)) as model:
        assert model.graph["half"].operation == "Binary"


def test_the_graph_that_is_given_is_left_as_it_is() -> None:
    assertion = node("assert", "Assert", "relu")
    given = GraphDef.FromString(to_bytes(graph_def(*NODES, assertion)))
    before = given.SerializeToString()
    encoded = uff.from_tensorflow(given, quiet=True)
    assert given.SerializeToString() == before
    assert ids(encoded)[0] == "half"  # what checks the graph is no output of it


def test_dilated_convolutions_are_one_node() -> None:
    nodes = (
        placeholder("x", 1, 8, 8, 1),
        const("block", np.int32([2, 2])),
        const("zeros", np.int32([[2, 2], [2, 2]])),
        const("crops", np.int32([[0, 0], [0, 0]])),
        const("w", np.ones((3, 3, 1, 1), np.float32)),
        node("cut", "SpaceToBatchND", "x", "block", "zeros"),
        node("conv", "Conv2D", "cut", "w", padding=b"VALID", strides=[1, 1, 1, 1], T=FLOAT),
        node("join", "BatchToSpaceND", "conv", "block", "crops"),
        node("end", "Relu", "join"),
    )
    with ufkit.open(Source(uff.from_tensorflow(to_bytes(graph_def(*nodes)), quiet=True))) as made:
        assert [n.id for n in made.graph] == ["end", "conv", "w", "x", "MarkOutput_0"]
        fields = made.graph["conv"].fields
        assert (fields["dilation"], fields["padding"]) == ([2, 2], [2, 2])


@pytest.mark.parametrize("wanted", ["join", "join:0", "end"])
def test_an_output_that_is_named_stays(wanted: str) -> None:
    zeros = const("zeros", np.int32([[0, 0], [0, 0]]))
    nodes = (
        placeholder("x", 1, 8, 8, 1),
        const("block", np.int32([2, 2])),
        zeros,
        const("w", np.ones((3, 3, 1, 1), np.float32)),
        node("cut", "SpaceToBatchND", "x", "block", "zeros"),
        node("conv", "Conv2D", "cut", "w", padding=b"VALID", strides=[1, 1, 1, 1], T=FLOAT),
        node("join", "BatchToSpaceND", "conv", "block", "zeros"),
        node("end", "Relu", "join"),
    )
    encoded = uff.from_tensorflow(to_bytes(graph_def(*nodes)), [wanted], quiet=True)
    with ufkit.open(Source(encoded)) as made:
        assert made.graph.outputs == [wanted.removesuffix(":0")]
        assert "Conv" in {n.operation for n in made.graph}


def test_an_argument_that_is_none_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="'out_filename'.*did you mean 'output_filename'"):
        uff.from_tensorflow(ENCODED, ["relu"], quiet=True, out_filename="x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uff.from_tensorflow(ENCODED, ["relu"], quiet=True, debug_mode=False)


def test_nothing_is_written_where_it_fails(tmp_path: Path) -> None:
    target = tmp_path / "net.uff"
    target.write_bytes(b"as it was")
    with pytest.raises(UffException, match=r"CNV403.*\n.*\n.*did you mean 'relu'"):
        uff.from_tensorflow(ENCODED, ["relux"], output_filename=target, text=True, quiet=True)
    with pytest.raises(UffException, match="UFK001"):
        uff.from_tensorflow_frozen_model(tmp_path / "none.pb", output_filename=target)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"as it was"]


# -- scripts that edit -----------------------------------------------------------------------


def convert_with(script: str, folder: Path, name: str = "config.py") -> Any:
    (folder / name).write_text(script, "utf-8")
    return uff.from_tensorflow(ENCODED, ["relu"], str(folder / name), quiet=True)


def test_a_constant_is_edited_in_place(tmp_path: Path) -> None:
    """As the script of TensorRT's recommender does."""
    axis = node("axis", "Const", dtype=BY_NAME["int32"], value=tensor("int32", (), int_val=[1]))
    nodes = (placeholder("x", 2, 3), axis, node("join", "ConcatV2", "x", "x", "axis", T=FLOAT))
    (tmp_path / "preprocess.py").write_text(
        "def preprocess(dynamic_graph):\n"
        "    axis = dynamic_graph.find_nodes_by_path('axis')[0]\n"
        "    axis.attr['value'].tensor.int_val[0] = 2\n"
    )
    encoded = uff.from_tensorflow(
        to_bytes(graph_def(*nodes)), preprocessor=tmp_path / "preprocess", quiet=True
    )
    with ufkit.open(Source(encoded)) as model:
        assert model.graph["join"].fields["axis"] == 2


def test_a_script_may_import_what_lies_beside_it_and_is_run_anew(tmp_path: Path) -> None:
    (tmp_path / "ufkit_test_helper.py").write_text("NAME = 'dense'\n")
    script = (
        "from dataclasses import dataclass\n"
        "import ufkit_test_helper\n"
        "@dataclass\nclass Spec:\n    name: str = ufkit_test_helper.NAME\n"
        "def preprocess(graph):\n    graph.node_map[Spec().name].op = '{}'\n"
    )
    operations = []
    for op in ("One", "Two"):
        with ufkit.open(Source(convert_with(script.format(op), tmp_path))) as model:
            operations.append(model.graph["dense"].operation)
    assert operations == ["_One", "_Two"]


@pytest.mark.parametrize(
    ("script", "match"),
    [
        ("x = 1\n", "CMP004.*no function `preprocess`"),
        (
            "def preprocess(graph):\n    y = 1\n    graph.node_map['none']\n",
            "CMP004.*none.*\n.*line 3",
        ),
        ("def preprocess(:\n", "CMP004.*SyntaxError.*\n.*line 1"),
        ("import no_such_module\n", "CMP004.*no_such_module.*\n.*line 1"),
        ("\nimport tensorflow as tf\n", r"CMP005(.*\n)*.*line 2\n.*import ufkit_compat.tensorflow"),
        ("\nfrom tensorflow.python import x\n", "CMP005"),
        (
            "def preprocess(g):\n    g.find_node_inputs(g.as_graph_def().node.add(input=['q']))\n",
            "CMP002",
        ),
    ],
)
def test_a_script_that_fails_is_told_with_its_line(
    tmp_path: Path, script: str, match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)  # as where it is not
    with pytest.raises(ufkit.RequestError, match=match):
        convert_with(script, tmp_path)


def test_a_script_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ufkit.RequestError, match=r"CMP004.*no such script"):
        uff.from_tensorflow(ENCODED, preprocessor=tmp_path / "none.py", quiet=True)
