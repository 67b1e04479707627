"""Control inputs, and operations without a value: what TensorFlow needs to run in order."""

from __future__ import annotations

import numpy as np
import pytest

import ufkit
from ufkit.conversion.uff_onnx import to_onnx
from ufkit.uff.build import Builder


def _guarded(mark: str = "y") -> Builder:
    """A checked input: what comes of it waits for an Assert, as the converter wrote that."""
    b = Builder()
    b.meta.add_descriptor("custom")
    b.input("x", [-1, 3])
    b.const("zero", np.array(0, np.float32))
    b.op("positive", "_Greater", ["x", "zero"])
    b.op("check", "_Assert", ["positive"])
    b.op("all_checks", "_NoOp", ["check"])
    b.op("guarded", "Identity", ["x", "all_checks"])
    b.op("sum", "_AddN", ["guarded", "x", "check"], N=2)
    b.op("y", "_Sign", ["sum", "positive"])
    b.output(mark)
    return b


def test_they_are_left_out_and_it_is_said() -> None:
    b = _guarded()
    assert ufkit.run(b.graph, {"x": np.float32([[-1, 0, 2]])})["y"].tolist() == [[-1, 0, 1]]
    conversion = to_onnx(b.graph)
    assert [node.op_type for node in conversion.model.proto.graph.node] == ["Sum", "Sign"]
    noted = {d.where.node: d.message for d in ufkit.check(b.meta) if d.code == "UFF314"}
    assert noted == {
        "main/guarded": "'all_checks' is taken for no data",
        "main/sum": "'check' is taken for no data",
        "main/y": "'positive' is taken for no data",
    }
    assert {str(d.severity) for d in ufkit.check(b.meta)} == {"note"}


@pytest.mark.parametrize("mark", ["check", "all_checks"])
def test_what_has_no_value_is_no_output(mark: str) -> None:
    with pytest.raises(ufkit.NotSupportedError, match="has no value, and one is needed") as caught:
        to_onnx(_guarded(mark).graph)
    assert {d.code for d in caught.value.diagnostics} == {"UFF214"}


@pytest.mark.parametrize(
    ("operation", "does", "hint"),
    [
        ("_SparseSoftmaxCrossEntropyWithLogits", "computes a loss", "edit --extract"),
        ("_MaxPoolGrad", "computes gradients", "edit --extract"),
        ("_ResourceApplyAdam", "changes variables", "edit --extract"),
        ("_RandomUniform", "draws random numbers", "edit --extract"),
        ("_VarHandleOp", "is a variable", "freeze"),
        ("_Enter", "is of a loop or a call", "without loops"),
        ("_QueueDequeueManyV2", "reads or prepares data", "an input of the graph"),
    ],
)
def test_what_is_not_of_a_model_in_use_is_called_so(operation: str, does: str, hint: str) -> None:
    b = Builder()
    b.input("x", [-1, 3])
    b.op("odd", operation, ["x"])
    b.op("y", "Activation", ["odd"], func="relu")
    b.output("y")
    for action in (lambda: to_onnx(b.graph), lambda: ufkit.run(b.graph, {"x": np.zeros((1, 3))})):
        with pytest.raises(ufkit.NotSupportedError) as caught:
            action()
        (finding,) = caught.value.diagnostics
        assert (finding.code, finding.where.node) == ("UFF213", "main/odd")
        assert finding.message == f"{operation} {does}"
        assert hint in finding.hint


def test_a_loop_is_called_one_and_not_taken_for_a_branch() -> None:
    b = Builder()
    b.input("x", [-1, 3])
    b.const("one", np.float32(1))
    b.op("enter", "_Enter", ["one"])
    b.op("merge", "_Merge", ["enter", "next"])
    b.op("less", "_Less", ["merge", "one"])
    b.op("cond", "_LoopCond", ["less"])
    b.op("switch", "_Switch", ["merge", "cond"])
    b.op("next", "_NextIteration", ["switch"])
    b.op("exit", "_Exit", ["switch"])
    b.op("y", "_Mul", ["x", "exit"])
    b.output("y")
    with pytest.raises(ufkit.NotSupportedError) as caught:
        to_onnx(b.graph)
    assert {(d.code, d.where.node) for d in caught.value.diagnostics} == {
        ("UFF213", "main/enter"),
        ("UFF213", "main/exit"),
    }
    assert "UFF310" not in {finding.code for finding in ufkit.check(b.meta)}


def test_where_no_output_needs_it_nothing_is_said_of_training() -> None:
    b = Builder()
    b.input("x", [-1, 3])
    b.op("y", "Activation", ["x"], func="relu")
    b.op("loss", "_SoftmaxCrossEntropyWithLogits", ["y", "x"])
    b.output("y")
    assert "UFF213" not in {finding.code for finding in ufkit.check(b.meta)}
