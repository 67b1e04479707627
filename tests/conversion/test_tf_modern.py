"""What is mended of NVIDIA's converter: training, newer names, constants that must be computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ufkit
from tf_graphs import BY_NAME, const, graph_def, node, opened, placeholder
from ufkit.conversion.tf_files import open_tensorflow
from ufkit.conversion.tf_graph import SCHEMA
from ufkit.conversion.tf_uff import GivenInput, Written, to_uff
from ufkit.core.files import Source
from ufkit.wire.message import Message, to_bytes

F32, I32 = BY_NAME["float32"], BY_NAME["int32"]
X = placeholder("x", 2, 4)
FED = np.arange(8, dtype=np.float32).reshape(2, 4) - 3


def operations(made: Written) -> list[str]:
    """The operations that are there but for inputs, outputs and constants."""
    rest = ("Input", "Const", "MarkOutput")
    return [n.operation for n in made.meta.graph if n.operation not in rest]


def computed(made: Written, **feeds: Any) -> np.ndarray[Any, Any]:
    (value,) = ufkit.run(made.meta.graph, feeds or {"x": FED}).values()
    return value


def modern(*nodes: Message, output: str = "y") -> Written:
    return to_uff(opened(*nodes), outputs=[output])


# -- conditionals ----------------------------------------------------------------------------


def conditional(predicate: str, *before: Message) -> tuple[Message, ...]:
    """-x where the predicate is false, exp(x) where it is true."""
    return (
        X,
        *before,
        node("s", "Switch", "x", predicate),
        node("false", "Neg", "s"),
        node("true", "Exp", "s:1"),
        node("y", "Merge", "true", "false"),  # TensorFlow sets no order
    )


PHASE = const("off", np.array(False))


@pytest.mark.parametrize(
    ("predicate", "before", "true"),
    [
        ("off", [PHASE], False),
        ("on", [const("on", np.array(True))], True),
        ("p", [PHASE, node("p", "PlaceholderWithDefault", "off")], False),
        ("n", [PHASE, node("i", "Identity", "off"), node("n", "LogicalNot", "i")], True),
        ("p", [placeholder("p", dtype="bool")], False),
    ],
)
def test_a_conditional_is_the_branch_of_inference(
    predicate: str, before: list[Message], true: bool
) -> None:
    made = modern(*conditional(predicate, *before))
    assert operations(made) == ["Identity", "Unary"]
    np.testing.assert_allclose(computed(made), np.exp(FED) if true else -FED, rtol=1e-6)
    assert "CNV408" in [item.code for item in made.diagnostics]


def test_a_placeholder_that_decides_is_told() -> None:
    made = modern(*conditional("p", placeholder("p", dtype="bool")))
    assert "'p' is supposed to be false" in made.diagnostics[0].message


def test_a_branch_may_be_told_by_control_inputs_alone() -> None:
    made = modern(
        PHASE,
        node("s", "Switch", "off", "off"),
        node("t", "Identity", "s:1"),
        node("f", "Identity", "s"),
        node("one", "Identity", "c1", "^t"),
        node("two", "Identity", "c2", "^f"),
        const("c1", np.float32(1)),
        const("c2", np.float32(2)),
        X,
        node("m", "Merge", "one", "two"),
        node("y", "Add", "x", "m"),
    )
    np.testing.assert_array_equal(computed(made), FED + 2)


def test_a_predicate_that_is_computed_is_left_alone() -> None:
    made = modern(*conditional("p", node("p", "Less", "x", "x")))
    assert {"_Switch", "_Merge", "_Less"} <= set(operations(made))


def test_a_loop_ends() -> None:
    made = modern(
        X,
        PHASE,
        node("enter", "Enter", "x"),
        node("merge", "Merge", "enter", "next"),
        node("switch", "Switch", "merge", "cond"),
        node("cond", "LoopCond", "less"),
        node("less", "Less", "merge", "merge"),
        node("next", "NextIteration", "switch:1"),
        node("y", "Exit", "switch"),
    )
    assert "_Exit" in operations(made)


def test_identities_in_a_circle_end() -> None:
    made = modern(node("y", "Identity", "z"), node("z", "Identity", "y"))
    assert made.outputs == ["y"]


# -- what passes on --------------------------------------------------------------------------


def test_what_only_passes_on_is_gone_and_outputs_keep_their_names() -> None:
    made = modern(
        X,
        node("a", "StopGradient", "x"),
        node("check", "Assert", "x"),
        node("b", "Identity", "a", "^check"),
        node("c", "CheckNumerics", "b"),
        node("r", "Relu", "c", "^check"),
        node("y", "Identity", "r"),
    )
    assert operations(made) == ["Identity", "Activation"]
    assert made.outputs == ["y"]
    assert made.meta.graph["r"].inputs == ("x",)
    assert made.diagnostics == []


def test_a_placeholder_with_a_number_is_the_number_any_other_an_input() -> None:
    rate = [const("d", np.float32(3)), node("p", "PlaceholderWithDefault", "d", dtype=F32)]
    made = modern(X, *rate, node("y", "Mul", "x", "p"))
    np.testing.assert_array_equal(computed(made), FED * 3)
    shape = placeholder("shape", 2, 4).all("attr")[1].get("value").get("shape")
    many = node("p", "PlaceholderWithDefault", "d", dtype=F32, shape=shape)
    made = modern(const("d", FED), many, node("y", "Neg", "p"))
    assert made.meta.graph["p"].operation == "Input"
    np.testing.assert_array_equal(computed(made, p=FED), -FED)


# -- names -----------------------------------------------------------------------------------

AXIS = const("axis", np.array(1, np.int32))
PAIR = [const("begin", np.array([0, 1], np.int32)), const("size", np.array([-1, 2], np.int32))]


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ([node("y", "AddV2", "x", "x")], FED + FED),
        ([node("y", "LeakyRelu", "x")], np.where(FED < 0, 0.2 * FED, FED)),
        ([node("y", "SquaredDifference", "x", "one")], (FED - 1) ** 2),
        ([node("y", "AddN", "x", "x", "one")], 2 * FED + 1),
        ([node("y", "AddN", "x")], FED),
        ([node("y", "ClipByValue", "x", "one", "two")], np.clip(FED, 1, 2)),
        ([AXIS, node("y", "Concat", "axis", "x", "x")], np.concatenate([FED, FED], 1)),
        ([*PAIR, node("y", "Slice", "x", "begin", "size")], FED[:, 1:3]),
        ([const("b", FED[0]), node("y", "BiasAddV1", "x", "b")], FED + FED[0]),
    ],
)
def test_operations_it_did_not_know(nodes: list[Message], wanted: Any) -> None:
    numbers = const("one", np.float32(1)), const("two", np.float32(2))
    made = modern(X, *numbers, *nodes)
    assert not [name for name in operations(made) if name.startswith("_")]
    np.testing.assert_allclose(computed(made), wanted, rtol=1e-6)
    assert made.diagnostics == []


def norm(op: str, **attrs: Any) -> Written:
    data = [const(name, np.full(4, i + 1, np.float32)) for i, name in enumerate("gbmv")]
    return modern(placeholder("x", 1, 2, 2, 4), *data, node("y", op, "x", *"gbmv", **attrs))


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_norms_of_every_version(op: str) -> None:
    made = norm(op, is_training=False, epsilon=0.0)
    x = np.ones((1, 2, 2, 4), np.float32)
    np.testing.assert_allclose(computed(made, x=x), (x - 3) / 2 + 2)
    assert operations(made) == ["BatchNorm"]


def test_a_norm_that_trains_is_told() -> None:
    made = norm("FusedBatchNormV3", epsilon=0.0)
    assert operations(made) == ["_FusedBatchNormV3"]
    assert "of its own batch" in made.diagnostics[0].message


# -- constants -------------------------------------------------------------------------------


def test_what_must_be_constant_is_computed() -> None:
    made = modern(
        placeholder("x", 1, 4, 4, 2),
        const("flat", np.arange(18, dtype=np.float32)),
        const("shape", np.array([3, 3, 2, 1], np.int32)),
        node("k", "Reshape", "flat", "shape"),
        const("start", np.array(0, np.int32)),
        const("stop", np.array(4, np.int32)),
        const("step", np.array(1, np.int32)),
        node("range", "Range", "start", "stop", "step", Tidx=I32),
        node("c", "Conv2D", "x", "k", strides=[1, 1, 1, 1], padding=b"SAME"),
        node("y", "Transpose", "c", "range"),
    )
    graph = made.meta.graph
    assert graph["y"].fields["permutation"] == [0, 1, 2, 3]
    assert graph["k"].operation == "Const"
    np.testing.assert_array_equal(ufkit.constant(graph["k"]).numpy().ravel(), np.arange(18))
    assert sorted(operations(made)) == ["Conv", "Transpose"]


def test_one_of_several_values_is_computed_as_well() -> None:
    made = modern(
        placeholder("x", 2, 2),
        const("w", np.arange(8, dtype=np.float32).reshape(2, 4)),
        AXIS,
        node("s", "Split", "axis", "w", num_split=2, T=F32),
        node("y", "MatMul", "x", "s:1"),
    )
    assert made.meta.graph["s_1"].operation == "Const"
    eye = np.eye(2, dtype=np.float32)
    np.testing.assert_array_equal(computed(made, x=eye), [[2, 3], [6, 7]])


def test_which_value_is_taken_stays_in_the_name() -> None:
    split = node("s", "Split", "axis", "x", num_split=2, T=F32)
    made = modern(X, AXIS, split, node("y", "Neg", "s:1"))
    np.testing.assert_array_equal(computed(made), -FED[:, 2:])


def test_what_depends_on_an_input_is_not_computed() -> None:
    made = modern(X, placeholder("p", 2, dtype="int32"), node("y", "Transpose", "x", "p"))
    assert operations(made) == ["_Transpose"]


def test_what_would_be_too_large_is_not_computed() -> None:
    made = modern(
        placeholder("x", 1, 4),
        const("shape", np.array([4, 1 << 26], np.int32)),
        const("one", np.float32(1)),
        node("w", "Fill", "shape", "one", T=F32),
        node("y", "MatMul", "x", "w"),
    )
    assert operations(made) == ["FullyConnected", "_Fill"]


# -- functions -------------------------------------------------------------------------------


def function(name: str, *nodes: Message, **ret: str) -> Message:
    """A function of `a` and `b`."""
    argument = SCHEMA["OpDef.ArgDef"]
    entry = SCHEMA["FunctionDef.RetEntry"]
    signature = Message.new(
        SCHEMA["OpDef"],
        name=name,
        input_arg=[Message.new(argument, name=word) for word in "ab"],
        output_arg=[Message.new(argument, name=word) for word in ret],
    )
    given = [Message.new(entry, key=key, value=value) for key, value in ret.items()]
    return Message.new(SCHEMA["FunctionDef"], signature=signature, node_def=nodes, ret=given)


def called(name: str) -> Message:
    return Message.new(SCHEMA["NameAttrList"], name=name)


def library(*functions: Message) -> Message:
    return Message.new(SCHEMA["FunctionDefLibrary"], function=functions)


def test_functions_take_the_place_of_their_calls() -> None:
    outer = function(
        "outer",
        node("c", "StatefulPartitionedCall", "a", "b", f=called("inner")),
        node("n", "Neg", "c:output:0", "^c"),
        minus="n:y:0",
        second="c:output:1",
    )
    inner = function("inner", node("d", "Sub", "a", "b"), first="d:z:0", second="b")
    call = node("call", "PartitionedCall", "x", "x1", f=called("outer"))
    nodes = [X, const("x1", np.float32(1)), call, node("y", "Mul", "call", "call:1")]
    made = to_uff(opened(*nodes, library=library(outer, inner)), outputs=["y"])
    assert operations(made) == ["Binary", "Unary", "Binary"]
    assert "call/c/d" in made.meta.graph
    np.testing.assert_array_equal(computed(made), 1 - FED)


def test_functions_that_call_each_other_twice_over_end() -> None:
    functions = [
        function(
            f"f{i}",
            node("c", "PartitionedCall", "a", "b", f=called(f"f{i + 1}")),
            node("d", "PartitionedCall", "a", "b", f=called(f"f{i + 1}")),
            y="c:output:0",
        )
        for i in range(40)
    ]
    graph = opened(
        X, node("y", "PartitionedCall", "x", "x", f=called("f0")), library=library(*functions)
    )
    with pytest.raises(ufkit.FormatError, match="functions called from here"):
        to_uff(graph, outputs=["y"])


# -- inputs and outputs ----------------------------------------------------------------------


def test_outputs_are_guessed_and_that_is_said() -> None:
    made = to_uff(opened(X, node("y", "Neg", "x"), node("z", "Exp", "x"), node("n", "NoOp")))
    assert made.outputs == ["y", "z"]
    assert [item.code for item in made.diagnostics] == ["CNV405"]
    assert "'y', 'z'" in made.diagnostics[0].message


def test_several_outputs_are_marked_in_order_each_once() -> None:
    nodes = [X, node("y", "Neg", "x"), node("z", "Exp", "y")]
    made = to_uff(opened(*nodes), outputs=["z", "y", "z:0"])
    marks = [n for n in made.meta.graph if n.operation == "MarkOutput"]
    assert [(mark.id, mark.inputs) for mark in marks] == [
        ("MarkOutput_0", ("z",)),
        ("MarkOutput_1", ("y",)),
    ]


@pytest.mark.parametrize("strict", [True, False])
def test_an_input_takes_the_place_of_a_node(strict: bool) -> None:
    nodes = [X, node("decoded", "DecodeJpeg", "x"), node("y", "Neg", "decoded:0")]
    given = GivenInput("decoded", "image", "float32", (-1, 3))
    made = to_uff(opened(*nodes), inputs=[given], outputs=["y"], strict=strict)
    graph = made.meta.graph
    assert [n.id for n in graph] == ["y", "image", "MarkOutput_0"]
    assert graph["image"].fields["shape"] == [-1, 3]
    assert str(graph["image"].fields["dtype"]) == "float32"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (GivenInput("nothing", "a", "float32", ()), "no node 'nothing'"),
        (GivenInput("x", "y", "float32", ()), "is that of another node"),
        (GivenInput("x", "a", "float33", ()), "'float33', the type of input 'a'"),
    ],
)
def test_inputs_that_cannot_be(given: GivenInput, reason: str) -> None:
    with pytest.raises(ufkit.RequestError, match=reason):
        to_uff(opened(X, node("y", "Neg", "x")), inputs=[given])


def test_an_output_that_is_not_there_is_asked_back() -> None:
    with pytest.raises(ufkit.RequestError, match="did you mean 'logits'"):
        to_uff(opened(X, node("logits", "Neg", "x")), outputs=["logit"])


def test_a_graph_in_which_all_is_taken_has_no_outputs() -> None:
    with pytest.raises(ufkit.RequestError, match="name outputs with -O"):
        to_uff(opened(node("a", "Neg", "b"), node("b", "Neg", "a")))


def test_variables_are_no_weights() -> None:
    nodes = [X, node("v", "VariableV2"), node("y", "Mul", "x", "v")]
    with pytest.raises(ufkit.NotSupportedError, match="1 variable, 'v' first") as caught:
        to_uff(opened(*nodes))
    assert "convert_variables_to_constants_v2" in caught.value.diagnostic.hint


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([], "0 nodes"),
        ([X, X], "two nodes are called 'x'"),
        ([node("y", "Neg", "gone")], "input 'gone' is no node"),
        ([X, node("y", "Conv2D", "x")], "Conv2D has 1 input; it takes 2"),
        ([node("y", "Const")], "no value"),
        ([X, node("y", "LeakyRelu", "x", alpha=1)], "alpha is of kind i"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_graphs_that_are_not_sound(nodes: list[Message], reason: str, strict: bool) -> None:
    with pytest.raises(ufkit.FormatError, match=reason):
        to_uff(opened_plainly(*nodes), outputs=["y"], strict=strict)


def opened_plainly(*nodes: Message) -> Any:
    from ufkit.conversion.tf_graph import TfGraph

    source = Source(to_bytes(graph_def(*nodes)), "graph.pb")
    return TfGraph(Message.read(SCHEMA["GraphDef"], source), source.name)


# -- SavedModels -----------------------------------------------------------------------------


def saved_model(*nodes: Message, output: str = "") -> bytes:
    info = Message.new(SCHEMA["TensorInfo"], name=output)
    entry = Message.new(SCHEMA["SignatureDef.OutputsEntry"], key="out", value=info)
    signature = Message.new(SCHEMA["SignatureDef"], outputs=[entry])
    named = Message.new(
        SCHEMA["MetaGraphDef.SignatureDefEntry"], key="serving_default", value=signature
    )
    meta = Message.new(
        SCHEMA["MetaGraphDef"],
        graph_def=graph_def(*nodes),
        signature_def=[named] if output else [],
    )
    model = SCHEMA["SavedModel"]
    return to_bytes(Message.new(model, saved_model_schema_version=1, meta_graphs=[meta]))


def test_the_signature_of_a_saved_model_names_the_outputs() -> None:
    data = saved_model(X, node("y", "Neg", "x"), node("z", "Exp", "y"), output="y:0")
    made = to_uff(open_tensorflow(Source(data)))
    assert made.outputs == ["y"]
    assert made.diagnostics == []


def test_a_saved_model_without_a_graph() -> None:
    with pytest.raises(ufkit.FormatError, match="no graph"):
        open_tensorflow(Source(b"\x08\x01\x12\x02\x0a\x00"))
